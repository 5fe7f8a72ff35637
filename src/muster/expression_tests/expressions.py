"""One expression of a subject: where it stands, its program, and what was seen of its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muster.cel import make_program
from muster.errors import EvaluationError, InvalidExpressionError, InvalidObjectError
from muster.expression_tests.coverage import Seen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel import Env, Program
    from muster.cel.checking.types import Type
    from muster.cel.values.value import Value

#: As the API server has it for one admission request; an expression alone has the limit of `muster cel eval`.
COST_LIMIT = 10_000_000


@dataclass(frozen=True, slots=True)
class Expression:
    """Compiled, with a place such as `spec.validations[0].expression`."""

    place: str
    program: Program
    seen: Seen = field(default_factory=Seen, compare=False)

    def ask(self, variables: Mapping[str, Value]) -> Value:
        """The value, or the error as a value; every part of it is remembered for coverage."""
        trace = self.program.trace(variables, COST_LIMIT)
        self.seen.add(trace)
        return trace.outcome

    def texts(self) -> tuple[str, str]:
        return self.place, self.program.text


def compiled(place: str, text: str, env: Env, wanted: tuple[Type, ...] = ()) -> Expression:
    """Raises InvalidObjectError with the diagnostics, or for a result of another type than those wanted."""
    try:
        program = make_program(text, env)
    except InvalidExpressionError as error:
        raise InvalidObjectError(place, str(error)) from None
    if wanted and program.result_type not in wanted and str(program.result_type) != "dyn":
        kinds = " or ".join(map(str, wanted))
        raise InvalidObjectError(place, f"must evaluate to {kinds}, not to {program.result_type}")
    return Expression(place, program)


def why_failed(value: Value) -> str:
    """The words of an error; empty for a value."""
    return str(value) if isinstance(value, EvaluationError) else ""
