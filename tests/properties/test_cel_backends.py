"""Generated code gives what the interpreter gives: the same value or error, the same cost, the same limits."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from muster.cel.program import Program, make_program
from muster.cel.running.interpreter import interpret
from muster.cel.running.planner import InvalidProgramError
from muster.cel.values import OptionalValue
from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from tests.properties.cel_expressions import ENVIRONMENTS, expressions, inputs

UNLIMITED = 10**12


def shown(outcome: Any) -> Any:
    """An outcome in a form where equal means indistinguishable."""
    match outcome:
        case EvaluationError():
            return ("error", str(outcome))
        case float():
            return ("double", "NaN" if math.isnan(outcome) else outcome)
        case list() | tuple():
            return ["list", *map(shown, outcome)]
        case dict():
            return {"map": [(shown(key), shown(value)) for key, value in outcome.items()]}
        case OptionalValue():
            return ("optional", outcome.present, shown(outcome.content))
        case _:
            return (type(outcome).__name__, outcome)


def program_of(text: str, env: str) -> Program:
    try:
        return make_program(text, ENVIRONMENTS[env])
    except InvalidProgramError:
        assume(False)
        raise
    except InvalidExpressionError:
        assume(False)  # functions that this environment lacks, or constants that do not fit the types
        raise


@pytest.mark.slow
@pytest.mark.parametrize("env", sorted(ENVIRONMENTS))
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=expressions, variables=inputs())
def test_both_back_ends_agree_on_value_error_and_cost(env: str, text: str, variables: dict[str, Any]) -> None:
    program = program_of(text, env)
    trace = interpret(program.plan, variables, None, None, program.charging.work_limit)
    outcome, cost = program.run(variables, UNLIMITED)
    assert (shown(outcome), cost) == (shown(trace.outcome), trace.cost), text


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=expressions, variables=inputs(), limit=st.integers(0, 60))
def test_both_back_ends_stop_at_the_same_limits(text: str, variables: dict[str, Any], limit: int) -> None:
    program = program_of(text, "muster")
    trace = program.trace(variables, limit)
    outcome, _ = program.run(variables, limit)
    assert shown(outcome) == shown(trace.outcome), text
    assert isinstance(outcome, BudgetExceededError) == isinstance(trace.outcome, BudgetExceededError)
