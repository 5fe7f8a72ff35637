"""No sequence of events removes more than a guard allows without an approval that names it.

Events: clusters become wanted and unwanted, time passes, the clock is put back and right again, changes are approved in
time or too late, and the process is killed at every point between a verdict and the last page, and starts again from
what was written down.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from muster.api.placement_guard_record import PlacementGuardRecord
from muster.controllers.placements.guards.records import memory_of, must_be_written, record_of
from muster.placement.guards import (
    Brake,
    FleetState,
    Guard,
    Memory,
    Removed,
    Verdict,
    recorded,
    remembered,
    verdict,
)
from muster.placement.guards.amounts import Amount

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = [f"c{number}" for number in range(8)]
START = datetime(2026, 11, 16, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@dataclass
class Simulation:
    """A controller and its server, as far as guards see them."""

    guard: Guard
    present: set[str] = field(default_factory=lambda: set(NAMES))
    wanted: set[str] = field(default_factory=lambda: set(NAMES))
    now: datetime = START
    behind: timedelta = timedelta()  # what the clock shows is so much less; `now` is the time as it is
    latest: datetime = START
    memory: Memory = field(default_factory=lambda: Memory("uid"))
    disk: PlacementGuardRecord | None = None
    approval: str = ""
    shown: str = ""
    allowed: dict[str, bool] = field(default_factory=dict)  # who was let go last, by an approval or not
    gone: list[tuple[datetime, str, bool]] = field(default_factory=list)

    def restart(self) -> None:
        """Whoever starts with a wrong clock cannot know it: here it is put right before."""
        self.behind, self.latest = timedelta(), START
        self.memory = memory_of(self.disk or PlacementGuardRecord(), "uid", self.now)

    def reconcile(self, crash: int | None) -> Verdict:
        """`crash`: after so many steps, of which writing the record is one and each cluster another."""
        clock = self.now - self.behind
        self.latest = steady = max(clock, self.latest)
        found = verdict([self.guard], self.present, self.wanted, steady, self.memory, self.approval, clock=clock)
        self.shown = found.digest if found.held else self.shown
        fresh = set(found.going) - self.memory.passing
        self.allowed |= dict.fromkeys(fresh, found.approved)
        self.memory, _ = remembered(self.memory, found, steady, self.guard.window)
        record = record_of(self.memory, found.digest, None)
        steps = 0
        if must_be_written(self.disk, record, self.wanted):
            if crash == steps:
                self.restart()
                return found
            self.disk = record
            steps += 1
        self.present |= self.wanted
        for name in found.going:
            if crash is not None and crash <= steps:
                self.restart()
                return found
            self.present.discard(name)
            self.gone.append((self.now, name, self.allowed[name]))
            steps += 1
        self.memory = replace(self.memory, passing=frozenset(), passing_at=None, passing_counted=0)
        return found

    def most_within(self, window: timedelta) -> int:
        times = [at for at, _, approved in self.gone if not approved]
        return max((sum(1 for each in times if at - window < each <= at) for at in times), default=0)


events = st.lists(
    st.one_of(
        st.tuples(st.just("want"), st.sets(st.sampled_from(NAMES))),
        st.tuples(st.just("wait"), st.sampled_from([0.3, 1.0, 20.0, 600.0, 1799.5, 3600.0])),
        st.tuples(st.just("crash"), st.integers(0, 6)),
        st.tuples(st.just("behind"), st.sampled_from([0.0, 60.0, 3000.0, 9000.0])),
        st.tuples(st.just("approve"), st.just(None)),
        st.tuples(st.just("outdated"), st.just(None)),
        st.tuples(st.just("look"), st.just(None)),
    ),
    min_size=3,
    max_size=30,
)


@settings(max_examples=400, deadline=None)
@given(events=events, most=st.integers(0, 4))
def test_no_sequence_of_events_removes_more_than_the_window_allows(
    events: Sequence[tuple[str, object]], most: int
) -> None:
    at = Simulation(Guard(max_removals=Amount(most), window=HOUR))
    old = ""
    for event, given_ in events:
        crash = None
        if event == "want":
            assert isinstance(given_, set)
            at.wanted = set(given_)
        elif event == "wait":
            assert isinstance(given_, float)
            at.now += timedelta(seconds=given_)
        elif event == "behind":
            assert isinstance(given_, float)
            at.behind = timedelta(seconds=given_)
        elif event == "crash":
            assert isinstance(given_, int)
            crash = given_
        elif event == "approve":
            old, at.approval = at.approval, at.shown
        elif event == "outdated":
            at.approval = old
        before = set(at.present)
        digest, approval = at.shown, at.approval
        found = at.reconcile(crash)
        if found.approved:
            assert approval == found.digest, (digest, approval)
        assert at.present >= at.wanted or crash is not None
        assert not (before - at.present) & at.wanted
    assert at.most_within(HOUR) <= most


@settings(max_examples=200, deadline=None)
@given(events=events, fewest=st.integers(1, 8))
def test_no_sequence_of_events_leaves_fewer_than_must_be(events: Sequence[tuple[str, object]], fewest: int) -> None:
    at = Simulation(Guard(min_clusters=fewest))
    for event, given_ in events:
        if event == "want":
            assert isinstance(given_, set)
            at.wanted = set(given_)
        at.reconcile(given_ if event == "crash" and isinstance(given_, int) else None)
        assert len(at.present) >= min(fewest, len(NAMES))


@settings(max_examples=200, deadline=None)
@given(
    asked=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 8), st.sampled_from([0.5, 60.0, 400.0])), max_size=40),
    percent=st.integers(0, 50),
)
def test_the_brake_lets_no_more_go_than_its_share_of_the_whole_fleet(
    asked: list[tuple[int, int, float]], percent: int
) -> None:
    brake = Brake(Amount(percent, is_percent=True), timedelta(minutes=10))
    sizes = dict.fromkeys(range(4), 10)
    now, removed, pending = START, tuple[Removed, ...](), dict[int, int]()
    gone: list[tuple[datetime, int, int]] = []
    for placement, count, seconds in asked:
        now += timedelta(seconds=seconds)
        present = [f"c{number}" for number in range(sizes[placement])]
        others = sum(each for key, each in pending.items() if key != placement)
        fleet = FleetState(sum(sizes.values()), removed, others)
        found = verdict([], present, present[count:], now, brake=brake, fleet=fleet)
        pending[placement] = len(found.held)
        if found.going:
            gone.append((now, len(found.going), fleet.decided))
            removed = recorded(removed, now, found.counted, brake.window)
            sizes[placement] -= len(found.going)
    for at, _, decided in gone:
        within = sum(count for each, count, _ in gone if at - brake.window < each <= at)
        assert within <= decided * percent // 100
