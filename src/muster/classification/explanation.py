"""Why a query says what it says of an inventory: the values of its parts, from the run that decides.

The commands print it. The language records more than a reader wants: constants, and words that are no query by
themselves. What is kept here is each part of the query's own text with the values it gave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.classification.outcomes import QUERY_LIMITS, failed, judged
from muster.errors import BudgetExceededError, InvalidExpressionError
from muster.jq import compile_query, short_json
from muster.reasons import Code

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.classification.outcomes import Outcome
    from muster.jq import Recorded
    from muster.jq.values.value import Value

_MOST_VALUES: Final = 5
_MOST_RECORDED: Final = 2_000
_LONGEST_PART: Final = 2_000
_LONGEST_COMPARED: Final = 2_000


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the query and the first values it gave; `more` counts those left out."""

    text: str
    values: tuple[Value, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """The outcome, and the parts in the order in which they were evaluated first."""

    outcome: Outcome
    parts: tuple[Part, ...]


def explain_query(query: str, inventory: Value) -> Explanation:
    """Run a query and keep what its parts gave."""
    try:
        program = compile_query(query)
    except InvalidExpressionError as error:
        text = f"the query is not valid: {error.diagnostics[0].message}"
        return Explanation(failed(text, code=Code.QUERY_INVALID), ())
    told = program.explain(inventory, limits=QUERY_LIMITS.value.budgets(), at_most=_MOST_RECORDED)
    if told.error is None:
        outcome = judged(list(told.outputs))
    else:
        exhausted = isinstance(told.error, BudgetExceededError)
        code = Code.QUERY_BUDGET_EXCEEDED if exhausted else Code.QUERY_FAILED
        outcome = failed(str(told.error), exhausted=exhausted, code=code)
    return Explanation(outcome, _parts(told.parts))


def _parts(recorded: Iterable[Recorded]) -> tuple[Part, ...]:
    found: dict[tuple[int, int], tuple[str, list[Value]]] = {}
    queries: dict[str, bool] = {}
    for each in recorded:
        if each.text not in queries:
            queries[each.text] = _is_query(each.text)
        # Not a constant: those show themselves.
        if queries[each.text] and each.text != short_json(each.value, len(each.text)):
            found.setdefault((each.span.start, each.span.end), (each.text, []))[1].append(each.value)
    parts: dict[tuple[str, str], Part] = {}  # what is written twice and gives the same is shown once
    for text, values in found.values():
        part = Part(text, tuple(values[:_MOST_VALUES]), max(0, len(values) - _MOST_VALUES))
        parts.setdefault((text, short_json(values, _LONGEST_COMPARED)), part)
    return tuple(parts.values())


def _is_query(text: str) -> bool:
    """Whether it can be read by itself: nodes of builtins have places in another text."""
    if len(text) > _LONGEST_PART:
        return False
    try:
        compile_query(text)
    except InvalidExpressionError:
        return False
    return True
