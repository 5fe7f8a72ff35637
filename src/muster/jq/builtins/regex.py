"""Builtins about regular expressions, over the engine of regexes.py. Offsets and lengths count code points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.jq import error_texts as texts
from muster.jq.budgets import OBJECT_CELLS
from muster.jq.values.arithmetic import add
from muster.jq.values.encoding import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from muster.jq.budgets import Meter
    from muster.jq.values.regexes import Regex
    from muster.jq.values.value import Value


def matches(meter: Meter, value: Value, pattern: Value, flags: Value = None) -> bool:
    if type(value) is not str or type(pattern) is not str or (flags is not None and type(flags) is not str):
        raise texts.not_applicable(meter, "test", value, pattern, flags)
    return meter.regexes.test(meter, pattern, flags or "", value)


def match(meter: Meter, value: Value, pattern: Value, flags: Value) -> list[Value]:
    if not isinstance(value, str) or not isinstance(pattern, str) or not (flags is None or isinstance(flags, str)):
        raise texts.not_applicable(meter, "match", value, pattern, flags)
    regex = meter.regexes.get(meter, pattern, flags or "")
    meter.grow_text(len(value))
    # A byte that is not UTF-8 is a character of its own, which patterns see as U+FFFD.
    data = without_surrogates(value).encode()
    offsets = _Offsets(data)
    found = []
    for groups in _matches(meter, regex, data, everything="g" in (flags or "")):
        (start, end), *captured = groups
        meter.grow((OBJECT_CELLS + 8) * len(groups) + (sum(last - first for first, last in groups) >> 3))
        offset, length = offsets.at(start), offsets.between(start, end)
        found.append(
            {
                "offset": offset,
                "length": length,
                "string": value[offset : offset + length],
                "captures": [
                    _captured(value, offsets, name, first, last)
                    for name, (first, last) in zip(regex.names, captured, strict=True)
                ],
            }
        )
    return found


def _captured(value: str, offsets: _Offsets, name: str | None, start: int, end: int) -> dict[str, Value]:
    """One group of a match, which may have matched nothing at all."""
    if start < 0:
        return {"name": name, "offset": -1, "length": 0, "string": None}
    offset, length = offsets.at(start), offsets.between(start, end)
    return {"name": name, "offset": offset, "length": length, "string": value[offset : offset + length]}


def _text(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode()


class _Offsets:
    """Byte positions to code points, counted from the last one: matches come from left to right, groups are near."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.ascii = data.isascii()
        self.known = (0, 0)

    def at(self, position: int) -> int:
        if self.ascii:
            return position
        byte, count = self.known
        if position < byte:
            count -= len(_text(self.data, position, byte))
        else:
            count += len(_text(self.data, byte, position))
        self.known = (position, count)
        return count

    def between(self, start: int, end: int) -> int:
        return end - start if self.ascii else len(_text(self.data, start, end))


def _matches(meter: Meter, regex: Regex, data: bytes, *, everything: bool) -> Iterator[list[tuple[int, int]]]:
    """Matches from left to right; an empty one right behind another does not count."""
    position, previous = 0, -1
    while position <= len(data):
        meter.work((len(data) - position) * regex.weight)
        meter.step()
        found = regex.compiled.search(data, position)
        if found is None:
            return
        start, end = found.span()
        if start != end or start != previous:
            yield [found.span(group) for group in range(len(regex.names) + 1)]
            if not everything:
                return
        previous = end
        position = end if end > start else _next_character(data, end)


def _next_character(data: bytes, position: int) -> int:
    position += 1
    while position < len(data) and data[position] & 0xC0 == 0x80:
        position += 1
    return position


def captures(meter: Meter, value: Value) -> dict[str, Value]:
    """Named groups of a match as an object."""
    if not isinstance(value, list):
        raise texts.expected_array(meter, value)
    meter.grow(2 * len(value))
    meter.work(len(value))
    named = (capture for capture in value if isinstance(capture, dict) and isinstance(capture.get("name"), str))
    return {capture["name"]: capture.get("string") for capture in named}


def splits(meter: Meter, value: Value, pattern: Value, flags: Value) -> list[str]:
    """The text between all matches."""
    found = match(meter, value, pattern, add(meter, flags, "g"))
    meter.grow_text(len(value))
    pieces = []
    position = 0
    for one in found:
        pieces.append(value[position : one["offset"]])
        position = one["offset"] + one["length"]
    pieces.append(value[position:])
    return pieces


def pieces(meter: Meter, value: Value, pattern: Value, flags: Value) -> list[dict[str, Value]]:
    """Where the text between all matches begins and ends: what `splits` slices by, and shows as its paths."""
    found = match(meter, value, pattern, add(meter, flags, "g"))
    meter.grow((OBJECT_CELLS + 6) * (len(found) + 1))
    places: list[dict[str, Value]] = []
    start: int | None = None
    for one in found:
        after = one["offset"] + one["length"]
        places.append({"start": start, "end": one["offset"], "next": after})
        start = after
    return [*places, {"start": start, "end": None, "next": None}]


def append_text(meter: Meter, _value: Value, made: list[Value], at: int, text: Value) -> list[Value]:
    """`made` with the text added to its item at a position: how `sub` gathers its results."""
    meter.grow(len(made) + 1)
    grown = list(made)
    if at == len(grown):
        grown.append(None)
    grown[at] = add(meter, grown[at], text)
    return grown


NATIVES: Mapping[tuple[str, int], Callable[..., Any]] = {
    ("test", 1): matches,
    ("_test", 2): matches,
    ("_match", 2): match,
    ("_captures", 0): captures,
    ("_splits", 2): splits,
    ("_pieces", 2): pieces,
    ("_append_text", 3): append_text,
}
