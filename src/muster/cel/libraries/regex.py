"""cel-go's regex library: extracting and replacing what RE2 patterns find."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.checking.types import INT, STRING, list_of, optional_of
from muster.cel.costs.charge import LIBRARY, Charge
from muster.cel.costs.meter import spend_on_text
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import ONE, Range, exactly, wrapped
from muster.cel.costs.runtime import LIST, PATTERN, TRAVERSAL, Price, size_of
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call
from muster.cel.libraries.patterns import each_match, regex
from muster.cel.traversals import go_text
from muster.cel.values import OPTIONAL_NONE, OptionalValue, optional
from muster.errors import EvaluationError
from muster.values.quoting import go_quote
from muster.values.regexes import Regex, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value
    from muster.values.regexes import Span


def _at_most_one_group(meter: Meter, pattern: str, text: str) -> Regex:
    compiled = regex(meter, pattern, len(text))
    if compiled.groups > 1:
        raise EvaluationError(f"regular expression has more than one capturing group: {go_quote(go_text(pattern))}")
    return compiled


def _cut(data: bytes, span: Span) -> str:
    return decode(data[span[0] : span[1]]) if span[0] >= 0 else ""


def extract(meter: Meter, text: str, pattern: str) -> OptionalValue:
    compiled = _at_most_one_group(meter, pattern, text)
    data = encode(text)
    spans = compiled.first(data)
    if spans is None:
        return OPTIONAL_NONE
    found = _cut(data, spans[-1])
    return OPTIONAL_NONE if compiled.groups and not found else optional(found)


def extract_all(meter: Meter, text: str, pattern: str) -> list[str]:
    compiled = _at_most_one_group(meter, pattern, text)
    data = encode(text)
    found = [_cut(data, spans[-1]) for spans in each_match(meter, compiled, data)]
    return [part for part in found if part] if compiled.groups else found


def replace(meter: Meter, text: str, pattern: str, replacement: str, limit: int = -1) -> str:
    """The text with matches replaced; \\1 to \\9 stand for groups, \\0 for the whole match."""
    if limit == 0:
        return text
    compiled = regex(meter, pattern, len(text))
    data = encode(text)
    pieces: list[str] = []
    position = 0
    for count, spans in enumerate(each_match(meter, compiled, data)):
        if 0 < limit <= count:
            break
        pieces.append(decode(data[position : spans[0][0]]))
        pieces.append(_expanded(meter, replacement, data, spans))
        position = spans[0][1]
    pieces.append(decode(data[position:]))
    return "".join(pieces)


def _expanded(meter: Meter, replacement: str, data: bytes, spans: list[Span]) -> str:
    pieces: list[str] = []
    spend_on_text(meter, len(replacement))
    position = 0
    while (slash := replacement.find("\\", position)) != -1:
        pieces.append(replacement[position:slash])
        following = replacement[slash + 1 : slash + 2]
        if not following:
            raise EvaluationError(f"invalid replacement string: '{go_text(replacement)}' \\ not allowed at end")
        if following == "\\":
            pieces.append("\\")
        elif following in "0123456789":
            group = int(following)
            if group >= len(spans):
                raise EvaluationError(
                    f"replacement string references group {group} but regex has only {len(spans) - 1} group(s)"
                )
            spend_on_text(meter, spans[group][1] - spans[group][0])
            pieces.append(_cut(data, spans[group]))
        else:
            raise EvaluationError(
                f"invalid replacement string: '{go_text(replacement)}' \\ must be followed by a digit or \\"
            )
        position = slash + 2
    pieces.append(replacement[position:])
    return "".join(pieces)


# --- costs


def _search(args: Sequence[Value]) -> float:
    return (size_of(args[0]) + 1) * TRAVERSAL * ((size_of(args[1]) + 1) * PATTERN)


def _search_size(args: Arguments) -> Range:
    text = args[0].size_or_hint().plus(ONE).scaled(TRAVERSAL)
    return text.times(args[1].size_or_hint().plus(ONE).scaled(PATTERN))


def _extract(args: Sequence[Value], result: Value) -> int:
    return math.ceil(1.0 + _search(args) + size_of(result))


def _extract_size(_: Operand | None, args: Arguments) -> CallEstimate:
    result = Range(0, args[0].size_or_hint().max)
    return CallEstimate(_search_size(args).plus(result), result)


def _extract_all(args: Sequence[Value], result: Value) -> int:
    return math.ceil(1.0 + _search(args) + size_of(result) + LIST)


def _extract_all_size(_: Operand | None, args: Arguments) -> CallEstimate:
    result = Range(0, args[0].size_or_hint().max)
    return CallEstimate(_search_size(args).plus(result.plus(exactly(LIST))), result)


def _replace(args: Sequence[Value], result: Value) -> int:
    return int(1.0 + _search(args) + size_of(result))


def _replace_size(_: Operand | None, args: Arguments) -> CallEstimate:
    text, replacement = args[0].size_or_hint(), args[2].size_or_hint()
    replaced = wrapped(text.max * replacement.max)
    result = Range(replaced, text.max) if replacement.max == 0 else Range(text.max, replaced)
    return CallEstimate(_search_size(args).plus(result.scaled(1)), result)


_EXTRACTED = {LIBRARY: Charge(Price(_extract, needs_result=True), _extract_size)}
_ALL_EXTRACTED = {LIBRARY: Charge(Price(_extract_all, needs_result=True), _extract_all_size)}
_REPLACED = {LIBRARY: Charge(Price(_replace, needs_result=True), _replace_size)}
_TEXTS = (STRING, STRING)


REGEX = Library(
    "cel.lib.ext.regex",
    (
        Function(
            "regex.extract",
            (
                call(
                    "regex_extract_string_string",
                    _TEXTS,
                    optional_of(STRING),
                    extract,
                    metered=True,
                    charges=_EXTRACTED,
                ),
            ),
            doc="What the pattern, or its one group, finds first, as an optional.",
            examples={"regex.extract('v1.30.4', 'v1[.]([0-9]+)').value()": "30"},
        ),
        Function(
            "regex.extractAll",
            (
                call(
                    "regex_extractAll_string_string",
                    _TEXTS,
                    list_of(STRING),
                    extract_all,
                    metered=True,
                    charges=_ALL_EXTRACTED,
                ),
            ),
            doc="Everything the pattern, or its one group, finds.",
            examples={"regex.extractAll('a1 b22', '[0-9]+')": ["1", "22"]},
        ),
        Function(
            "regex.replace",
            (
                call(
                    "regex_replace_string_string_string",
                    (*_TEXTS, STRING),
                    STRING,
                    replace,
                    metered=True,
                    charges=_REPLACED,
                ),
                call(
                    "regex_replace_string_string_string_int",
                    (*_TEXTS, STRING, INT),
                    STRING,
                    replace,
                    metered=True,
                    charges=_REPLACED,
                ),
            ),
            doc="The text with what the pattern finds replaced, always or only the first times. May be long.",
            examples={
                r"regex.replace('eu-west', '(\\w+)-(\\w+)', '\\2-\\1')": "west-eu",
                "regex.replace('aaa', 'a', 'b', 2)": "bba",
            },
        ),
    ),
)
