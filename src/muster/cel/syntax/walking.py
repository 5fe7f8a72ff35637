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
_SHALLOW = 24  # levels that are walked by plain calls, which is quicker; most expressions have fewer


class _Finished:
    """What stands for the walk of a node that has nothing below it; much of a tree are such nodes."""

    __slots__ = ("result",)

    def __init__(self, result: Value) -> None:
        self.result = result


def finished(result: Result) -> Walk[Result]:
    """A walk that has nothing to visit."""
    return _Finished(result)  # type: ignore[return-value]  # only `run` sees it, and knows


def run(walk: Walk[Result]) -> Result:
    """The result of the outermost walk. An exception travels outwards through the walks as it would through calls."""
    start: Value = walk
    result: Result = start.result if start.__class__ is _Finished else _called(walk, _SHALLOW)
    return result


def _called(walk: Walk[Result], room: int) -> Result:
    """A walk whose children are calls of this function, as long as there is room for more of them."""
    if not room:
        return _stacked(walk)
    room -= 1
    try:
        child: Value = walk.send(None)
        while True:
            if child.__class__ is _Finished:
                child = walk.send(child.result)
                continue
            try:
                value = _called(child, room)
            except BaseException as raised:
                child = walk.throw(raised)
            else:
                child = walk.send(value)
    except StopIteration as ended:
        result: Result = ended.value
        return result


def _stacked(walk: Walk[Result]) -> Result:
    """A walk of any depth, with a stack of its own."""
    stack: list[Walk[Value]] = [walk]
    value: Value = None
    error: BaseException | None = None
    while stack:
        try:
            if error is None:
                child: Value = stack[-1].send(value)
            else:
                raised, error = error, None
                child = stack[-1].throw(raised)
        except StopIteration as ended:
            stack.pop()
            value = ended.value
        except BaseException as raised:
            stack.pop()
            error = raised
        else:
            if child.__class__ is _Finished:
                value = child.result
            else:
                stack.append(child)
                value = None
    if error is not None:
        raise error
    result: Result = value
    return result
