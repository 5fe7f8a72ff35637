"""Guards as people write them: what they mean, and what cannot be read holds everything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from muster.placement.guards import Guard, fleet_guards, placement_guard, unknown_annotations
from muster.placement.guards.amounts import Amount, duration_text, parse_amount, parse_duration
from muster.placement.guards.hours import Hours, parse_hours
from muster.values.faults import Fault
from muster.values.times import LAST

PREFIX = "placement.muster.dev/"


def guarded(**texts: str) -> Guard:
    found = placement_guard({f"{PREFIX}{name.replace('_', '-')}": text for name, text in texts.items()})
    assert found is not None
    return found


def test_a_placement_without_our_annotations_has_no_guard() -> None:
    assert placement_guard({}) is None
    assert placement_guard({"example.com/max-removals": "3", f"{PREFIX}approve-removals": "abc"}) is None


def test_annotations_say_what_may_go() -> None:
    found = guarded(
        max_removals="10%",
        removal_window="1h30m",
        min_clusters="2",
        freeze_removals="2030-01-31T12:00:00Z",
        quiet_time="10m",
    )
    assert found == Guard(
        "the placement",
        Amount(10, is_percent=True),
        timedelta(minutes=90),
        2,
        datetime(2030, 1, 31, 12, tzinfo=UTC),
        timedelta(minutes=10),
    )
    assert guarded(freeze_removals="true").frozen_until == LAST
    assert guarded(freeze_removals="false").frozen_until is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max-removals", "ten"),
        ("max-removals", "-1"),
        ("max-removals", "101%"),
        ("max-removals", ""),
        ("max-removals", "9" * 5000),
        ("max-removals", "٣"),
        ("removal-window", "1"),
        ("removal-window", "1x"),
        ("removal-window", "367d"),
        ("removal-window", "9" * 5000 + "s"),
        ("min-clusters", "10%"),
        ("freeze-removals", "yes"),
        ("quiet-time", "-5m"),
        ("removal-hours", "whenever"),
        ("removal-hours", "Mon-Fri 25:00-26:00"),
        ("removal-hours", "09:00-09:00"),
        ("removal-hours", "09:00-10:00 Europe/Nowhere"),
        ("removal-hours", "09:00-10:00 ../../etc/passwd"),
        ("removal-hours", "Mon Tue 09:00-10:00 UTC"),
        ("removal-hours", ""),
        ("removal-hours", "09:00-10:00;" * 500),
    ],
)
def test_what_cannot_be_read_is_a_fault_that_names_the_annotation(name: str, text: str) -> None:
    found = placement_guard({f"{PREFIX}{name}": text})
    assert found is not None
    assert [each.path for each in found.faults] == [f"{PREFIX}{name}"]


def test_an_unknown_name_for_the_fleet_is_a_fault_because_it_would_guard_nothing() -> None:
    found = fleet_guards({"max-removal": "3"})
    assert found.guard is not None
    assert [str(each) for each in found.guard.faults] == ["max-removal: is no guard; did you mean max-removals?"]
    assert fleet_guards({}).guard is None
    brake = fleet_guards({"brake": "20%", "brake-window": "5m"})
    assert (brake.guard, brake.brake and str(brake.brake.most)) == (None, "20%")
    assert brake.keep == timedelta(minutes=5)


def test_a_setting_that_cannot_be_read_is_not_the_same_as_off() -> None:
    assert [fleet_guards({"multicluster-decisions": text}).multicluster for text in ("true", "false")] == [True, False]
    misspelt = fleet_guards({"multicluster-decisions": "yes"})
    assert misspelt.multicluster is None
    assert misspelt.guard is not None
    assert fleet_guards({}).multicluster is False


def test_a_misspelt_annotation_is_noticed() -> None:
    (found,) = unknown_annotations({f"{PREFIX}min-cluster": "3", f"{PREFIX}min-clusters": "3", "else": ""})
    assert str(found) == f"{PREFIX}min-cluster: is no guard; did you mean min-clusters?"


def test_a_share_is_rounded_down() -> None:
    ten = parse_amount("10%")
    assert isinstance(ten, Amount)
    assert [ten.of(count) for count in (5, 10, 19, 20, 100_000)] == [0, 1, 1, 2, 10_000]


@pytest.mark.parametrize("text", ["90s", "10m", "1h30m", "2d", "366d"])
def test_durations_are_written_as_they_are_read(text: str) -> None:
    length = parse_duration(text)
    assert not isinstance(length, Fault)
    assert parse_duration(duration_text(length)) == length


def hours(text: str) -> Hours:
    found = parse_hours(text)
    assert isinstance(found, Hours), found
    return found


MONDAY = datetime(2026, 11, 16, tzinfo=UTC)


def test_hours_are_open_from_their_beginning_to_before_their_end() -> None:
    office = hours("Mon-Fri 09:00-16:00 UTC")
    looks = [(8, 59), (9, 0), (15, 59), (16, 0)]
    assert [office.is_open(MONDAY.replace(hour=hour, minute=minute)) for hour, minute in looks] == [
        False,
        True,
        True,
        False,
    ]
    assert not office.is_open(MONDAY.replace(hour=10) - timedelta(days=1))
    assert office.next_opening(MONDAY + timedelta(days=4, hours=17)) == MONDAY + timedelta(days=7, hours=9)


def test_a_night_ends_on_the_day_after() -> None:
    night = hours("Sun 22:00-04:00; Wed 10:00-11:00,12:00-24:00")
    assert night.is_open(MONDAY.replace(hour=3))
    assert not night.is_open(MONDAY.replace(hour=4))
    assert not night.is_open(MONDAY.replace(hour=23))
    assert night.is_open(MONDAY + timedelta(days=2, hours=23, minutes=59))
    assert not night.is_open(MONDAY + timedelta(days=3))


def test_hours_follow_their_zone_through_the_change_of_clocks() -> None:
    berlin = hours("02:30-05:00 Europe/Berlin")
    summer, winter = datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
    assert berlin.is_open(summer.replace(hour=0, minute=30))
    assert not berlin.is_open(winter.replace(hour=0, minute=30))
    assert berlin.is_open(winter.replace(hour=1, minute=30))
    assert not berlin.is_open(winter.replace(hour=4))
    assert berlin.next_opening(LAST) is None
