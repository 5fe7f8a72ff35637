"""Builtins about paths, errors and the end of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.jq import error_texts as texts
from muster.jq.errors import JqError
from muster.jq.values.numbers import is_number, to_int
from muster.jq.values.paths import delete_paths, get_path, set_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value


def _error(meter: Meter, value: Value) -> Value:
    raise texts.raised(meter, value)


def _error_with(meter: Meter, _value: Value, message: Value) -> Value:
    raise texts.raised(meter, message)


def _halt(meter: Meter, _value: Value) -> Value:
    raise texts.halted(meter, None, 0)


def _halt_error(meter: Meter, value: Value) -> Value:
    raise texts.halted(meter, value, 5)


def _halt_error_with(meter: Meter, value: Value, code: Value) -> Value:
    if not is_number(code):
        raise texts.not_applicable(meter, "halt_error", code)
    raise texts.halted(meter, value, to_int(code))


def _module_meta(meter: Meter, value: Value) -> Value:
    if not isinstance(value, str):
        raise texts.not_applicable(meter, "modulemeta", value)
    raise JqError(f"cannot load module: {texts.quoted(meter, value)}")


NATIVES: Mapping[tuple[str, int], Callable[..., Any]] = {
    ("not", 0): lambda _meter, value: value is None or value is False,
    ("error", 0): _error,
    ("error", 1): _error_with,
    ("halt", 0): _halt,
    ("halt_error", 0): _halt_error,
    ("halt_error", 1): _halt_error_with,
    ("modulemeta", 0): _module_meta,
    ("getpath", 1): get_path,
    ("setpath", 2): set_path,
    ("delpaths", 1): delete_paths,
}
