"""What an expression may cost at least and at most, computed from the checked tree before anything runs.

The rules and numbers are those of cel-go's estimator. Sizes of inputs are asked for by path (`SizeHints`); what calls
cost is declared beside their functions (see charging.py). Used at admission, and shown by `muster cel`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muster.cel.checking.types import DYN, Kind
from muster.cel.costs.operands import CallEstimate, Operand, no_hints
from muster.cel.costs.ranges import EMPTY, ONE, UNKNOWN, ZERO, Range, exactly
from muster.cel.costs.runtime import LIST, MAP, SELECT, STRUCT
from muster.cel.syntax.tree import Call, Comprehension, Expr, Ident, ListExpr, Literal, MapExpr, Select, StructExpr
from muster.cel.syntax.walking import Walk, run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.costs.charging import Charging
    from muster.cel.costs.operands import SizeHints, SizePath
    from muster.cel.environment import Env
    from muster.cel.syntax.tree import CheckedTree

_ACCUMULATORS = frozenset({"__result__", "@result"})
_SCALARS = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})
_SELECTABLE = frozenset({Kind.MAP, Kind.STRUCT, Kind.TYPE_PARAM})
_CONCATENATIONS = frozenset({"add_string", "add_bytes", "add_list"})


class _Entries(NamedTuple):
    """The sizes of the keys (or indexes) and values of a container."""

    is_list: bool
    key: Range
    value: Range


class _LocalVariable(NamedTuple):
    path: SizePath
    size: Range | None
    entries: _Entries | None


def estimate_cost(tree: CheckedTree, env: Env, charging: Charging, hints: SizeHints = no_hints) -> Range:
    """The least and greatest cost."""
    return run(_Estimator(tree, env, charging, hints).cost(tree.expr))


def part_costs(tree: CheckedTree, env: Env, charging: Charging, hints: SizeHints = no_hints) -> Mapping[int, Range]:
    """The least and greatest cost of every node, by its id; inside of a comprehension, of one round."""
    estimator = _PartEstimator(tree, env, charging, hints)
    run(estimator.cost(tree.expr))
    return estimator.costs


class _Estimator:
    """One walk, with what has been learnt about paths and sizes on the way."""

    def __init__(self, tree: CheckedTree, env: Env, charging: Charging, hints: SizeHints) -> None:
        self.tree = tree
        self.functions = env.functions
        self.charging = charging
        self.hints = hints
        self.paths: dict[int, SizePath] = {}
        self.sizes: dict[int, Range] = {}
        self.entries: dict[int, _Entries] = {}
        self.locals: dict[str, list[_LocalVariable]] = {}

    def cost(self, expr: Expr) -> Walk[Range]:
        match expr:
            case Literal():
                return ZERO
            case Ident():
                local = self._local(expr.name)
                self.paths[expr.id] = local.path if local else (expr.name,)
                return exactly(SELECT)
            case Select():
                return (yield from self._select(expr))
            case Call():
                return (yield from self._call(expr))
            case ListExpr():
                return (yield from self._list(expr))
            case MapExpr():
                return (yield from self._map(expr))
            case StructExpr():
                total = exactly(STRUCT)
                for init in expr.fields:
                    total = total.plus((yield self.cost(init.value)))
                return total
            case Comprehension():
                return (yield from self._bind(expr) if _is_bind(expr) else self._comprehension(expr))

    # --- what is known of a node

    def _type(self, expr: Expr) -> Type:
        return self.tree.types.get(expr.id, DYN)

    def _local(self, name: str) -> _LocalVariable | None:
        stack = self.locals.get(name)
        return stack[-1] if stack else None

    def _path(self, expr: Expr) -> SizePath:
        if isinstance(expr, Ident) and (local := self._local(expr.name)):
            return local.path
        return self.paths.get(expr.id, ())

    def _size(self, expr: Expr) -> Range | None:
        if expr.id in self.sizes:
            return self.sizes[expr.id]
        literal = _literal_size(expr)
        if literal is not None:
            return literal
        hint = self.hints(self._path(expr), self._type(expr))
        if hint is not None:
            self.sizes[expr.id] = hint
            return hint
        if _is_scalar(self._type(expr)):
            return ONE
        if isinstance(expr, Ident) and (local := self._local(expr.name)):
            return local.size
        return None

    def _entries(self, expr: Expr) -> _Entries | None:
        if expr.id in self.entries:
            return self.entries[expr.id]
        if isinstance(expr, Ident) and (local := self._local(expr.name)):
            return local.entries
        return None

    def _operand(self, expr: Expr) -> Operand:
        path = self._path(expr)
        if path and path[0] in _ACCUMULATORS:
            path = ()
        return Operand(path, self._type(expr), self._size(expr), expr, self.hints)

    def _copy(self, to: Expr, source: Expr) -> None:
        size, entries = self._size(source), self._entries(source)
        if size is not None:
            self.sizes[to.id] = size
        if entries is not None:
            self.entries[to.id] = entries

    # --- nodes

    def _select(self, expr: Select) -> Walk[Range]:
        operand: Range = yield self.cost(expr.operand)
        if expr.test_only:
            return exactly(self.charging.presence_test).plus(operand)
        self.paths[expr.id] = (*self._path(expr.operand), expr.field)
        if self._type(expr.operand).kind in _SELECTABLE:
            return operand.plus(exactly(SELECT))
        return operand

    def _list(self, expr: ListExpr) -> Walk[Range]:
        total = exactly(LIST)
        items = EMPTY if expr.elements else ZERO
        for element in expr.elements:
            total = total.plus((yield self.cost(element)))
            items = items.union(self._size(element) or UNKNOWN)
        self.entries[expr.id] = _Entries(True, ONE, items)
        return total

    def _map(self, expr: MapExpr) -> Walk[Range]:
        total = exactly(MAP)
        keys = values = EMPTY if expr.entries else ZERO
        for entry in expr.entries:
            total = total.plus((yield self.cost(entry.key)))
            total = total.plus((yield self.cost(entry.value)))
            keys = keys.union(self._size(entry.key) or UNKNOWN)
            values = values.union(self._size(entry.value) or UNKNOWN)
        self.entries[expr.id] = _Entries(False, keys, values)
        return total

    def _call(self, expr: Call) -> Walk[Range]:
        if expr.function == "dyn" and expr.target is None:
            inner: Range = yield self.cost(expr.args[0])
            self._copy(expr, expr.args[0])
            return inner.plus(ONE)
        costs: list[Range] = []
        operands: list[Operand] = []
        for arg in expr.args:
            costs.append((yield self.cost(arg)))
            operands.append(self._operand(arg))
        reference = self.tree.references.get(expr.id)
        if reference is None or not reference.overload_ids:
            return ZERO
        total: Range = ZERO
        target: Operand | None = None
        if expr.target is not None:
            total = yield self.cost(expr.target)
            target = self._operand(expr.target)
        call_cost = EMPTY
        size: Range | None = None
        for overload_id in reference.overload_ids:
            estimate = self._function(expr, overload_id, target, tuple(operands), costs)
            call_cost = call_cost.union(estimate.cost)
            if estimate.size is not None:
                size = estimate.size if size is None else size.union(estimate.size)
            if overload_id in {"index_list", "index_map"} and expr.args:
                entries = self._entries(expr.args[0])
                size = entries.value if entries is not None else None
                step = "@items" if overload_id == "index_list" else "@values"
                self.paths[expr.id] = (*self._path(expr.args[0]), step)
            if size is None:
                size = self._size(expr)
        if size is not None:
            self.sizes[expr.id] = size
        return total.plus(call_cost)

    def _function(
        self, expr: Call, overload_id: str, target: Operand | None, args: tuple[Operand, ...], costs: list[Range]
    ) -> CallEstimate:
        own = self._control(expr, overload_id, args, costs)
        if own is not None:
            return own
        of_args = ZERO
        for cost in costs:
            of_args = of_args.plus(cost)
        for formula in self.charging.estimates(self.functions.get(expr.function), overload_id):
            known = formula(target, args)
            if known is not None:
                if overload_id in _CONCATENATIONS:
                    self._union_entries(expr, args)
                return CallEstimate(known.cost.plus(of_args), known.size)
        return CallEstimate(ONE.plus(of_args))

    def _control(
        self, expr: Call, overload_id: str, args: tuple[Operand, ...], costs: list[Range]
    ) -> CallEstimate | None:
        """Operators that do not evaluate all of their operands."""
        if overload_id in {"logical_and", "logical_or"}:
            left, right = costs[0], costs[1]
            return CallEstimate(Range(left.min, left.plus(right).max))
        if overload_id == "conditional":
            size = (args[1].size or UNKNOWN).union(args[2].size or UNKNOWN)
            self._union_entries(expr, args[1:])
            return CallEstimate(costs[0].plus(costs[1].union(costs[2])), size)
        return None

    def _union_entries(self, expr: Call, args: tuple[Operand, ...]) -> None:
        first, second = (self._entries(arg.expr) if arg.expr is not None else None for arg in args[:2])
        if first is not None and second is not None:
            self.entries[expr.id] = _Entries(
                first.is_list, first.key.union(second.key), first.value.union(second.value)
            )

    # --- comprehensions

    def _comprehension(self, expr: Comprehension) -> Walk[Range]:
        over: Range = yield self.cost(expr.iter_range)
        total = over.plus((yield self.cost(expr.accu_init)))
        self._push(
            expr.accu_var,
            _LocalVariable(self._path(expr.accu_init), self._size(expr.accu_init), self._entries(expr.accu_init)),
        )
        if expr.iter_var2:
            self._push(expr.iter_var, self._iterated(expr.iter_range, "key"))
            self._push(expr.iter_var2, self._iterated(expr.iter_range, "value"))
        else:
            self._push(expr.iter_var, self._iterated(expr.iter_range, "single"))
        loop = yield self.cost(expr.loop_condition)
        step = yield self.cost(expr.loop_step)
        self.locals[expr.iter_var].pop()
        if expr.iter_var2:
            self.locals[expr.iter_var2].pop()
        total = total.plus((yield self.cost(expr.result)))
        self.locals[expr.accu_var].pop()
        count = self._size(expr.iter_range) or UNKNOWN
        total = total.plus(count.times(step.plus(loop)))
        match expr.accu_init:
            case Literal():
                size = self._size(expr.accu_init)
                if size is not None:
                    self.sizes[expr.id] = size
            case ListExpr() | MapExpr():
                self.sizes[expr.id] = count
                entries = self._entries(expr.loop_step)
                if entries is not None:
                    self.entries[expr.id] = entries
        return total

    def _bind(self, expr: Comprehension) -> Walk[Range]:
        over: Range = yield self.cost(expr.iter_range)
        total = over.plus((yield self.cost(expr.accu_init)))
        self._push(
            expr.accu_var,
            _LocalVariable(self._path(expr.accu_init), self._size(expr.accu_init), self._entries(expr.accu_init)),
        )
        total = total.plus((yield self.cost(expr.result)))
        self.locals[expr.accu_var].pop()
        self._copy(expr, expr.result)
        return total

    def _push(self, name: str, variable: _LocalVariable) -> None:
        self.locals.setdefault(name, []).append(variable)

    def _iterated(self, over: Expr, part: str) -> _LocalVariable:
        """The loop variable: a list gives items (and indices), a map keys (and values)."""
        entries = self._entries(over)
        is_list = entries.is_list if entries is not None else self._type(over).kind is Kind.LIST
        size: Range | None = None
        if part == "value" or (part == "single" and is_list):
            step = "@items" if is_list else "@values"
            size = entries.value if entries is not None else None
        else:
            step = "@indices" if is_list else "@keys"
            size = entries.key if entries is not None else None
        return _LocalVariable((*self._path(over), step), size, None)


class _PartEstimator(_Estimator):
    """The same walk, which keeps what each node came to."""

    def __init__(self, tree: CheckedTree, env: Env, charging: Charging, hints: SizeHints) -> None:
        super().__init__(tree, env, charging, hints)
        self.costs: dict[int, Range] = {}

    def cost(self, expr: Expr) -> Walk[Range]:
        found: Range = yield from super().cost(expr)
        self.costs[expr.id] = found
        return found


def _is_bind(expr: Comprehension) -> bool:
    empty = isinstance(expr.iter_range, ListExpr) and not expr.iter_range.elements
    never = isinstance(expr.loop_condition, Literal) and expr.loop_condition.value is False
    return empty and never and expr.accu_var != "__result__"


def _literal_size(expr: Expr) -> Range | None:
    match expr:
        case Literal(value=str() | bytes() as text):
            return exactly(len(text))
        case Literal():
            return ONE
        case ListExpr():
            return exactly(len(expr.elements))
        case MapExpr():
            return exactly(len(expr.entries))
        case _:
            return None


def _is_scalar(checked: Type) -> bool:
    while checked.kind is Kind.WRAPPER or (checked.kind is Kind.OPAQUE and checked.name == "optional_type"):
        checked = checked.params[0]
    return checked.kind in _SCALARS
