"""What becomes of expressions with another version of Kubernetes: whether they compile, what they cost and say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.cel.costs.ranges import MAX
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.expression_tests.tables import Table


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it was; `breaks` if somebody has to do something."""

    place: str
    text: str
    breaks: bool


def differences(read: Callable[[str], Table], before: str, after: str) -> Iterator[Difference]:
    """What is different between two versions for what `read` reads. Cases are run in both, where there are any."""
    old, old_fault = _read(read, before)
    new, new_fault = _read(read, after)
    if old is None or new is None:
        if old_fault != new_fault:
            if new is None:
                yield Difference(new_fault[0], f"does not compile with {after}: {new_fault[1]}", breaks=True)
            else:
                yield Difference(
                    old_fault[0], f"compiles with {after}, not with {before}: {old_fault[1]}", breaks=False
                )
        return
    for was, now in zip(old.subject.expressions, new.subject.expressions, strict=True):
        if was.program.result_type != now.program.result_type:
            text = f"has type {now.program.result_type} with {after}, {was.program.result_type} with {before}"
            yield Difference(was.place, text, breaks=False)
        most, most_now = was.program.estimate().max, now.program.estimate().max
        if most != most_now:
            text = f"may cost {_cost(most_now)} with {after}, {_cost(most)} with {before}"
            yield Difference(was.place, text, breaks=False)
    for ran, runs in zip(old.run(), new.run(), strict=True):
        if ran.found != runs.found:
            text = f"{runs.found or runs.problem} with {after}, {ran.found or ran.problem} with {before}"
            yield Difference(f"{ran.table}: {ran.name}", text, breaks=True)


def _cost(most: int) -> str:
    return "without a bound" if most >= MAX else f"{most:,}"


def _read(read: Callable[[str], Table], version: str) -> tuple[Table | None, tuple[str, str]]:
    try:
        return read(version), ("", "")
    except InvalidObjectError as error:
        return None, (error.path, error.reason)
