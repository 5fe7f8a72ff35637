"""Why an expression came out as it did: the parts that decided, with the values they looked at.

Follows the tracing interpreter's record from the top: through `&&` to what was false, through `||` to everything that
was, through a conditional to the branch that was taken, down to a part that only computes. Explanations of placements
call it; it knows nothing of fleets.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from muster.cel.reads import show_path
from muster.cel.syntax.traversal import children
from muster.cel.syntax.tree import Call, Comprehension, Ident, ListExpr, Literal, MapExpr, Select
from muster.cel.syntax.unparser import unparse
from muster.cel.traversals import value_text
from muster.errors import EvaluationError
from muster.selectors.observation import TEXT_LITERAL, Observation
from muster.values.json import JsonMapping
from muster.values.paths import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.cel.program import Program
    from muster.cel.running.interpreter import Trace
    from muster.cel.syntax.tree import Expr
    from muster.cel.values.value import Value

_MOST: Final = 12
_UNKNOWN: Final = object()
_INDEXING: Final = frozenset({"_[_]", "_[?_]", "_?._"})
_LONG_FORMS: Final = re.compile(
    r"\bmanagedCluster\.(?:metadata\.(?=labels\b|annotations\b|name\b)|status\.(?=clusterClaims\b))?"
)


def observations(program: Program, variables: JsonMapping) -> tuple[Observation, ...]:
    """The deciding parts of an evaluation, each after the values that it was computed from."""
    trace = program.trace(variables)
    found: dict[str, Observation] = {}
    for node in _deciding(program.tree.expr, trace):
        for part in _inputs(node):
            for each in _observed(program, trace, part):
                found.setdefault(each.text, each)
        value = _value(trace, node)
        if value is not _UNKNOWN and not _is_said(found, value):
            text = unparse(program.tree, node)
            short, place = _without_receiver(program, node, text, found), _position(program, node)
            found.setdefault(text, _observation(text, value, short, place))
    return tuple(found.values())[:_MOST]


def _is_said(found: Mapping[str, Observation], value: Value) -> bool:
    """Whether the error of a part is that of something inside it, which has been named."""
    return isinstance(value, EvaluationError) and any(
        each.is_error and each.value == str(value) for each in found.values()
    )


def shortened(text: str) -> str:
    """The text of an expression as people say it: `labels["version"]`. What stands in quotes stays as it is."""
    parts = TEXT_LITERAL.split(text)
    return "".join(part if place % 2 else _LONG_FORMS.sub("", part) for place, part in enumerate(parts))


def conjuncts(program: Program) -> tuple[str, ...]:
    """The parts of an expression that must all be true, as texts; the whole expression when it is only one."""
    found: list[Expr] = []
    stack = [program.tree.expr]
    while stack:
        node = stack.pop()
        match node:
            case Call(function="_&&_", args=args):
                stack.extend(reversed(args))
            case _:
                found.append(node)
    return tuple(unparse(program.tree, node) for node in found) if len(found) > 1 else (program.text,)


def _observation(text: str, value: Value, short: str = "", position: int | None = None) -> Observation:
    failed = isinstance(value, EvaluationError)
    return Observation(text, str(value) if failed else value_text(value), short or shortened(text), failed, position)


def _position(program: Program, node: Expr) -> int | None:
    return program.tree.tree.offsets.get(node.id)


def _value(trace: Trace, node: Expr) -> Value:
    values = trace.values.get(node.id)
    return values[0] if values else _UNKNOWN


def _deciding(node: Expr, trace: Trace) -> Iterator[Expr]:
    """The parts that made the node what it is."""
    stack = [node]
    while stack:
        node = stack.pop()
        match node:
            case Call(function="_&&_" | "_||_", args=args):
                outcome = _value(trace, node)
                same = [arg for arg in args if _agrees(_value(trace, arg), outcome)]
                stack.extend(reversed(same or list(args)))
            case Call(function="!_", args=(inner,)):
                stack.append(inner)
            case Call(function="_?_:_", args=(condition, positive, negative)):
                stack.append(positive if _value(trace, condition) is True else negative)
                yield condition
            case _:
                yield node


def _agrees(value: Value, outcome: Value) -> bool:
    if value is _UNKNOWN:
        return False
    if isinstance(outcome, EvaluationError):
        return isinstance(value, EvaluationError)
    return value is outcome


def _inputs(node: Expr) -> Iterator[Expr]:
    """What a part was computed from: paths into the variables and the lists of macros, not constants."""
    stack = list(reversed(_below(node)))
    while stack:
        part = stack.pop()
        if _is_path(part):
            yield part
        elif isinstance(part, Comprehension):
            yield part.iter_range
        else:
            stack.extend(reversed(_below(part)))


def _below(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, Comprehension):
        return (node.iter_range,)
    if isinstance(node, Select):
        return ()  # a path, or a question for one: the value of what is around it would only be long
    return () if isinstance(node, Literal | Ident) else children(node)


def _is_path(node: Expr) -> bool:
    """Whether it walks from a variable by constant steps: `a.b["c"].?d`."""
    while True:
        match node:
            case Ident():
                return True
            case Select(operand=operand, test_only=False):
                node = operand
            case Call(function=function, args=(operand, Literal())) if function in _INDEXING:
                node = operand
            case _:
                return False


def _observed(program: Program, trace: Trace, part: Expr) -> Iterator[Observation]:
    """A value that was looked at. Of a list in which the expression looks for one name, only that element."""
    if isinstance(part, Literal | ListExpr | MapExpr):
        return
    text = unparse(program.tree, part)
    value = _value(trace, part)
    looked_for = [
        (path, where)
        for path in sorted(program.reads, key=repr)
        if isinstance(where := path[-1], Where) and show_path(path[:-1]) == text
    ]
    if not looked_for or not isinstance(value, list | tuple):
        if value is not _UNKNOWN:
            yield _observation(text, value, position=_position(program, part))
        return
    for path, where in looked_for:
        elements = [each for each in value if isinstance(each, dict) and each.get(where.field) == where.value]
        name = show_path(path)
        if not elements:
            yield Observation(name, "missing", shortened(name))
        for element in elements:
            rest = {key: item for key, item in element.items() if key != where.field}
            if rest.keys() == {"value"}:
                yield _observation(f"{name}.value", rest["value"])
            else:
                yield _observation(name, element)


def _without_receiver(program: Program, node: Expr, text: str, shown: Mapping[str, Observation]) -> str:
    """`matches("^1")` for `x.matches("^1")` when what x is stands right before it."""
    match node:
        case Call(target=target) if target is not None and not isinstance(target, Literal):
            receiver = unparse(program.tree, target)
            if list(shown)[-1:] == [receiver] and text.startswith(f"{receiver}."):
                return shortened(text[len(receiver) + 1 :])
    return ""
