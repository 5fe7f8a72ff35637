"""What generated code calls beside values.py: loops with a stack of their own, the door to the reference evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.jq import texts
from muster.jq.reference import Evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from muster.jq import resolved as r
    from muster.jq.budgets import Meter
    from muster.jq.direct import Env


class Missing:
    """No output, where an output is expected in one variable."""


MISSING = Missing()


def evaluate(meter: Meter, node: r.Node, env: Env, value: Any) -> Iterator[Any]:
    """Outputs of a node that is not written out: recursion, assignments to computed paths, alternatives of patterns."""
    return Evaluator(meter).outputs(node, env, value)


def evaluate_paths(meter: Meter, node: r.Node, env: Env, value: Any) -> Iterator[list[Any]]:
    return Evaluator(meter).paths(node, env, value)


def recurse_all(meter: Meter, value: Any) -> Iterator[Any]:
    """`..` in its order: a value before its parts."""
    stack = [value]
    while stack:
        value = stack.pop()
        yield value
        kind = type(value)
        if kind is list:
            items = value[::-1]
        elif kind is dict:
            items = [value[key] for key in sorted(value, reverse=True)]
        else:
            continue
        meter.steps -= len(items)
        if meter.steps < 0:
            meter.refill()
        stack += items


def recurse_by(meter: Meter, value: Any, following: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
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


def string_key(key: Any) -> str:
    if type(key) is not str:
        raise texts.key_not_string(key)
    return key


def array_or_null(value: Any) -> Any:
    """For array patterns, which take nothing else apart."""
    if value is not None and type(value) is not list:
        raise texts.expected_array(value)
    return value
