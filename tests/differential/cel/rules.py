"""The documented differences between cel-go and our engine: a heading of docs/differences.md, and whom it concerns.

A rule looks at what a program means, and checks the whole of the outcome that its heading promises; what the heading
does not speak of has to be as usual.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from muster.cel import CompileBudget, make_program
from muster.cel.checking.types import Kind
from muster.cel.costs.charging import charging_of
from muster.cel.syntax.tree import Call, Comprehension, Ident, StructExpr
from muster.cel.values import OpaqueValue, OptionalValue, TypeValue
from muster.errors import EvaluationError, InvalidExpressionError
from tests.differential.cel.cases import Case, absorbs, has_loop, nodes, seen
from tests.differential.cel.comparing import aspects, outcome
from tests.differential.cel.orders import unordered
from tests.differential.cel.ours import COST_LIMIT, Answer, answered, ask
from tests.differential.cel.stumbling import map_fails, panics
from tests.differential.cel.twins import quantities_written, types_hidden
from tests.differential.cel.world import SETS, declared, sizes

if TYPE_CHECKING:
    from muster.cel import Range, SizePath
    from muster.cel.checking.types import Type

OLDER: Final = "One cel-go for all versions"
_WIDE_WORK: Final = 50_000_000
_WIDE_COMPILING: Final = 5_000_000


def _budgets(case: Case) -> bool:
    """We refuse what takes more than a limit that upstream does not have; with more to spend we say what it says."""
    if not case.ours.refused:
        return False
    env = declared(case.environment)
    charging = charging_of(env)
    wide = replace(charging, work_limit=_WIDE_WORK)
    try:
        program = make_program(case.text, env, wide, CompileBudget(_WIDE_COMPILING))
    except InvalidExpressionError as fault:
        return not aspects(Answer(issues=str(fault)), case.theirs)
    return not aspects(answered(program, SETS[case.chosen]), case.theirs)


def _times(case: Case) -> bool:
    """A google.protobuf.Timestamp beyond the year 9999, or before the year 1."""
    program = case.program()
    return (
        program is not None
        and case.ours.error == "timestamp overflow"
        and case.alike("type", "estimate")
        and any(
            isinstance(node, StructExpr) and isinstance(value, EvaluationError) and str(value) == "timestamp overflow"
            for node, value in seen(case, program)
        )
    )


_NOT_SHOWN: Final = "unsupported conversion to ref.Val: (*dynamicpb.Message)"


def _packed(case: Case) -> bool:
    """An Any that holds nothing known: upstream's text goes on with its fields."""
    theirs = case.theirs.error or ""
    return case.ours.error == _NOT_SHOWN and theirs.startswith(_NOT_SHOWN) and case.same(error=theirs)


def _incomparable(case: Case) -> bool:
    """Lists or maps are compared, and in them values of which one refuses to be: upstream overlooks that."""
    program = case.program()
    if program is None or outcome(case.theirs) != "value" or not case.alike("type", "estimate"):
        return False
    holding = {node.id for node, value in seen(case, program) if _holds_opaque(value)}
    refused = any(
        isinstance(node, Call)
        and isinstance(value, EvaluationError)
        and str(value) == "no such overload"
        and any(each.id in holding for each in (node.target, *node.args) if each is not None)
        for node, value in seen(case, program)
    )
    return refused and (case.ours.error == "no such overload" or absorbs(program))


def _holds_opaque(value: Any) -> bool:
    parts: list[Any] = []
    if isinstance(value, (list, tuple)):
        parts = list(value)
    elif isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, OptionalValue) and value.present:
        parts = [value.content]
    return any(isinstance(part, OpaqueValue) or _holds_opaque(part) for part in parts)


_PRECISION: Final = re.compile(r"%\.(\d+)([fe])")
_BYTE: Final = 256


def _digits(case: Case) -> bool:
    """More than 255 digits behind the point: upstream keeps their number in a byte, and gives what we give for what is
    left of it."""

    def in_a_byte(found: re.Match[str]) -> str:
        return f"%.{int(found[1]) % _BYTE:0{len(found[1])}d}{found[2]}"

    if all(int(digits) < _BYTE for digits, _ in _PRECISION.findall(case.text)):
        return False
    fewer, _ = ask(_PRECISION.sub(in_a_byte, case.text), declared(case.environment), case.chosen)
    return not aspects(fewer, case.theirs)


def _type_variables(case: Case) -> bool:
    """A variable that holds a type: upstream takes its name for a type's and makes no program. Ours gives what both
    give when the types are hidden behind dyn()."""
    program = case.program()
    found = _UNDEFINED.fullmatch(case.theirs.creation or "")
    if program is None or found is None or not case.alike("type", "estimate"):
        return False
    holds = any(
        isinstance(node, Ident) and node.name == found[1] and program.tree.types[node.id].kind is Kind.TYPE
        for node in nodes(program.tree.expr)
    )
    hidden = case.twin(types_hidden(case.text)) if holds else None
    return hidden is not None and (hidden.value, hidden.error) == (case.ours.value, case.ours.error)


_UNDEFINED: Final = re.compile(r"reference to undefined type: (\w+)")
_SPARE: Final = frozenset({3, 5, 6, 7})  # steps of a path behind which Go's slice has room


def _keys_overwritten(case: Case) -> bool:
    """A map that is walked by key and value: upstream's estimate takes the sizes of the values for those of the keys
    where the path to the map is so long that Go keeps both names in one place. The rest is the same."""
    program = case.program()
    if program is None or not any(
        isinstance(node, Comprehension) and node.iter_var2 for node in nodes(program.tree.expr)
    ):
        return False

    def overwritten(path: SizePath, type_: Type) -> Range | None:
        kept = len(path) - 1 in _SPARE and path[-1] == "@keys"
        return sizes((*path[:-1], "@values") if kept else path, type_)

    estimate = program.estimate(overwritten)
    return case.theirs.estimate == (estimate.min, estimate.max) and case.same(estimate=case.theirs.estimate)


def _quantities(case: Case) -> bool:
    """Arithmetic on quantities is exact, and its results compare like any others: as if they were written."""
    program = case.program()
    if program is None or not case.alike("type", "estimate"):
        return False
    if not case.alike("cost") and not has_loop(program):  # a loop may end earlier, or later
        return False
    written = quantities_written(program, program.trace(SETS[case.chosen], COST_LIMIT).values)
    twin = None if written is None else case.twin(written)
    return twin is not None and (twin.value, twin.error) == (case.ours.value, case.ours.error)


_AUTHORIZER: Final = frozenset(
    (
        *("path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check", "errored"),
        *("error", "allowed", "reason", "fieldSelector", "labelSelector"),
    )
)
_ITS_TYPES: Final = "'kubernetes.authorization."  # what is wrong with what such a function gives is a consequence
_DIAGNOSTIC: Final = re.compile(r"ERROR: <input>:(\d+:\d+): (.*)")
_UNDECLARED: Final = re.compile(r"undeclared reference to '\.?(\w+)' \(in container ''\)")


def _no_authorizer(case: Case) -> bool:
    """Functions of Kubernetes' authorizer, of which nobody here has one; whatever else is wrong is told alike."""
    if not case.environment.startswith("kubernetes-") or case.ours.issues is None or case.theirs.issues is None:
        return False
    ours, theirs = _diagnostics(case.ours.issues), _diagnostics(case.theirs.issues)
    called = set()
    for place, message in ours:
        found = _UNDECLARED.fullmatch(message)
        if found is not None and found[1] in _AUTHORIZER:
            called.add(place)
    return bool(called) and [each for each in ours if each[0] not in called] == [
        each for each in theirs if each[0] not in called and _ITS_TYPES not in each[1]
    ]


def _diagnostics(issues: str) -> list[tuple[str, str]]:
    """Place and message of each."""
    return [(found[1], found[2]) for found in _DIAGNOSTIC.finditer(issues)]


def _types_as_texts(case: Case) -> bool:
    """Searching for a constant pattern, upstream takes the name of a type for a text, and opens optionals."""
    program = case.program()
    if program is None or case.ours.error != "no such overload" or outcome(case.theirs) != "value":
        return False
    searched = [
        operand
        for node in nodes(program.tree.expr)
        if isinstance(node, Call) and node.function in ("find", "findAll", "matches")
        for operand in (node.target, *node.args)
    ]
    return case.alike("type", "estimate") and any(
        isinstance(value, (TypeValue, OptionalValue)) and any(node is one for one in searched)
        for node, value in seen(case, program)
    )


def _local_zone(case: Case) -> bool:
    """The time zone called Local, which is another one on every machine."""
    return case.ours.error == "unknown time zone Local" and "Local" in case.text and case.alike("type", "estimate")


def _go_texts(case: Case) -> bool:
    """Texts that show how Go prints a null that is inside of an input."""
    theirs = case.theirs.error or ""
    written = theirs.replace("<nil>", "NULL_VALUE")
    return case.ours.error is not None and written != theirs and case.same(error=theirs) and case.ours.error == written


RULES: Final[dict[str, Callable[[Case], bool]]] = {
    "Limits that upstream does not have": _budgets,
    "Map keys that are no keys": map_fails("unsupported key type"),
    "Map keys given twice": map_fails("Failed with repeated key"),
    "What panics in Go": panics,
    "Times lie in the years 1 to 9999": _times,
    "An Any that holds nothing known": _packed,
    "Lists of what cannot be compared": _incomparable,
    "Digits behind the point": _digits,
    "Variables hold types": _type_variables,
    "Keys are estimated as keys": _keys_overwritten,
    "Quantities are exact": _quantities,
    "No authorizer": _no_authorizer,
    "A type is no text": _types_as_texts,
    "No time zone Local": _local_zone,
    "A null as Go prints it": _go_texts,
    "Maps keep their order": unordered,
}
"""In this order; the last ones ask the peer again."""
