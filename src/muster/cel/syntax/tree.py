"""The tree of an expression, shaped as cel-go's AST so that ids, costs and recorded trees compare.

Seam: the parser makes it, macros rewrite it, the checker annotates it by node id, the interpreter,
the code generator, the cost estimator and the reads analysis walk it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.values.value import Value
    from muster.source import Source


class Literal(Struct, frozen=True):
    """A constant: None, bool, int, Uint, float, str or bytes."""

    id: int
    value: Value


class Ident(Struct, frozen=True):
    id: int
    name: str


class Select(Struct, frozen=True):
    """`operand.field`; with `test_only` it is `has(operand.field)`. Optional select is a Call of `_?._`."""

    id: int
    operand: Expr
    field: str
    test_only: bool = False


class Call(Struct, frozen=True):
    """A function, operator or method; operators carry cel-go's names (`_+_`, `_&&_`, `_?_:_`, `_[_]`, `@in`, …)."""

    id: int
    function: str
    args: tuple[Expr, ...]
    target: Expr | None = None


class ListExpr(Struct, frozen=True):
    id: int
    elements: tuple[Expr, ...]
    optional_indices: frozenset[int] = frozenset()


class Entry(Struct, frozen=True):
    """One entry of a map; `id` is the entry's own."""

    id: int
    key: Expr
    value: Expr
    optional: bool = False


class MapExpr(Struct, frozen=True):
    id: int
    entries: tuple[Entry, ...]


class FieldInit(Struct, frozen=True):
    id: int
    field: str
    value: Expr
    optional: bool = False


class StructExpr(Struct, frozen=True):
    """`pkg.Message{field: value}`."""

    id: int
    name: str
    fields: tuple[FieldInit, ...]


class Comprehension(Struct, frozen=True):
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


class Tree(Struct, frozen=True):
    """A parsed expression: macros expanded, `macro_calls` keeps what the user wrote, by the id of its expansion."""

    source: Source
    expr: Expr
    offsets: Mapping[int, int]  # node id -> offset of the code point where cel-go points at it
    macro_calls: Mapping[int, Expr] = field(default_factory=dict)


class Reference(Struct, frozen=True):
    """What a name or call turned out to mean: a (qualified) variable, an enum constant, or overloads."""

    name: str = ""
    overload_ids: tuple[str, ...] = ()
    value: Value = None  # of a constant
    is_constant: bool = False


class CheckedTree(Struct, frozen=True):
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
