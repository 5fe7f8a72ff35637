"""Whatever is not in a program's reads can change without changing what the program gives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from muster.errors import BudgetExceededError
from muster.values.paths import project
from tests.properties.cel_expressions import expressions, inputs
from tests.properties.test_cel_backends import program_of, shown

LIMIT = 1_000_000


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=expressions, one=inputs(), other=inputs())
def test_inputs_with_equal_projections_give_equal_results(
    text: str, one: dict[str, Any], other: dict[str, Any]
) -> None:
    program = program_of(text, "muster")
    mixed = _same_where_read(program.reads, one, other)
    assume(all(project(one, path) == project(mixed, path) for path in program.reads))
    (first, _), (second, _) = program.run(one, LIMIT), program.run(mixed, LIMIT)
    assert shown(first) == shown(second), (text, program.reads)
    assert isinstance(first, BudgetExceededError) == isinstance(second, BudgetExceededError)


def _same_where_read(reads: Any, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The other input, with the variables that are read as a whole taken from the first, and fields one level down."""
    mixed = dict(other)
    for path in reads:
        name = path[0]
        if name not in one:
            mixed.pop(name, None)
        elif len(path) == 1 or not isinstance(one[name], dict) or not isinstance(mixed.get(name), dict):
            mixed[name] = one[name]
        elif path[1] in one[name]:
            mixed[name] = {**mixed[name], path[1]: one[name][path[1]]}
        else:
            mixed[name] = {key: value for key, value in mixed[name].items() if key != path[1]}
    return mixed
