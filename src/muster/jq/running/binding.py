"""Rules of the plain evaluator: variables, patterns, and the folds over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.errors import Break, JqError
from muster.jq.resolving import resolved as r
from muster.jq.running.rules import RuleEvaluator
from muster.jq.running.stack import DONE, Rule, State, Tail, Task
from muster.jq.values.indexing import index

if TYPE_CHECKING:
    from muster.jq.running.single_output import Env
    from muster.jq.running.tracked_paths import Place
    from muster.jq.values.value import Value


class Binding(RuleEvaluator):
    """What gets a name."""

    def rule_bind(self, node: r.Bind, env: Env, state: State) -> Rule:
        only = node.patterns[0]
        plain = only.slot if len(node.patterns) == 1 and isinstance(only, r.SlotPattern) else None
        if plain is not None and node.in_path and state[0] is not None:
            yield Tail(self._bound_on_the_way(node, plain, env, state))
            return
        if plain is not None and node.source.simple:
            value = self.one(node.source, env, state[2])
            yield Tail(self._rule(node.body, {**env, plain: value}, state))
            return
        sources = self._value_task(node.source, env, state)
        while (source := (yield sources)) is not DONE:
            if plain is not None:
                task = self._task(node.body, {**env, plain: source[2]}, state)
            else:
                task = Task(self._destructured(node, env, state, source[2]))
            while (output := (yield task)) is not DONE:
                yield output

    def _bound_on_the_way(self, node: r.Bind, slot: int, env: Env, state: State) -> Rule:
        """The path goes on from where the source led, with the value from before it."""
        sources = self._task(node.source, env, state)
        while (source := (yield sources)) is not DONE:
            task = self._task(node.body, {**env, slot: source[2]}, (source[0], source[1], state[2]))
            while (output := (yield task)) is not DONE:
                yield output

    def _destructured(self, node: r.Bind, env: Env, state: State, source: Value) -> Rule:
        """Patterns in turn: an error, be it in the body, goes on to the next."""
        for at, pattern in enumerate(node.patterns):
            blank = {**env, **dict.fromkeys(node.slots)}
            task = Task(self._matched(pattern, blank, source, node.body, state))
            while True:
                try:
                    output = yield task
                except (JqError, Break):
                    if at == len(node.patterns) - 1:
                        raise
                    break
                if output is DONE:
                    return
                yield output

    def _matched(self, pattern: r.Pattern, env: Env, source: Value, body: r.Node, state: State) -> Rule:
        envs = Task(self._pattern(((pattern, source),), env))
        while (matched := (yield envs)) is not DONE:
            task = self._task(body, matched[2], state)
            while (output := (yield task)) is not DONE:
                yield output

    def _pattern(self, work: tuple[Value, ...], env: Env, place: Place = (None, None)) -> Rule:
        """The variables of patterns still to be matched; outputs an environment per combination of keys.

        In a fold within a path, `place` is the path and its value: there a pattern's steps are steps of the path.
        """
        if not work:
            yield (*place, env)
            return
        (pattern, value), rest = work[0], work[1:]
        if isinstance(pattern, r.SlotPattern):
            yield Tail(self._pattern(rest, {**env, pattern.slot: value}, place))
        elif isinstance(pattern, r.ItemsPattern):
            if value is not None and not isinstance(value, list):
                raise texts.expected_array(self.meter, value)
            self.meter.step(len(pattern.items))
            if place[0] is None:
                items = tuple((item, index(self.meter, value, at)) for at, item in enumerate(pattern.items))
                yield Tail(self._pattern(items + rest, env))
            else:
                yield Tail(self._items(pattern, 0, value, rest, env, place))
        elif isinstance(pattern, r.FieldsPattern):
            (key, named, inner), others = pattern.entries[0], pattern.entries[1:]
            if others:
                rest = ((r.FieldsPattern(others), value), *rest)
            keys = self._task(key, env, (*place, value))
            while (found := (yield keys)) is not DONE:
                item = index(self.meter, value, found[2])
                path, tracked, _ = self._stepped((found[0], found[1], value), found[2], item)
                bound = env if named is None else {**env, named: item}
                task = Task(self._pattern(rest if inner is None else ((inner, item), *rest), bound, (path, tracked)))
                while (output := (yield task)) is not DONE:
                    yield output

    def _items(
        self, pattern: r.ItemsPattern, at: int, value: Value, rest: tuple[Value, ...], env: Env, place: Place
    ) -> Rule:
        """The items of an array pattern within a path, one by one: each step begins where the one before ended."""
        if at == len(pattern.items):
            yield Tail(self._pattern(rest, env, place))
            return
        path, tracked, item = self._stepped((*place, value), at, index(self.meter, value, at))
        matched = Task(self._pattern(((pattern.items[at], item),), env, (path, tracked)))
        while (found := (yield matched)) is not DONE:
            task = Task(self._items(pattern, at + 1, value, rest, found[2], (found[0], found[1])))
            while (output := (yield task)) is not DONE:
                yield output

    def rule_reduce(self, node: r.Reduce, env: Env, state: State) -> Rule:
        starts = self._task(node.start, env, state)
        while (start := (yield starts)) is not DONE:
            total = start[2]
            sources = self._task(node.source, env, (start[0], start[1], state[2]))
            while (source := (yield sources)) is not DONE:
                envs = Task(self._pattern(((node.pattern, source[2]),), env, (source[0], source[1])))
                while (matched := (yield envs)) is not DONE:
                    updates = self._task(node.update, matched[2], (matched[0], matched[1], total))
                    while (update := (yield updates)) is not DONE:
                        total = update[2]
            yield (start[0], start[1], total)

    def rule_foreach(self, node: r.Foreach, env: Env, state: State) -> Rule:
        starts = self._task(node.start, env, state)
        while (start := (yield starts)) is not DONE:
            total = start[2]
            sources = self._task(node.source, env, (start[0], start[1], state[2]))
            while (source := (yield sources)) is not DONE:
                envs = Task(self._pattern(((node.pattern, source[2]),), env, (source[0], source[1])))
                while (matched := (yield envs)) is not DONE:
                    updates = self._task(node.update, matched[2], (matched[0], matched[1], total))
                    while (update := (yield updates)) is not DONE:
                        total = update[2]
                        if node.extract is None:
                            yield update
                            continue
                        extracts = self._task(node.extract, matched[2], update)
                        while (extract := (yield extracts)) is not DONE:
                            yield extract
