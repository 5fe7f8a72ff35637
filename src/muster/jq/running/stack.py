"""A stack machine for generators: queries recurse as deep as their budget allows, not as deep as Python's stack.

The reference evaluator writes each rule as a generator that never calls another one: it yields a Task to ask for its
next output, yields a Tail to be replaced by another generator, and yields a state (a tuple) as its own output. `run`
keeps the tasks on a list. Errors travel the same way: they are thrown into whoever asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from muster.jq.errors import Break, JqError
from muster.jq.values.value import Value

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from muster.jq.budgets import Meter

State: TypeAlias = tuple[Value, Value, Value]
"""Path so far (None when paths are not wanted), the value at that path, the value at hand."""

Rule: TypeAlias = "Generator[Task | Tail | State, Any, None]"


class _Done:
    """What an asking rule receives when there are no more outputs."""


DONE = _Done()


class Task:
    """A generator that somebody asks for outputs; a Tail exchanges it while the asker keeps the Task."""

    __slots__ = ("rule",)

    def __init__(self, rule: Rule) -> None:
        self.rule = rule


class Tail:
    """The rest of this rule's outputs are those of another rule."""

    __slots__ = ("rule",)

    def __init__(self, rule: Rule) -> None:
        self.rule = rule


def run(rule: Rule, meter: Meter) -> Iterator[State]:
    """Every output of a rule. Depth is the number of rules that wait for each other."""
    task = Task(rule)
    stack = [task]
    deepest = meter.limits.depth
    answer: Value = None
    failure: Exception | None = None
    while stack:
        meter.steps -= 1
        if meter.steps < 0:
            meter.refill()
        top = stack[-1]
        try:
            if failure is None:
                message = top.rule.send(answer)
            else:
                thrown, failure = failure, None
                message = top.rule.throw(thrown)
        except StopIteration:
            stack.pop()
            answer = DONE
            continue
        except (JqError, Break) as error:
            stack.pop()
            if not stack:
                raise
            failure, answer = error.with_traceback(None), None
            continue
        answer = None
        kind = type(message)
        if kind is Task:
            if len(stack) >= deepest:
                meter.exceeded("depth")
            stack.append(message)  # type: ignore[arg-type]  # its kind was just seen
        elif kind is Tail:
            top.rule = message.rule  # type: ignore[union-attr]  # its kind was just seen
        else:
            stack.pop()
            if stack:
                answer = message
            else:
                yield message  # type: ignore[misc]  # a state: the only kind left
                stack.append(top)
