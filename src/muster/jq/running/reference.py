"""The plain evaluator: every rule of the language once, in values and in paths. It is the yardstick of the code
generator, does the work that generated code leaves to it (paths, recursion), and records sub-expressions for explain.

A state is (path, value at the path, value). Without paths the first two are None. As in gojq, an expression that is not
a path leaves the path alone and changes the value; the next step along a path notices that they no longer agree.
Rules are generators for stack.py; what has exactly one output and calls nothing is computed directly by direct.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from muster.jq import error_texts as texts
from muster.jq.errors import Break, JqError
from muster.jq.resolving import resolved as r
from muster.jq.running.single_output import DirectEvaluator, Env, truthy
from muster.jq.running.stack import DONE, Rule, State, Tail, Task, run
from muster.jq.values.operations import equal, index, members, range_values, slice_of, sorted_keys
from muster.jq.values.paths import Owned, delete_paths, get_path, set_path
from muster.jq.values.value import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from muster.jq.budgets import Meter

Place: TypeAlias = tuple[Value, Value]
"""A path and the value there; two times None outside of paths."""

ROOT: Value = ()
"""The path of the input itself; longer paths are pairs (path, key)."""


@dataclass(frozen=True, slots=True)
class Closure:
    """An argument and where it was written."""

    node: r.Node
    env: Env


def path_list(meter: Meter, path: Value) -> list[Value]:
    keys: list[Value] = []
    while path:
        path, key = path
        meter.grow(1)
        keys.append(key)
    keys.reverse()
    return keys


def is_intact(meter: Meter, value: Value, tracked: Value) -> bool:
    """Whether the value at hand is still the one at the path."""
    if value is tracked:
        return True
    if isinstance(value, list | dict):
        # gojq cannot tell empty arrays apart
        return type(value) is list and type(tracked) is list and not value and not tracked
    if value != value:
        return type(tracked) is float and tracked != tracked
    return type(value) is type(tracked) and equal(meter, value, tracked)


class Evaluator(DirectEvaluator):
    """Evaluates nodes of one resolved query during one run."""

    def outputs(self, node: r.Node, env: Env, value: Value) -> Iterator[Value]:
        for state in run(self._rule(node, env, (None, None, value)), self.meter):
            yield state[2]

    def paths(self, node: r.Node, env: Env, value: Value) -> Iterator[list[Value]]:
        for state in run(self.rule_paths_of(r.PathsOf(node), env, (None, None, value)), self.meter):
            yield state[2]

    # ── choosing a rule ──

    def _task(self, node: r.Node, env: Env, state: State) -> Task:
        return Task(self._rule(node, env, state))

    def _value_task(self, node: r.Node, env: Env, state: State) -> Task:
        """For what never takes part in a path: conditions, keys, sources of variables."""
        return Task(self._rule(node, env, (None, None, state[2])))

    def _rule(self, node: r.Node, env: Env, state: State) -> Rule:
        if self.record is not None and state[0] is None and not node.simple:
            return self._recorded(node, env, state)  # simple ones are recorded where they are computed
        return self._plain_rule(node, env, state)

    def _plain_rule(self, node: r.Node, env: Env, state: State) -> Rule:
        while True:
            if type(node) is r.CallParameter:
                closure: Closure = env[node.slot]
                node, env = closure.node, closure.env
            elif type(node) is r.CallFunction:
                function = node.function
                env = self._with_arguments(node, env)
                if any(parameter.value_slot is not None for parameter in function.parameters):
                    return self._call(function, env, state)
                node = function.body
            else:
                break
            self.meter.step()
        if node.simple and state[0] is None:
            return self._single(node, env, state)
        return _RULES[type(node)](self, node, env, state)

    def _recorded(self, node: r.Node, env: Env, state: State) -> Rule:
        assert self.record is not None  # noqa: S101 - the caller looked
        task = Task(self._plain_rule(node, env, state))
        while (output := (yield task)) is not DONE:
            self.record(node, output[2])
            yield output

    def _with_arguments(self, node: r.CallFunction, env: Env) -> Env:
        if not node.args:
            return env
        bound = dict(env)
        for parameter, argument in zip(node.function.parameters, node.args, strict=True):
            forwarded = type(argument) is r.CallParameter
            # Only a parameter that is handed on is forwarded, and that has a slot.
            bound[parameter.slot] = env[argument.slot] if forwarded else Closure(argument, env)  # type: ignore[union-attr]
        return bound

    def _call(self, function: r.Function, env: Env, state: State) -> Rule:
        """A function with `$parameters`: once per combination of their outputs, the first varying slowest."""
        named = [parameter for parameter in function.parameters if parameter.value_slot is not None]
        closures: list[Closure] = [env[parameter.slot] for parameter in named]
        if all(closure.node.simple for closure in closures):
            bound = dict(env)
            for parameter, closure in zip(named, closures, strict=True):
                bound[cast("int", parameter.value_slot)] = self.one(closure.node, closure.env, state[2])
            yield Tail(self._rule(function.body, bound, state))
            return
        tasks = [self._value_task(closures[0].node, closures[0].env, state)]
        bound = dict(env)
        while tasks:
            output = yield tasks[-1]
            if output is DONE:
                tasks.pop()
                continue
            at = len(tasks) - 1
            bound = {**bound, cast("int", named[at].value_slot): output[2]}
            if at + 1 < len(named):
                following = closures[at + 1]
                tasks.append(self._value_task(following.node, following.env, state))
                continue
            body = self._task(function.body, bound, state)
            while (result := (yield body)) is not DONE:
                yield result

    def _single(self, node: r.Node, env: Env, state: State) -> Rule:
        yield (None, None, self.one(node, env, state[2]))

    # ── rules ──

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

    def _stepped(self, state: State, key: Value, value: Value) -> State:
        """One step further along the path."""
        path, tracked, before = state
        if path is None:
            return (None, None, value)
        if not is_intact(self.meter, before, tracked):
            raise texts.invalid_path(self.meter, before)
        return ((path, key), value, value)

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

    def _longer(self, path: Value, keys: list[Value]) -> Value:
        self.meter.work(len(keys))
        for key in keys:
            path = (path, key)
        return path

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


_RULES: Mapping[type, Callable[..., Rule]] = {
    r.Identity: Evaluator.rule_identity,
    r.Const: Evaluator.rule_const,
    r.Variable: Evaluator.rule_variable,
    r.Empty: Evaluator.rule_empty,
    r.Index: Evaluator.rule_index,
    r.Slice: Evaluator.rule_slice,
    r.Iterate: Evaluator.rule_iterate,
    r.Pipe: Evaluator.rule_pipe,
    r.Comma: Evaluator.rule_comma,
    r.Alternative: Evaluator.rule_alternative,
    r.Logic: Evaluator.rule_logic,
    r.If: Evaluator.rule_if,
    r.Try: Evaluator.rule_try,
    r.Bind: Evaluator.rule_bind,
    r.Reduce: Evaluator.rule_reduce,
    r.Foreach: Evaluator.rule_foreach,
    r.Label: Evaluator.rule_label,
    r.Break: Evaluator.rule_break,
    r.MakeObject: Evaluator.rule_object,
    r.MakeArray: Evaluator.rule_array,
    r.Native: Evaluator.rule_native,
    r.Range: Evaluator.rule_range,
    r.Last: Evaluator.rule_last,
    r.PathsOf: Evaluator.rule_paths_of,
    r.Assign: Evaluator.rule_assign,
    r.Modify: Evaluator.rule_modify,
}
