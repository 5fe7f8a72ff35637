"""Deep trees without deep Python stacks: a recursive walk written as generators, run with a stack of its own.

A walk yields the walk of a child and gets its result back: `left = yield self.walk(node.left)`. The parser,
the checker and the unparser use it, because a legal expression may nest deeper than Python's own stack allows.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from muster.cel.values.value import Value

Result = TypeVar("Result")

Walk = Generator["Walk[Any]", Value, Result]


def finished(result: Result) -> Walk[Result]:
    """A walk that has nothing to visit."""
    yield from ()
    return result


def run(walk: Walk[Result]) -> Result:
    """The result of the outermost walk. An exception travels outwards through the walks as it would through calls."""
    stack: list[Walk[Value]] = [walk]
    value: Value = None
    error: BaseException | None = None
    while stack:
        try:
            if error is None:
                child = stack[-1].send(value)
            else:
                raised, error = error, None
                child = stack[-1].throw(raised)
        except StopIteration as finished:
            stack.pop()
            value = finished.value
        except BaseException as raised:
            stack.pop()
            error = raised
        else:
            stack.append(child)
            value = None
    if error is not None:
        raise error
    result: Result = value
    return result
