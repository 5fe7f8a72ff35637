"""Regular expressions at a price: compiling and matching, both by the size of the program that a pattern becomes.

Used by `matches`, find and the regex library; the planner compiles constant patterns ahead of time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from muster.cel.costs.meter import spend
from muster.errors import EvaluationError
from muster.values.regexes import InvalidRegexError, Regex, compile_regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.costs.meter import Meter
    from muster.values.regexes import Span

COMPILING = 20  # units of work per instruction of the program that a pattern becomes
TOO_LARGE = 200_000  # units for filling all the memory that a pattern may have
CLASS = 1500  # units for reading one class such as pL, which has a thousand ranges
MATCHING = 32  # a character may take that many instructions of the program for one unit
SMALL = 40  # instructions; larger programs may have too many states to be fast
SCANNING = 128  # characters that a small program gets past for one unit


@lru_cache(maxsize=1024)
def _place(pattern: str) -> list[Regex | InvalidRegexError]:
    """Where the compiled pattern, or its fault, is kept; empty before the first use."""
    del pattern
    return []


def _reading(pattern: str) -> int:
    return len(pattern) + CLASS * (pattern.count("\\p") + pattern.count("\\P"))


def _failing(pattern: str, fault: InvalidRegexError) -> int:
    return TOO_LARGE if fault.too_large else COMPILING * len(pattern)


def compiled(meter: Meter, pattern: str) -> Regex:
    """The compiled pattern; raises InvalidRegexError. Compiling is charged when it happens."""
    place = _place(pattern)
    if not place:
        spend(meter, _reading(pattern))
        try:
            made = compile_regex(pattern)
        except InvalidRegexError as fault:
            place.append(InvalidRegexError(*fault.args))  # the one that was raised holds on to its frames
            spend(meter, _failing(pattern, fault))
        else:
            place.append(made)
            spend(meter, COMPILING * made.size)
    found = place[0]
    if isinstance(found, InvalidRegexError):
        raise InvalidRegexError(*found.args)  # a new one: raised again, the same one would grow
    return found


def regex(meter: Meter, pattern: str, length: int) -> Regex:
    """The compiled pattern, its fault told as an evaluation error; charges for matching a text of that length."""
    place = _place(pattern)
    found = place[0] if place else None
    if not isinstance(found, Regex):
        try:
            found = compiled(meter, pattern)
        except InvalidRegexError as fault:
            raise EvaluationError(str(fault)) from None
    spend(meter, 1 + (length + 1) * found.size // MATCHING)
    return found


def known_regex(pattern: str) -> Regex | None:
    """The compiled pattern, if it was compiled before and has no fault."""
    place = _place(pattern)
    return place[0] if place and isinstance(place[0], Regex) else None


def longest_text(found: Regex, units: int) -> int:
    """How long a text may be for `regex` to charge no more than the units for it; negative if none is so short."""
    return (MATCHING * units - 1) // found.size - 1


def each_match(meter: Meter, found: Regex, data: bytes) -> Iterator[list[Span]]:
    """Every match. To find the next one may mean to look at all of the rest, so each is charged for that."""
    for spans in found.all(data):
        yield spans
        rest = len(data) - spans[0][1]
        spend(meter, 8 + (rest // SCANNING if found.size <= SMALL else rest * found.size // MATCHING))


def compiled_ahead(meter: Meter, pattern: str) -> int:
    """Compile a constant pattern; what it takes, which does not depend on whether it was known already."""
    units = _reading(pattern)
    spend(meter, units)
    try:
        return units + COMPILING * compiled(meter, pattern).size
    except InvalidRegexError as fault:
        return units + _failing(pattern, fault)
