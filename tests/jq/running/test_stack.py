"""The stack of rules: asking, tails, errors, and depth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.errors import BudgetExceededError
from muster.jq.budgets import Limits, Meter
from muster.jq.errors import JqError
from muster.jq.running.stack import DONE, Rule, Tail, Task, run

if TYPE_CHECKING:
    from collections.abc import Callable


def state(value: Any) -> tuple[None, None, Any]:
    return (None, None, value)


def several(*values: Any) -> Rule:
    for value in values:
        yield state(value)


def doubled(inner: Rule) -> Rule:
    task = Task(inner)
    while (output := (yield task)) is not DONE:
        yield output
        yield output


def failing(message: str) -> Rule:
    yield state(1)
    raise JqError(message)


def caught(inner: Rule) -> Rule:
    task = Task(inner)
    while True:
        try:
            output = yield task
        except JqError as error:
            yield state(error.message)
            return
        if output is DONE:
            return
        yield output


def nested(depth: int, make: Callable[[Rule], Rule]) -> Rule:
    rule = several(0)
    for _ in range(depth):
        rule = make(rule)
    return rule


def values(rule: Rule, limits: Limits = Limits()) -> list[Any]:  # noqa: B008 - frozen
    return [output[2] for output in run(rule, Meter(limits))]


def test_outputs_reach_whoever_asked() -> None:
    assert values(doubled(doubled(several(1, 2)))) == [1, 1, 1, 1, 2, 2, 2, 2]


def test_an_error_is_thrown_into_whoever_asked() -> None:
    assert values(caught(doubled(failing("no")))) == [1, 1, "no"]


def test_an_error_that_nobody_catches_comes_out() -> None:
    with pytest.raises(JqError, match="no"):
        values(doubled(failing("no")))


def test_a_tail_takes_no_depth() -> None:
    def countdown(left: int) -> Rule:
        yield state(left)
        if left:
            yield Tail(countdown(left - 1))

    assert len(values(countdown(10_000), Limits(depth=1, steps=100_000))) == 10_001


def test_depth_is_a_budget_and_not_pythons() -> None:
    def passed(inner: Rule) -> Rule:
        task = Task(inner)
        while (output := (yield task)) is not DONE:
            yield output

    assert values(nested(5000, passed), Limits(depth=6000, steps=100_000)) == [0]
    with pytest.raises(BudgetExceededError, match="depth"):
        values(nested(5000, passed), Limits(depth=100))
