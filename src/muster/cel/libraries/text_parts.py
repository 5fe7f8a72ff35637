"""Of cel-go's strings library what finds, takes apart and puts together: charAt, indexOf, lastIndexOf, split, join."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.checking.types import INT, STRING, list_of
from muster.cel.costs.charge import KUBERNETES, LIBRARY, Charge
from muster.cel.costs.formulas import LIST_WALKED, WALKED_TWICE_PRICE, element_of
from muster.cel.costs.meter import spend, spend_on_text
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import ONE, ZERO, Range, exactly, saturating_add, saturating_multiply, wrapped
from muster.cel.costs.runtime import LIST, TRAVERSAL, Price, size_of, traversal
from muster.cel.declarations import Function
from muster.cel.libraries.declare import method
from muster.cel.syntax.tree import Literal
from muster.cel.traversals import go_text
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value

_LIST_OF_STRING = list_of(STRING)


def out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}", FailureKind.INDEX_OUT_OF_BOUNDS)


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    if offset < 0:
        raise out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return text.find(part, offset)


def last_index_of(text: str, part: str) -> int:
    return text.rfind(part)


def last_index_of_before(text: str, part: str, offset: int) -> int:
    """The last place at or before the offset; an offset behind the end finds nothing."""
    if offset < 0:
        raise out_of_range(offset)
    if not part:
        return min(offset, len(text))
    if offset >= len(text):
        return -1
    return text.rfind(part, 0, offset + len(part))


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


def join(meter: Meter, parts: Value, separator: str = "") -> str:
    spend(meter, len(parts))
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError(f"join: invalid input: {go_text(part)}")
    spend_on_text(meter, sum(map(len, parts)) + len(parts) * len(separator))
    return separator.join(parts)


# --- costs in cel-go


def _char(args: Sequence[Value], _: Value) -> int:
    return 1 + traversal(size_of(args[0])) + 1


def _char_size(target: Operand | None, _: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    return CallEstimate(target.size_or_hint().scaled(TRAVERSAL).plus(exactly(2)), Range(0, 1))


def _search(args: Sequence[Value], _: Value) -> int:
    return 1 + traversal(size_of(args[0]) * size_of(args[1]))


def _search_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    return CallEstimate(target.size_or_hint().times(args[0].size_or_hint()).scaled(TRAVERSAL).plus(ONE))


def _split(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal(size_of(args[0]) + 1) + size_of(result) + LIST


def _split_size(target: Operand | None, _: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    result = Range(0, size.max)
    walk = size.plus(ONE).scaled(TRAVERSAL)
    return CallEstimate(walk.plus(result.scaled(1).plus(exactly(LIST))).plus(ONE), result)


def _join(args: Sequence[Value], result: Value) -> int:
    return 1 + traversal(size_of(args[0]) + 1) + size_of(result)


def _join_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    separator = args[0].size_or_hint() if args else ZERO
    largest = saturating_add(saturating_multiply(size.max, saturating_add(1, separator.max)), separator.max)
    result = Range(0, largest)
    return CallEstimate(size.plus(ONE).scaled(TRAVERSAL).plus(result.scaled(1)).plus(ONE), result)


_CHAR = {LIBRARY: Charge(Price(_char), _char_size)}
_SEARCHED = {LIBRARY: Charge(Price(_search), _search_size)}
_SPLIT = {LIBRARY: Charge(Price(_split, needs_result=True), _split_size)}
_JOINED = {LIBRARY: Charge(Price(_join, needs_result=True), _join_size)}


# --- costs in Kubernetes, by the name of the function


def _twice_split(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    largest = size.max
    if len(args) > 1:
        match args[1].expr:
            case Literal(value=int(number)) if type(number) is int:
                largest = wrapped(number)
    return CallEstimate(size.scaled(2 * TRAVERSAL), Range(0, largest))


def _twice_made(args: Sequence[Value], result: Value) -> int:
    return math.ceil(float(size_of(result)) * 2 * TRAVERSAL) if args else 0


def _made_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    count = target.size_or_hint()
    element = element_of(target)
    size = count.times(element.size_or_hint()) if element is not None else ZERO
    if args:
        separators = Range(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[0].size_or_hint().times(separators))
    return CallEstimate(size.scaled(TRAVERSAL), size)


_IN_KUBERNETES_SEARCHED = {KUBERNETES: LIST_WALKED}  # it has a function of that name for lists
_IN_KUBERNETES_SPLIT = {KUBERNETES: Charge(WALKED_TWICE_PRICE, _twice_split)}
_IN_KUBERNETES_JOINED = {KUBERNETES: Charge(Price(_twice_made, needs_result=True), _made_size)}


FUNCTIONS = (
    Function(
        "charAt",
        (method("string_char_at_int", (STRING, INT), STRING, char_at, charges=_CHAR),),
        doc="The character at a position; an empty text at the very end.",
        examples={"'hello'.charAt(4)": "o", "'hello'.charAt(5)": ""},
    ),
    Function(
        "indexOf",
        (
            method("string_index_of_string", (STRING, STRING), INT, index_of, charges=_SEARCHED),
            method("string_index_of_string_int", (STRING, STRING, INT), INT, index_of, charges=_SEARCHED),
        ),
        doc="Where the other text first occurs, at or after an offset; -1 if it does not.",
        examples={"'hello mellow'.indexOf('ello')": 1, "'hello mellow'.indexOf('ello', 2)": 7, "'a'.indexOf('b')": -1},
        charges=_IN_KUBERNETES_SEARCHED,
    ),
    Function(
        "lastIndexOf",
        (
            method("string_last_index_of_string", (STRING, STRING), INT, last_index_of, charges=_SEARCHED),
            method(
                "string_last_index_of_string_int", (STRING, STRING, INT), INT, last_index_of_before, charges=_SEARCHED
            ),
        ),
        doc="Where the other text last occurs, at or before an offset; -1 if it does not.",
        examples={"'hello mellow'.lastIndexOf('ello')": 7, "'hello mellow'.lastIndexOf('ello', 6)": 1},
        charges=_IN_KUBERNETES_SEARCHED,
    ),
    Function(
        "split",
        (
            method("string_split_string", (STRING, STRING), _LIST_OF_STRING, split, metered=True, charges=_SPLIT),
            method(
                "string_split_string_int", (STRING, STRING, INT), _LIST_OF_STRING, split, metered=True, charges=_SPLIT
            ),
        ),
        doc="The parts between the separators, at most as many as the limit says.",
        examples={
            "'a b c'.split(' ')": ["a", "b", "c"],
            "'a b c'.split(' ', 2)": ["a", "b c"],
            "'ab'.split('')": ["a", "b"],
        },
        charges=_IN_KUBERNETES_SPLIT,
    ),
    Function(
        "join",
        (
            method("list_join", (_LIST_OF_STRING,), STRING, join, metered=True, charges=_JOINED),
            method("list_join_string", (_LIST_OF_STRING, STRING), STRING, join, metered=True, charges=_JOINED),
        ),
        doc="The texts of a list one after the other, with a separator between them.",
        examples={"['a', 'b'].join()": "ab", "['a', 'b'].join('-')": "a-b"},
        charges=_IN_KUBERNETES_JOINED,
    ),
)
