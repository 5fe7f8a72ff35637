"""Rules of the plain evaluator: steps into values, pipes, choices, errors and breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.errors import Break, JqError
from muster.jq.running.rules import RuleEvaluator
from muster.jq.running.single_output import Env, truthy
from muster.jq.running.stack import DONE, Rule, State, Tail, Task
from muster.jq.running.tracked_paths import is_intact
from muster.jq.values.indexing import index, members, slice_of
from muster.jq.values.ordering import sorted_keys

if TYPE_CHECKING:
    from muster.jq.resolving import resolved as r


class ControlFlow(RuleEvaluator):
    """What goes where."""

    def rule_identity(self, _node: r.Identity, _env: Env, state: State) -> Rule:
        yield state

    def rule_const(self, node: r.Const, _env: Env, state: State) -> Rule:
        yield (state[0], state[1], node.value)

    def rule_variable(self, node: r.Variable, env: Env, state: State) -> Rule:
        yield (state[0], state[1], env[node.slot])

    def rule_empty(self, _node: r.Empty, _env: Env, _state: State) -> Rule:
        yield from ()

    def rule_index(self, node: r.Index, env: Env, state: State) -> Rule:
        keys = self._value_task(node.key, env, state)
        while (key := (yield keys)) is not DONE:
            targets = self._task(node.target, env, state)
            while (target := (yield targets)) is not DONE:
                yield self._stepped(target, key[2], index(self.meter, target[2], key[2]))

    def rule_slice(self, node: r.Slice, env: Env, state: State) -> Rule:
        starts = self._value_task(node.start, env, state)
        while (start := (yield starts)) is not DONE:
            ends = self._value_task(node.end, env, state)
            while (end := (yield ends)) is not DONE:
                targets = self._task(node.target, env, state)
                while (target := (yield targets)) is not DONE:
                    part = slice_of(self.meter, target[2], start[2], end[2])
                    yield self._stepped(target, {"start": start[2], "end": end[2]}, part)

    def rule_iterate(self, node: r.Iterate, env: Env, state: State) -> Rule:
        targets = self._task(node.target, env, state)
        while (target := (yield targets)) is not DONE:
            path, tracked, value = target
            items = members(self.meter, value)
            self.meter.step(len(items))
            if path is None:
                for item in items:
                    yield (None, None, item)
                continue
            if not is_intact(self.meter, value, tracked):
                raise texts.invalid_path(self.meter, value, iterating=True)
            keys = range(len(items)) if isinstance(value, list) else sorted_keys(self.meter, value)
            for key, item in zip(keys, items, strict=True):
                yield ((path, key), item, item)

    def rule_pipe(self, node: r.Pipe, env: Env, state: State) -> Rule:
        return self._stages(node.parts, 0, env, state)

    def _stages(self, parts: tuple[r.Node, ...], at: int, env: Env, state: State) -> Rule:
        last = len(parts) - 1
        while at < last and parts[at].simple and state[0] is None:
            state = (None, None, self.one(parts[at], env, state[2]))
            at += 1
        if at == last:
            yield Tail(self._rule(parts[at], env, state))
            return
        first = self._task(parts[at], env, state)
        while (between := (yield first)) is not DONE:
            rest = Task(self._stages(parts, at + 1, env, between))
            while (output := (yield rest)) is not DONE:
                yield output

    def rule_comma(self, node: r.Comma, env: Env, state: State) -> Rule:
        for part in node.parts[:-1]:
            task = self._task(part, env, state)
            while (output := (yield task)) is not DONE:
                yield output
        yield Tail(self._rule(node.parts[-1], env, state))

    def rule_alternative(self, node: r.Alternative, env: Env, state: State) -> Rule:
        found = False
        left = self._task(node.left, env, state)
        while (output := (yield left)) is not DONE:
            if truthy(output[2]):
                found = True
                yield output
        if not found:
            yield Tail(self._rule(node.right, env, state))

    def rule_logic(self, node: r.Logic, env: Env, state: State) -> Rule:
        return self._logic_from(node, 0, env, state)

    def _logic_from(self, node: r.Logic, at: int, env: Env, state: State) -> Rule:
        task = self._value_task(node.parts[at], env, state)
        while (output := (yield task)) is not DONE:
            if truthy(output[2]) != node.conjunction:
                yield (state[0], state[1], not node.conjunction)
            elif at == len(node.parts) - 1:
                yield (state[0], state[1], node.conjunction)
            else:
                rest = Task(self._logic_from(node, at + 1, env, state))
                while (result := (yield rest)) is not DONE:
                    yield result

    def rule_if(self, node: r.If, env: Env, state: State) -> Rule:
        if node.condition.simple:
            chosen = node.then if truthy(self.one(node.condition, env, state[2])) else node.otherwise
            yield Tail(self._rule(chosen, env, state))
            return
        conditions = self._value_task(node.condition, env, state)
        while (condition := (yield conditions)) is not DONE:
            task = self._task(node.then if truthy(condition[2]) else node.otherwise, env, state)
            while (output := (yield task)) is not DONE:
                yield output

    def rule_try(self, node: r.Try, env: Env, state: State) -> Rule:
        body = self._task(node.body, env, state)
        while True:
            try:
                output = yield body
            except JqError as error:
                caught = error.value
                break
            if output is DONE:
                return
            yield output
        if node.handler is not None:
            yield Tail(self._rule(node.handler, env, (state[0], state[1], caught)))

    def rule_label(self, node: r.Label, env: Env, state: State) -> Rule:
        label = object()
        body = self._task(node.body, {**env, node.slot: label}, state)
        while True:
            try:
                output = yield body
            except Break as leaving:
                if leaving.label is label:
                    return
                raise
            if output is DONE:
                return
            yield output

    def rule_break(self, node: r.Break, env: Env, _state: State) -> Rule:
        yield from ()  # makes this a generator: the break happens when somebody asks
        raise Break(env[node.slot])
