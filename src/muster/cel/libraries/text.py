"""The string functions of the standard library, and `matches`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, STRING
from muster.cel.costs.charge import LANGUAGE, Charge
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import ONE, Range
from muster.cel.costs.runtime import PATTERN, TRAVERSAL, Price, content_size, traversal
from muster.cel.declarations import Function, Prepared, Quick
from muster.cel.libraries.declare import call, method
from muster.cel.libraries.patterns import known_regex, longest_text, regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value


def matches(meter: Meter, text: str, pattern: str) -> bool:
    return regex(meter, pattern, len(text)).found_in(text)


def matching_with(units: int, pattern: str) -> Prepared | Quick | None:
    """Matching with a pattern that has been compiled, and texts that take no more work."""
    found = known_regex(pattern)
    if found is None:
        return None
    longest = longest_text(found, units)
    if found.ascii_match is None:
        return Prepared(found.found_in, longest)
    return Quick(found.ascii_match, longest, "({1}({0}) is not None if {0}.isascii() else None)")


def contains_text(text: str, part: str) -> bool:
    return part in text


# --- costs


def _affix(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[1]))


def _affix_size(_: Operand | None, args: Arguments) -> CallEstimate:
    return CallEstimate(args[0].known_size().scaled(TRAVERSAL))


def _part(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[0])) * traversal(content_size(args[1]))


def _part_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    text, part = target.known_size(), args[0].known_size()
    return CallEstimate(text.scaled(TRAVERSAL).times(part.scaled(TRAVERSAL)))


def _match(args: Sequence[Value], _: Value) -> int:
    return math.ceil((1.0 + content_size(args[0])) * TRAVERSAL) * math.ceil(content_size(args[1]) * PATTERN)


def _match_size(target: Operand | None, args: Arguments) -> CallEstimate:
    text, pattern = (target, args[0]) if target is not None else args
    return CallEstimate(matching(text.known_size(), pattern.known_size()))


def matching(text: Range, pattern: Range) -> Range:
    """What it may cost to look for a pattern in a text."""
    return text.plus(ONE).scaled(TRAVERSAL).times(pattern.scaled(PATTERN))


_AFFIX = {LANGUAGE: Charge(Price(_affix, inline="ceil(len({1}) * 0.1)"), _affix_size)}
_PART = {LANGUAGE: Charge(Price(_part, inline="ceil(len({0}) * 0.1) * ceil(len({1}) * 0.1)"), _part_size)}
_MATCH = {LANGUAGE: Charge(Price(_match, inline="ceil((1.0 + len({0})) * 0.1) * ceil(len({1}) * 0.25)"), _match_size)}


FUNCTIONS = (
    Function(
        "contains",
        (method("contains_string", (STRING, STRING), BOOL, contains_text, charges=_PART),),
        doc="Whether the text has the other text in it.",
        examples={"'eu-west-1'.contains('west')": True},
    ),
    Function(
        "endsWith",
        (method("ends_with_string", (STRING, STRING), BOOL, str.endswith, charges=_AFFIX),),
        doc="Whether the text ends with the suffix.",
        examples={"'worker-3'.endsWith('-3')": True},
    ),
    Function(
        "startsWith",
        (method("starts_with_string", (STRING, STRING), BOOL, str.startswith, charges=_AFFIX),),
        doc="Whether the text begins with the prefix.",
        examples={"'eu-west-1'.startsWith('eu-')": True},
    ),
    Function(
        "matches",
        (
            replace(
                call("matches", (STRING, STRING), BOOL, matches, metered=True, charges=_MATCH), prepared=matching_with
            ),
            replace(
                method("matches_string", (STRING, STRING), BOOL, matches, metered=True, charges=_MATCH),
                prepared=matching_with,
            ),
        ),
        doc="Whether an RE2 pattern matches anywhere in the text. Anchor it with ^ and $ to mean all of the text.",
        examples={"'v1.30.4'.matches('^v1[.]3[0-9]')": True, "matches('abc', '^b')": False},
    ),
)
