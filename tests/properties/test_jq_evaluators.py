"""Generated code and the plain evaluator agree on random queries and inputs: outputs, their order, and the error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings

from muster.errors import BudgetExceededError, EvaluationError
from muster.jq import Limits, compile_query, to_json
from tests.jq.strategies import queries, values

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = Limits(steps=20_000, cells=50_000, outputs=1000, seconds=20)


def outcome(outputs: Iterator[Any]) -> tuple[list[str], str | None] | None:
    """None when a budget ended it: the two spend differently."""
    found: list[str] = []
    try:
        for output in outputs:
            found.append(to_json(output))  # noqa: PERF401 - what came before an error counts
    except BudgetExceededError:
        return None
    except EvaluationError as error:
        return found, str(error)
    return found, None


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(query=queries(), value=values)
def test_both_evaluators_agree(query: str, value: Any) -> None:
    program = compile_query(query)
    written = outcome(program.outputs(value, limits=LIMITS))
    plain = outcome(program.reference_outputs(value, limits=LIMITS))
    if written is not None and plain is not None:
        assert written == plain
        assert "internal error" not in str(written[1])


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(query=queries(), value=values)
def test_running_changes_neither_input_nor_program(query: str, value: Any) -> None:
    program = compile_query(query)
    before = to_json(value)
    first = outcome(program.outputs(value, limits=LIMITS))
    assert to_json(value) == before
    assert outcome(program.outputs(value, limits=LIMITS)) == first
