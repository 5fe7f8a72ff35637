"""The sentences of run-time errors, as gojq words them. Called by whatever raises; each returns the error to raise."""

from __future__ import annotations

from typing import Any

from muster.jq.encoding import encode_scalar, preview, to_json
from muster.jq.errors import HaltError, JqError


def type_name(value: Any) -> str:
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


def shown(value: Any) -> str:
    """`number (10)`: the type and a preview; null alone for null."""
    return "null" if value is None else f"{type_name(value)} ({preview(value)})"


def expected_object(value: Any) -> JqError:
    return JqError("expected an object but got: " + shown(value))


def expected_array(value: Any) -> JqError:
    return JqError("expected an array but got: " + shown(value))


def cannot_iterate(value: Any) -> JqError:
    return JqError("cannot iterate over: " + shown(value))


def key_not_string(key: Any) -> JqError:
    return JqError("expected a string for object key but got: " + shown(key))


def index_not_number(key: Any, of: str = "an array") -> JqError:
    return JqError(f"expected a number for indexing {of} but got: " + shown(key))


def expected_start_end(key: Any) -> JqError:
    return JqError('expected "start" and "end" for slicing but got: ' + shown(key))


def not_applicable(name: str, value: Any, *args: Any) -> JqError:
    """`has(0) cannot be applied to: object ({})`."""
    return JqError(f"{_call(name, args)} cannot be applied to: {shown(value)}")


def failed(name: str, value: Any, *args: Any, cause: str) -> JqError:
    """`fromjson cannot be applied to "[0": unexpected EOF`."""
    return JqError(f"{_call(name, args)} cannot be applied to {preview(value)}: {cause}")


def _call(name: str, args: tuple[Any, ...]) -> str:
    return f"{name}({'; '.join(preview(argument) for argument in args)})" if args else name


def cannot_combine(verb: str, left: Any, right: Any) -> JqError:
    return JqError(f"cannot {verb}: {shown(left)} and {shown(right)}")


def cannot_divide(verb: str, left: Any, right: Any) -> JqError:
    return JqError(f"cannot {verb} {shown(left)} by: {shown(right)}")


def cannot_unary(verb: str, value: Any) -> JqError:
    return JqError(f"cannot {verb}: {shown(value)}")


def invalid_path(value: Any, *, iterating: bool = False) -> JqError:
    return JqError(f"invalid path {'on iterating ' if iterating else ''}against: {shown(value)}")


def raised(value: Any) -> JqError:
    """What `error` raises: the value itself reaches `catch`."""
    return JqError("error: " + (value if isinstance(value, str) else to_json(value)), value, raised=True)


def halted(value: Any, code: int) -> HaltError:
    return HaltError("halt error: " + (value if isinstance(value, str) else to_json(value)), value, code)


def number_shown(value: float) -> str:
    return encode_scalar(value)
