"""Calendar, formats and time zones."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from muster.jq.budgets import Meter
from muster.jq.values.date_parsing import DateError, parse_moment
from muster.jq.values.dates import civil_from_days, days_from_civil, format_moment, moment_at, moment_of


@pytest.mark.parametrize("days", [0, -1, 59, 60, 365, 11_016, 2_932_896, -719_528, 10**7, -(10**7)])
def test_days_and_dates_are_inverse(days: int) -> None:
    assert days_from_civil(*civil_from_days(days)) == days


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("%Y-%m-%dT%H:%M:%SZ", "2015-03-05T23:53:41Z"),
        ("%a %A %b %B %h", "Thu Thursday Mar March Mar"),
        ("%c", "Thu Mar  5 23:53:41 2015"),
        ("%D %F %R %T %r %v", "03/05/15 2015-03-05 23:53 23:53:41 11:53:41 PM  5-Mar-2015"),
        ("%-d %_d %05d %^a %#Z %5Y %10B|", "5  5 00005 THU utc 02015      March|"),
        ("%j %U %W %V %G %g %u %w %C %y", "064 09 09 10 2015 15 4 4 20 15"),
        ("%s %f %z %:z %Z %% %e %k %l %I %p %P", "1425599621 000000 +0000 +00:00 UTC %  5 23 11 11 PM pm"),
        ("%q %", "%q %"),
    ],
)
def test_directives(pattern: str, text: str) -> None:
    assert format_moment(Meter(), moment_at(1425599621, 0, UTC), pattern) == text


def test_a_zone_shows_its_own_time() -> None:
    losangeles = ZoneInfo("America/Los_Angeles")
    summer = moment_at(1500000000, 0, losangeles)
    assert format_moment(Meter(), summer, "%H:%M %Z %z %:z") == "19:40 PDT -0700 -07:00"
    assert moment_of((2017, 7, 13, 19, 40, 0, 0), losangeles).seconds == 1500000000


@pytest.mark.parametrize(
    ("text", "pattern", "seconds"),
    [
        ("2015-03-05T23:51:47Z", "%Y-%m-%dT%H:%M:%SZ", 1425599507),
        ("2019-09-08T06:02:03+0900", "%Y-%m-%dT%H:%M:%S%z", 1567890123),
        ("2020-09-13T07:26:40-05:00", "%Y-%m-%dT%H:%M:%S%z", 1600000000),
        ("2020-09-13T12:26:40Z", "%FT%T%z", 1600000000),
        ("5 march 2015", "%d %B %Y", 1425513600),
        ("Thu, 05 Mar 2015 11:51:47 PM", "%a, %d %b %Y %I:%M:%S %p", 1425599507),
        ("2015 064", "%Y %j", 1425513600),
        ("2015-W10-4", "%G-W%V-%u", 1425513600),
        ("2015 09 4", "%Y %W %w", 1425513600),
        ("1425599507", "%s", 1425599507),
        ("99", "%y", 915148800),
    ],
)
def test_times_are_read(text: str, pattern: str, seconds: int) -> None:
    assert parse_moment(Meter(), text, pattern).seconds == seconds


@pytest.mark.parametrize(
    ("text", "pattern", "message"),
    [
        ("x", "%Y", 'cannot parse "%Y"'),
        ("2015", "%Y-", "expected '-'"),
        ("2015x", "%Y", 'unparsed string "x"'),
        ("1", "%Q", 'unexpected format "%Q"'),
        ("1", "%", 'stray "%"'),
        ("13", "%m", 'cannot parse "%m"'),
        ("+1", "%z", 'cannot parse "%z"'),
    ],
)
def test_what_does_not_fit_is_told(text: str, pattern: str, message: str) -> None:
    with pytest.raises(DateError, match="failed to parse") as caught:
        parse_moment(Meter(), text, pattern)
    assert str(caught.value).endswith(message)


def test_years_beyond_pythons_calendar() -> None:
    assert format_moment(Meter(), moment_at(10**12, 0, UTC), "%Y-%m-%d") == "33658-09-27"
    assert format_moment(Meter(), moment_at(-(10**11), 0, UTC), "%Y-%m-%d") == "-1199-02-15"
