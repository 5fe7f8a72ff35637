"""Calls that depend on one short text alone, with what they gave for it: parsing, matching, and questions about that.

Generated code looks a text up itself and calls `learn` for one that is not known. Results and costs are kept for so
many texts; much later all are forgotten, which is cheaper for new texts than to know which one was asked for last.
Some answers take less time than a look: those are not kept at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muster.cel.costs.meter import new_meter
from muster.cel.declarations import Prepared, Quick
from muster.cel.running.dispatch import as_value
from muster.errors import BudgetExceededError, EvaluationError
from muster.values.remembering import remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.cel.costs.runtime import Price
    from muster.cel.declarations import Answer, Overload
    from muster.cel.values.value import Value

MEMO_SIZE = 1024
MEMO_TEXT = 512  # longer texts are not remembered
MEMO_UNITS = 512  # and neither are results that took more work
REST = 16 * MEMO_SIZE  # new texts that a full memo does not take before it begins anew
QUICK_TEXT = 64  # characters; what is quick is so for short texts

TOO_MUCH: Value = object()


class Memo(NamedTuple):
    """`known(text)` gives a pair of value and cost, or None; then `learn(text)` does.

    What takes more work than a little is not done here, where it would not be counted: the value is then TOO_MUCH.
    """

    known: Callable[[str], tuple[Value, int] | None]
    learn: Callable[[str], tuple[Value, int]]


class Question(NamedTuple):
    """A call on the result of another one, of which it is the first argument. It is cheap, and its price is fixed."""

    overload: Overload
    constants: tuple[Value, ...]
    cost: int


def quick_of(overload: Overload, price: Price, constants: Sequence[Value], question: Question | None) -> Quick | None:
    """A way to answer that takes less time than to look the text up, where there is one and lengths tell the cost."""
    if overload.prepared is None or not price.inline or price.needs_result:
        return None
    prepared = overload.prepared(MEMO_UNITS, *constants)
    if question is None or prepared is None:
        return prepared if isinstance(prepared, Quick) else None
    if question.overload.asked is None:
        return None
    otherwise = remembered(MEMO_SIZE, MEMO_TEXT)(_asking(prepared.function, question))
    return question.overload.asked(Prepared(otherwise, prepared.longest), tuple(constants), question.constants)


def costs_by_length(
    price: Price, constants: Sequence[Value], question: Question | None, longest: int
) -> tuple[int, ...]:
    """What a call and the question about it cost for texts of each length, for prices that depend on nothing else."""
    meter = new_meter()
    added = question.cost if question is not None else 0
    return tuple(price(meter, ("x" * length, *constants), None) + added for length in range(longest + 1))


def memo_of(overload: Overload, price: Price, constants: Sequence[Value], question: Question | None = None) -> Memo:
    """The memo of a call of which the first argument varies, and of what is asked about its result."""
    answer = _metered(overload, price, tuple(constants), question)
    if overload.prepared is not None and price.inline and not price.needs_result:  # the cost is one of lengths
        prepared = overload.prepared(MEMO_UNITS, *constants)
        if isinstance(prepared, Prepared):
            answer = _by_length(prepared, price, tuple(constants), question, answer)
    pairs: dict[str, tuple[Value, int]] = {}
    resting = 0

    def learn(text: str) -> tuple[Value, int]:
        nonlocal resting
        if len(pairs) < MEMO_SIZE:
            pair = pairs[text] = answer(text)
            return pair
        # Texts that are all different would fill it in vain again and again, which takes longer than to ask.
        resting += 1
        if resting > REST:
            resting = 0
            pairs.clear()
        return answer(text)

    return Memo(pairs.get, learn)


def _asking(read: Answer, question: Question | None) -> Answer:
    """What was read from a text, or is asked about that; an error as a value."""
    ask: Value = question.overload.impl if question is not None else None
    constants = question.constants if question is not None else ()

    def answer(text: str) -> Value:
        try:
            found = read(text)
            return found if ask is None else ask(found, *constants)
        except EvaluationError as error:
            return as_value(error)

    return answer


def _metered(
    overload: Overload, price: Price, constants: tuple[Value, ...], question: Question | None
) -> Callable[[str], tuple[Value, int]]:
    implementation: Value = overload.impl
    ask: Value = question.overload.impl if question is not None else None

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
                result = ask(result, *question.constants)
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
) -> Callable[[str], tuple[Value, int]]:
    """For texts up to a length that cannot take too much work: no meter, and the cost is known by the length."""
    longest = prepared.longest
    added = question.cost if question is not None else 0
    read = _asking(prepared.function, question)
    costs: dict[int, int] = {}

    def answer(text: str) -> tuple[Value, int]:
        length = len(text)
        if length > longest:
            return general(text)
        cost = costs.get(length)
        if cost is None:
            cost = costs[length] = price(new_meter(MEMO_UNITS), (text, *constants), None) + added
        return read(text), cost

    return answer
