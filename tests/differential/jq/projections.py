"""The law of reads: inputs that a query's reads cannot tell apart give the same outcome.

For an input, others are made that keep what the reads name: one with nothing else, one with more of everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.values.paths import Aspect, Where, project

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.jq import Program


def indistinguishable(program: Program, value: Any) -> Iterator[Any]:
    """Other inputs that every read of the program sees alike."""
    reads = program.reads
    if () in reads:
        return
    for other in (pruned(reads, value), noisy(reads, value)):
        if other != value and all(project(value, path) == project(other, path) for path in reads):
            yield other


def pruned(reads: Iterable[tuple[Any, ...]], value: Any) -> Any:
    """Only what the paths lead to; where an array has to keep its places, null stands for the others."""
    paths = list(reads)
    if any(not path or isinstance(path[0], Where) for path in paths):
        return value
    if isinstance(value, dict):
        return {
            key: pruned(inner, item)
            for key, item in value.items()
            if (inner := [path[1:] for path in paths if path[0] == key])
        }
    if isinstance(value, list):
        named = [path[0] for path in paths if type(path[0]) is int]
        return [
            pruned([path[1:] for path in paths if path[0] == at], item) if at in named else None
            for at, item in enumerate(value[: max(named, default=-1) + 1])
        ]
    return value


def noisy(reads: Iterable[tuple[Any, ...]], value: Any) -> Any:
    """As it is, with more fields in every object that is not read whole, and other values where nothing looks."""
    paths = list(reads)
    if any(not path or isinstance(path[0], Where) for path in paths):
        return value
    if not paths:
        return [value, "noise"]
    if isinstance(value, dict):
        noise = {name: {"noise": 1} for name in ("AA", "zz") if name not in value and not _names(paths, name)}
        return {
            **{key: noisy([path[1:] for path in paths if path[0] == key], item) for key, item in value.items()},
            **noise,
        }
    if isinstance(value, list):
        items = [noisy([path[1:] for path in paths if path[0] == at], item) for at, item in enumerate(value)]
        largest = max((path[0] for path in paths if type(path[0]) is int), default=-1)
        return items if largest >= len(items) else [*items, "noise"]
    return value


def _names(paths: list[tuple[Any, ...]], name: str) -> bool:
    return any(not isinstance(path[0], Aspect) and path[0] == name for path in paths)
