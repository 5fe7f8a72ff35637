"""Outcomes as the status of a Resolution."""

from __future__ import annotations

from typing import Any

import msgspec

from muster.api.resolution import (
    PassedOverBundle,
    PlannedOperator,
    ResolutionReason,
    ResolutionStatus,
)
from muster.reasons import Code, Reason
from muster.resolution import Dialect, Outcome, Refused, Undecided, resolve
from muster.resolution.catalog.catalog import Fault
from muster.resolution.to_status import Answer, Verdict, answer
from tests.resolution.builders import a_catalog, bundle, needs, rule, wanting


def answered(outcome: Outcome, *unavailable: Fault) -> Answer:
    return answer(outcome, unavailable, lambda: True, 30)


def of(*wants: str, catalog: Any, **request: Any) -> Answer:
    return answered(resolve(wanting(*wants, **request)(catalog)))


def a_fault(where: str, text: str) -> Fault:
    return Fault(where, Reason(Code.CATALOG_UNAVAILABLE, parameters={"message": text}))


def test_a_plan_is_a_status() -> None:
    found = of("a", catalog=a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0", needs("nope"))))
    none = "it needs an operator of package nope in >=0.0.0, and there is none"
    assert found == Answer(
        {"Resolved": Verdict("True", "Resolved", "1 to install"), "CatalogsUsable": Verdict("True", "AllUsable", "")},
        ResolutionStatus(
            message="1 to install",
            planned=1,
            plan=(
                PlannedOperator(
                    action="install",
                    name="a.v1.0.0",
                    package="a",
                    version="1.0.0",
                    channel="stable",
                    catalog="cat",
                    asked_by=("you want a",),
                    passed_over=(PassedOverBundle("a.v2.0.0", "stable", none, "NeedUnmet"),),
                ),
            ),
            notes=("a falls back from a.v2.0.0 to a.v1.0.0",),
            reasons=(ResolutionReason("note", "FallsBack", "a", "a.v1.0.0"),),
        ),
    )


def test_a_failure_is_a_story_with_fixes_and_codes() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("nope")), bundle("b"))
    found = of("a", "b", catalog=catalog)
    verdict = found.conditions["Resolved"]
    assert (verdict.status, verdict.reason) == ("False", "Unsatisfiable")
    assert msgspec.json.decode(msgspec.json.encode(found.status)) == {
        "message": verdict.message,
        "planned": 0,
        "fixes": ["drop a"],
        "reasons": [
            {"of": "fact", "code": "WantPossible", "package": "a"},
            {"of": "fact", "code": "VersionsNeedUnmet", "package": "a"},
            {"of": "fix", "code": "DropWants"},
        ],
    }
    missing = answered(resolve(wanting("a")(catalog)), a_fault("catalog c", "is not there"))
    assert missing.conditions["Resolved"].reason == "CatalogProblem"
    assert missing.conditions["CatalogsUsable"] == Verdict("False", "SomeUnusable", "catalog c: is not there")
    assert missing.status.problems == ("catalog c: is not there",)
    assert missing.status.reasons[-1] == ResolutionReason("problem", "CatalogUnavailable")


def test_other_outcomes() -> None:
    late = answered(Undecided()).conditions["Resolved"]
    assert late[:2] == ("Unknown", "NotDecided")
    assert late.message.startswith("not decided in 30 s")
    assert answered(Refused(Reason(Code.INPUT_REFUSED, parameters={"faults": ("why",)}))).conditions[
        "Resolved"
    ] == Verdict("False", "Refused", "why")
    old = of("a", catalog=a_catalog(bundle("a", "1.0.0", needs("n"))), dialect=Dialect.OLM_V0)
    assert old.status.message.startswith("constraints not satisfiable: bundle a.v1.0.0 requires")
    assert [each.code for each in old.status.reasons] == ["Wanted", "OperatorNeeded", "WantPossible"]


def test_time_may_be_up_before_the_story_is_found() -> None:
    outcome = resolve(wanting("a")(a_catalog(bundle("a", "1.0.0", needs("nope")))))
    found = answer(outcome, (), lambda: False, 30)
    assert found.status.message == "there is no answer; why was not found out in time"


def test_a_status_stays_within_bounds() -> None:
    many = [bundle(f"p{number:04}") for number in range(600)]
    plan = of(*(each["package"] for each in many), catalog=a_catalog(*many))
    assert (len(plan.status.plan), plan.status.planned) == (500, 600)
    assert plan.status.message == "600 to install; the first 500 are shown"
    long = rule("properties.exists(p, p.type == '" + "x" * 50_000 + "')", "y" * 50_000)
    story = of("a", catalog=a_catalog(bundle("a", "1.0.0", long)))
    assert len(story.status.message) == 8192
    assert len(story.conditions["Resolved"].message) == 1024
    faults = [a_fault(f"f{number}", "z" * 1000) for number in range(50)]
    problems = answered(Undecided(), *faults).status.problems
    assert (len(problems), len(problems[0]), problems[-1]) == (21, 512, "and 30 more")
