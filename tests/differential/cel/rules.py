"""The documented differences between cel-go and our engine: a heading of docs/differences.md, and whom it concerns.

A rule looks at what a program means, and checks the whole of the outcome that its heading promises; what the heading
does not speak of has to be as usual.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from muster.cel import make_program
from muster.cel.syntax.traversal import children
from muster.cel.syntax.tree import Call, Comprehension, MapExpr, StructExpr
from muster.cel.values import OpaqueValue, OptionalValue, TypeValue
from muster.errors import EvaluationError, InvalidExpressionError
from tests.differential.cel.comparing import aspects, outcome
from tests.differential.cel.ours import COST_LIMIT, Answer, answered
from tests.differential.cel.world import SETS, declared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import Program
    from muster.cel.syntax.tree import Expr

OLDER: Final = "One cel-go for all versions"
_SHUFFLES: Final = 100
_REPEATS: Final = 12


@dataclass(frozen=True, slots=True)
class Case:
    """A program on which the two sides differ. `again` asks the peer so many times more."""

    environment: str
    text: str
    chosen: int
    ours: Answer
    theirs: Answer
    again: Callable[[int], list[Answer]]

    def rule(self, rules: Mapping[str, Callable[[Case], bool]]) -> str:
        """The heading under which the difference is documented, or nothing."""
        return next((heading for heading, concerns in rules.items() if concerns(self)), "")

    def program(self) -> Program | None:
        try:
            return make_program(self.text, declared(self.environment))
        except InvalidExpressionError:
            return None

    def same(self, **ours: Any) -> bool:
        """Whether the two sides agree once ours is changed like this."""
        return not aspects(replace(self.ours, **ours), self.theirs)

    def alike(self, *names: str) -> bool:
        return all(
            getattr(self.ours, name) == getattr(self.theirs, name)
            for name in names
            if getattr(self.theirs, name) is not None
        )


def _nodes(expr: Expr) -> Iterator[Expr]:
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def _seen(case: Case, program: Program) -> Iterator[tuple[Expr, Any]]:
    """The parts of the expression with the values they had."""
    values = program.trace(SETS[case.chosen], COST_LIMIT).values
    for node in _nodes(program.tree.expr):
        for value in values.get(node.id, ()):
            yield node, value


def _map_fails(text: str) -> Callable[[Case], bool]:
    """A map literal whose keys we refuse with this text. The error is what comes out, unless something absorbs it."""

    def concerns(case: Case) -> bool:
        program = case.program()
        if program is None or not case.alike("type", "estimate"):
            return False
        refused = any(
            isinstance(node, MapExpr) and isinstance(value, EvaluationError) and str(value) == text
            for node, value in _seen(case, program)
        )
        ends_alike = case.ours.error is not None and case.ours.error == case.theirs.error  # another part failed first
        return refused and (case.ours.error == text or ends_alike or _absorbs(program))

    return concerns


def _absorbs(program: Program) -> bool:
    """Whether an error inside need not be the outcome: logic and the macros built on it."""
    functions = {"_&&_", "_||_", "@not_strictly_false"}
    return any(isinstance(node, Call) and node.function in functions for node in _nodes(program.tree.expr))


def _panics(case: Case) -> bool:
    """The Go program stumbled over itself; we have a value, or say what is wrong."""
    if case.theirs.panic:
        return True
    shown = case.theirs.error or ""
    return (
        shown.startswith("internal error: ")
        and outcome(case.ours) in ("error", "value")
        and case.alike("type", "estimate")
    )


def _unordered(case: Case) -> bool:
    """Another order of the entries of maps gives, to the letter, what the peer gave once."""
    program = case.program()
    if program is None:
        return False
    given = [case.theirs, *case.again(_REPEATS)]
    if any(not aspects(case.ours, answer) for answer in given):
        return True
    pick = random.Random(case.text)
    for _ in range(_SHUFFLES if _has_loop(program) else 0):
        shuffled = answered(program, _shuffled(SETS[case.chosen], pick))
        if any(not aspects(shuffled, answer) for answer in given):
            return True
    return _varies(case.ours, given)


def _has_loop(program: Program) -> bool:
    return any(isinstance(node, Comprehension) for node in _nodes(program.tree.expr))


def _varies(ours: Answer, given: list[Answer]) -> bool:
    """The peer itself is not of one mind; where it is, we agree."""
    if len({repr(answer) for answer in given}) == 1:
        return False
    for name in ("issues", "creation", "type", "error", "cost", "estimate"):
        said = {getattr(answer, name) for answer in given}
        if len(said) == 1 and said != {getattr(ours, name)} and said != {None}:
            return False
    contents = {repr(_sorted(answer.value)) for answer in given}
    return len(contents) > 1 or repr(_sorted(ours.value)) in contents


def _shuffled(value: Any, pick: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        pick.shuffle(keys)
        return {key: _shuffled(value[key], pick) for key in keys}
    if isinstance(value, list):
        return [_shuffled(each, pick) for each in value]
    return value


def _sorted(value: Any) -> Any:
    """A value without the order of its lists."""
    if isinstance(value, list) and len(value) == 2 and value[0] == "list":
        return ["list", sorted((_sorted(each) for each in value[1]), key=repr)]
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return value


def _budgets(case: Case) -> bool:
    """We refuse what takes more than a limit that upstream does not have."""
    return case.ours.refused


def _times(case: Case) -> bool:
    """A google.protobuf.Timestamp beyond the year 9999, or before the year 1."""
    program = case.program()
    return (
        program is not None
        and case.ours.error == "timestamp overflow"
        and case.alike("type", "estimate")
        and any(
            isinstance(node, StructExpr) and isinstance(value, EvaluationError) and str(value) == "timestamp overflow"
            for node, value in _seen(case, program)
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
    if case.ours.error != "no such overload" and not _absorbs(program):
        return False
    return any(_holds_opaque(value) for _, value in _seen(case, program))


def _holds_opaque(value: Any) -> bool:
    parts: list[Any] = []
    if isinstance(value, (list, tuple)):
        parts = list(value)
    elif isinstance(value, Mapping):
        parts = list(value.values())
    elif isinstance(value, OptionalValue) and value.present:
        parts = [value.content]
    return any(isinstance(part, OpaqueValue) or _holds_opaque(part) for part in parts)


_PRECISION: Final = re.compile(r"%\.(\d+)[fe]")


def _digits(case: Case) -> bool:
    """More than 255 digits behind the point: upstream keeps the number of digits in a byte."""
    return any(int(found) > 255 for found in _PRECISION.findall(case.text)) and outcome(case.theirs) == "value"


def _quantities(case: Case) -> bool:
    """Arithmetic on quantities is exact, and its results compare like any others."""
    program = case.program()
    if program is None or not case.alike("type", "estimate", "cost"):
        return False
    return any(
        isinstance(node, Call)
        and node.function in ("add", "sub")
        and not isinstance(value, EvaluationError)
        and getattr(getattr(type(value), "cel_type", None), "name", "") == "kubernetes.Quantity"
        for node, value in _seen(case, program)
    )


_AUTHORIZER: Final = frozenset(
    (
        *("path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check", "errored"),
        *("error", "allowed", "reason", "fieldSelector", "labelSelector"),
    )
)
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
        each for each in theirs if each[0] not in called
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
        for node in _nodes(program.tree.expr)
        if isinstance(node, Call) and node.function in ("find", "findAll", "matches")
        for operand in (node.target, *node.args)
    ]
    return case.alike("type", "estimate") and any(
        isinstance(value, (TypeValue, OptionalValue)) and any(node is one for one in searched)
        for node, value in _seen(case, program)
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
    "What panics in cel-go": _panics,
    "Map keys that are no keys": _map_fails("unsupported key type"),
    "Map keys given twice": _map_fails("Failed with repeated key"),
    "Times lie in the years 1 to 9999": _times,
    "An Any that holds nothing known": _packed,
    "Lists of what cannot be compared": _incomparable,
    "Digits behind the point": _digits,
    "Quantities are exact": _quantities,
    "No authorizer": _no_authorizer,
    "A type is no text": _types_as_texts,
    "No time zone Local": _local_zone,
    "A null as Go prints it": _go_texts,
    "Maps keep their order": _unordered,
}
"""In this order; the last ones ask the peer again."""
