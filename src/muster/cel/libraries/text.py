"""The string functions of the standard library, and the regular expressions behind `matches`."""

from __future__ import annotations

from functools import lru_cache

from muster.cel.declarations import Function
from muster.cel.libraries.declare import call, method
from muster.cel.types import BOOL, STRING
from muster.errors import EvaluationError
from muster.values.regexes import InvalidRegexError, Regex, compile_regex

REMEMBERED_LENGTH = 256  # of a text whose answer is kept; bounds the memory together with the number of answers


def regex(pattern: str) -> Regex:
    """The compiled pattern, its fault told as an evaluation error."""
    try:
        return compile_regex(pattern)
    except InvalidRegexError as fault:
        raise EvaluationError(str(fault)) from None


def matches(text: str, pattern: str) -> bool:
    return _remembered(text, pattern) if len(text) <= REMEMBERED_LENGTH else regex(pattern).found_in(text)


@lru_cache(maxsize=16_384)
def _remembered(text: str, pattern: str) -> bool:
    """Labels and versions repeat across a fleet; looking an answer up is ten times faster than finding it again."""
    return regex(pattern).found_in(text)


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
            call("matches", (STRING, STRING), BOOL, matches),
            method("matches_string", (STRING, STRING), BOOL, matches),
        ),
        doc="Whether an RE2 pattern matches anywhere in the text. Anchor it with ^ and $ to mean all of the text.",
        examples={"'v1.30.4'.matches('^v1[.]3[0-9]')": True, "matches('abc', '^b')": False},
    ),
)
