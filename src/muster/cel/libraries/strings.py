"""cel-go's extended strings library, in its versions 0 to 5.

Version 1 brought format and quote, 2 a stricter join, 3 reverse, 4 formatting without locales, 5 a limit on precision.
`replace` and `join` can make texts much longer than their input; the cost of what they make is charged by the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.cel.checking.types import DYN, INT, STRING, list_of
from muster.cel.checking.validators import CLAUSES, OLD_CLAUSES, format_literals
from muster.cel.costs.meter import spend, spend_on_text
from muster.cel.declarations import Function, Library
from muster.cel.libraries import formatting, go_formatting
from muster.cel.libraries.declare import call, method
from muster.cel.traversals import go_text
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

LATEST = 5
_LIST_OF_STRING = list_of(STRING)
# What Go's unicode.IsSpace counts; Python's strip() also takes the ASCII separators 0x1c to 0x1f.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_QUOTED = str.maketrans(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        '"': r"\"",
    }
)


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}", FailureKind.INDEX_OUT_OF_BOUNDS)


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return text.find(part, offset)


def last_index_of(text: str, part: str) -> int:
    return text.rfind(part)


def last_index_of_before(text: str, part: str, offset: int) -> int:
    """The last place at or before the offset; an offset behind the end finds nothing."""
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    if offset >= len(text):
        return -1
    return text.rfind(part, 0, offset + len(part))


def lower_ascii(text: str) -> str:
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    return text.translate(_UPPER)


def replace(meter: Meter, text: str, old: str, new: str, limit: int = -1) -> str:
    times = text.count(old)
    if 0 <= limit < times:
        times = limit
    spend_on_text(meter, len(text) + times * len(new))
    return text.replace(old, new, times)


def split(meter: Meter, text: str, separator: str, limit: int = -1) -> list[str]:
    """At most `limit` parts, the last one being the rest; an empty separator splits into characters."""
    if limit == 0:
        return []
    spend(meter, text.count(separator) + len(text) // 4)
    if separator:
        return text.split(separator, limit - 1 if limit > 0 else -1)
    if limit < 0 or limit >= len(text):
        return list(text)
    return [*text[: limit - 1], text[limit - 1 :]]


def substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def substring_between(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def trim(text: str) -> str:
    return text.strip(_SPACES)


def reverse(text: str) -> str:
    return text[::-1]


def quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


def join(meter: Meter, parts: Value, separator: str = "") -> str:
    spend(meter, len(parts))
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError(f"join: invalid input: {go_text(part)}")
    spend_on_text(meter, sum(map(len, parts)) + len(parts) * len(separator))
    return separator.join(parts)


_BASE = (
    Function(
        "charAt",
        (method("string_char_at_int", (STRING, INT), STRING, char_at),),
        doc="The character at a position; an empty text at the very end.",
        examples={"'hello'.charAt(4)": "o", "'hello'.charAt(5)": ""},
    ),
    Function(
        "indexOf",
        (
            method("string_index_of_string", (STRING, STRING), INT, index_of),
            method("string_index_of_string_int", (STRING, STRING, INT), INT, index_of),
        ),
        doc="Where the other text first occurs, at or after an offset; -1 if it does not.",
        examples={"'hello mellow'.indexOf('ello')": 1, "'hello mellow'.indexOf('ello', 2)": 7, "'a'.indexOf('b')": -1},
    ),
    Function(
        "lastIndexOf",
        (
            method("string_last_index_of_string", (STRING, STRING), INT, last_index_of),
            method("string_last_index_of_string_int", (STRING, STRING, INT), INT, last_index_of_before),
        ),
        doc="Where the other text last occurs, at or before an offset; -1 if it does not.",
        examples={"'hello mellow'.lastIndexOf('ello')": 7, "'hello mellow'.lastIndexOf('ello', 6)": 1},
    ),
    Function(
        "lowerAscii",
        (method("string_lower_ascii", (STRING,), STRING, lower_ascii),),
        doc="The text with the letters A to Z made small; other letters stay.",
        examples={"'TacoCÆt'.lowerAscii()": "tacocÆt"},
    ),
    Function(
        "replace",
        (
            method("string_replace_string_string", (STRING, STRING, STRING), STRING, replace, metered=True),
            method("string_replace_string_string_int", (STRING, STRING, STRING, INT), STRING, replace, metered=True),
        ),
        doc="The text with another text replaced everywhere, or only the first times. The result may be long.",
        examples={"'hello hello'.replace('he', 'we')": "wello wello", "'aaa'.replace('a', 'b', 2)": "bba"},
    ),
    Function(
        "split",
        (
            method("string_split_string", (STRING, STRING), _LIST_OF_STRING, split, metered=True),
            method("string_split_string_int", (STRING, STRING, INT), _LIST_OF_STRING, split, metered=True),
        ),
        doc="The parts between the separators, at most as many as the limit says.",
        examples={
            "'a b c'.split(' ')": ["a", "b", "c"],
            "'a b c'.split(' ', 2)": ["a", "b c"],
            "'ab'.split('')": ["a", "b"],
        },
    ),
    Function(
        "substring",
        (
            method("string_substring_int", (STRING, INT), STRING, substring),
            method("string_substring_int_int", (STRING, INT, INT), STRING, substring_between),
        ),
        doc="The text from one position up to another one, or to the end.",
        examples={"'tacocat'.substring(4)": "cat", "'tacocat'.substring(0, 4)": "taco"},
    ),
    Function(
        "trim",
        (method("string_trim", (STRING,), STRING, trim),),
        doc="The text without the white space around it.",
        examples={"'  trim\\n '.trim()": "trim"},
    ),
    Function(
        "upperAscii",
        (method("string_upper_ascii", (STRING,), STRING, upper_ascii),),
        doc="The text with the letters a to z made capital; other letters stay.",
        examples={"'TacoCæt'.upperAscii()": "TACOCæT"},
    ),
    Function(
        "join",
        (
            method("list_join", (_LIST_OF_STRING,), STRING, join, metered=True),
            method("list_join_string", (_LIST_OF_STRING, STRING), STRING, join, metered=True),
        ),
        doc="The texts of a list one after the other, with a separator between them.",
        examples={"['a', 'b'].join()": "ab", "['a', 'b'].join('-')": "a-b"},
    ),
)

_QUOTE = Function(
    "strings.quote",
    (call("strings_quote", (STRING,), STRING, quote),),
    doc="The text in double quotes, with escapes, as it could stand in an expression.",
    examples={r"strings.quote('a \"b\"')": r'"a \"b\""'},
)
_REVERSE = Function(
    "reverse",
    (method("string_reverse", (STRING,), STRING, reverse),),
    doc="The characters of a text, or the elements of a list, from last to first.",
    examples={"'gums'.reverse()": "smug"},
)


def _format(implementation: Callable[..., str], examples: dict[str, Value]) -> Function:
    return Function(
        "format",
        (method("string_format", (STRING, list_of(DYN)), STRING, implementation, metered=True),),
        doc="Fills in %s, %d, %f, %e, %b, %x, %X and %o from a list; %.3f sets the digits behind the point.",
        examples=examples,
    )


_FORMAT_EXAMPLES: dict[str, Value] = {
    "'%s has %d nodes'.format(['eu', 3])": "eu has 3 nodes",
    "'%x'.format([255])": "ff",
}


def strings_library(version: int = LATEST) -> Library:
    """The library as it was in that version."""
    functions: list[Function] = list(_BASE)
    validators: tuple[Callable[..., Any], ...] = ()
    if version >= 4:
        limit = 100 if version >= 5 else 0
        functions.append(
            _format(formatting.format_with(limit), {**_FORMAT_EXAMPLES, "'%.2f'.format([1234.5])": "1234.50"})
        )
        validators = (format_literals(formatting.interpolate, formatting.refusal, CLAUSES, limit),)
    elif version >= 1:
        localized = {**_FORMAT_EXAMPLES, "'%.2f'.format([1234.5])": "1,234.50"}
        functions.append(_format(go_formatting.localized_format, localized))
        validators = (format_literals(formatting.interpolate, go_formatting.refusal, OLD_CLAUSES),)
    if version >= 1:
        functions.append(_QUOTE)
    if version >= 3:
        functions.append(_REVERSE)
    return Library("cel.lib.ext.strings", tuple(functions), validators=validators)
