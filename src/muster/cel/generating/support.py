"""What generated code calls when the straight way does not do: exact, slower paths with cel-go's errors.

What is known of a place when it is written comes first in such a function, and is bound to it there: CPython takes
longer to read arguments than to call with them.

Generated functions see exactly the names in NAMESPACE, the constants of their own expression and nothing else; there
are no builtins beyond the few listed here. Errors are values of class EvaluationError throughout.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muster.cel.costs.meter import exceeded, spend_on_call
from muster.cel.costs.runtime import LIMIT_MESSAGE, Price
from muster.cel.generating.memos import TOO_MUCH
from muster.cel.running.accumulate import insert_into
from muster.cel.running.dispatch import Invocation, alone, as_value, call_safely
from muster.cel.running.interpreter import is_member, iterations
from muster.cel.running.qualify import MISSING, present, qualify, qualify_if_present
from muster.cel.traversals import equals, go_text, no_such_key
from muster.cel.values import OPTIONAL_NONE, OptionalValue, make_map, optional
from muster.cel.values.go_types import not_a_key
from muster.errors import BudgetExceededError, EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.running import plan as p
    from muster.cel.values.value import Value


_UNSET = object()


class LimitReached(BudgetExceededError):  # noqa: N818 - raised in every loop of generated code: short on purpose
    """The cost limit."""

    def __init__(self) -> None:
        super().__init__(LIMIT_MESSAGE, "cost")


def bool_error(value: Value) -> EvaluationError:
    """The error that a value which should have been a bool stands for."""
    return (
        value
        if value.__class__ is EvaluationError
        else EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
    )


def missing_variable(name: str) -> EvaluationError:
    return EvaluationError(f"no such attribute(s): {name}", FailureKind.NO_SUCH_ATTRIBUTE)


def follow(
    name: str, keys: Sequence[str], strict: bool, cost: int, variables: Mapping[str, Value]
) -> tuple[Value, int]:
    """A variable and the fields behind it, and the cost so far without the steps that are not to be charged."""
    try:
        value = variables[name]
    except KeyError:
        return missing_variable(name), cost - len(keys)
    return walk(keys, strict, cost, value)


def walk(keys: Sequence[str], strict: bool, cost: int, value: Value) -> tuple[Value, int]:
    """The fields behind a value; see follow."""
    if value.__class__ is EvaluationError:
        return value, cost - len(keys)
    for taken, key in enumerate(keys, 1):
        if value.__class__ is dict:
            found = value.get(key, MISSING)
            if found is MISSING:
                return EvaluationError(f"no such key: {key}", FailureKind.NO_SUCH_KEY, key), cost + taken - len(keys)
            value = found
            continue
        if value.__class__ is OptionalValue:
            value, uncharged = _walk_optional(value, keys[taken - 1 :], strict)
            return value, cost + uncharged
        value = call_safely(qualify, (value, key))
        if value.__class__ is EvaluationError:
            return value, cost + taken - len(keys)
    return value, cost


def _walk_optional(value: OptionalValue, keys: Sequence[str], strict: bool) -> tuple[Value, int]:
    """From an optional on, every step is optional. What was not charged of them comes back as a negative number."""
    content: Value = value
    for taken, key in enumerate(keys):
        if content.__class__ is OptionalValue:
            if not content.present:
                return content, taken - len(keys)
            content = content.content
        content = call_safely(qualify_if_present, (content, key, strict))
        if content is MISSING:
            return OPTIONAL_NONE, taken - len(keys)
        if content.__class__ is EvaluationError:
            return content, taken - len(keys)
    return optional(content), 0


def step(value: Value, key: Value, strict: bool) -> tuple[Value, int]:
    """One step by a constant key; -1 if it is not to be charged. The value is no error."""
    if value.__class__ is OptionalValue:
        return _walk_optional(value, (key,), strict)
    return call_safely(qualify, (value, key)), 0


def dynamic_step(value: Value, key: Value, native: bool, strict: bool) -> tuple[Value, int]:
    """One step by a computed key, which may be an error or no key at all. The value is no error."""
    if value.__class__ is OptionalValue and not value.present:
        return value, -1
    if key.__class__ is EvaluationError:
        return key, -1 if value.__class__ is OptionalValue else 0
    if not isinstance(key, (str, int, float)):
        return not_a_key(key, native=native), -1 if value.__class__ is OptionalValue else 0
    return step(value, key, strict)


def opt_step(value: Value, key: Value, strict: bool = False, native: bool = False) -> Value:
    """One optional step: the value, MISSING, or an error."""
    if key.__class__ is EvaluationError:
        return key
    if not isinstance(key, (str, int, float)):
        return not_a_key(key, native=native)
    return call_safely(qualify_if_present, (value, key, strict))


def presence(value: Value, key: Value, strict: bool = False) -> tuple[Value, int]:
    """has() of anything but a plain dict; -1 if it is not to be charged."""
    if value.__class__ is not OptionalValue:
        return call_safely(present, (value, key, strict)), 0
    if not value.present:
        return False, -1
    found = call_safely(present, (value.content, key, strict))
    return found, 0 if found is True else -1


def opt_presence(value: Value, key: Value, strict: bool = False) -> Value:
    found = call_safely(present, (value, key, strict))
    return MISSING if found is False else None if found is True else found


def equal(
    negated: bool, price: Price, pending: int, cost: int, limit: int, meter: Meter, left: Value, right: Value
) -> tuple[Value, int]:
    """Equality of any two operands, and the cost so far with what was pending."""
    result: Value
    if left.__class__ is EvaluationError:
        result = left
    elif right.__class__ is EvaluationError:
        result = right
    else:
        result = call_safely(equals, (meter, left, right))
        if negated:
            result = result is not True
    cost += pending + price(meter, (left, right), result)
    if cost > limit:
        raise LimitReached
    return result, cost


def equal_to(
    negated: bool, price: Price, pending: int, right: Value, cost: int, limit: int, meter: Meter, left: Value
) -> tuple[Value, int]:
    """The same with a constant on the right."""
    return equal(negated, price, pending, cost, limit, meter, left, right)


def call(
    invocation: Invocation, price: Price, pending: int, cost: int, limit: int, meter: Meter, *args: Value
) -> tuple[Value, int]:
    """Any call with any arguments; the result or its error, and the cost so far with what was pending."""
    cost += pending
    spend_on_call(meter, invocation.function, args)  # first: to price a call may mean to walk over its arguments
    if not price.needs_result:
        cost += price(meter, args, None)
        if cost > limit:
            raise LimitReached
    for arg in args:
        if arg.__class__ is EvaluationError:
            result = arg
            break
    else:
        result = invocation(meter, args)
    if price.needs_result:
        cost += price(meter, args, result)
        if cost > limit:
            raise LimitReached
    return result, cost


def failed() -> EvaluationError:
    """The error of an implementation that is being handled, as a value."""
    error = sys.exception()
    assert isinstance(error, EvaluationError)  # noqa: S101 - it is called where such a one was caught
    return as_value(error)


def over_budget(limit: int) -> tuple[Value, int]:
    """What an evaluation gives that has spent a budget: the error that is being handled, and more than the limit."""
    error = sys.exception()
    assert error is not None  # noqa: S101 - it is called where one was caught
    return alone(error), limit + 1


def note(
    decisive: bool, looking: int, cost: int, accumulator: Value, value: Value, iterator: Iterator[Value]
) -> tuple[Value, int]:
    """What all() or exists() has found with an element that does not leave it as it is, and the cost so far.

    cel-go sees that it is decided only when it looks at the next element, if there is one.
    """
    if value is decisive:
        return decisive, cost if next(iterator, _UNSET) is _UNSET else cost + looking
    return bool_error(value) if accumulator is not decisive and accumulator.__class__ is bool else accumulator, cost


def iterate(over: Value) -> Value:
    """An iterator over elements or keys, or an error."""
    if over.__class__ is EvaluationError:
        return over
    if isinstance(over, (list, tuple, Mapping)):
        return iter(over)
    return iterations(over, two_variables=False)


def iterate_pairs(over: Value) -> Value:
    """An iterator over (index, element) or (key, value), or an error."""
    if over.__class__ is EvaluationError:
        return over
    pairs = iterations(over, two_variables=True)
    return pairs if pairs.__class__ is EvaluationError else iter(pairs)


def optional_element(value: Value) -> Value:
    if value.__class__ is not OptionalValue:
        return EvaluationError(f"cannot initialize optional list element from non-optional value {go_text(value)}")
    return value.content if value.present else MISSING


def optional_entry(key: Value, value: Value) -> Value:
    if value.__class__ is not OptionalValue:
        return EvaluationError(
            f"cannot initialize optional entry '{go_text(key)}' from non-optional value {go_text(value)}"
        )
    return value.content if value.present else MISSING


def new_map(entries: list[tuple[Value, Value]]) -> Value:
    return call_safely(make_map, (entries,))


def new_message(node: p.MakeMap, meter: Meter, entries: list[tuple[Value, Value]]) -> Value:
    return call_safely(node.make, (meter, entries))


def insert(meter: Meter, accumulator: Value, *entry: Any) -> Value:
    return call_safely(insert_into, (meter, accumulator, *entry))


def empty() -> Iterator[Value]:
    return iter(())


NAMESPACE: dict[str, Value] = {
    "__builtins__": {},
    "E": EvaluationError,
    "Budget": BudgetExceededError,
    "Limit": LimitReached,
    "LOOKUP": (KeyError, TypeError, IndexError),
    "MISSING": MISSING,
    "NONE": OPTIONAL_NONE,
    "UNSET": _UNSET,
    "TOO_MUCH": TOO_MUCH,
    "NOT_REMEMBERED": (TOO_MUCH, 0),
    "KeyError": KeyError,
    "Optional": OptionalValue,
    "bool": bool,
    "bytes": bytes,
    "dict": dict,
    "enumerate": enumerate,
    "float": float,
    "int": int,
    "iter": iter,
    "len": len,
    "list": list,
    "str": str,
    "bool_error": bool_error,
    "ceil": math.ceil,
    "dynamic_step": dynamic_step,
    "exceeded": exceeded,
    "failed": failed,
    "insert": insert,
    "is_member": is_member,
    "iterate": iterate,
    "iterate_pairs": iterate_pairs,
    "missing_variable": missing_variable,
    "new_map": new_map,
    "new_message": new_message,
    "no_such_key": no_such_key,
    "opt_presence": opt_presence,
    "opt_step": opt_step,
    "optional": optional,
    "optional_element": optional_element,
    "optional_entry": optional_entry,
    "over_budget": over_budget,
    "presence": presence,
    "spend_on_call": spend_on_call,
    "step": step,
}
