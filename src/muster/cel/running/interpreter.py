"""The plain way to evaluate a plan, remembering the value or error of every sub-expression.

This is the reference: exact in values, errors and costs, and slow. `muster cel explain` shows what it remembers, and
the tests hold the generated code against it. Errors are values in here, because `&&`, `||` and the macros may absorb
them; only a spent budget ends an evaluation at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muster.cel.costs.meter import FREE_LITERAL, WORK_LIMIT, exceeded, new_meter, spend, spend_on_call
from muster.cel.costs.runtime import LIMIT_MESSAGE, LIST, SELECT
from muster.cel.running import plan as p
from muster.cel.running.accumulate import append_to, insert_into
from muster.cel.running.dispatch import call_safely
from muster.cel.running.qualify import MISSING, present, qualify, qualify_if_present
from muster.cel.syntax.walking import Walk, run
from muster.cel.traversals import equals, go_text
from muster.cel.values import OPTIONAL_NONE, OptionalValue, optional
from muster.cel.values.go_types import go_type, not_a_key
from muster.errors import BudgetExceededError, EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value

_LATER: Value = object()
STEP_UNITS = 5  # of work: a step of a walk takes that much longer than one of generated code
REMEMBERED = 16  # values kept per sub-expression; the bodies of loops may have many more


@dataclass(frozen=True, slots=True)
class Trace:
    """An evaluation: its outcome (a value, or the error as a value), its cost, and the same for the parts.

    `values` has, for the id of each node that was evaluated, its first values in order; `counts` how often it was.
    """

    outcome: Value
    cost: int
    values: Mapping[int, list[Value]] = field(default_factory=dict)
    counts: Mapping[int, int] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return isinstance(self.outcome, EvaluationError)


def interpret(
    plan: p.Plan,
    variables: Mapping[str, Value],
    constants: Mapping[str, Value] | None = None,
    cost_limit: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Trace:
    """Evaluate the plan. `constants` are names that unchecked trees may use, such as types."""
    evaluation = _Evaluation(variables, constants or {}, cost_limit, work_limit)
    try:
        outcome = run(evaluation.value(plan.node))
    except BudgetExceededError as error:
        outcome = error
    return Trace(outcome, evaluation.cost, evaluation.values, evaluation.counts)


class _Lazy:
    """A slot that is filled when it is first read."""

    __slots__ = ("node", "started")

    def __init__(self, node: p.Node) -> None:
        self.node = node
        self.started = False


class _Evaluation:
    """One run: the slots of the locals, the cost so far, and what was seen."""

    def __init__(
        self, variables: Mapping[str, Value], constants: Mapping[str, Value], limit: int | None, work_limit: int
    ) -> None:
        self.variables = variables
        self.constants = constants
        self.limit = limit
        self.meter = new_meter(work_limit)
        self.cost = 0
        self.slots: dict[int, Value] = {}
        self.growing: set[int] = set()
        self.values: dict[int, list[Value]] = {}
        self.counts: dict[int, int] = {}

    def charge(self, cost: int) -> None:
        self.cost += cost
        if self.limit is not None and self.cost > self.limit:
            raise BudgetExceededError(LIMIT_MESSAGE, "cost")

    def remember(self, node_id: int, value: Value) -> None:
        self.meter[0] -= STEP_UNITS
        if self.meter[0] < 0:
            raise exceeded(self.meter)
        seen = self.values.setdefault(node_id, [])
        if len(seen) < REMEMBERED:
            if isinstance(value, (list, dict)) and any(self.slots[slot] is value for slot in self.growing):
                spend(self.meter, len(value))
                value = value.copy()  # its loop goes on extending it
            seen.append(value)
        self.counts[node_id] = self.counts.get(node_id, 0) + 1

    def at_once(self, node: p.Node) -> Value:
        """The value of a constant or of a plain variable; _LATER for everything that needs a walk."""
        if isinstance(node, p.Const):
            value = node.value
        elif isinstance(node, p.Attribute) and isinstance(node.root, p.Local) and not node.qualifiers:
            value = self.slots[node.root.slot]
            if isinstance(value, _Lazy):
                return _LATER
            self.charge(node.charge)
        else:
            return _LATER
        self.remember(node.id, value)
        return value

    def value(self, node: p.Node) -> Walk[Value]:
        """The value of a node, or its error as a value."""
        value = self.at_once(node)
        if value is not _LATER:
            return value
        match node:
            case p.Attribute():
                value = yield self._attribute(node)
            case p.Logic():
                value = yield self._logic(node)
            case p.Equality():
                value = yield self._equality(node)
            case p.Invoke():
                value = yield self._invoke(node)
            case p.NotFalse():
                value = yield self.value(node.arg)
                value = value is not False
                self.charge(node.cost)
            case p.OptionalElse():
                value = yield self._optional_else(node)
            case p.Membership():
                value = yield self._membership(node)
            case p.MakeList():
                value = yield self._make_list(node)
            case p.MakeMap():
                value = yield self._make_map(node)
            case p.Fold():
                value = yield self._fold(node)
            case p.Block():
                for slot, part in node.slots:
                    self.slots[slot] = _Lazy(part)
                value = yield self.value(node.result)
        self.remember(node.id, value)
        return value

    # --- attributes

    def _attribute(self, node: p.Attribute) -> Walk[Value]:
        root = node.root
        skipped = 0
        match root:
            case p.Variable():
                value, skipped = self._variable(root)
            case p.Local():
                value = yield self._local(root.slot)
            case p.Operand():
                value = yield self.value(root.node)
            case p.Choice():
                value = yield self._choice(root)
        if root.id != node.id and not isinstance(root, p.Operand):
            self.remember(root.id, value)
        if not isinstance(value, EvaluationError) and node.qualifiers:
            value = yield self._steps(value, node.qualifiers[skipped:])
            if node.qualifiers[-1].presence and isinstance(value, OptionalValue):
                value = value.present
        self.charge(node.charge)
        return value

    def _variable(self, root: p.Variable) -> tuple[Value, int]:
        for alternative in root.alternatives:
            for name in alternative.names:
                if name in self.variables:
                    return self.variables[name], alternative.consumed
                if name in self.constants:
                    return self.constants[name], alternative.consumed
        names = ", ".join(root.alternatives[0].names)
        return EvaluationError(f"no such attribute(s): {names}", FailureKind.NO_SUCH_ATTRIBUTE), 0

    def _local(self, slot: int) -> Walk[Value]:
        value = self.slots[slot]
        if isinstance(value, _Lazy):
            if value.started:
                return EvaluationError(f"no such attribute(s): @index{slot}", FailureKind.NO_SUCH_ATTRIBUTE)
            value.started = True
            made = yield self.value(value.node)
            if slot in self.growing and not isinstance(made, EvaluationError):
                made = dict(made) if isinstance(made, Mapping) else list(made)
            self.slots[slot] = value = made
        return value

    def _choice(self, root: p.Choice) -> Walk[Value]:
        condition = yield self.value(root.condition)
        if condition is True:
            return (yield self.value(root.truthy))
        if condition is False:
            return (yield self.value(root.falsy))
        return _error_of(condition)

    def _steps(self, value: Value, qualifiers: tuple[p.Qualifier, ...]) -> Walk[Value]:
        is_optional = False
        for step in qualifiers:
            if isinstance(value, OptionalValue):
                if not value.present:
                    return value
                is_optional, value = True, value.content
            is_optional = is_optional or step.optional
            key = step.key
            if step.dynamic is not None:
                key = yield self.value(step.dynamic)
            value = self._step(value, key, step, is_optional)
            if value is MISSING:
                return OPTIONAL_NONE
            if step is not qualifiers[-1]:  # what the last one gives is the value of the whole
                self.remember(step.id, value)
            if isinstance(value, EvaluationError):
                return value
        return optional(value) if is_optional else value

    def _step(self, value: Value, key: Value, step: p.Qualifier, is_optional: bool) -> Value:
        """One step; it costs 1 unless it was optional and led nowhere."""
        if isinstance(key, EvaluationError):
            taken = key
        elif step.dynamic is not None and not isinstance(key, (str, int, float)):
            taken = not_a_key(key, native=step.native)
        elif step.presence:
            taken = call_safely(present, (value, key, step.strict))
            if is_optional and taken is not True:
                return MISSING if taken is False else taken
            if is_optional:
                taken = None
        elif is_optional:
            taken = call_safely(qualify_if_present, (value, key, step.strict))
            if taken is MISSING or isinstance(taken, EvaluationError):
                return taken
        else:
            taken = call_safely(qualify, (value, key))
        if not (is_optional and isinstance(taken, EvaluationError)):
            self.charge(SELECT)
        return taken

    # --- operators and calls

    def _logic(self, node: p.Logic) -> Walk[Value]:
        error: EvaluationError | None = None
        for term in node.terms:
            value = self.at_once(term)
            if value is _LATER:
                value = yield self.value(term)
            if value is node.decisive:
                return value
            if value is not (not node.decisive) and error is None:
                error = _error_of(value)
        return error if error is not None else not node.decisive

    def _equality(self, node: p.Equality) -> Walk[Value]:
        left = self.at_once(node.left)
        if left is _LATER:
            left = yield self.value(node.left)
        right = self.at_once(node.right)
        if right is _LATER:
            right = yield self.value(node.right)
        result: Value
        if isinstance(left, EvaluationError):
            result = left
        elif isinstance(right, EvaluationError):
            result = right
        else:
            result = call_safely(equals, (self.meter, left, right))
            if node.negated:
                result = result is not True
        self.charge(node.cost(self.meter, (left, right), result))
        return result

    def _invoke(self, node: p.Invoke) -> Walk[Value]:
        args: list[Value] = []
        error: EvaluationError | None = None
        invocation = node.invocation
        for arg in node.args:
            value = self.at_once(arg)
            if value is _LATER:
                value = yield self.value(arg)
            args.append(value)
            if error is None and isinstance(value, EvaluationError):
                error = value
                if invocation.until_error:
                    break
        if error is None and not self._is_growth(node, args):
            spend_on_call(
                self.meter, invocation.function, args
            )  # first: to price a call may mean to walk over its arguments
        complete = len(args) == len(node.args)  # cel-go charges a call only when every argument was evaluated
        if complete and not node.cost.needs_result:
            self.charge(node.cost(self.meter, args, None))
        result = error if error is not None else self._called(node, args)
        if complete and node.cost.needs_result:
            self.charge(node.cost(self.meter, args, result))
        return result

    def _called(self, node: p.Invoke, args: list[Value]) -> Value:
        if not self._is_growth(node, args):
            return node.invocation(self.meter, args)
        if node.invocation.function == "_+_":
            return append_to(args[0], args[1])
        return call_safely(insert_into, (self.meter, *args))

    def _is_growth(self, node: p.Invoke, args: list[Value]) -> bool:
        """Whether the call extends the list or map of a loop, which is then done in place."""
        if not node.args or not self._grows(node.args[0]):
            return False
        if node.invocation.function == "_+_":
            return isinstance(args[0], list) and isinstance(args[1], (list, tuple))
        return node.invocation.function == "cel.@mapInsert" and isinstance(args[0], dict)

    def _grows(self, node: p.Node) -> bool:
        match node:
            case p.Attribute(root=p.Local(slot=slot), qualifiers=()):
                return slot in self.growing
            case _:
                return False

    def _optional_else(self, node: p.OptionalElse) -> Walk[Value]:
        left = yield self.value(node.left)
        if isinstance(left, EvaluationError):
            return left
        if not isinstance(left, OptionalValue):
            return EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
        if left.present:
            return left.content if node.unwrap else left
        return (yield self.value(node.right))

    def _membership(self, node: p.Membership) -> Walk[Value]:
        value = yield self.value(node.arg)
        if isinstance(value, EvaluationError):
            return value
        return is_member(node, value)

    # --- aggregates

    def _make_list(self, node: p.MakeList) -> Walk[Value]:
        made: list[Value] = []
        if len(node.elements) > FREE_LITERAL:
            spend(self.meter, len(node.elements))
        for index, element in enumerate(node.elements):
            value = self.at_once(element)
            if value is _LATER:
                value = yield self.value(element)
            if not isinstance(value, EvaluationError) and index in node.optional:
                value = _element_of(value)
                if value is MISSING:
                    continue
            if isinstance(value, EvaluationError):
                self.charge(LIST)
                return value
            made.append(value)
        self.charge(LIST)
        return made

    def _make_map(self, node: p.MakeMap) -> Walk[Value]:
        entries: list[tuple[Value, Value]] = []
        result: Value = None
        if len(node.keys) > FREE_LITERAL:
            spend(self.meter, len(node.keys))
        for index, (key_node, value_node) in enumerate(zip(node.keys, node.values, strict=True)):
            key = yield self.value(key_node)
            value = key if isinstance(key, EvaluationError) else (yield self.value(value_node))
            if index in node.optional and not isinstance(value, EvaluationError):
                value = _entry_of(key, value)
                if value is MISSING:
                    continue
            if isinstance(value, EvaluationError):
                result = value
                break
            entries.append((key, value))
        self.charge(node.charge)
        return result if result is not None else call_safely(node.make, (self.meter, entries))

    # --- comprehensions

    def _fold(self, node: p.Fold) -> Walk[Value]:
        over = yield self.value(node.range)
        if isinstance(over, EvaluationError):
            return over
        elements = iterations(over, two_variables=node.second is not None)
        if isinstance(elements, EvaluationError):
            return elements
        if node.grows:
            self.growing.add(node.accumulator)
        self.slots[node.accumulator] = _Lazy(node.init)
        for first, second in elements:
            self.slots[node.first] = first
            if node.second is not None:
                self.slots[node.second] = second
            condition = yield self.value(node.condition)
            if condition is False:
                break
            stepped = yield self.value(node.step)
            self.slots[node.accumulator] = stepped
        self.growing.discard(node.accumulator)
        return (yield self.value(node.result))


def iterations(over: Value, two_variables: bool) -> Value:
    """Pairs to loop over: (element, None), (key, None), (index, element) or (key, value); or an error as a value."""
    if isinstance(over, (list, tuple)):
        return enumerate(over) if two_variables else ((element, None) for element in over)
    if isinstance(over, Mapping):
        return over.items() if two_variables else ((key, None) for key in over)
    if two_variables:
        return EvaluationError(f"unsupported comprehension range type: {go_type(over)}")
    return EvaluationError(f"got '{go_type(over)}', expected iterable type")


def is_member(node: p.Membership, value: Value) -> bool:
    if isinstance(value, bool):
        return value in node.bools
    if isinstance(value, (int, float)):
        return value in node.numbers
    return isinstance(value, str) and value in node.others


def _error_of(value: Value) -> EvaluationError:
    """The error that a value which should have been a bool stands for."""
    return (
        value
        if isinstance(value, EvaluationError)
        else EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
    )


def _element_of(value: Value) -> Value:
    if not isinstance(value, OptionalValue):
        return EvaluationError(f"cannot initialize optional list element from non-optional value {go_text(value)}")
    return value.content if value.present else MISSING


def _entry_of(key: Value, value: Value) -> Value:
    if not isinstance(value, OptionalValue):
        return EvaluationError(
            f"cannot initialize optional entry '{go_text(key)}' from non-optional value {go_text(value)}"
        )
    return value.content if value.present else MISSING
