"""What a query means: names are gone, every node says what it computes. Made by resolve.py; both evaluators read it.

Variables, parameters and labels are slots, numbers that are unique in a program. `simple` marks what has exactly one
output and calls no function, so that it can be computed on the spot. Nodes are compared by identity.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from muster.jq.syntax.tree import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.values.value import Value
    from muster.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Identity:
    span: Span = NOWHERE
    simple: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    value: Value
    span: Span = NOWHERE
    simple: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Variable:
    slot: int
    span: Span = NOWHERE
    simple: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Empty:
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    target: Node
    key: Node
    span: Span
    simple: bool


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """Start and end are always there; a missing bound is the constant null."""

    target: Node
    start: Node
    end: Node
    span: Span
    simple: bool


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    target: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Pipe:
    parts: tuple[Node, ...]
    span: Span
    simple: bool


@dataclass(frozen=True, slots=True, eq=False)
class Comma:
    parts: tuple[Node, ...]
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Alternative:
    left: Node
    right: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Logic:
    """`and` over all parts, or `or`."""

    parts: tuple[Node, ...]
    conjunction: bool
    span: Span
    simple: bool


@dataclass(frozen=True, slots=True, eq=False)
class If:
    condition: Node
    then: Node
    otherwise: Node
    span: Span
    simple: bool


@dataclass(frozen=True, slots=True, eq=False)
class Try:
    """No handler: an error ends the outputs."""

    body: Node
    handler: Node | None
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True)
class SlotPattern:
    slot: int


@dataclass(frozen=True, slots=True)
class ItemsPattern:
    items: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class FieldsPattern:
    """Key, the slot of `$name` forms, the inner pattern."""

    entries: tuple[tuple[Node, int | None, Pattern | None], ...]


Pattern: TypeAlias = SlotPattern | ItemsPattern | FieldsPattern


@dataclass(frozen=True, slots=True, eq=False)
class Bind:
    """`slots` are the variables of all patterns: those that the taken pattern lacks are null.

    Within a path the source takes no part in it, but for the right side of `+=` and its like: there gojq goes on from
    where the source led (`in_path`).
    """

    source: Node
    patterns: tuple[Pattern, ...]
    slots: tuple[int, ...]
    body: Node
    span: Span = NOWHERE
    simple: bool = False
    in_path: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Reduce:
    source: Node
    pattern: Pattern
    start: Node
    update: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Foreach:
    source: Node
    pattern: Pattern
    start: Node
    update: Node
    extract: Node | None
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    slot: int
    body: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Break:
    slot: int
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MakeObject:
    """Keys and values; no value means the input's field of that key."""

    entries: tuple[tuple[Node, Node | None], ...]
    span: Span
    simple: bool


@dataclass(frozen=True, slots=True, eq=False)
class MakeArray:
    body: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Native:
    """A builtin written in Python: called with the meter, the input and one value per argument."""

    name: str
    function: Callable[..., Any]
    args: tuple[Node, ...]
    span: Span
    simple: bool


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """All numbers from start up to end by step."""

    start: Node
    end: Node
    step: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Last:
    """The last output of the body, if there is one."""

    body: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PathsOf:
    body: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Assign:
    """`target = value`, for a target that is not a constant path."""

    target: Node
    value: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Modify:
    """`target |= update`"""

    target: Node
    update: Node
    span: Span = NOWHERE
    simple: bool = False


@dataclass(slots=True, eq=False)
class Function:
    """A definition. The body is set when it has been resolved, which may call the function itself."""

    name: str
    parameters: tuple[Parameter, ...]
    builtin: bool
    body: Node = field(default_factory=Identity)

    @property
    def arity(self) -> int:
        return len(self.parameters)


@dataclass(frozen=True, slots=True)
class Parameter:
    """`slot` holds the query; `value_slot` its outputs one by one, when the parameter has a dollar."""

    slot: int
    value_slot: int | None


@dataclass(frozen=True, slots=True, eq=False)
class CallFunction:
    function: Function
    args: tuple[Node, ...]
    span: Span = NOWHERE
    simple: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class CallParameter:
    slot: int
    span: Span = NOWHERE
    simple: bool = False


Node: TypeAlias = (
    Identity | Const | Variable | Empty | Index | Slice | Iterate | Pipe | Comma | Alternative | Logic | If
    | Try | Bind | Reduce | Foreach | Label | Break | MakeObject | MakeArray | Native | Range | Last | PathsOf
    | Assign | Modify | CallFunction | CallParameter
)  # fmt: skip


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside a node, patterns' keys included; not the bodies of called functions."""
    match node:
        case Index(target=target, key=key):
            return (target, key)
        case Slice(target=target, start=start, end=end):
            return (target, start, end)
        case Iterate(target=target):
            return (target,)
        case Pipe(parts=parts) | Comma(parts=parts) | Logic(parts=parts):
            return parts
        case Alternative(left=left, right=right):
            return (left, right)
        case If(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case Try(body=body, handler=handler):
            return (body,) if handler is None else (body, handler)
        case Bind(source=source, patterns=patterns, body=body):
            keys = tuple(key for pattern in patterns for key in pattern_keys(pattern))
            return (source, *keys, body)
        case Reduce(source=source, pattern=pattern, start=start, update=update):
            return (source, *pattern_keys(pattern), start, update)
        case Foreach(source=source, pattern=pattern, start=start, update=update, extract=extract):
            inner = (source, *pattern_keys(pattern), start, update)
            return inner if extract is None else (*inner, extract)
        case MakeObject(entries=entries):
            return tuple(part for entry in entries for part in entry if part is not None)
        case Label(body=body) | MakeArray(body=body) | PathsOf(body=body) | Last(body=body):
            return (body,)
        case Native(args=args) | CallFunction(args=args):
            return args
        case Range(start=start, end=end, step=step):
            return (start, end, step)
        case Assign(target=target, value=value):
            return (target, value)
        case Modify(target=target, update=update):
            return (target, update)
        case _:
            return ()


def pattern_keys(pattern: Pattern) -> tuple[Node, ...]:
    match pattern:
        case SlotPattern():
            return ()
        case ItemsPattern(items=items):
            return tuple(key for item in items for key in pattern_keys(item))
        case FieldsPattern(entries=entries):
            found: list[Node] = []
            for key, _, inner in entries:
                found.append(key)
                if inner is not None:
                    found.extend(pattern_keys(inner))
            return tuple(found)


def pattern_slots(pattern: Pattern) -> tuple[int, ...]:
    match pattern:
        case SlotPattern(slot=slot):
            return (slot,)
        case ItemsPattern(items=items):
            return tuple(slot for item in items for slot in pattern_slots(item))
        case FieldsPattern(entries=entries):
            found: list[int] = []
            for _, named, inner in entries:
                if named is not None:
                    found.append(named)
                if inner is not None:
                    found.extend(pattern_slots(inner))
            return tuple(found)
