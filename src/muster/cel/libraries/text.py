"""The string functions of the standard library, and `matches`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, STRING
from muster.cel.declarations import Function
from muster.cel.libraries.declare import call, method
from muster.cel.libraries.patterns import regex

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter


def matches(meter: Meter, text: str, pattern: str) -> bool:
    return regex(meter, pattern, len(text)).found_in(text)


def contains_text(text: str, part: str) -> bool:
    return part in text


FUNCTIONS = (
    Function(
        "contains",
        (method("contains_string", (STRING, STRING), BOOL, contains_text),),
        doc="Whether the text has the other text in it.",
        examples={"'eu-west-1'.contains('west')": True},
    ),
    Function(
        "endsWith",
        (method("ends_with_string", (STRING, STRING), BOOL, str.endswith),),
        doc="Whether the text ends with the suffix.",
        examples={"'worker-3'.endsWith('-3')": True},
    ),
    Function(
        "startsWith",
        (method("starts_with_string", (STRING, STRING), BOOL, str.startswith),),
        doc="Whether the text begins with the prefix.",
        examples={"'eu-west-1'.startsWith('eu-')": True},
    ),
    Function(
        "matches",
        (
            call("matches", (STRING, STRING), BOOL, matches, metered=True),
            method("matches_string", (STRING, STRING), BOOL, matches, metered=True),
        ),
        doc="Whether an RE2 pattern matches anywhere in the text. Anchor it with ^ and $ to mean all of the text.",
        examples={"'v1.30.4'.matches('^v1[.]3[0-9]')": True, "matches('abc', '^b')": False},
    ),
)
