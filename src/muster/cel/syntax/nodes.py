"""Making the nodes of a tree: ids, offsets, literals, macro expansion and the errors found on the way.

The parser and the recovery from syntax errors build trees through a `Builder`, and macros make their nodes with it.
It knows nothing of tokens or grammar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from muster.cel.costs.compile_budget import PER_NODE, CompileBudgetSpentError
from muster.cel.syntax.tree import (
    Call,
    Comprehension,
    Entry,
    Expr,
    FieldInit,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
)
from muster.cel.syntax.walking import Walk, run
from muster.source import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.compile_budget import CompileBudget
    from muster.cel.environment import Env

ACCUMULATOR = "@result"
UNKNOWN = object()
"""The value of the literal that stands where something could not be understood; such trees are never returned."""

RESERVED = frozenset(
    "as break const continue else false for function if import in let loop package namespace null return true var void while".split()  # noqa: E501, SIM905 - the list reads best in one line
)


MAX_DIAGNOSTICS = 100  # each is shown with its line, and a hostile text has one for every few characters


def reported(diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """As cel-go lists them: the first hundred that were found, by place, those without a place first."""
    shown = sorted(
        diagnostics[:MAX_DIAGNOSTICS],
        key=lambda diagnostic: -1 if diagnostic.offset is None else diagnostic.offset,
    )
    if len(diagnostics) > MAX_DIAGNOSTICS:
        shown.append(Diagnostic(f"{len(diagnostics) - MAX_DIAGNOSTICS} more errors were truncated"))
    return shown


class MacroError(Exception):
    """A macro refuses its arguments; the builder turns it into a diagnostic."""

    def __init__(self, node_id: int, message: str) -> None:
        self.node_id = node_id
        self.message = message
        super().__init__(message)


class Builder:
    """Collects ids, offsets, macro calls and diagnostics while one tree is made."""

    def __init__(self, env: Env, budget: CompileBudget) -> None:
        self.env = env
        self.budget = budget
        self.offsets: dict[int, int] = {}
        self.macro_calls: dict[int, Expr] = {}
        self.diagnostics: list[Diagnostic] = []
        self._next_id = 1
        self._macro_offset = 0

    # Ids and errors.

    def id_at(self, offset: int) -> int:
        budget = self.budget
        budget.left -= PER_NODE
        if budget.left < 0:
            raise CompileBudgetSpentError
        node_id = self._next_id
        self._next_id = node_id + 1
        self.offsets[node_id] = offset
        return node_id

    def report(self, offset: int | None, message: str) -> Expr:
        """Record an error; the node stands for what could not be understood."""
        self.diagnostics.append(Diagnostic(message, offset))
        return self.unknown(offset or 0)

    def unknown(self, offset: int) -> Expr:
        return Literal(self.id_at(offset), UNKNOWN)

    # Calls, which may be macros.

    def call(self, node_id: int, function: str, args: tuple[Expr, ...]) -> Expr:
        expanded = self._expanded(node_id, function, None, args)
        return Call(node_id, function, args) if expanded is None else expanded

    def member_call(self, node_id: int, function: str, target: Expr, args: tuple[Expr, ...]) -> Expr:
        expanded = self._expanded(node_id, function, target, args)
        return Call(node_id, function, args, target) if expanded is None else expanded

    def _expanded(self, node_id: int, function: str, target: Expr | None, args: tuple[Expr, ...]) -> Expr | None:
        macro = self.env.macro(function, target is not None, len(args))
        if macro is None:
            return None
        outer, self._macro_offset = self._macro_offset, self.offsets[node_id]
        try:
            expanded: Expr | None = macro.expand(self, target, args)
        except MacroError as error:
            return self.report(self.offsets[error.node_id], error.message)
        finally:
            self._macro_offset = outer
        if expanded is not None:
            self.macro_calls[expanded.id] = Call(0, function, args, target)
        return expanded

    def logic(self, function: str, terms: Sequence[Expr], operator_ids: Sequence[int]) -> Expr:
        """A chain of `&&` or `||` as a balanced tree, so that long chains stay shallow."""
        if self.env.options.variadic_logic:
            return Call(operator_ids[0], function, tuple(terms))
        return self._balanced(function, terms, operator_ids, 0, len(operator_ids) - 1)

    def _balanced(self, function: str, terms: Sequence[Expr], operator_ids: Sequence[int], low: int, high: int) -> Expr:
        middle = (low + high + 1) // 2
        left = terms[middle] if middle == low else self._balanced(function, terms, operator_ids, low, middle - 1)
        right = terms[middle + 1] if middle == high else self._balanced(function, terms, operator_ids, middle + 1, high)
        return Call(operator_ids[middle], function, (left, right))

    # What macros make: every node has a fresh id at the place of the macro call.

    def error(self, node: Expr, message: str) -> MacroError:
        return MacroError(node.id, message)

    def _macro_id(self) -> int:
        return self.id_at(self._macro_offset)

    def new_literal(self, value: object) -> Expr:
        return Literal(self._macro_id(), value)

    def new_ident(self, name: str) -> Expr:
        return Ident(self._macro_id(), name)

    def new_accumulator(self) -> Expr:
        return Ident(self._macro_id(), ACCUMULATOR)

    def new_list(self, *elements: Expr) -> Expr:
        return ListExpr(self._macro_id(), elements)

    def new_map(self) -> Expr:
        return MapExpr(self._macro_id(), ())

    def new_call(self, function: str, *args: Expr) -> Expr:
        return Call(self._macro_id(), function, args)

    def new_member_call(self, function: str, target: Expr, *args: Expr) -> Expr:
        return Call(self._macro_id(), function, args, target)

    def new_presence_test(self, operand: Expr, field: str) -> Expr:
        return Select(self._macro_id(), operand, field, test_only=True)

    def new_fold(
        self,
        iter_range: Expr,
        variables: tuple[str, str],
        accumulator: tuple[str, Expr],
        condition: Expr,
        step: Expr,
        result: Expr,
    ) -> Expr:
        """A comprehension; the second variable is empty in the one-variable form."""
        return Comprehension(
            self._macro_id(), iter_range, variables[0], variables[1], *accumulator, condition, step, result
        )

    def copy(self, expr: Expr) -> Expr:
        """The same expression with fresh ids, all charged: an expansion that uses an argument twice needs it."""
        return run(self._copied(expr))

    def _copied(self, expr: Expr) -> Walk[Expr]:
        node_id = self.id_at(self.offsets[expr.id])
        made: Expr
        match expr:
            case Literal() | Ident():
                made = replace(expr, id=node_id)
            case Select(operand=operand):
                made = replace(expr, id=node_id, operand=(yield self._copied(operand)))
            case Call(args=args, target=target):
                new_target = None if target is None else (yield self._copied(target))
                new_args = []
                for argument in args:
                    new_args.append((yield self._copied(argument)))  # noqa: PERF401 - a comprehension cannot yield
                made = replace(expr, id=node_id, target=new_target, args=tuple(new_args))
            case ListExpr(elements=elements):
                new_elements = []
                for element in elements:
                    new_elements.append((yield self._copied(element)))  # noqa: PERF401 - as above
                made = replace(expr, id=node_id, elements=tuple(new_elements))
            case MapExpr(entries=entries):
                new_entries = []
                for entry in entries:
                    key = yield self._copied(entry.key)
                    value = yield self._copied(entry.value)
                    new_entries.append(Entry(self.id_at(self.offsets[entry.id]), key, value, entry.optional))
                made = MapExpr(node_id, tuple(new_entries))
            case StructExpr(fields=fields):
                new_fields = []
                for item in fields:
                    value = yield self._copied(item.value)
                    new_fields.append(FieldInit(self.id_at(self.offsets[item.id]), item.field, value, item.optional))
                made = replace(expr, id=node_id, fields=tuple(new_fields))
            case Comprehension():
                made = replace(
                    expr,
                    id=node_id,
                    iter_range=(yield self._copied(expr.iter_range)),
                    accu_init=(yield self._copied(expr.accu_init)),
                    loop_condition=(yield self._copied(expr.loop_condition)),
                    loop_step=(yield self._copied(expr.loop_step)),
                    result=(yield self._copied(expr.result)),
                )
        if expr.id in self.macro_calls:
            self.macro_calls[node_id] = self.macro_calls[expr.id]
        return made
