"""What a run may spend, and the meter that counts it. Both evaluators and everything that walks a value use it.

Limits are the settings; a Meter is made for each run. Steps are counted down in slices, so that the hot path is one
subtraction and one comparison; the deadline is looked at whenever a slice is used up. Cells measure memory: one for
an element of an array, more for objects and text. They are charged before the growth happens.
Values are graphs: sixty doublings are sixty arrays and 2^60 visits. So whatever goes over a value takes the meter first
and pays by visit; tests/jq/test_metering.py refuses a function that does not.
No construct of the language catches a BudgetExceededError.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, NoReturn

from muster.errors import BudgetExceededError, InvalidObjectError
from muster.jq.values.regexes import Regexes
from muster.values.arguments import expected

if TYPE_CHECKING:
    from collections.abc import Callable

SLICE = 512
"""Steps between two looks at the clock."""

SHORT_TEXT = 512
"""Characters that are compared or searched for nothing."""

LONG_INTEGER = 1024
"""Bits from which on an integer's arithmetic is charged."""

OBJECT_CELLS = 8
"""What an object costs beside two cells per entry."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The budgets of one run. `seconds` None means no deadline.

    The clock counts the thread's own CPU time: on a busy machine a query must not fail for what others take.
    """

    steps: int = 1_000_000
    cells: int = 2_000_000
    depth: int = 20_000
    outputs: int = 100_000
    integer_bits: int = 131_072
    seconds: float | None = 0.5
    clock: Callable[[], float] = field(default=time.thread_time, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("steps", "cells", "depth", "outputs", "integer_bits"):
            expected(getattr(self, name), int, name, "a number")
        if self.seconds is not None:
            expected(self.seconds, (int, float), "seconds", "a number, or None")
        if not callable(self.clock):
            raise InvalidObjectError("clock", "expected a function that gives seconds")


DEFAULT_LIMITS = Limits()

_SENTENCES = {
    "steps": "the query took more than {limit:,} steps (budget: steps)",
    "cells": "the query needs more than {limit:,} cells of memory (budget: cells)",
    "depth": "the query went deeper than {limit:,} calls (budget: depth)",
    "outputs": "the query gave more than {limit:,} outputs (budget: outputs)",
    "integer_bits": "an integer needs more than {limit:,} bits (budget: integer_bits)",
    "seconds": "the query ran longer than {limit} s (budget: seconds)",
}


@dataclass(frozen=True, slots=True)
class Host:
    """What a query may see of the world outside: the time of day and the local time zone, both given by the caller."""

    now: Callable[[], float] = time.time
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        expected(self.zone, tzinfo, "zone", "a time zone, as zoneinfo.ZoneInfo has them")
        if not callable(self.now):
            raise InvalidObjectError("now", "expected a function that gives seconds since 1970")


DEFAULT_HOST = Host()


class Meter:
    """What is left of each budget of one run, and the run's host."""

    __slots__ = ("_steps_left", "cells", "deadline", "first_slice", "host", "limits", "regexes", "steps")

    deadline: float | None  # set when the first slice is used up: most runs end before

    def __init__(
        self, limits: Limits = DEFAULT_LIMITS, host: Host = DEFAULT_HOST, regexes: Regexes | None = None
    ) -> None:
        self.limits = limits
        self.host = host
        self.regexes = Regexes() if regexes is None else regexes
        self.steps = self.first_slice = min(limits.steps, SLICE)
        self._steps_left = limits.steps - self.steps
        self.cells = limits.cells
        self.deadline = None

    @property
    def steps_used(self) -> int:
        return self.limits.steps - self._steps_left - self.steps

    @property
    def cells_used(self) -> int:
        return self.limits.cells - self.cells

    def step(self, count: int = 1) -> None:
        """Spend steps; the code generator writes this line by line instead of calling it."""
        self.steps -= count
        if self.steps < 0:
            self.refill()

    def refill(self) -> None:
        """The slice is used up: look at the clock and take the next one."""
        seconds = self.limits.seconds
        now = self.limits.clock() if seconds is not None else 0.0
        if self.deadline is None:
            self.deadline = now + seconds if seconds is not None else math.inf
        elif now > self.deadline:
            self.exceeded("seconds")
        self._steps_left += self.steps  # negative: what was spent beyond the slice
        if self._steps_left < 0:
            self.exceeded("steps")
        self.steps = min(self._steps_left, SLICE)
        self._steps_left -= self.steps

    def grow(self, cells: int) -> None:
        """Charge memory, before it is taken."""
        self.cells -= cells
        if self.cells < 0:
            self.exceeded("cells")

    def grow_text(self, characters: int) -> None:
        self.cells -= (characters >> 3) + 1
        if self.cells < 0:
            self.exceeded("cells")

    def work(self, items: int) -> None:
        """Charge the time of a builtin that goes over many items without an evaluator's loop."""
        self.steps -= (items >> 4) + 1
        if self.steps < 0:
            self.refill()

    def read(self, characters: int) -> None:
        """Charge a look through a text at the speed of memory: comparing, hashing, searching. Short ones are free."""
        if characters > SHORT_TEXT:
            self.steps -= characters >> 9
            if self.steps < 0:
                self.refill()

    def digits(self, bits: int) -> None:
        """Charge integers that become decimal digits or come from them, which is worse than linear."""
        if bits > LONG_INTEGER:
            self.grow(bits >> 5)
            self.step((bits >> 8) + ((bits >> 10) ** 2 >> 1))

    def division(self, dividend: int, divisor: int) -> None:
        """Charge a division of integers by their bits: the size of the quotient times that of the divisor."""
        if dividend > LONG_INTEGER:
            self.step((dividend >> 8) + ((max(dividend - divisor, 0) >> 5) * (divisor >> 5) >> 10))

    def exceeded(self, budget: str) -> NoReturn:
        raise exceeded(budget, self.limits)


def exceeded(budget: str, limits: Limits) -> BudgetExceededError:
    """The error of a budget, naming its setting."""
    return BudgetExceededError(_SENTENCES[budget].format(limit=getattr(limits, budget)), budget)
