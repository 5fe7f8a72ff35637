"""Kubernetes' regex functions: find and findAll."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

from muster.cel.checking.types import INT, STRING, list_of
from muster.cel.costs.charge import KUBERNETES, Charge
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import Range
from muster.cel.costs.runtime import PATTERN, TRAVERSAL, Price, size_of
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import method
from muster.cel.libraries.patterns import compiled, each_match, regex
from muster.cel.libraries.text import matching
from muster.errors import EvaluationError, FailureKind
from muster.values.regexes import InvalidRegexError, Regex, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value


def _regex(meter: Meter, pattern: str, length: int) -> Regex:
    try:
        compiled(meter, pattern)
    except InvalidRegexError as fault:
        raise EvaluationError(f"Illegal regex: {fault}", FailureKind.INVALID_REGEX) from None
    return regex(meter, pattern, length)


def find(meter: Meter, text: str, pattern: str) -> str:
    data = encode(text)
    spans = _regex(meter, pattern, len(data)).first(data)
    return decode(data[slice(*spans[0])]) if spans else ""


def find_all(meter: Meter, text: str, pattern: str, limit: int = -1) -> list[str]:
    data = encode(text)
    found = each_match(meter, _regex(meter, pattern, len(data)), data)
    return [decode(data[slice(*spans[0])]) for spans in (islice(found, limit) if limit >= 0 else found)]


def _found(args: Sequence[Value], _: Value) -> int:
    if len(args) < 2:
        return 0
    return math.ceil((1.0 + size_of(args[0])) * TRAVERSAL) * math.ceil(size_of(args[1]) * PATTERN)


def _found_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or not args:
        return None
    size = target.size_or_hint()
    return CallEstimate(matching(size, args[0].size_or_hint()), Range(0, size.max))


_FOUND = {KUBERNETES: Charge(Price(_found, inline="ceil((1.0 + len({0})) * 0.1) * ceil(len({1}) * 0.25)"), _found_size)}


REGEX = Library(
    "kubernetes.regex",
    (
        Function(
            "find",
            (method("string_find_string", (STRING, STRING), STRING, find, metered=True),),
            doc="What the pattern matches first; an empty text if it does not.",
            examples={"'abc 123'.find('[0-9]+')": "123", "'abc'.find('[0-9]+')": ""},
            charges=_FOUND,
        ),
        Function(
            "findAll",
            (
                method("string_find_all_string", (STRING, STRING), list_of(STRING), find_all, metered=True),
                method("string_find_all_string_int", (STRING, STRING, INT), list_of(STRING), find_all, metered=True),
            ),
            doc="Everything the pattern matches, at most as many as the limit says.",
            examples={
                "'1 22 333'.findAll('[0-9]+')": ["1", "22", "333"],
                "'1 22 333'.findAll('[0-9]+', 2)": ["1", "22"],
            },
            charges=_FOUND,
        ),
    ),
)
