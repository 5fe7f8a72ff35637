"""What compiling may take: a budget that every stage charges before it grows.

An expression of 200 characters can become a tree of 250,000 nodes (`optMap` doubles it), a type can hold itself 2^60
times, and a pattern of 17 characters can become half a million instructions. Whoever admits an object makes one budget
for all of its expressions and hands it to `compile_program`; without one, every expression gets its own.

A unit is about 10 microseconds, whichever stage takes it: reading, checking, planning, estimating, writing Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.costs.meter import new_meter
from muster.errors import BudgetExceededError, InvalidExpressionError
from muster.source import Diagnostic
from muster.values.arguments import expected

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.source import Source

COMPILE_LIMIT = 40_000  # units: about half a second; ordinary expressions take a hundredth of it
WORK_PER_UNIT = 100  # units of work (see meter.py) that take as long as one of these

PER_NODE = 2  # read, checked, planned, estimated
PER_OVERLOAD = 1  # tried by the checker, priced by the estimate
PER_LINE = 2  # of Python, written and compiled
PER_RULE = 2  # of the grammar, when a text is read again to find all that is wrong with it
TYPES_PER_UNIT = 4  # types visited while they are compared


class CompileBudgetSpentError(Exception):
    """Ends a compilation; `limited` makes it an InvalidExpressionError."""


class CompileBudget:
    """A counter that goes down. One per object, or per expression; not to be shared between threads."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int = COMPILE_LIMIT) -> None:
        self.limit = expected(limit, int, "limit", "a number")
        self.left = limit

    @property
    def spent(self) -> int:
        return self.limit - self.left

    def spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise CompileBudgetSpentError

    def meter(self) -> Meter:
        """A meter for calls that are made while compiling; `settle` takes what they used off the budget."""
        return new_meter(max(self.left, 0) * WORK_PER_UNIT)

    def settle(self, meter: Meter) -> None:
        self.spend((meter[1] - meter[0]) // WORK_PER_UNIT + 1)


def budget_of(given: CompileBudget | None) -> CompileBudget:
    """The budget that a caller has given, or one of its own. Raises InvalidObjectError for what is none."""
    if given is None:
        return CompileBudget()
    return expected(given, CompileBudget, "budget", "a CompileBudget")


class limited:  # noqa: N801 - used as a function, and quicker than a generator that is one
    """Tells a spent budget as what is wrong with the expression."""

    __slots__ = ("_budget", "_source")

    def __init__(self, budget: CompileBudget, source: Source) -> None:
        self._budget = budget
        self._source = source

    def __enter__(self) -> None:
        pass

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if failed is None:
            return
        if issubclass(failed, (CompileBudgetSpentError, BudgetExceededError)):
            message = (
                f"compiling takes more than the {self._budget.limit} steps that the expressions of one object may take "
                "together: shorten it, chain fewer optMap() and optFlatMap(), or use smaller patterns"
            )
        elif issubclass(failed, RecursionError):
            message = "the expression or the types in it nest too deeply"
        else:
            return
        raise InvalidExpressionError(self._source, (Diagnostic(message),)) from None
