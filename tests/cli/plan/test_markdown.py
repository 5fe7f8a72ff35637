"""A plan for a pull request: the whole text, and that nothing in it gets an effect that nobody meant."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from muster.api.fleet_plan import (
    GuardVerdict,
    LostCluster,
    LostList,
    NameList,
    PlacementPlan,
    PlanStatus,
    RefusedObject,
)
from muster.cli.main import run
from muster.cli.plan.markdown import markdown
from tests.builders import a_cluster
from tests.cli.explaining import written
from tests.cli.plan.test_command import amazon, fleet, planned

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["fleet"]


def test_the_text_is_a_table_with_details_folded(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "change.json", a_cluster("a", {"cloud": "Google"}), a_cluster("b", {"cloud": "Amazon"}))

    code, out, err = planned(fleet, change, "-o", "markdown", "--fail-if-removes", "1")

    assert (code, err) == (1, "guard: apps/p1 would lose 1 of 1 clusters\n")
    assert (
        out
        == """\
### 1 placement changes: +1, −1 clusters. Not allowed

| placement | before | after | gained | lost | |
|---|---:|---:|---:|---:|---|
| `apps/p1` | 1 | 1 | 1 | 1 | guarded |

- **guard**: apps/p1 would lose 1 of 1 clusters

<details><summary>apps/p1</summary>

- gains `b`
- loses `a`: Predicate: predicate 1: label cloud is 'Google'; wanted cloud=Amazon

</details>

"""
    )


def test_nothing_to_say_is_said(fleet: str) -> None:
    assert planned(fleet, fleet, "-o", "markdown") == (0, "### No placement changes\n\n", "")


def test_new_and_broken_placements_are_remarked_on(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "c.json", amazon("p2"), amazon(tolerations=[{"operator": "Equal"}]))
    code, out, _ = planned(fleet, change, "-o", "markdown")

    assert code == 0
    assert "| `apps/p2` | 0 | 1 | 1 | 0 | new |\n" in out
    assert "| `apps/p1` | 1 | 1 | 0 | 0 | misconfigured, its decisions would stay: " in out


def test_what_others_wrote_has_no_effect() -> None:
    hostile = "</details> [x](http://evil) @team #1 | `code` **bold** <img src=x>\n\n# head"
    lost = LostList(1, 0, (LostCluster("a`b|c", "NoPredicateHolds", hostile),))
    status = PlanStatus(
        (PlacementPlan("apps", "p1", 1, 0, NameList(), lost),),
        refused=(RefusedObject("f.yaml:1", "Placement", "apps", "p1", "Invalid", hostile),),
        token="p1.x.y",
        allowed=False,
    )

    text = markdown(status, live=True)

    told = [line for line in text.splitlines() if "evil" in line]
    assert len(told) == 2
    for line in told:
        for mark in ("<", "[", "@", "#1", "|", "**bold", "# head"):
            assert mark not in line.replace("- **refused**: ", "").replace("a`b¦c", "").replace("&#", ""), mark
    assert text.count("</details>") == 1
    assert text.endswith("`p1.x.y`\n")


def test_an_unknown_format_is_refused() -> None:
    out, err = io.StringIO(), io.StringIO()
    assert run(["plan", "-f", "x", "-o", "html"], io.StringIO(), out, err) == 2


def test_a_verdict_is_shown_to_its_end() -> None:
    """What holds clusters comes after their names, which may be long."""
    names = ", ".join(f"{'a-cluster-with-a-long-name-' * 4}{number}" for number in range(10))
    verdict = GuardVerdict("TooFewLeft", False, f"apps/p1: 10 of 10 clusters would stay for now: {names}: the very end")
    nobody = NameList(0, 0, ())
    placement = PlacementPlan("apps", "p1", 10, 0, nobody, LostList(10, 0, ()), nobody, guards=(verdict,))

    text = markdown(PlanStatus(placements=(placement,), allowed=False), live=False)

    assert "the very end\n" in text
