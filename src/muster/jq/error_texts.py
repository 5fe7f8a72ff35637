"""The sentences of run-time errors, as gojq words them. Called by whatever raises; each returns the error to raise.

A sentence shows values, so it takes the meter like everything that looks into one. Only a beginning is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.jq.errors import LONGEST_MESSAGE, HaltError, JqError
from muster.jq.values.encoding import beginning, preview, quote_as_go

if TYPE_CHECKING:
    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_MESSAGE_STEPS = 10  # microseconds, in every turn of a loop that fails


def type_name(value: Value) -> str:
    kind = type(value)
    if kind is str:
        return "string"
    if kind is dict:
        return "object"
    if kind is list:
        return "array"
    if value is None:
        return "null"
    return "boolean" if kind is bool else "number"


def shown(meter: Meter, value: Value) -> str:
    """`number (10)`: the type and a preview; null alone for null."""
    return "null" if value is None else f"{type_name(value)} ({preview(meter, value)})"


def expected_object(meter: Meter, value: Value) -> JqError:
    return JqError("expected an object but got: " + shown(meter, value))


def expected_array(meter: Meter, value: Value) -> JqError:
    return JqError("expected an array but got: " + shown(meter, value))


def cannot_iterate(meter: Meter, value: Value) -> JqError:
    return JqError("cannot iterate over: " + shown(meter, value))


def key_not_string(meter: Meter, key: Value) -> JqError:
    return JqError("expected a string for object key but got: " + shown(meter, key))


def index_not_number(meter: Meter, key: Value, of: str = "an array") -> JqError:
    return JqError(f"expected a number for indexing {of} but got: " + shown(meter, key))


def expected_start_end(meter: Meter, key: Value) -> JqError:
    return JqError('expected "start" and "end" for slicing but got: ' + shown(meter, key))


def not_applicable(meter: Meter, name: str, value: Value, *args: Any) -> JqError:
    """`has(0) cannot be applied to: object ({})`."""
    return JqError(f"{_call(meter, name, args)} cannot be applied to: {shown(meter, value)}")


def failed(meter: Meter, name: str, value: Value, *args: Any, cause: str) -> JqError:
    """`fromjson cannot be applied to "[0": unexpected EOF`."""
    return JqError(f"{_call(meter, name, args)} cannot be applied to {preview(meter, value)}: {cause}")


def _call(meter: Meter, name: str, args: tuple[Value, ...]) -> str:
    return f"{name}({'; '.join(preview(meter, argument) for argument in args)})" if args else name


def cannot_combine(meter: Meter, verb: str, left: Value, right: Value) -> JqError:
    return JqError(f"cannot {verb}: {shown(meter, left)} and {shown(meter, right)}")


def cannot_divide(meter: Meter, verb: str, left: Value, right: Value) -> JqError:
    return JqError(f"cannot {verb} {shown(meter, left)} by: {shown(meter, right)}")


def cannot_unary(meter: Meter, verb: str, value: Value) -> JqError:
    return JqError(f"cannot {verb}: {shown(meter, value)}")


def invalid_path(meter: Meter, value: Value, *, iterating: bool = False) -> JqError:
    return JqError(f"invalid path {'on iterating ' if iterating else ''}against: {shown(meter, value)}")


def raised(meter: Meter, value: Value) -> JqError:
    """What `error` raises: the value itself reaches `catch`, whole and unwritten; the message has its beginning."""
    return JqError("error: " + _message(meter, value), value, raised=True)


def halted(meter: Meter, value: Value, code: int) -> HaltError:
    return HaltError("halt error: " + _message(meter, value), value, code)


def _message(meter: Meter, value: Value) -> str:
    if isinstance(value, str):
        return value[: LONGEST_MESSAGE + 1]
    meter.step(_MESSAGE_STEPS)
    return beginning(meter, value, LONGEST_MESSAGE + 1)


def quoted(meter: Meter, text: str) -> str:
    """A text of the query's in quotes, whole: what `catch` sees is charged like any text that is made."""
    meter.grow_text(2 * len(text))
    meter.work(len(text))
    return quote_as_go(text)
