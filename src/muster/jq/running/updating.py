"""Rules of the plain evaluator: paths as outputs, and what is assigned and changed along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.resolving import resolved as r
from muster.jq.running.rules import RuleEvaluator
from muster.jq.running.stack import DONE, Rule, State, Task
from muster.jq.running.tracked_paths import ROOT, is_intact, path_list
from muster.jq.values.paths import Owned, delete_paths, get_path, set_path

if TYPE_CHECKING:
    from muster.jq.running.single_output import Env
    from muster.jq.values.value import Value


class Updating(RuleEvaluator):
    """What goes by paths."""

    def rule_paths_of(self, node: r.PathsOf, env: Env, state: State) -> Rule:
        task = self._task(node.body, env, (ROOT, state[2], state[2]))
        while (found := (yield task)) is not DONE:
            if not is_intact(self.meter, found[2], found[1]):
                raise texts.invalid_path(self.meter, found[2])
            keys = path_list(self.meter, found[0])
            self.meter.grow(1)
            yield (state[0], state[1], keys)

    def rule_assign(self, node: r.Assign, env: Env, state: State) -> Rule:
        new_values = self._value_task(node.value, env, state)
        while (new := (yield new_values)) is not DONE:
            result, owned = state[2], Owned()
            paths = Task(self.rule_paths_of(r.PathsOf(node.target), env, (None, None, state[2])))
            while (path := (yield paths)) is not DONE:
                result = set_path(self.meter, result, path[2], new[2], owned)
            yield (state[0], state[1], result)

    def rule_modify(self, node: r.Modify, env: Env, state: State) -> Rule:
        result, owned = state[2], Owned()
        gone: list[Value] = []
        paths = Task(self.rule_paths_of(r.PathsOf(node.target), env, (None, None, state[2])))
        while (path := (yield paths)) is not DONE:
            current = get_path(self.meter, result, path[2])
            if state[0] is not None and not is_intact(self.meter, result, state[1]):
                raise texts.invalid_path(self.meter, result)
            if current in owned:  # the update may keep it: it must not be changed in place any more
                owned = Owned()
            place = None if state[0] is None else self._longer(state[0], path[2])
            new = yield self._task(node.update, env, (place, None if place is None else current, current))
            if new is DONE:
                gone.append(path[2])
            else:
                result = set_path(self.meter, result, path[2], new[2], owned)
        yield (state[0], state[1], delete_paths(self.meter, result, gone, owned))
