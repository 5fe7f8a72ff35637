"""The part of the plain evaluator that needs no generators: nodes with exactly one output that call no function.

The resolver marks them as `simple`. rules.py and everything above it build on this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from muster.jq import error_texts as texts
from muster.jq.budgets import OBJECT_CELLS, Meter
from muster.jq.resolving import resolved as r
from muster.jq.values.indexing import index, slice_of
from muster.jq.values.value import Value

Env: TypeAlias = Mapping[int, Value]
"""Values of variables, closures of parameters and identities of labels, by slot."""


def truthy(value: Value) -> bool:
    return value is not None and value is not False


class SimpleEvaluator:
    """Computes simple nodes at once."""

    def __init__(self, meter: Meter, record: Callable[[r.Node, Value], None] | None = None) -> None:
        self.meter = meter
        self.record = record

    def one(self, node: r.Node, env: Env, value: Value) -> Value:
        meter = self.meter
        meter.steps -= 1
        if meter.steps < 0:
            meter.refill()
        result = _ONES[type(node)](self, node, env, value)
        if self.record is not None:
            self.record(node, result)
        return result

    def one_index(self, node: r.Index, env: Env, value: Value) -> Value:
        key = self.one(node.key, env, value)
        return index(self.meter, self.one(node.target, env, value), key)

    def one_slice(self, node: r.Slice, env: Env, value: Value) -> Value:
        start = self.one(node.start, env, value)
        end = self.one(node.end, env, value)
        return slice_of(self.meter, self.one(node.target, env, value), start, end)

    def one_pipe(self, node: r.Pipe, env: Env, value: Value) -> Value:
        for part in node.parts:
            value = self.one(part, env, value)
        return value

    def one_logic(self, node: r.Logic, env: Env, value: Value) -> bool:
        for part in node.parts:
            if truthy(self.one(part, env, value)) != node.conjunction:
                return not node.conjunction
        return node.conjunction

    def one_if(self, node: r.If, env: Env, value: Value) -> Value:
        chosen = node.then if truthy(self.one(node.condition, env, value)) else node.otherwise
        return self.one(chosen, env, value)

    def one_object(self, node: r.MakeObject, env: Env, value: Value) -> dict[str, Value]:
        pairs = []
        for key_node, value_node in node.entries:
            key = self.one(key_node, env, value)
            item = index(self.meter, value, key) if value_node is None else self.one(value_node, env, value)
            pairs.append((key, item))
        return self.made(pairs)

    def made(self, pairs: list[tuple[Value, Value]]) -> dict[str, Value]:
        self.meter.grow(OBJECT_CELLS + 2 * len(pairs))
        for key, _ in reversed(pairs):
            if type(key) is not str:
                raise texts.key_not_string(self.meter, key)
        return dict(pairs)

    def one_native(self, node: r.Native, env: Env, value: Value) -> Value:
        args = [self.one(argument, env, value) for argument in reversed(node.args)]
        return node.function(self.meter, value, *reversed(args))


_ONES: Mapping[type, Callable[..., Any]] = {
    r.Identity: lambda _self, _node, _env, value: value,
    r.Const: lambda _self, node, _env, _value: node.value,
    r.Variable: lambda _self, node, env, _value: env[node.slot],
    r.Index: SimpleEvaluator.one_index,
    r.Slice: SimpleEvaluator.one_slice,
    r.Pipe: SimpleEvaluator.one_pipe,
    r.Logic: SimpleEvaluator.one_logic,
    r.If: SimpleEvaluator.one_if,
    r.MakeObject: SimpleEvaluator.one_object,
    r.Native: SimpleEvaluator.one_native,
}
