"""Whatever is not in a query's reads may change without changing what the query gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muster.errors import BudgetExceededError, EvaluationError
from muster.jq import Limits, compile_query, to_json
from muster.values.paths import project
from tests.jq.strategies import KEYS, queries, scalars, values

if TYPE_CHECKING:
    from muster.jq import Program

LIMITS = Limits(steps=20_000, cells=50_000, outputs=1000, seconds=20)

# Queries that look at parts of an object, in front of anything.
_LOOKS = (".a", ".b.c", ".a[0]", ".c // .b", "select(.a == 1)", '[.b[]? | select(.a == "x")]', 'has("c")', "{a, c: .b}")

objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=3)


def outcome(program: Program, value: Any) -> tuple[list[str], str | None] | None:
    found: list[str] = []
    try:
        for output in program.outputs(value, limits=LIMITS):
            found.append(to_json(output))  # noqa: PERF401 - what came before an error counts
    except BudgetExceededError:
        return None
    except EvaluationError as error:
        return found, str(error)
    return found, None


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    look=st.sampled_from(_LOOKS),
    rest=queries(2),
    value=objects,
    key=st.sampled_from(KEYS),
    inner=st.one_of(st.none(), st.sampled_from(KEYS)),
    new=st.one_of(scalars, values),
)
def test_what_is_not_read_does_not_matter(
    look: str, rest: str, value: dict[str, Any], key: str, inner: str | None, new: Any
) -> None:
    program = compile_query(f"{look} | {rest}")
    changed = dict(value)
    target = value.get(key)
    changed[key] = {**target, inner: new} if inner is not None and isinstance(target, dict) else new
    if any(project(value, path) != project(changed, path) for path in program.reads):
        return
    before, after = outcome(program, value), outcome(program, changed)
    if before is not None and after is not None:
        assert before == after
