"""The plain evaluator: every rule of the language once, in values and in paths. It is the yardstick of the code
generator, does the work that generated code leaves to it (paths, recursion), and records sub-expressions for explain.

Here are calls, and which rule a node has. The rules are in control_flow, binding, making and updating; what has exactly
one output and calls nothing is computed at once by single_output. tracked_paths says what a state is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from muster.jq.budgets import OBJECT_CELLS
from muster.jq.resolving import resolved as r
from muster.jq.running.binding import Binding
from muster.jq.running.control_flow import ControlFlow
from muster.jq.running.making import Making
from muster.jq.running.stack import DONE, Rule, State, Tail, run
from muster.jq.running.updating import Updating

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from muster.jq.running.single_output import Env
    from muster.jq.values.value import Value


_CLOSURE_CELLS = 2 * OBJECT_CELLS
"""What an argument of a call costs, beside two cells for each slot of the environment that it keeps."""


@dataclass(frozen=True, slots=True)
class Closure:
    """An argument and where it was written."""

    node: r.Node
    env: Env


class Evaluator(ControlFlow, Binding, Making, Updating):
    """Evaluates nodes of one resolved query during one run."""

    def outputs(self, node: r.Node, env: Env, value: Value) -> Iterator[Value]:
        for state in run(self._rule(node, env, (None, None, value)), self.meter):
            yield state[2]

    def paths(self, node: r.Node, env: Env, value: Value) -> Iterator[list[Value]]:
        for state in run(self.rule_paths_of(r.PathsOf(node), env, (None, None, value)), self.meter):
            yield state[2]

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

    def _with_arguments(self, node: r.CallFunction, env: Env) -> Env:
        if not node.args:
            return env
        # An argument keeps where it was written; in `def f(g): f(g | g)` those that it was made of, too, without end.
        made = sum(type(argument) is not r.CallParameter for argument in node.args)
        self.meter.grow(made * (_CLOSURE_CELLS + 2 * len(env)))
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
