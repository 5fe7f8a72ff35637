"""Kubernetes' regex functions: find and findAll."""

from __future__ import annotations

from itertools import islice

from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import method
from muster.cel.types import INT, STRING, list_of
from muster.errors import EvaluationError
from muster.values.regexes import InvalidRegexError, Regex, compile_regex, decode, encode


def _regex(pattern: str) -> Regex:
    try:
        return compile_regex(pattern)
    except InvalidRegexError as fault:
        raise EvaluationError(f"Illegal regex: {fault}") from None


def find(text: str, pattern: str) -> str:
    data = encode(text)
    spans = _regex(pattern).first(data)
    return decode(data[slice(*spans[0])]) if spans else ""


def find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    data = encode(text)
    found = _regex(pattern).all(data)
    return [decode(data[slice(*spans[0])]) for spans in (islice(found, limit) if limit >= 0 else found)]


REGEX = Library(
    "kubernetes.regex",
    (
        Function(
            "find",
            (method("string_find_string", (STRING, STRING), STRING, find),),
            doc="What the pattern matches first; an empty text if it does not.",
            examples={"'abc 123'.find('[0-9]+')": "123", "'abc'.find('[0-9]+')": ""},
        ),
        Function(
            "findAll",
            (
                method("string_find_all_string", (STRING, STRING), list_of(STRING), find_all),
                method("string_find_all_string_int", (STRING, STRING, INT), list_of(STRING), find_all),
            ),
            doc="Everything the pattern matches, at most as many as the limit says.",
            examples={
                "'1 22 333'.findAll('[0-9]+')": ["1", "22", "333"],
                "'1 22 333'.findAll('[0-9]+', 2)": ["1", "22"],
            },
        ),
    ),
)
