"""An expression with nothing left to look up: names resolved to variables and slots, calls bound, costs attached.

`planner.plan` makes it from a tree; the interpreter walks it and the code generator writes Python from it. It has the
shape of cel-go's evaluation plan because costs follow that shape: a variable with all selections and indexes behind it
is one attribute, which costs 1, and 1 more for every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from muster.cel.costs.runtime import MAP, STRUCT
from muster.cel.values import make_map

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.runtime import Price
    from muster.cel.running.dispatch import Invocation
    from muster.cel.values.messages import Message
    from muster.cel.values.value import Value


class Const(Struct, frozen=True, eq=False):
    id: int
    value: Value


class Alternative(Struct, frozen=True, eq=False):
    """One way to read a qualified name: a variable of one of `names`, which takes the first `consumed` qualifiers."""

    names: tuple[str, ...]
    consumed: int
    global_only: bool = False  # written with a leading dot


class Variable(Struct, frozen=True, eq=False):
    """An input. A checked tree leaves one alternative, an unchecked one several, longest first."""

    id: int
    alternatives: tuple[Alternative, ...]


class Local(Struct, frozen=True, eq=False):
    """A variable of a comprehension, by its slot."""

    id: int
    slot: int
    name: str


class Operand(Struct, frozen=True, eq=False):
    """Any other value that is selected from."""

    id: int
    node: Node


class Choice(Struct, frozen=True, eq=False):
    """`condition ? truthy : falsy`. A branch that is a variable does not cost its 1, as in cel-go."""

    id: int
    condition: Node
    truthy: Node
    falsy: Node


Root: TypeAlias = Variable | Local | Operand | Choice


class Qualifier(Struct, frozen=True, eq=False):
    """One step into a value: by a constant key, or by the value of `dynamic`."""

    id: int
    key: Value
    dynamic: Node | None = None
    optional: bool = False
    presence: bool = False  # only asks whether it is there: has()
    strict: bool = False  # asking a value that can have no fields is an error, not a no
    native: bool = False  # `dynamic` is an input: error texts name its Go type as it was handed in


class Attribute(Struct, frozen=True, eq=False):
    """A root and the steps from it. `charge` is the root's price, paid after the steps, also when one of them fails."""

    id: int
    root: Root
    qualifiers: tuple[Qualifier, ...]
    charge: int


class Logic(Struct, frozen=True, eq=False):
    """`&&` (decisive is False) and `||` (decisive is True): one decisive operand decides, whatever fails beside it."""

    id: int
    terms: tuple[Node, ...]
    decisive: bool


class Equality(Struct, frozen=True, eq=False):
    id: int
    left: Node
    right: Node
    negated: bool
    cost: Price


class Invoke(Struct, frozen=True, eq=False):
    """A call; the receiver of a method is the first argument."""

    id: int
    invocation: Invocation
    args: tuple[Node, ...]
    cost: Price


class NotFalse(Struct, frozen=True, eq=False):
    """`@not_strictly_false`: what loop conditions ask, so that an error does not end the loop."""

    id: int
    arg: Node
    cost: int


class OptionalElse(Struct, frozen=True, eq=False):
    """`left.or(right)`, or `left.orValue(right)` when it unwraps; right is evaluated only when needed."""

    id: int
    left: Node
    right: Node
    unwrap: bool


class Membership(Struct, frozen=True, eq=False):
    """`value in [constants]`, decided by a set: only an optimizing environment has it, and it costs nothing."""

    id: int
    arg: Node
    numbers: frozenset[Value]
    others: frozenset[Value]
    bools: frozenset[bool]


class MakeList(Struct, frozen=True, eq=False):
    id: int
    elements: tuple[Node, ...]
    optional: frozenset[int]


class MakeMap(Struct, frozen=True, eq=False):
    """A map, or the message whose fields these are."""

    id: int
    keys: tuple[Node, ...]
    values: tuple[Node, ...]
    optional: frozenset[int]
    message: Message | None = None

    @property
    def charge(self) -> int:
        return MAP if self.message is None else STRUCT

    def make(self, meter: Meter, entries: list[tuple[Value, Value]]) -> Value:
        """What the entries make; raises what is wrong with them."""
        return make_map(entries) if self.message is None else self.message.make(meter, entries)


class Fold(Struct, frozen=True, eq=False):
    """A comprehension. The accumulator is initialised when it is first read, so a bound variable nobody reads is free.

    With `grows` the accumulator is a fresh list or map that only this loop sees, and is extended in place.
    """

    id: int
    range: Node
    first: int
    second: int | None
    accumulator: int
    init: Node
    condition: Node
    step: Node
    result: Node
    grows: bool


class Block(Struct, frozen=True, eq=False):
    """`cel.@block`: expressions evaluated at most once each, on first use."""

    id: int
    slots: tuple[tuple[int, Node], ...]
    result: Node


Node: TypeAlias = (
    Const
    | Attribute
    | Logic
    | Equality
    | Invoke
    | NotFalse
    | OptionalElse
    | Membership
    | MakeList
    | MakeMap
    | Fold
    | Block
)


class Plan(Struct, frozen=True, eq=False):
    """A planned expression and how many slots its locals need."""

    node: Node
    slots: int


def children(node: Node | Root | Qualifier) -> Iterator[Node | Root | Qualifier]:
    """The parts directly below, in no particular order."""
    for name in node.__struct_fields__:
        value = getattr(node, name)
        for item in value if isinstance(value, tuple) else (value,):
            found = item[1] if isinstance(item, tuple) else item
            if isinstance(found, Struct) and hasattr(found, "id"):
                yield found  # type: ignore[misc]  # only plan nodes have both
