"""What a query says of one inventory: match, no match, or a failure with its text. Called by whoever evaluates.

A query answers true or false. Anything else is a mistake of its writer and counts as a failure, with a text that says
what came instead. Budgets are smaller than those of interactive use, because a query runs on every host.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from muster.errors import BudgetExceededError, EvaluationError
from muster.jq import Limits, short_json
from muster.reasons import Code, Reason
from muster.values.limits import InForce, Unit, limit

if TYPE_CHECKING:
    from muster.jq import Program
    from muster.jq.values.value import Value

_FAILS = "the query fails on that host; paused after some such failures"


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """The budgets of one run. Steps decide; the CPU time is a second net."""

    steps: int = limit(100_000, "jq steps", "Steps of a classification's query on one host.", _FAILS)
    cells: int = limit(200_000, "jq cells", "Values that such a query makes, in cells of memory.", _FAILS)
    outputs: int = limit(1_000, "jq outputs", "Outputs of such a query.", _FAILS)
    seconds: float = limit(1.0, "jq seconds", "The time such a query takes.", _FAILS, Unit.SECONDS, least=0.001)

    def budgets(self) -> Limits:
        return Limits(steps=self.steps, cells=self.cells, outputs=self.outputs, seconds=self.seconds)


LIMITS: Final = QueryLimits().budgets()
QUERY_LIMITS: Final = InForce(QueryLimits())
"""The budgets of whoever names none."""

EMPTY_INVENTORY: Final = b'{"memory":{},"cpu":{},"boot":{},"systemVendor":{}}'
"""What assisted-service stores for a host that has not reported yet, and so what a query sees of one."""

_LONGEST_SHOWN = 60


class Verdict(Enum):
    """The three answers."""

    MATCH = "match"
    NO_MATCH = "no match"
    FAILED = "error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict; a failure has a text, and says whether it was a budget that ended the run.

    A budget that ended it says nothing of other inventories, however much they look the same to the query.
    """

    verdict: Verdict
    text: str = ""
    exhausted: bool = False
    invalid: bool = False  # the query does not compile: it says nothing of any agent
    code: Code = field(default=Code.QUERY_FAILED, compare=False)

    @property
    def why(self) -> Reason:
        """The same as a reason. What it says of a host may quote the host; what is wrong with the query does not."""
        if not self.text:
            return Reason(self.code)
        if self.code is Code.QUERY_INVALID:
            return Reason(self.code, parameters={"message": self.text})
        return Reason(self.code, values={"message": self.text})


# There are no others with these verdicts, so that one may ask for identity.
MATCH: Final = Outcome(Verdict.MATCH, code=Code.QUERY_MATCHES)
NO_MATCH: Final = Outcome(Verdict.NO_MATCH, code=Code.QUERY_DOES_NOT_MATCH)


def failed(text: str, *, exhausted: bool = False, invalid: bool = False, code: Code = Code.QUERY_FAILED) -> Outcome:
    # Bytes that are no text, which a query may quote, cannot be written into a condition.
    told = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Outcome(Verdict.FAILED, told, exhausted, invalid, Code.QUERY_INVALID if invalid else code)


def judge(program: Program, inventory: Value, limits: Limits | None = None) -> Outcome:
    """Run the query on an inventory. Never raises: a fault of the language is a failure on this one agent."""
    try:
        outputs = program.run(inventory, limits=limits or QUERY_LIMITS.value.budgets())
    except BudgetExceededError as error:
        return failed(str(error), exhausted=True, code=Code.QUERY_BUDGET_EXCEEDED)
    except EvaluationError as error:
        return failed(str(error))
    except Exception as error:  # a bug of ours, which must not keep other queries from labelling the agent
        return failed(f"a fault of muster itself ({type(error).__name__})", exhausted=True)
    return judged(outputs)


def given_by(program: Program, inventory: Value, limits: Limits) -> list[Value]:
    """What a query gives, for those who want to see it; nothing where it fails."""
    try:
        return program.run(inventory, limits=limits)
    except Exception:  # why it fails has been told
        return []


def judged(outputs: list[Value]) -> Outcome:
    """What outputs mean: exactly one, and it is true or false."""
    if len(outputs) != 1:
        return _no_boolean("expected true or false, found no value" if not outputs else _several(len(outputs)))
    answer = outputs[0]
    if answer is True:
        return MATCH
    if answer is False:
        return NO_MATCH
    return _no_boolean(f"expected true or false, found {_kind(answer)} {_shown(answer)}".rstrip())


def _no_boolean(text: str) -> Outcome:
    return failed(text, code=Code.QUERY_NOT_BOOLEAN)


def _several(count: int) -> str:
    return f"expected true or false, found {count} values"


def _kind(value: Value) -> str:
    match value:
        case None:
            return "null"
        case str():
            return "the string"
        case list():
            return "the array"
        case dict():
            return "the object"
        case _:
            return "the number"


def _shown(value: Value) -> str:
    if value is None:
        return ""
    return short_json(value, _LONGEST_SHOWN)
