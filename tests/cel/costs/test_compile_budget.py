"""Compiling has a budget: what would grow without end is refused before it does."""

from __future__ import annotations

import time

import pytest

from muster.cel import COMPILE_LIMIT, CompileBudget, compile_program, environment, make_program, unparse
from muster.cel.checking.types import DYN, INT, list_of, map_of
from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
from muster.errors import InvalidExpressionError

ENV = environment("muster")
TOO_MUCH = f"compiling takes more than the {COMPILE_LIMIT} steps"

LETTERS = r"\\pL" * 100


def bound(step: str, times: int) -> str:
    """cel.bind chained: v1 is made of v0, v2 of v1, and so on."""
    text = f"v{times}"
    for index in range(times, 0, -1):
        text = f"cel.bind(v{index}, {step.replace('X', f'v{index - 1}')}, {text})"
    return f"cel.bind(v0, 'a', {text})"


@pytest.mark.parametrize(
    "text",
    [
        "optional.of(1)" + ".optMap(x, x + x)" * 13,
        "optional.of(1)" + ".optMap(x, x + x)" * 12,
        "optional.of(1)" + ".optMap(x, x + x)" * 200,
        "optional.of(1)" + ".optFlatMap(x, optional.of(x))" * 60,
        "managedCluster.?a" + ".optMap(x, x).optFlatMap(y, y)" * 12,
        bound("{X: X}", 99),
        bound("[[X]] + [[X]]", 60) + " == " + bound("{[X]: [X]}", 60),
        bound("[" * 90 + "X" + "]" * 90, 60),
        " || ".join(f"managedCluster.a.matches('a{{1,1000}}{number}')" for number in range(349)),
        " || ".join(f"managedCluster.a.matches('(\\\\pL{{1,20}}){{1,20}}{number}')" for number in range(60)),
        " || ".join(f"managedCluster.a.find('{LETTERS}{number}') == ''" for number in range(60)),
        "[" + ", ".join(["managedCluster.a.sort()"] * 3000) + "]",
        " && ".join(["true"] * 12_000),
    ],
)
def test_what_would_take_long_to_compile_is_refused_soon(text: str) -> None:
    budget = CompileBudget()
    started = time.thread_time()
    with pytest.raises(InvalidExpressionError, match=r"compiling takes more than|nest too deeply"):
        make_program(text, ENV, budget=budget)
    assert time.thread_time() - started < 5  # about half a second; wide, as machines are shared
    assert budget.spent < 2 * COMPILE_LIMIT + 100


@pytest.mark.parametrize(
    "text",
    [
        "managedCluster.metadata.labels['env'] == 'prod'",
        "managedCluster.status.clusterClaims.exists(c, c.name == 'a' && c.value.matches('^v1[.](30|31)[.][0-9]+$'))",
        "managedCluster.?metadata.?labels[?'a'].optMap(x, x + 'b').optMap(x, x + 'c').orValue('') == 'abc'",
        "managedCluster.metadata.name in [" + ", ".join(f"'cluster-{number}'" for number in range(500)) + "]",
        " && ".join(f"managedCluster.metadata.labels['l{number}'] != 'x'" for number in range(50)),
    ],
)
def test_ordinary_expressions_are_far_below_the_limit(text: str) -> None:
    assert make_program(text, ENV).compile_units < COMPILE_LIMIT / 10


def test_one_budget_serves_all_expressions_of_an_object() -> None:
    budget = CompileBudget()
    texts = [" && ".join(f"managedCluster.l{number} != '{which}'" for number in range(100)) for which in range(50)]
    with pytest.raises(InvalidExpressionError, match=TOO_MUCH):
        _ = [compile_program(text, ENV, budget) for text in texts]


def test_a_program_that_is_kept_takes_as_much_of_a_budget_as_a_new_one() -> None:
    text = "managedCluster.spec.kept == 'somewhere'"
    first, second = CompileBudget(), CompileBudget()
    made = compile_program(text, ENV, first)
    assert compile_program(text, ENV, second) is made
    assert first.spent == second.spent == made.compile_units > 0
    with pytest.raises(InvalidExpressionError, match="compiling takes more than the 10 steps"):
        compile_program(text, ENV, CompileBudget(10))


def test_a_refusal_does_not_repeat_a_long_line_for_every_fault() -> None:
    text = " + ".join(["nope"] * 240)
    with pytest.raises(InvalidExpressionError) as refused:
        make_program(f"[{', '.join([text] * 8)}]", ENV)
    assert len(str(refused.value)) < 300_000


def test_a_type_that_holds_itself_many_times_over_is_compared_and_shown_in_no_time() -> None:
    left = right = INT
    for _ in range(60):
        left, right = map_of(left, left), map_of(right, right)
    assert left == right
    assert left != map_of(DYN, left)
    assert len(str(list_of(left))) < 20_000


def test_estimates_reads_and_texts_of_the_largest_programs_take_no_longer_than_compiling() -> None:
    text = " && ".join(f"managedCluster.a.exists(c, c.name == '{number}' && c.v.b.c == 'b')" for number in range(150))
    program = make_program(text, ENV)
    started = time.thread_time()
    program.estimate(managed_cluster_sizes)
    program.part_estimates(managed_cluster_sizes)
    assert program.reads
    assert unparse(program.tree)
    assert time.thread_time() - started < 3
