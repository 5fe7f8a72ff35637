"""Of cel-go's strings library what makes another text of one: lowerAscii, upperAscii, trim, substring, replace …"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.checking.types import INT, STRING
from muster.cel.costs.charge import KUBERNETES, LIBRARY, Charge
from muster.cel.costs.formulas import PARSED_PRICE, WALKED_TWICE_PRICE
from muster.cel.costs.meter import spend_on_text
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import ONE, Range, exactly, saturating_add, saturating_multiply, wrapped
from muster.cel.costs.runtime import TRAVERSAL, Price, size_of, traversal
from muster.cel.declarations import Function
from muster.cel.libraries.declare import method
from muster.cel.libraries.text_parts import out_of_range
from muster.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value

# What Go's unicode.IsSpace counts; Python's strip() also takes the ASCII separators 0x1c to 0x1f.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


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


def substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise out_of_range(start)
    return text[start:]


def substring_between(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise out_of_range(index)
    return text[start:end]


def trim(text: str) -> str:
    return text.strip(_SPACES)


def reverse(text: str) -> str:
    return text[::-1]


# --- costs in cel-go


def _copy(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal(size_of(args[0])) + size_of(result)


def _copied(size: Range, result: Range) -> CallEstimate:
    return CallEstimate(size.scaled(TRAVERSAL).plus(ONE).plus(result.scaled(1)), result)


def _same_size(target: Operand | None, _: Arguments) -> CallEstimate | None:
    return _copied(target.size_or_hint(), target.size_or_hint()) if target is not None else None


def _trimmed_size(target: Operand | None, _: Arguments) -> CallEstimate | None:
    return _copied(target.size_or_hint(), Range(0, target.size_or_hint().max)) if target is not None else None


def _cut_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    end = args[1].literal_int(size.max) if len(args) == 2 else size.max
    return _copied(size, exactly(wrapped(end - args[0].literal_int(0))))


def _replace(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal((size_of(args[0]) or 1) * (size_of(args[1]) or 1)) + size_of(result)


def _replace_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    search = _at_least_one(size).times(_at_least_one(args[0].size_or_hint())).scaled(TRAVERSAL)
    replacement = args[1].size_or_hint().plus(ONE)
    largest = saturating_multiply(saturating_add(size.max, 1), replacement.max)
    result = Range(min(size.min, replacement.min), largest)
    return CallEstimate(search.plus(result.scaled(1)).plus(ONE), result)


def _at_least_one(size: Range) -> Range:
    return Range(size.min or 1, size.max or 1)


_COPY_PRICE = Price(_copy, needs_result=True)
_SAME_SIZE = {LIBRARY: Charge(_COPY_PRICE, _same_size)}
_TRIMMED = {LIBRARY: Charge(_COPY_PRICE, _trimmed_size)}
_CUT = {LIBRARY: Charge(_COPY_PRICE, _cut_size)}
_REPLACED = {LIBRARY: Charge(Price(_replace, needs_result=True), _replace_size)}


# --- costs in Kubernetes, by the name of the function


def _walked_size(target: Operand | None, _: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    return CallEstimate(size.scaled(TRAVERSAL), size)


def _most_replacements(size: Range, old: Range, new: Range) -> tuple[int, int]:
    """How often the text is replaced at most, and how much of the original stays beside it."""
    if old.min == 0:
        return saturating_add(size.max, 1), size.max
    if new.max <= old.min:
        return 0, size.max
    return math.ceil(float(size.max) / float(old.min)), 0


def _fewest_replacements(size: Range, old: Range, new: Range) -> tuple[int, int]:
    if old.max == 0:
        return saturating_add(size.min, 1), size.min
    if old.max <= new.min:
        return 0, size.min
    return math.ceil(float(size.min) / float(old.max)), 0


def _twice_replaced(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.size_or_hint(), args[0].size_or_hint(), args[1].size_or_hint()
    most, kept_most = _most_replacements(size, old, new)
    fewest, kept_least = _fewest_replacements(size, old, new)
    result = Range(fewest, most).times(new).plus(Range(kept_least, kept_most))
    return CallEstimate(size.scaled(2 * TRAVERSAL), result)


_IN_KUBERNETES_WALKED = {KUBERNETES: Charge(PARSED_PRICE, _walked_size)}
_IN_KUBERNETES_REPLACED = {KUBERNETES: Charge(WALKED_TWICE_PRICE, _twice_replaced)}


FUNCTIONS = (
    Function(
        "lowerAscii",
        (method("string_lower_ascii", (STRING,), STRING, lower_ascii, charges=_SAME_SIZE),),
        doc="The text with the letters A to Z made small; other letters stay.",
        examples={"'TacoCÆt'.lowerAscii()": "tacocÆt"},
        charges=_IN_KUBERNETES_WALKED,
    ),
    Function(
        "upperAscii",
        (method("string_upper_ascii", (STRING,), STRING, upper_ascii, charges=_SAME_SIZE),),
        doc="The text with the letters a to z made capital; other letters stay.",
        examples={"'TacoCæt'.upperAscii()": "TACOCæT"},
        charges=_IN_KUBERNETES_WALKED,
    ),
    Function(
        "trim",
        (method("string_trim", (STRING,), STRING, trim, charges=_TRIMMED),),
        doc="The text without the white space around it.",
        examples={"'  trim\\n '.trim()": "trim"},
        charges=_IN_KUBERNETES_WALKED,
    ),
    Function(
        "substring",
        (
            method("string_substring_int", (STRING, INT), STRING, substring, charges=_CUT),
            method("string_substring_int_int", (STRING, INT, INT), STRING, substring_between, charges=_CUT),
        ),
        doc="The text from one position up to another one, or to the end.",
        examples={"'tacocat'.substring(4)": "cat", "'tacocat'.substring(0, 4)": "taco"},
        charges=_IN_KUBERNETES_WALKED,
    ),
    Function(
        "replace",
        (
            method(
                "string_replace_string_string",
                (STRING, STRING, STRING),
                STRING,
                replace,
                metered=True,
                charges=_REPLACED,
            ),
            method(
                "string_replace_string_string_int",
                (STRING, STRING, STRING, INT),
                STRING,
                replace,
                metered=True,
                charges=_REPLACED,
            ),
        ),
        doc="The text with another text replaced everywhere, or only the first times. The result may be long.",
        examples={"'hello hello'.replace('he', 'we')": "wello wello", "'aaa'.replace('a', 'b', 2)": "bba"},
        charges=_IN_KUBERNETES_REPLACED,
    ),
)
REVERSE = Function(
    "reverse",
    (method("string_reverse", (STRING,), STRING, reverse, charges=_SAME_SIZE),),
    doc="The characters of a text, or the elements of a list, from last to first.",
    examples={"'gums'.reverse()": "smug"},
)
