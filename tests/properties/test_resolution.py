"""Laws of the resolver on random catalogs, held against a reference that is slow and obvious."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muster.resolution import (
    Catalog,
    Dialect,
    Impossible,
    OptionalPolicy,
    Request,
    Resolved,
    Want,
    catalog_from_blobs,
    resolve,
    suggested_fixes,
    tell,
)
from muster.resolution.solving.clauses import Clause, Kind, violations
from muster.resolution.solving.conflicts import minimal_conflict
from muster.resolution.solving.problem import build_problem
from muster.resolution.solving.propagation import Propagator
from muster.resolution.solving.reasons import group_of
from muster.resolution.solving.solver import solve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PACKAGES = ("a", "b", "c", "d")
RANGES = (">=1.0.0", "<2.0.0", ">=2.0.0", "1.0.0", ">1.0.0 <3.0.0")
SETTINGS = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WHOLE = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])  # whole catalogs


# --- strategies


@st.composite
def clause_lists(draw: st.DrawFn) -> tuple[int, list[Clause]]:
    """Small problems of every kind of clause."""
    count = draw(st.integers(2, 8))
    variable = st.integers(0, count - 1)
    some = st.lists(variable, max_size=3, unique=True).map(tuple)
    clauses = draw(
        st.lists(
            st.one_of(
                st.builds(Clause, st.just(Kind.MANDATORY), variable),
                st.builds(Clause, st.just(Kind.PROHIBITED), variable),
                st.builds(Clause, st.just(Kind.DEPENDENCY), variable, some),
                st.builds(Clause, st.just(Kind.CONFLICT), variable, st.tuples(variable)),
                st.builds(Clause, st.just(Kind.AT_MOST), variable, some, st.integers(0, 2)),
            ),
            max_size=14,
        )
    )
    return count, clauses


@st.composite
def blobs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Four packages of up to three versions, with requirements of each other and of two APIs."""
    made: list[dict[str, Any]] = []
    for package in PACKAGES:
        versions = draw(st.integers(1, 3))
        made.append({"schema": "olm.package", "name": package, "defaultChannel": "stable"})
        names = [f"{package}.v{number}" for number in range(1, versions + 1)]
        entries = [{"name": name, "replaces": names[at - 1] if at else ""} for at, name in enumerate(names)]
        made.append({"schema": "olm.channel", "package": package, "name": "stable", "entries": entries})
        for number, name in enumerate(names, 1):
            properties = [{"type": "olm.package", "value": {"packageName": package, "version": f"{number}.0.0"}}]
            properties += draw(st.lists(requirements(), max_size=2))
            properties += draw(st.lists(st.sampled_from(["X", "Y"]).map(_api), max_size=1))
            made.append({"schema": "olm.bundle", "name": name, "package": package, "properties": properties})
    return made


def _api(kind: str) -> dict[str, Any]:
    return {"type": "olm.gvk", "value": {"group": "g", "version": "v1", "kind": kind}}


def requirements() -> st.SearchStrategy[dict[str, Any]]:
    package = st.builds(
        lambda name, wanted: {"type": "olm.package.required", "value": {"packageName": name, "versionRange": wanted}},
        st.sampled_from(PACKAGES),
        st.sampled_from(RANGES),
    )
    api = st.sampled_from(["X", "Y"]).map(
        lambda kind: {"type": "olm.gvk.required", "value": {"group": "g", "version": "v1", "kind": kind}}
    )
    return st.one_of(package, package, api)


wants = st.lists(st.sampled_from(PACKAGES), min_size=1, max_size=3, unique=True)


def a_request(made: Sequence[dict[str, Any]], packages: Iterable[str]) -> Request:
    return Request((a_catalog(made),), tuple(Want(package, package) for package in packages))


def a_catalog(made: Sequence[dict[str, Any]]) -> Catalog:
    return catalog_from_blobs("cat", made)


# --- the reference: every set of variables is tried


def models(count: int, clauses: Sequence[Clause]) -> list[frozenset[int]]:
    """Every set that meets all clauses."""
    sets = (frozenset(each) for size in range(count + 1) for each in combinations(range(count), size))
    return [each for each in sets if not violations(each, clauses)]


def reference(count: int, clauses: Sequence[Clause]) -> set[int] | None:
    """The rule, word for word."""
    left = models(count, clauses)
    if not left:
        return None
    chosen: list[int] = []
    queue = [clause for clause in clauses if clause.kind is Kind.MANDATORY]
    while queue:
        clause = queue.pop(0)
        candidates = (clause.subject,) if clause.kind is Kind.MANDATORY else clause.others
        if any(candidate in chosen for candidate in candidates):
            continue
        picked = next(each for each in candidates if any(each in model for model in left))
        left = [model for model in left if picked in model]
        chosen.append(picked)
        queue += [each for each in clauses if each.kind is Kind.DEPENDENCY and each.subject == picked]
    return set(chosen)


# --- the laws


@SETTINGS
@given(clause_lists())
def test_the_solver_follows_the_rule(problem: tuple[int, list[Clause]]) -> None:
    count, clauses = problem
    solution = solve(count, clauses)
    assert (None if solution is None else set(solution.chosen)) == reference(count, clauses)


@SETTINGS
@given(clause_lists())
def test_propagation_refutes_only_what_cannot_be(problem: tuple[int, list[Clause]]) -> None:
    count, clauses = problem
    possible = models(count, clauses)
    propagator = Propagator(count, clauses)
    if not propagator.consistent:
        assert not possible
        return
    before = bytes(propagator.values)
    for variable in range(count):
        mark = propagator.mark()
        if not propagator.assume(variable):
            assert not any(variable in model for model in possible)
        propagator.undo(mark)
        assert bytes(propagator.values) == before


@SETTINGS
@given(clause_lists())
def test_a_minimal_conflict_is_unsatisfiable_and_every_part_of_it_is_not(problem: tuple[int, list[Clause]]) -> None:
    count, clauses = problem
    found = minimal_conflict(count, clauses, id)
    if found is None:
        assert models(count, clauses)
        return
    core = [clause for clause in clauses if id(clause) in found]
    assert not models(count, core)
    for clause in core:
        assert models(count, [each for each in core if each is not clause])


@pytest.mark.slow
@WHOLE
@given(blobs(), wants)
def test_the_answer_meets_every_constraint_and_follows_the_rule(made: list[dict[str, Any]], asked: list[str]) -> None:
    problem = build_problem(a_request(made, asked))
    outcome = resolve(a_request(made, asked))
    expected = reference(len(problem.variables), problem.clauses)
    if expected is None:
        assert isinstance(outcome, Impossible)
    else:
        assert isinstance(outcome, Resolved)
        assert set(outcome.solution.chosen) == expected
        assert not violations(set(outcome.solution.chosen), outcome.problem.clauses)


@pytest.mark.slow
@WHOLE
@given(blobs(), wants, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(made: list[dict[str, Any]], asked: list[str], dice: Any) -> None:
    shuffled, asked_again = list(made), list(asked)
    dice.shuffle(shuffled)
    dice.shuffle(asked_again)
    first, second = resolve(a_request(made, asked)), resolve(a_request(shuffled, asked_again))
    if isinstance(first, Resolved):
        assert isinstance(second, Resolved)
        assert first.plan == second.plan
    else:
        assert isinstance(first, Impossible)
        assert isinstance(second, Impossible)
        assert tell(first.problem) == tell(second.problem)
        assert first.upstream_text == second.upstream_text


@pytest.mark.slow
@WHOLE
@given(blobs(), wants)
def test_every_explanation_is_minimal_and_every_fix_works(made: list[dict[str, Any]], asked: list[str]) -> None:
    outcome = resolve(a_request(made, asked))
    if not isinstance(outcome, Impossible):
        return
    facts = {each.fact for each in tell(outcome.problem).facts}
    count, clauses = len(outcome.problem.variables), outcome.problem.clauses
    told = [clause for clause in clauses if group_of(clause) in facts]
    assert not models(count, told)
    for fact in facts:
        assert models(count, [clause for clause in told if group_of(clause) != fact])
    for fix in suggested_fixes(outcome.problem):
        assert isinstance(resolve(fix.request), Resolved)


@pytest.mark.slow
@WHOLE
@given(blobs(), wants)
def test_both_dialects_agree_on_catalogs_without_faults(made: list[dict[str, Any]], asked: list[str]) -> None:
    request = a_request(made, asked)
    ours = resolve(request)
    upstream = resolve(Request(request.catalogs, request.wants, dialect=Dialect.OLM_V0))
    assert type(ours) is type(upstream)
    if isinstance(ours, Resolved) and isinstance(upstream, Resolved):
        assert {step.name for step in ours.plan.steps} == {step.name for step in upstream.plan.steps}


@pytest.mark.slow
@WHOLE
@given(blobs(), wants, st.sampled_from(PACKAGES))
def test_a_wish_changes_nothing_that_is_required(made: list[dict[str, Any]], asked: list[str], liked: str) -> None:
    wish = {
        "type": "olm.constraint",
        "value": {
            "package": {"packageName": liked, "versionRange": ">=0.0.0"},
            "action": {"id": "require", "optional": True},
        },
    }
    wishing = [
        {**blob, "properties": [*blob["properties"], wish]} if blob["schema"] == "olm.bundle" else blob for blob in made
    ]
    request = a_request(wishing, asked)
    plain = resolve(a_request(made, asked))
    ignored = resolve(Request(request.catalogs, request.wants, optional=OptionalPolicy.IGNORE))
    wished = resolve(request)
    assert type(plain) is type(ignored) is type(wished)
    if isinstance(plain, Resolved) and isinstance(wished, Resolved) and isinstance(ignored, Resolved):
        required = {step.name for step in plain.plan.steps}
        assert {step.name for step in ignored.plan.steps} == required
        assert {step.name for step in wished.plan.steps} >= required
        assert not violations(set(wished.solution.chosen), wished.problem.clauses)
