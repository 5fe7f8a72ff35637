"""One expression, evaluated in a named environment: its value, or the text of its error."""

from __future__ import annotations

from typing import Any

from muster.cel.environments import environment
from muster.cel.program import compile_program
from muster.errors import EvaluationError, InvalidExpressionError


def value_of(text: str, env: str = "muster", **variables: Any) -> Any:
    return compile_program(text, environment(env)).evaluate(variables)


def error_of(text: str, env: str = "muster", **variables: Any) -> str:
    try:
        value = value_of(text, env, **variables)
    except EvaluationError as error:
        return error.message
    raise AssertionError(f"{text} gave {value!r}")


def diagnostics_of(text: str, env: str = "muster") -> list[str]:
    try:
        compile_program(text, environment(env))
    except InvalidExpressionError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []
