"""Rules of the plain evaluator: objects, arrays, ranges, and builtins that are written in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.running.rules import RuleEvaluator
from muster.jq.running.stack import DONE, Rule, State, Tail, Task
from muster.jq.running.tracked_paths import is_intact
from muster.jq.values.indexing import index, members, range_values
from muster.jq.values.paths import get_path

if TYPE_CHECKING:
    from muster.jq.resolving import resolved as r
    from muster.jq.running.single_output import Env
    from muster.jq.values.value import Value


class Making(RuleEvaluator):
    """What makes a value."""

    def rule_object(self, node: r.MakeObject, env: Env, state: State) -> Rule:
        """All combinations, the first key varying slowest. In paths, each part goes on where the one before ended."""
        value = state[2]
        pairs: list[tuple[Value, Value]] = []
        tasks = [self._task(node.entries[0][0], env, state)]
        while tasks:
            output = yield tasks[-1]
            if output is DONE:
                tasks.pop()
                continue
            at = len(tasks) - 1
            del pairs[(at + 1) // 2 :]
            value_node = node.entries[at // 2][1]
            here = (output[0], output[1], value)
            if at % 2 == 0:
                key = output[2]
                if value_node is None:
                    tasks.append(Task(self._field(here, key)))
                else:
                    tasks.append(self._task(value_node, env, here))
                pairs.append((key, None))
                continue
            pairs[at // 2 :] = [(pairs[at // 2][0], output[2])]
            if at // 2 + 1 < len(node.entries):
                tasks.append(self._task(node.entries[at // 2 + 1][0], env, here))
                continue
            yield (output[0], output[1], self.made(pairs))

    def _field(self, state: State, key: Value) -> Rule:
        """The value of `{key}`."""
        yield self._stepped(state, key, index(self.meter, state[2], key))

    def rule_array(self, node: r.MakeArray, env: Env, state: State) -> Rule:
        items: list[Value] = []
        task = self._task(node.body, env, state)
        while (output := (yield task)) is not DONE:
            self.meter.grow(1)
            items.append(output[2])
        yield (state[0], state[1], items)

    def rule_native(self, node: r.Native, env: Env, state: State) -> Rule:
        """All combinations of the arguments, the last varying slowest."""
        if node.name == "getpath" and state[0] is not None:
            yield Tail(self._getpath(node, env, state))
            return
        if node.name in ("to_entries", "from_entries") and state[0] is not None:
            self._follow_entries(node.name, state)
        if node.name == "test" and state[0] is not None:
            yield Tail(self._beside_path(node, env, state))
            return
        count = len(node.args)
        if not count:
            yield (state[0], state[1], node.function(self.meter, state[2]))
            return
        values: list[Value] = [None] * count
        tasks = [self._task(node.args[-1], env, state)]
        while tasks:
            output = yield tasks[-1]
            if output is DONE:
                tasks.pop()
                continue
            at = count - len(tasks)
            values[at] = output[2]
            if at:
                tasks.append(self._task(node.args[at - 1], env, (output[0], output[1], state[2])))
            else:
                yield (output[0], output[1], node.function(self.meter, state[2], *values))

    def _getpath(self, node: r.Native, env: Env, state: State) -> Rule:
        path, tracked, value = state
        keys = self._value_task(node.args[0], env, state)
        while (wanted := (yield keys)) is not DONE:
            found = get_path(self.meter, value, wanted[2])
            if not is_intact(self.meter, value, tracked):
                raise texts.invalid_path(self.meter, value)
            yield (self._longer(path, wanted[2]), found, found)

    def _beside_path(self, node: r.Native, env: Env, state: State) -> Rule:
        """What in gojq is written in jq with a `$parameter`: its argument takes no part in the path."""
        task = self._value_task(node, env, state)
        while (output := (yield task)) is not DONE:
            yield (state[0], state[1], output[2])

    def _follow_entries(self, name: str, state: State) -> None:
        """In gojq these are written in jq, so that a path goes through their steps, and notices where it cannot."""
        value = state[2]
        if not isinstance(value, list | dict):
            return
        if name == "to_entries" and value and not is_intact(self.meter, value, state[1]):
            raise texts.invalid_path(self.meter, value)
        if name == "from_entries":
            if not is_intact(self.meter, value, state[1]):
                raise texts.invalid_path(self.meter, value, iterating=True)
            first = members(self.meter, value)[:1]
            if first and isinstance(first[0], dict):
                raise texts.invalid_path(self.meter, first[0])

    def rule_range(self, node: r.Range, env: Env, state: State) -> Rule:
        start, end, step = (self.one(bound, env, state[2]) for bound in (node.start, node.end, node.step))
        for number in range_values(self.meter, start, end, step):
            yield (state[0], state[1], number)

    def rule_last(self, node: r.Last, env: Env, state: State) -> Rule:
        last: Value = DONE
        task = self._task(node.body, env, state)
        while (output := (yield task)) is not DONE:
            last = output[2]
        if last is not DONE:
            yield (state[0], state[1], last)
