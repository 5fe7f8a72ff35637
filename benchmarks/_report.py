"""Tables that can be pasted into docs/benchmarks.md: medians and spreads of several runs, missed goals in bold."""

from __future__ import annotations

import os
import statistics
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUNS = 3


def heading(command: str, about: str) -> None:
    """What was run, when, and how busy the machine was: above every table."""
    loads = " ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"\n`{command}`, {datetime.now(UTC):%d %B %Y}, load {loads}, {os.cpu_count()} CPUs. {about}\n", flush=True)


def measured(values: Sequence[float]) -> str:
    """The median and, in brackets, the least and the most; one value as it is.

    >>> measured([3.0, 1.0, 2.0])
    '2.0 (1.0 to 3.0)'
    >>> measured([3, 1, 2])
    '2 (1 to 3)'
    >>> measured([0.25])
    '0.25'
    """
    if not values:
        return "–"
    middle = statistics.median(values)
    is_count = all(isinstance(value, int) for value in values)
    places = (
        0 if is_count or middle >= 100 else 1 if middle >= 10 or middle == int(middle) else 2 if middle >= 0.1 else 3
    )
    if len(values) == 1:
        return f"{middle:,.{places}f}"
    return f"{middle:,.{places}f} ({min(values):,.{places}f} to {max(values):,.{places}f})"


def judged(values: Sequence[float], *, most: float | None = None, least: float | None = None) -> str:
    """As `measured`; in bold where the median misses its goal."""
    missed = bool(values) and (
        (most is not None and statistics.median(values) > most)
        or (least is not None and statistics.median(values) < least)
    )
    return f"**{measured(values)}**" if missed else measured(values)


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def header(*cells: str) -> None:
    row(*cells)
    print("|" + "---|" * len(cells), flush=True)


def figures(runs: Sequence[Mapping[str, float]], goals: Mapping[str, float]) -> None:
    """A row for each figure of the runs. A goal is the most that it may be."""
    header("median of three runs (spread)" if len(runs) == RUNS else f"runs: {len(runs)}", "measured", "goal")
    for name in runs[0]:
        goal = goals.get(name)
        row(name, judged([run[name] for run in runs], most=goal), "" if goal is None else f"{goal:,g}")


def matrix(runs: Sequence[Mapping[str, Mapping[str, float]]], goals: Mapping[str, float], corner: str = "") -> None:
    """A row for each case of the runs, a column for each of its figures. A goal is the most that a column may be."""
    columns = list(next(iter(runs[0].values())))
    header(corner, *columns)
    for case in runs[0]:
        row(case, *(judged([run[case][column] for run in runs], most=goals.get(column)) for column in columns))
    if goals:
        row("goal", *(f"{goals[column]:,g}" if column in goals else "" for column in columns))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all values do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]


def times(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    """How many times faster ours was, run by run."""
    return [their / our for their, our in zip(theirs, ours, strict=False)]
