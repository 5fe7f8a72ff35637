"""The tree of an expression, shaped as cel-go's AST so that ids, costs and recorded trees compare.

Seam: the parser makes it, macros rewrite it, the checker annotates it by node id, the interpreter,
the code generator, the cost estimator and the reads analysis walk it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.values.value import Value
    from muster.source import Source


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant: None, bool, int, Uint, float, str or bytes."""

    id: int
    value: Value


@dataclass(frozen=True, slots=True)
class Ident:
    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`; with `test_only` it is `has(operand.field)`. Optional select is a Call of `_?._`."""

    id: int
    operand: Expr
    field: str
    test_only: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function, operator or method; operators carry cel-go's names (`_+_`, `_&&_`, `_?_:_`, `_[_]`, `@in`, …)."""

    id: int
    function: str
    args: tuple[Expr, ...]
    target: Expr | None = None


@dataclass(frozen=True, slots=True)
class ListExpr:
    id: int
    elements: tuple[Expr, ...]
    optional_indices: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a map; `id` is the entry's own."""

    id: int
    key: Expr
    value: Expr
    optional: bool = False


@dataclass(frozen=True, slots=True)
class MapExpr:
    id: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class FieldInit:
    id: int
    field: str
    value: Expr
    optional: bool = False


@dataclass(frozen=True, slots=True)
class StructExpr:
    """`pkg.Message{field: value}`."""

    id: int
    name: str
    fields: tuple[FieldInit, ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """A fold, what every iterating macro expands to."""

    id: int
    iter_range: Expr
    iter_var: str
    iter_var2: str  # "" unless the two-variable form
    accu_var: str
    accu_init: Expr
    loop_condition: Expr
    loop_step: Expr
    result: Expr


Expr: TypeAlias = Literal | Ident | Select | Call | ListExpr | MapExpr | StructExpr | Comprehension


@dataclass(frozen=True)
class Tree:
    """A parsed expression: macros expanded, `macro_calls` keeps what the user wrote, by the id of its expansion."""

    source: Source
    expr: Expr
    offsets: Mapping[int, int]  # node id -> offset of the code point where cel-go points at it
    macro_calls: Mapping[int, Expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a name or call turned out to mean: a (qualified) variable, an enum constant, or overloads."""

    name: str = ""
    overload_ids: tuple[str, ...] = ()
    value: Value = None  # of a constant
    is_constant: bool = False


@dataclass(frozen=True)
class CheckedTree:
    """A tree whose every node has a type and every name a meaning."""

    tree: Tree
    types: Mapping[int, Type]
    references: Mapping[int, Reference]

    @property
    def expr(self) -> Expr:
        return self.tree.expr

    @property
    def result_type(self) -> Type:
        return self.types[self.tree.expr.id]
