"""Runs as tables in Markdown: median and spread of what was measured, and in bold what misses its goal."""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.serving.jobs import Run


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that is read off a run: what it is called, and the most or the least of it that is wanted."""

    title: str
    of: Callable[[Run], float]
    digits: int = 0
    most: float | None = None
    least: float | None = None

    def missed(self, value: float) -> bool:
        return (self.most is not None and value > self.most) or (self.least is not None and value < self.least)

    @property
    def goal(self) -> str:
        if self.most is not None:
            return f"≤ {self.most:,g}"
        return "" if self.least is None else f"≥ {self.least:,g}"


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The median, and the least and the most."""
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def cell(measure: Measure, runs: Sequence[Run], *, ours: bool) -> str:
    values = [measure.of(run) for run in runs]
    text = spread(values, measure.digits)
    return f"**{text}**" if ours and measure.missed(statistics.median(values)) else text


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def header(*titles: str) -> str:
    return row(*titles) + "\n" + "|" + "---|" * len(titles)


def load() -> str:
    return " ".join(f"{each:.1f}" for each in os.getloadavg())
