"""What generated code calls beside values/: loops with a stack of their own, and the reference evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.running.reference import Evaluator
from muster.jq.values.indexing import members
from muster.jq.values.ordering import sorted_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from muster.jq.budgets import Meter
    from muster.jq.resolving import resolved as r
    from muster.jq.running.single_output import Env
    from muster.jq.values.value import Value


class Missing:
    """No output, where an output is expected in one variable."""


MISSING = Missing()


def evaluate(meter: Meter, node: r.Node, env: Env, value: Value) -> Iterator[Value]:
    """Outputs of a node that is not written out: recursion, assignments to computed paths, alternatives of patterns."""
    return Evaluator(meter).outputs(node, env, value)


def evaluate_paths(meter: Meter, node: r.Node, env: Env, value: Value) -> Iterator[list[Value]]:
    return Evaluator(meter).paths(node, env, value)


def recurse_all(meter: Meter, value: Value) -> Iterator[Value]:
    """`..` in its order: a value before its parts."""
    stack = [value]
    while stack:
        value = stack.pop()
        yield value
        kind = type(value)
        if kind is not list and kind is not dict:
            continue
        meter.steps -= len(value)
        if meter.steps < 0:
            meter.refill()
        stack += members(meter, value)[::-1]


def recurse_by(meter: Meter, value: Value, following: Callable[[Value], Iterable[Value]]) -> Iterator[Value]:
    """`recurse(f)`: every value before what follows from it."""
    yield value
    deepest = meter.limits.depth
    stack = [iter(following(value))]
    while stack:
        meter.steps -= 1
        if meter.steps < 0:
            meter.refill()
        for value in stack[-1]:
            yield value
            if len(stack) >= deepest:
                meter.exceeded("depth")
            stack.append(iter(following(value)))
            break
        else:
            stack.pop()


def string_key(meter: Meter, key: Value) -> str:
    if type(key) is not str:
        raise texts.key_not_string(meter, key)
    return key


def array_or_null(meter: Meter, value: Value) -> Value:
    """For array patterns, which take nothing else apart."""
    if value is not None and type(value) is not list:
        raise texts.expected_array(meter, value)
    return value


def sorted_items(meter: Meter, value: dict[str, Value]) -> list[tuple[str, Value]]:
    """An object's fields in the order of their keys."""
    return [(key, value[key]) for key in sorted_keys(meter, value)]


def keyed(meter: Meter, value: dict[str, Value], made: list[Value]) -> dict[str, Value]:
    """New values under an object's keys, both in order."""
    return dict(zip(sorted_keys(meter, value), made, strict=True))
