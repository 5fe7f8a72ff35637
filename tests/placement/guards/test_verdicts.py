"""May these clusters go? Each guard alone, all of them together, and approvals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from muster.placement.guards import (
    Brake,
    FleetState,
    Guard,
    Memory,
    Removed,
    change_digest,
    placement_guard,
    recorded,
    removed_within,
    verdict,
)
from muster.placement.guards.amounts import Amount
from muster.placement.guards.window import MOST_ENTRIES, fits_at, whole_second

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
TEN = [f"c{number}" for number in range(10)]


def guard(**texts: str) -> Guard:
    found = placement_guard({f"placement.muster.dev/{name.replace('_', '-')}": text for name, text in texts.items()})
    assert found is not None
    assert not found.faults
    return found


def codes(found: object) -> list[str]:
    return [each.code for each in found.why]  # type: ignore[attr-defined]


def test_without_guards_everything_may_go() -> None:
    found = verdict([], TEN, TEN[:3], NOW)
    assert (found.going, found.held) == (tuple(TEN[3:]), ())


def test_a_change_goes_as_a_whole_or_not_at_all() -> None:
    three = guard(max_removals="3")
    allowed = verdict([three], TEN, TEN[3:], NOW)
    assert (allowed.going, allowed.counted) == (tuple(TEN[:3]), 3)
    held = verdict([three], TEN, TEN[4:], NOW)
    assert (held.going, held.held, codes(held), held.retry_at) == ((), tuple(TEN[:4]), ["TooManyRemovals"], None)


def test_what_went_lately_counts_until_the_window_has_passed() -> None:
    three = guard(max_removals="3", removal_window="1h")
    memory = Memory(removed=(Removed(NOW - timedelta(minutes=50), 1), Removed(NOW - timedelta(minutes=30), 1)))
    found = verdict([three], TEN, TEN[2:], NOW, memory)
    assert (found.held, found.retry_at) == (tuple(TEN[:2]), NOW + timedelta(minutes=10))
    assert verdict([three], TEN, TEN[2:], NOW + timedelta(minutes=10), memory).held == ()
    assert verdict([three], TEN, TEN[1:], NOW, memory).held == ()


def test_a_share_is_of_the_clusters_that_are_decided() -> None:
    twenty = guard(max_removals="20%")
    assert verdict([twenty], TEN, TEN[2:], NOW).held == ()
    assert len(verdict([twenty], TEN, TEN[3:], NOW).held) == 3
    assert len(verdict([twenty], TEN[:4], TEN[1:4], NOW).held) == 1


def test_so_many_must_be_left_and_what_comes_counts() -> None:
    eight = guard(min_clusters="8")
    assert verdict([eight], TEN, TEN[2:], NOW).held == ()
    assert codes(verdict([eight], TEN, TEN[3:], NOW)) == ["TooFewLeft"]
    assert verdict([eight], TEN, [*TEN[5:], "n1", "n2", "n3"], NOW).held == ()


def test_a_freeze_holds_until_it_ends() -> None:
    assert codes(verdict([guard(freeze_removals="true")], TEN, TEN[1:], NOW)) == ["RemovalsFrozen"]
    until = guard(freeze_removals="2026-11-16T13:00:00Z")
    assert verdict([until], TEN, TEN[1:], NOW).retry_at == NOW + timedelta(hours=1)
    assert verdict([until], TEN, TEN[1:], NOW + timedelta(hours=1)).held == ()


def test_removals_wait_for_their_hours() -> None:
    found = verdict([guard(removal_hours="13:00-14:00")], TEN, TEN[1:], NOW)
    assert (codes(found), found.retry_at) == (["OutsideHours"], NOW + timedelta(hours=1))


def test_a_cluster_goes_when_it_was_unwanted_for_long_enough_without_a_break() -> None:
    quiet = guard(quiet_time="10m")
    first = verdict([quiet], TEN, TEN[1:], NOW)
    assert (first.held, codes(first), first.retry_at) == (("c0",), ["QuietTime"], NOW + timedelta(minutes=10))
    later = NOW + timedelta(minutes=10)
    second = verdict([quiet], TEN, TEN[2:], later, Memory(waiting=first.waiting))
    assert (second.going, second.held, second.counted) == (("c0",), ("c1",), 1)
    again = verdict([quiet], TEN, TEN, later, Memory(waiting=first.waiting))
    assert again.waiting == {}


def test_clusters_in_their_quiet_time_count_for_the_other_guards() -> None:
    both = guard(quiet_time="10m", max_removals="2")
    memory = Memory(waiting={"c0": NOW - timedelta(hours=1)})
    assert verdict([both], TEN, TEN[3:], NOW, memory).held == tuple(TEN[:3])


def test_every_layer_must_be_kept_so_that_an_annotation_only_tightens() -> None:
    fleet, own = guard(max_removals="3"), guard(max_removals="100", min_clusters="0")
    assert verdict([fleet, own], TEN, TEN[4:], NOW).held
    assert verdict([fleet, guard(max_removals="1")], TEN, TEN[2:], NOW).held


def test_an_approval_lets_exactly_its_change_through() -> None:
    frozen = [guard(freeze_removals="true")]
    memory = Memory("uid")
    digest = verdict(frozen, TEN, TEN[2:], NOW, memory).digest
    found = verdict(frozen, TEN, TEN[2:], NOW, memory, digest)
    assert (found.going, found.held, found.approved, found.counted) == (("c0", "c1"), (), True, 0)
    for other in (TEN[1:], TEN[3:], ["c0", *TEN[2:]]):
        refused = verdict(frozen, TEN, other, NOW, memory, digest)
        assert refused.going == ()
        assert codes(refused) == ["RemovalsFrozen", "ApprovalOutdated"]


def test_an_approval_that_has_done_its_work_never_fits_again() -> None:
    frozen = [guard(freeze_removals="true")]
    digest = verdict(frozen, TEN, TEN[2:], NOW, Memory("uid")).digest
    assert verdict(frozen, TEN, TEN[2:], NOW, Memory("uid", approvals_used=1), digest).going == ()
    assert verdict(frozen, TEN, TEN[2:], NOW, Memory("another"), digest).going == ()


def test_digests_are_of_sets_and_cannot_be_run_together() -> None:
    assert change_digest("u", 1, ["b", "a"]) == change_digest("u", 1, ["a", "b"])
    assert len({change_digest("u", 1, ["ab"]), change_digest("u", 1, ["a", "b"]), change_digest("u1", 1, ["ab"])}) == 3


def test_what_was_let_go_and_is_still_there_is_neither_judged_nor_counted_again() -> None:
    one = guard(max_removals="1")
    memory = Memory(removed=(Removed(NOW, 1),), passing=frozenset({"c0"}))
    found = verdict([one], TEN, TEN[1:], NOW, memory)
    assert (found.going, found.held, found.counted) == (("c0",), (), 0)
    more = verdict([one], TEN, TEN[2:], NOW, memory)
    assert (more.going, more.held) == (("c0",), ("c1",))


def test_the_brake_counts_what_went_what_waits_and_what_is_asked() -> None:
    brake = Brake(Amount(10, is_percent=True), timedelta(minutes=10))
    fleet = FleetState(100, (Removed(NOW - timedelta(minutes=4), 4),), 3)
    assert verdict([], TEN, TEN[3:], NOW, brake=brake, fleet=fleet).held == ()
    found = verdict([], TEN, TEN[4:], NOW, brake=brake, fleet=fleet)
    assert (codes(found), found.braked, found.retry_at) == (["FleetBrake"], True, NOW + timedelta(minutes=6))
    never = verdict([], TEN, [], NOW, brake=brake, fleet=FleetState(100, (), 1))
    assert (len(never.held), never.retry_at) == (10, None)


def test_what_a_guard_cannot_read_holds() -> None:
    broken = placement_guard({"placement.muster.dev/max-removals": "many"})
    assert broken is not None
    assert codes(verdict([broken], TEN, TEN[1:], NOW)) == ["GuardUnreadable"]


def test_a_window_forgets_nothing_too_early_however_much_happens() -> None:
    hour = timedelta(hours=1)
    removed: tuple[Removed, ...] = ()
    for second in range(500):
        removed = recorded(removed, NOW + timedelta(seconds=second, milliseconds=300), 1, hour)
    assert len(removed) <= MOST_ENTRIES
    end = NOW + timedelta(seconds=500)
    assert removed_within(removed, end, hour) == 500
    assert removed_within(removed, NOW + hour + timedelta(seconds=250), hour) >= 250
    assert recorded(removed, NOW + 2 * hour, 0, hour) == ()
    assert whole_second(NOW + timedelta(microseconds=1)) == NOW + timedelta(seconds=1)
    assert fits_at(removed, end, hour, 1, 500) is not None
