"""Calls that depend on one short text alone, with what they gave for it: parsing, matching, and questions about that.

Generated code looks a text up itself and calls `learn` for one that is not known. Results and costs are kept for so
many texts; then all are forgotten, which is cheaper for new texts than to know which one was asked for last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muster.cel.costs.meter import new_meter
from muster.cel.running.dispatch import as_value
from muster.errors import BudgetExceededError, EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.cel.costs.runtime import Price
    from muster.cel.declarations import Overload, Prepared
    from muster.cel.values.value import Value

MEMO_SIZE = 1024
MEMO_TEXT = 512  # longer texts are not remembered
MEMO_UNITS = 512  # and neither are results that took more work

TOO_MUCH: Value = object()


class Memo(NamedTuple):
    """`known(text)` gives a pair of value and cost, or None; then `learn(text)` does.

    What takes more work than a little is not done here, where it would not be counted: the value is then TOO_MUCH.
    """

    known: Callable[[str], tuple[Value, int] | None]
    learn: Callable[[str], tuple[Value, int]]


class Question(NamedTuple):
    """A call on the result of another one, of which it is the first argument. It is cheap, and its price is fixed."""

    implementation: Callable[..., Value] | None
    constants: tuple[Value, ...]
    cost: int


def memo_of(overload: Overload, price: Price, constants: Sequence[Value], question: Question | None = None) -> Memo:
    """The memo of a call of which the first argument varies, and of what is asked about its result."""
    general = _metered(overload, price, tuple(constants), question)
    if overload.prepared is not None and price.inline and not price.needs_result:  # the cost is one of lengths
        prepared = overload.prepared(MEMO_UNITS, *constants)
        if prepared is not None:
            return _by_length(prepared, price, tuple(constants), question, general)
    pairs: dict[str, tuple[Value, int]] = {}

    def learn(text: str) -> tuple[Value, int]:
        pair = general(text)
        if len(pairs) >= MEMO_SIZE:
            pairs.clear()
        pairs[text] = pair
        return pair

    return Memo(pairs.get, learn)


def _metered(
    overload: Overload, price: Price, constants: tuple[Value, ...], question: Question | None
) -> Callable[[str], tuple[Value, int]]:
    implementation: Value = overload.impl

    def answer(text: str) -> tuple[Value, int]:
        meter = new_meter(MEMO_UNITS)
        try:
            try:
                if overload.metered:
                    result = implementation(meter, text, *constants)
                else:
                    result = implementation(text, *constants)
            except EvaluationError as error:
                result = as_value(error)
            cost = price(meter, (text, *constants), result)
        except BudgetExceededError:
            return TOO_MUCH, 0
        if question is None:
            return result, cost
        if result.__class__ is not EvaluationError:
            try:
                assert question.implementation is not None  # noqa: S101 - only the empty question has none
                result = question.implementation(result, *question.constants)
            except EvaluationError as error:
                result = as_value(error)
        return result, cost + question.cost

    return answer


def _by_length(
    prepared: Prepared,
    price: Price,
    constants: tuple[Value, ...],
    question: Question | None,
    general: Callable[[str], tuple[Value, int]],
) -> Memo:
    """For texts up to a length that cannot take too much work: no meter, and the cost is known by the length."""
    read, longest = prepared
    ask, rest, added = question or Question(None, (), 0)
    costs: dict[int, int] = {}
    pairs: dict[str, tuple[Value, int]] = {}

    def learn(text: str) -> tuple[Value, int]:
        length = len(text)
        if length <= longest:
            try:
                result = read(text)
                if ask is not None:
                    result = ask(result, *rest)
            except EvaluationError as error:
                result = as_value(error)
            cost = costs.get(length)
            if cost is None:
                cost = costs[length] = price(new_meter(MEMO_UNITS), (text, *constants), None) + added
            pair = result, cost
        else:
            pair = general(text)
        if len(pairs) >= MEMO_SIZE:
            pairs.clear()
        pairs[text] = pair
        return pair

    return Memo(pairs.get, learn)
