"""What every rule of the plain evaluator uses: tasks for the nodes below it, recording, and steps along a path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.running.single_output import Env, SimpleEvaluator
from muster.jq.running.stack import DONE, Rule, State, Task
from muster.jq.running.tracked_paths import is_intact

if TYPE_CHECKING:
    from muster.jq.resolving import resolved as r
    from muster.jq.values.value import Value


class RuleEvaluator(SimpleEvaluator, ABC):
    """Rules are generators for stack.py. Which one a node has is known to reference.py, which has them all."""

    @abstractmethod
    def _plain_rule(self, node: r.Node, env: Env, state: State) -> Rule:
        """The rule of a node, calls followed."""

    def _task(self, node: r.Node, env: Env, state: State) -> Task:
        return Task(self._rule(node, env, state))

    def _value_task(self, node: r.Node, env: Env, state: State) -> Task:
        """For what never takes part in a path: conditions, keys, sources of variables."""
        return Task(self._rule(node, env, (None, None, state[2])))

    def _rule(self, node: r.Node, env: Env, state: State) -> Rule:
        if self.record is not None and state[0] is None and not node.simple:
            return self._recorded(node, env, state)  # simple ones are recorded where they are computed
        return self._plain_rule(node, env, state)

    def _recorded(self, node: r.Node, env: Env, state: State) -> Rule:
        assert self.record is not None  # noqa: S101 - the caller looked
        task = Task(self._plain_rule(node, env, state))
        while (output := (yield task)) is not DONE:
            self.record(node, output[2])
            yield output

    def _single(self, node: r.Node, env: Env, state: State) -> Rule:
        yield (None, None, self.one(node, env, state[2]))

    def _stepped(self, state: State, key: Value, value: Value) -> State:
        """One step further along the path."""
        path, tracked, before = state
        if path is None:
            return (None, None, value)
        if not is_intact(self.meter, before, tracked):
            raise texts.invalid_path(self.meter, before)
        return ((path, key), value, value)

    def _longer(self, path: Value, keys: list[Value]) -> Value:
        self.meter.work(len(keys))
        for key in keys:
            path = (path, key)
        return path
