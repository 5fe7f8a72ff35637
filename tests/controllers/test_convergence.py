"""A few runs of `python -m tests.controllers.convergence`, which has the story; a thousand are run by hand."""

from __future__ import annotations

import os

import pytest

from tests.controllers.convergence import Tally, converge

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]
RUNS = int(os.environ.get("MUSTER_CONVERGENCE_RUNS", "8"))


@pytest.mark.parametrize(("kind", "runs"), [("threads", RUNS), ("processes", max(RUNS // 4, 1))])
def test_random_edits_with_kills_and_pauses_end_where_the_pure_functions_do(kind: str, runs: int) -> None:
    tally = Tally()
    converge(kind, range(7001, 7001 + runs), tally)
    assert tally.runs[kind] == runs
