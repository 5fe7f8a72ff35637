"""`make bench-check`: a minute of ratios, compared with those of the last commit (benchmarks/ratios.json).

A ratio says how many times faster ours is than a yardstick in the same run: what was there before, what anybody would
write first, or work that every program has to do. Both are measured in CPU time, in turns, the best of several passes,
so that a busy machine, or another one, moves it little. What is more than a quarter below its committed value is a
warning; ratios that are better are printed too. `--write` makes this run the committed one.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from benchmarks import fleet as fleets
from benchmarks.cel import EXPRESSIONS, cluster
from benchmarks.jq import QUERIES
from benchmarks.jq import agent as an_agent
from muster.cel import environment, make_program
from muster.errors import EvaluationError
from muster.fleet import Fleet, Score, ScoreTable
from muster.fleet.extraction import extractor
from muster.fleet.sections import Sections, find_sections
from muster.jq import compile_query
from muster.placement import decided
from muster.selectors.paths import claim_path, label_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.jq.program import Program

RATIOS = Path(__file__).parent / "ratios.json"
_WORST_LOSS = 0.25
_PASSES = 7
_CLUSTERS = 4000
_SCORES = 20_000


class Ratio(msgspec.Struct):
    """`ours` and `yardstick` are seconds of CPU; `times` is how often ours fits into the yardstick."""

    name: str
    ours: float
    yardstick: float

    @property
    def times(self) -> float:
        return self.yardstick / self.ours


def best(*works: Callable[[], object]) -> list[float]:
    """Seconds of CPU of each, the least of several passes, in turns."""
    least = [float("inf")] * len(works)
    for _ in range(_PASSES):
        for at, work in enumerate(works):
            started = time.process_time()
            work()
            least[at] = min(least[at], time.process_time() - started)
    return least


def columns() -> Iterator[Ratio]:
    """Columns from sections, against columns from whole objects, which is how they were filled before."""
    encoded = list(fleets.clusters(_CLUSTERS))
    rows = np.arange(len(encoded))
    sections = Sections()
    for each in encoded:
        sections.append(find_sections(each))
    for name, path in (("label", label_path("version")), ("claim", claim_path("id.k8s.io"))):
        read, whole = partial(sections.reader(path), rows, encoded), partial(extractor(path), encoded)
        assert read() == whole()
        yield Ratio(f"column of a {name}, against whole objects", *best(read, whole))


def schedules() -> Iterator[Ratio]:
    """A schedule over columns that are there, against every predicate on every cluster."""
    fleet = Fleet()
    fleet.put_many(fleets.clusters(_CLUSTERS))
    nothing = decided(fleet, (), {})
    for name, expression in (("label regex", fleets.LABEL_REGEX), ("claims.exists", fleets.CLAIM_REGEX)):
        placement = fleets.a_placement("p", expression)
        fleets.scheduled(fleet, placement)
        ours, naive = best(
            lambda: fleets.scheduled(fleet, placement, nothing),  # noqa: B023
            lambda: fleets.naive(fleet, placement),  # noqa: B023
        )
        yield Ratio(f"schedule over {name}, against cluster by cluster", ours, naive)


def expiry() -> Iterator[Ratio]:
    """What the loop does every second about scores of which none ends, against a look at each of them."""
    start = datetime(2026, 11, 1, tzinfo=UTC)
    table, clock = ScoreTable(), iter(range(10**6))
    table.advance(start)
    scores = [Score((), start + timedelta(days=1, seconds=each)) for each in range(_SCORES)]
    for number, score in enumerate(scores):
        table.put(f"c{number}", "usage", score)

    def look() -> None:
        now = start + timedelta(milliseconds=next(clock))
        for _ in range(100):
            table.advance(now)
            table.next_expiry()

    ours, naive = best(look, lambda: [score for score in scores if score.expired(start)])
    yield Ratio(f"a look at {_SCORES:,} scores, against one at each", ours / 100, naive)


def languages() -> Iterator[Ratio]:
    """Generated code, against the interpreter that traces (CEL) or decoding the object once (jq)."""
    dice = random.Random(1)
    inputs = [{"managedCluster": cluster(index, dice, False)} for index in range(300)]
    for name, text in EXPRESSIONS.items():
        program = make_program(text, environment("muster"))
        ours, traced = best(
            lambda: [program.run(each, 1_000_000) for each in inputs],  # noqa: B023
            lambda: [program.trace(each) for each in inputs[:30]],  # noqa: B023
        )
        yield Ratio(f"CEL {name}, against tracing", ours / len(inputs), traced / 30)
    agents = [an_agent(number, dice) for number in range(100)]
    encoded = [msgspec.json.encode(each) for each in agents]
    for name, text in QUERIES.items():
        query = compile_query(text)
        ours, decoding = best(
            lambda: [_outcome(query, each) for each in agents],  # noqa: B023
            lambda: [msgspec.json.decode(each) for each in encoded],
        )
        yield Ratio(f"jq {name}, against decoding its input", ours, decoding)


def _outcome(query: Program, agent: object) -> object:
    try:
        return query.run(agent)
    except EvaluationError as error:  # some agents have no disks
        return error


def requests() -> Iterator[Ratio]:
    """Requests to the API without HTTP, on the loop's thread, against decoding and encoding the object twenty times."""
    from benchmarks._requests import seconds_per_request

    encoded = next(iter(fleets.clusters(1)))

    def codec() -> None:
        for _ in range(2000):
            msgspec.json.encode(msgspec.json.decode(encoded))

    [yardstick] = best(codec)
    with tempfile.TemporaryDirectory() as folder:
        measured = asyncio.run(seconds_per_request(Path(folder)))
    for name, seconds in measured.items():
        yield Ratio(f"{name} through the API, against 20 codecs of a cluster", seconds, yardstick / 100)


PARTS = (columns, schedules, expiry, languages, requests)


def main(arguments: list[str] | None = None) -> int:
    wanted = sys.argv[1:] if arguments is None else arguments
    known = msgspec.json.decode(RATIOS.read_bytes(), type=dict[str, float]) if RATIOS.exists() else {}
    found: dict[str, float] = {}
    lost = []
    print(f"{'':58} {'now':>8} {'committed':>10}")
    for part in PARTS:
        for ratio in part():
            found[ratio.name] = round(ratio.times, 3)
            before = known.get(ratio.name)
            worse = before is not None and ratio.times < before * (1 - _WORST_LOSS)
            mark = "  LOST" if worse else ""
            print(f"{ratio.name:58} {ratio.times:>8.2f} {before if before is not None else '–':>10}{mark}", flush=True)
            if worse:
                lost.append(ratio.name)
    print(f"load {' '.join(f'{each:.1f}' for each in os.getloadavg())}")
    if "--write" in wanted:
        RATIOS.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    for name in lost:
        print(f"warning: {name} is more than {_WORST_LOSS:.0%} below what was committed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
