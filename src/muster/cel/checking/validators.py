"""Checks of literals that types cannot express: durations, timestamps, patterns, mixed lists, format strings.

Libraries and environments name the validators they want; `check` runs them over the checked tree. Each takes the
tree and the environment and yields diagnostics. The words are cel-go's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import Kind, Type
from muster.cel.checking.unification import displayed
from muster.cel.costs.meter import new_meter
from muster.cel.syntax.traversal import children, descendants
from muster.cel.syntax.tree import Call, Comprehension, ListExpr, Literal, MapExpr
from muster.errors import BudgetExceededError, EvaluationError
from muster.source import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from muster.cel.environment import Env
    from muster.cel.syntax.tree import CheckedTree, Expr

    Validator = Callable[[CheckedTree, Env], Iterable[Diagnostic]]

# Lists inside these calls may mix types: they are arguments, not values.
_EXEMPT = frozenset(("format", "cel.@block"))
_FORMATTED = frozenset(
    (
        Kind.LIST,
        Kind.MAP,
        Kind.INT,
        Kind.UINT,
        Kind.DOUBLE,
        Kind.BOOL,
        Kind.STRING,
        Kind.TIMESTAMP,
        Kind.BYTES,
        Kind.DURATION,
        Kind.TYPE,
        Kind.NULL,
    )
)


def _is_called(name: str, checked: CheckedTree, env: Env) -> bool:
    """Whether an overload of the function is called at all: this is told sooner than by looking at every node."""
    function = env.functions.get(name)
    known = () if function is None else {overload.id for overload in function.overloads}
    return any(not known.isdisjoint(found.overload_ids) for found in checked.references.values()) if known else False


def _literal_arguments(checked: CheckedTree, function: str) -> Iterator[tuple[Call, Literal]]:
    """The calls of a function whose first argument is a literal."""
    for node in descendants(checked.expr):
        if isinstance(node, Call) and node.function == function and node.args and isinstance(node.args[0], Literal):
            yield node, node.args[0]


def _problem(checked: CheckedTree, node: Expr, message: str) -> Diagnostic:
    return Diagnostic(message, checked.tree.offsets[node.id])


def _conversion(function: str) -> Validator:
    """Converts every literal argument of the function now, since it would fail for certain later."""

    def validate(checked: CheckedTree, env: Env) -> Iterator[Diagnostic]:
        for call, literal in _literal_arguments(checked, function):
            if literal.value is None:  # fits the type, and is none
                yield _problem(checked, literal, f"invalid {function} argument")
                continue
            for overload_id in checked.references[call.id].overload_ids:
                overload = env.overloads[overload_id]
                try:
                    if overload.impl is not None:
                        overload.impl(*([new_meter()] if overload.metered else ()), literal.value)
                except EvaluationError:
                    yield _problem(checked, literal, f"invalid {function} argument")
                    break

    return validate


duration_literals = _conversion("duration")
timestamp_literals = _conversion("timestamp")


def regex_literals(checked: CheckedTree, env: Env) -> Iterator[Diagnostic]:
    """Patterns of `matches`. Of `matches(text, pattern)` it looks at the text, as cel-go does."""
    matches = env.overloads.get("matches")
    meter = new_meter()
    for _, literal in _literal_arguments(checked, "matches"):
        try:
            if matches is not None and matches.impl is not None:
                matches.impl(meter, "", literal.value)
        except BudgetExceededError:
            raise
        except EvaluationError:
            yield _problem(checked, literal, "invalid matches argument")


def homogeneous_literals(checked: CheckedTree, env: Env) -> Iterator[Diagnostic]:
    """Elements of a list, keys of a map and values of a map must each have one type."""
    del env
    waiting = [checked.expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Call) and node.function in _EXEMPT:
            continue
        if isinstance(node, ListExpr):
            yield from _mixed_elements(checked, node)
        elif isinstance(node, MapExpr):
            yield from _mixed_entries(checked, node)
        waiting.extend(children(node))


def _plain(checked: CheckedTree, node: Expr, *, optional: bool) -> Type:
    found = checked.types[node.id]
    return found.params[0] if optional and found.params else found


def _mixed_elements(checked: CheckedTree, node: ListExpr) -> Iterator[Diagnostic]:
    first: Type | None = None
    for index, element in enumerate(node.elements):
        found = _plain(checked, element, optional=index in node.optional_indices)
        if first is None:
            first = found
        elif not _equivalent(first, found):
            yield _problem(checked, element, _mismatch(first, found))
            return


def _mixed_entries(checked: CheckedTree, node: MapExpr) -> Iterator[Diagnostic]:
    if not node.entries:
        return
    first = node.entries[0]
    key_type = checked.types[first.key.id]
    value_type = _plain(checked, first.value, optional=first.optional)
    for entry in node.entries[1:]:
        key = checked.types[entry.key.id]
        if not _equivalent(key_type, key):
            yield _problem(checked, entry.key, _mismatch(key_type, key))
        value = _plain(checked, entry.value, optional=entry.optional)
        if not _equivalent(value_type, value):
            yield _problem(checked, entry.value, _mismatch(value_type, value))


def _equivalent(first: Type, second: Type) -> bool:
    """Whether values of the two types have one type when they are there: a wrapper is what it wraps, or null."""
    return first == second or (bool({first.kind, second.kind} & _HOLDERS) and _unwrapped(first) == _unwrapped(second))


def _unwrapped(candidate: Type) -> Type:
    if candidate.kind is Kind.WRAPPER:
        return candidate.params[0]
    if not candidate.params:
        return candidate
    return Type(candidate.kind, candidate.name, tuple(map(_unwrapped, candidate.params)))


_HOLDERS = frozenset({Kind.WRAPPER, Kind.LIST, Kind.MAP, Kind.OPAQUE})


def _mismatch(wanted: Type, found: Type) -> str:
    return f"expected type '{displayed(wanted)}' but found '{displayed(found)}'"


def nesting_limit(limit: int) -> Validator:
    """No comprehension inside more than so many others; bindings do not count."""

    def validate(checked: CheckedTree, env: Env) -> Iterator[Diagnostic]:
        del env
        waiting = [(checked.expr, 0)]
        while waiting:
            node, depth = waiting.pop()
            if isinstance(node, Comprehension) and not (
                isinstance(node.iter_range, ListExpr) and not node.iter_range.elements
            ):
                depth += 1
                if depth > limit:
                    yield _problem(checked, node, "comprehension exceeds nesting limit")
            waiting.extend((child, depth) for child in children(node))

    return validate


def format_literals(
    interpolate: Callable[..., str],
    refusal: Callable[[str, str], EvaluationError],
    accepted: dict[str, frozenset[Kind]],
    max_precision: int = 0,
) -> Validator:
    """Format strings that are literals, against the types of arguments that are written as a list.

    The strings library brings its own reader of templates, its refusals and what each clause accepts.
    """

    def validate(checked: CheckedTree, env: Env) -> Iterator[Diagnostic]:
        if not _is_called("format", checked, env):
            return
        for node in descendants(checked.expr):
            if not isinstance(node, Call) or node.function != "format":
                continue
            template = node.target.value if isinstance(node.target, Literal) else None
            arguments = node.args[0] if node.args else None
            if isinstance(template, str) and isinstance(arguments, ListExpr):
                yield from _validate(checked, node, template, arguments.elements)

    def _validate(checked: CheckedTree, call: Call, template: str, arguments: tuple[Expr, ...]) -> Iterator[Diagnostic]:
        place: Expr = call
        requested = 0

        def clause(index: int, verb: str, precision: int | None) -> str:
            del precision
            nonlocal place, requested
            requested += 1
            wrong = _unformattable(checked, arguments[index], accepted.get(verb.lower(), _FORMATTED), verb == "s")
            if wrong is not None:
                place = wrong
                raise refusal(verb, checked.types[wrong.id].name)
            return ""

        try:
            interpolate(template, len(arguments), clause, max_precision, checking=True)
        except EvaluationError as error:
            yield _problem(checked, place, error.message)
            return
        if len(arguments) > requested:
            yield _problem(
                checked,
                call,
                f"too many arguments supplied to string.format (expected {requested}, got {len(arguments)})",
            )

    return validate


def _unformattable(checked: CheckedTree, argument: Expr, accepted: frozenset[Kind], inside: bool) -> Expr | None:
    """The first node whose type the clause does not take: the argument, or with `inside` a part of a literal."""
    waiting = [argument]
    while waiting:
        node = waiting.pop()
        found = checked.types[node.id]
        kind = found.params[0].kind if found.kind is Kind.WRAPPER else found.kind
        if kind is not Kind.DYN and kind not in accepted:
            return node
        if inside and isinstance(node, ListExpr | MapExpr):
            waiting.extend(reversed(children(node)))
    return None


_NUMBERS = frozenset((Kind.INT, Kind.UINT, Kind.DOUBLE))
_INTEGERS = frozenset((Kind.INT, Kind.UINT))
_FLOATING = frozenset((Kind.DOUBLE, Kind.STRING))  # strings for "NaN" and the infinities
_HEX = frozenset((Kind.INT, Kind.UINT, Kind.STRING, Kind.BYTES))
_BINARY = frozenset((Kind.INT, Kind.UINT, Kind.BOOL))

OLD_CLAUSES = {"d": _INTEGERS, "f": _FLOATING, "e": _FLOATING, "b": _BINARY, "x": _HEX, "o": _INTEGERS}
"""What the clauses of string.format accept before version 4 of the strings library."""

CLAUSES = {"d": _NUMBERS, "f": _NUMBERS, "e": _NUMBERS, "b": _BINARY, "x": _HEX, "o": _INTEGERS}
"""What they accept since."""
