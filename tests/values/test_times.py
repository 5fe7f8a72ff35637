"""Every text is a moment or a fault, and no arithmetic on moments fails."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.values.times import FIRST, LAST, Fault, later, parse_time, time_text


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
        ("2030-01-01t00:00:00z", "2030-01-01T00:00:00Z"),
        ("2030-01-01T00:00:00+24:00", "2029-12-31T00:00:00Z"),
        ("2030-01-01T00:00:00-23:59", "2030-01-01T23:59:00Z"),
        ("2030-12-31T23:59:60Z", "2031-01-01T00:00:00Z"),
        ("9999-12-31T23:59:60Z", "9999-12-31T23:59:59Z"),
        ("9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59Z"),
        ("0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0000-12-31T23:30:00-01:00", "0001-01-01T00:30:00Z"),
        ("0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00Z"),
        ("0000-02-29T12:00:00Z", "0001-01-01T00:00:00Z"),
    ],
)
def test_a_time_of_rfc_3339_is_a_moment_whatever_python_can_hold(text: str, moment: str) -> None:
    found = parse_time(text)
    assert not isinstance(found, Fault)
    assert (time_text(found), found.tzinfo) == (moment, UTC)


@pytest.mark.parametrize("digits", range(1, 31))
def test_a_fraction_may_have_any_number_of_digits(digits: int) -> None:
    text = f"2030-01-01T00:00:00.{'123456789012345678901234567890'[:digits]}Z"
    assert parse_time(text) == datetime(2030, 1, 1, 0, 0, 0, int("123456"[:digits].ljust(6, "0")), UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2030-01-01T00:00:00+99:00",
        "2030-01-01T00:00:00+24:01",
        "2030-01-01T00:00:00+00:60",
        "2030-01-01T24:00:00Z",
        "2030-02-29T00:00:00Z",
        "2030-13-01T00:00:00Z",
        "2030-01-01T00:00:00",
        "2030-01-01",
        "20300101T000000Z",
        "٢٠٣٠-01-01T00:00:00Z",
        "2030-01-01T00:00:00x5Z",
        pytest.param("2030-01-01T00:00:00." + "9" * 10_000 + "Z", id="many digits"),
        "",
        "yesterday",
        None,
        5,
        [],
    ],
)
def test_what_is_no_time_is_a_fault_that_says_so_briefly(text: object) -> None:
    found = parse_time(text)
    assert isinstance(found, Fault)
    assert "is not a time" in str(found)
    assert len(str(found)) < 200


@given(st.text(alphabet="0123456789-:.TtZz+ ", max_size=40) | st.text(max_size=40))
def test_no_text_raises(text: str) -> None:
    assert isinstance(parse_time(text), datetime | Fault)


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_is_read_again(moment: datetime) -> None:
    assert parse_time(time_text(moment)) == moment.replace(microsecond=0)


@given(st.datetimes(timezones=st.just(UTC)), st.integers() | st.floats())
def test_no_sum_of_a_moment_and_seconds_raises(moment: datetime, seconds: float) -> None:
    assert FIRST <= later(moment, seconds) <= LAST


def test_sums_end_at_the_ends_of_time() -> None:
    assert later(LAST, 1) == LAST
    assert later(LAST, 10**400) == LAST
    assert later(FIRST, -(2**63)) == FIRST
    assert later(datetime(2030, 1, 1, tzinfo=UTC), 60) == datetime(2030, 1, 1, 0, 1, tzinfo=UTC)


def test_a_moment_in_another_zone_is_written_in_utc() -> None:
    assert time_text(datetime(2030, 1, 1, tzinfo=timezone(timedelta(hours=2)))) == "2029-12-31T22:00:00Z"
    assert time_text(datetime.max.replace(tzinfo=timezone(timedelta(hours=-2)))) == "9999-12-31T23:59:59Z"
