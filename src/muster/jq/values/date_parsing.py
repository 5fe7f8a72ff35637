"""Reading times by a format: gojq's strptime. Used by the time builtins."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING

from muster.jq.error_texts import quoted
from muster.jq.values.dates import COMPOSED, MONTHS, WEEKDAYS, Moment, days_from_civil, moment_at, moment_of
from muster.values.quoting import go_byte

if TYPE_CHECKING:
    from muster.jq.budgets import Meter

_SPACES = re.compile(r"[ \t\n\v\f\r]+")
_LETTERS = re.compile(r"[A-Z]*")
_SUNDAY, _MONDAY, _THURSDAY = 0, 1, 4


class DateError(ValueError):
    """A text that does not fit its format."""


@dataclass
class _Reader:
    text: str
    zone: tzinfo
    at: int = 0
    year: int = 1900
    month: int = 1
    day: int = 0
    hour: int = 0
    minute: int = 0
    second: int = 0
    nanosecond: int = 0
    century: int = -1
    week: int = 0
    weekday: int = 0  # from Sunday, which is 1; 0 means not given
    year_day: int = 0
    week_start: int = -1
    afternoon: bool = False
    iso_year: bool = False
    names: dict[str, tuple[str, ...]] = field(
        default_factory=lambda: {
            "B": MONTHS,
            "b": tuple(name[:3] for name in MONTHS),
            "A": WEEKDAYS,
            "a": tuple(name[:3] for name in WEEKDAYS),
            "p": ("AM", "PM"),
        }
    )

    def expect(self, character: str) -> None:
        if self.text[self.at : self.at + 1] != character:
            raise DateError(f"expected {go_byte(self._unlike(character))}")
        self.at += 1

    def _unlike(self, character: str) -> str:
        """The first byte that differs, as a character: Go compares bytes."""
        wanted = character.encode("utf-8", "surrogateescape")
        found = self.text[self.at : self.at + 1].encode("utf-8", "surrogateescape")
        same = next(at for at, byte in enumerate(wanted) if found[at : at + 1] != bytes((byte,)))
        return wanted[same:].decode("utf-8", "surrogateescape")

    def digits(self, size: int, least: int, most: int, letter: str) -> int:
        end = self.at
        while end < len(self.text) and end < self.at + size and self.text[end] in "0123456789":
            end += 1
        value = int(self.text[self.at : end]) if end > self.at else -1
        if end == self.at or not least <= value <= most:
            raise DateError(f'cannot parse "%{letter}"')
        self.at = end
        return value

    def signed(self) -> int:
        if self.text[self.at : self.at + 1] == "-":
            self.at += 1
            return -1
        return 1

    def name(self, kind: str, letter: str) -> int:
        """The position of the name found here, from 1."""
        for position, name in enumerate(self.names[kind]):
            if self.text[self.at : self.at + len(name)].lower() == name.lower():
                self.at += len(name)
                return position + 1
        raise DateError(f'cannot parse "%{letter}"')

    def optional_space(self) -> None:
        if self.text[self.at : self.at + 1] == " ":
            self.at += 1


def parse_moment(meter: Meter, text: str, pattern: str) -> Moment:
    """The moment that the text means. Raises DateError with gojq's words."""
    reader = _Reader(text, UTC)
    meter.read(len(text))
    try:
        _read(meter, reader, pattern, meter.host.zone)
        return _moment(meter, reader)
    except DateError as fault:
        failed = f"failed to parse {quoted(meter, text)} with {quoted(meter, pattern)}"
        raise DateError(f"{failed}: {fault}") from None


def _read(meter: Meter, reader: _Reader, pattern: str, local: tzinfo) -> None:
    at = 0
    while at < len(pattern):
        meter.step()
        if pattern[at] != "%":
            reader.expect(pattern[at])
            at += 1
            continue
        at += 1
        if at == len(pattern):
            raise DateError('stray "%"')
        letter = pattern[at]
        at += 1
        if letter == ":":
            colons = 1
            while colons < 3 and pattern[at : at + 1] == ":":
                colons += 1
                at += 1
            if pattern[at : at + 1] != "z":
                raise DateError(f"expected 'z' after \"%{':' * colons}\"")
            at += 1
            _zone_offset(reader, colons)
        elif letter in COMPOSED:
            for part in COMPOSED[letter]:
                if part.isalpha():
                    _directive(meter, reader, part, local)
                else:
                    reader.expect(part)
        else:
            _directive(meter, reader, letter, local)


def _directive(meter: Meter, reader: _Reader, letter: str, local: tzinfo) -> None:
    if not (_read_date(reader, letter) or _read_clock(meter, reader, letter, local)):
        first = chr(letter.encode("utf-8", "surrogateescape")[0])
        raise DateError(f'unexpected format "%{first}"')


def _read_date(reader: _Reader, letter: str) -> bool:
    match letter:
        case "Y" | "G":
            reader.iso_year = reader.iso_year or letter == "G"
            sign = reader.signed()
            reader.year = sign * reader.digits(4, 0, 9999, letter)
        case "y" | "g":
            reader.iso_year = reader.iso_year or letter == "g"
            year = reader.digits(2, 0, 99, letter)
            reader.year = year + (2000 if year < 69 else 1900)
        case "C":
            if reader.signed() < 0:
                raise DateError('negative century is not supported for "%C"')
            reader.century = reader.digits(2, 0, 99, letter)
        case "m":
            reader.month = reader.digits(2, 1, 12, letter)
        case "B":
            reader.month = reader.name("B", letter)
        case "b" | "h":
            reader.month = reader.name("b", letter)
        case "A" | "a":
            reader.weekday = reader.name(letter, letter)
        case "w":
            reader.weekday = reader.digits(1, 0, 6, letter) + 1
        case "u":
            reader.weekday = reader.digits(1, 1, 7, letter) % 7 + 1
        case "V":
            reader.week, reader.week_start = reader.digits(2, 1, 53, letter), _THURSDAY
            reader.weekday = reader.weekday or 2
        case "U":
            reader.week, reader.week_start = reader.digits(2, 0, 53, letter), _SUNDAY
            reader.weekday = reader.weekday or 1
        case "W":
            reader.week, reader.week_start = reader.digits(2, 0, 53, letter), _MONDAY
            reader.weekday = reader.weekday or 2
        case "e" | "d":
            if letter == "e":
                reader.optional_space()
            reader.day = reader.digits(2, 1, 31, letter)
        case "j":
            reader.year_day = reader.digits(3, 1, 366, letter)
        case _:
            return False
    return True


def _read_clock(meter: Meter, reader: _Reader, letter: str, local: tzinfo) -> bool:
    match letter:
        case "k" | "H":
            if letter == "k":
                reader.optional_space()
            reader.hour = reader.digits(2, 0, 23, letter)
        case "l" | "I":
            if letter == "l":
                reader.optional_space()
            reader.hour = reader.digits(2, 1, 12, letter) % 12
        case "P" | "p":
            reader.afternoon = reader.name("p", letter) == 2
        case "M":
            reader.minute = reader.digits(2, 0, 59, letter)
        case "S":
            reader.second = reader.digits(2, 0, 60, letter)
        case "s":
            sign = reader.signed()
            moment = moment_at(sign * reader.digits(19, 0, 10**19, letter), 0, UTC)
            reader.year, reader.month, reader.day = moment.date
            reader.hour, reader.minute, reader.second = moment.clock
        case "f":
            before = reader.at
            fraction = reader.digits(6, 0, 999_999, letter)
            reader.nanosecond = fraction * 10 ** (6 - (reader.at - before)) * 1000
        case "Z":
            _zone_name(meter, reader, local)
        case "z":
            _zone_offset(reader, 0)
        case "t" | "n":
            spaces = _SPACES.match(reader.text, reader.at)
            if spaces is None:
                raise DateError(f'expected a space for "%{letter}"')
            reader.at = spaces.end()
        case "%":
            reader.expect("%")
        case _:
            return False
    return True


def _zone_name(meter: Meter, reader: _Reader, local: tzinfo) -> None:
    letters = _LETTERS.match(reader.text, reader.at)
    name = letters.group() if letters else ""
    known = len(name) == 3 or (len(name) == 4 and (name.endswith("T") or name == "WITA"))
    if not known and not (len(name) == 5 and name.endswith("T")):
        raise DateError(f'cannot parse {quoted(meter, name)} with "%Z"')
    reader.at += len(name)
    for season in (moment_of((2000, month, 1, 0, 0, 0, 0), local) for month in (1, 7)):
        if season.zone == name:
            reader.zone = timezone(timedelta(seconds=season.offset), name)
            return
    reader.zone = timezone(timedelta(0), name)


def _zone_offset(reader: _Reader, colons: int) -> None:
    fault = DateError(f'cannot parse "%{":" * (colons & 3)}z"')
    text = reader.text
    sign = text[reader.at : reader.at + 1]
    if sign == "Z":
        reader.zone = UTC
        reader.at += 1
        return
    if not sign or sign not in "+-":
        raise fault
    reader.at += 1
    parts = [_two_digits(reader, 23)]
    if parts[0] is None:
        raise fault
    separated = text[reader.at : reader.at + 1] == ":"
    if colons in (1, 2) and not separated:
        raise DateError(f"expected ':' for \"%{':' * colons}z\"")
    before = reader.at
    if separated:
        reader.at += 1
    minutes = _two_digits(reader, 59)
    if minutes is None:
        if separated and colons != 3:
            raise fault
        reader.at = before
    seconds = None
    if minutes is not None and (colons >= 2 or (colons == 0 and separated)):
        if text[reader.at : reader.at + 1] == ":":
            reader.at += 1
            seconds = _two_digits(reader, 59)
            if seconds is None:
                if colons == 2:
                    raise fault
                reader.at -= 1
        elif colons == 2:
            raise DateError(f"expected ':' for \"%{':' * colons}z\"")
    offset = (parts[0] or 0) * 3600 + (minutes or 0) * 60 + (seconds or 0)
    reader.zone = timezone(timedelta(seconds=-offset if sign == "-" else offset))


def _two_digits(reader: _Reader, most: int) -> int | None:
    found = reader.text[reader.at : reader.at + 2]
    if len(found) == 2 and found.isascii() and found.isdigit() and int(found) <= most:
        reader.at += 2
        return int(found)
    return None


def _moment(meter: Meter, reader: _Reader) -> Moment:
    """What was read, put together: a day of the year or of a week counts when there is no day of the month."""
    if reader.at < len(reader.text):
        raise DateError(f"unparsed string {quoted(meter, reader.text[reader.at :])}")
    hour = reader.hour + (12 if reader.afternoon else 0)
    year = reader.century * 100 + reader.year % 100 if reader.century >= 0 else reader.year
    clock = (hour, reader.minute, reader.second, reader.nanosecond)
    if reader.day:
        return moment_of((year, reader.month, reader.day, *clock), reader.zone)
    if reader.year_day:
        if reader.iso_year:
            raise DateError('use "%Y" to parse non-ISO year for "%j"')
        return moment_of((year, 1, reader.year_day, *clock), reader.zone)
    if reader.week_start < 0:
        return moment_of((year, reader.month, 1, *clock), reader.zone)
    if reader.week_start == _THURSDAY:
        if not reader.iso_year:
            raise DateError('use "%G" to parse ISO year for "%V"')
    elif reader.iso_year:
        raise DateError('use "%Y" to parse non-ISO year for "%U" or "%W"')
    week = reader.week + (1 if reader.week_start > _SUNDAY and reader.weekday == 1 else 0)
    anchor = days_from_civil(year, 1, 1) - 1 - reader.week_start
    weekday = (anchor + 4) % 7
    day = -reader.week_start + week * 7 - weekday + reader.weekday - 1
    return moment_of((year, 1, day, *clock), reader.zone)
