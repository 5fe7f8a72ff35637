"""docs/architecture.md tells three ways through the house; traced runs take them, step by step."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import yaml

from muster.cli.main import main
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.running import controllers, driven_hub, eventually
from tests.house.tracing import Traced, tracing
from tests.house.ways import EXPLANATION, EXPRESSION, PLACEMENT, Way, page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
BETWEEN = re.compile(r"(?<=<!-- ways -->\n).*?(?=<!-- end of ways -->)", re.DOTALL)
AMAZON = "managedCluster.metadata.labels['cloud'] == 'Amazon'"
PREDICATES = [{"requiredClusterSelector": {"celSelector": {"celExpressions": [AMAZON]}}}]


def with_ways(text: str) -> str:
    return BETWEEN.sub(lambda _: page(), text)


def not_taken(way: Way, traced: Traced) -> list[str]:
    """The steps that a run did not take in their order."""
    missing, now = [], -1
    for step in way.steps:
        later = [time for time in traced.entered.get((step.module, step.function), ()) if time > now]
        if later:
            now = later[0]
        else:
            missing.append(f"{step.module} {step.function}")
    return missing


def test_the_page_shows_the_functions_as_they_are() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_ways(text) == text, "python -m tests.house brings the page up to date"


@pytest.mark.e2e
@pytest.mark.timeout(400)
def test_a_placement_and_its_expression_take_their_ways() -> None:
    with tracing() as traced, driven_hub() as hub, controllers(hub.hub) as manager:
        hub.create(a_binding("global"), a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"}))
        hub.create(a_placement("before"))
        eventually(lambda: hub.decided("before"), ["a", "b"])
        eventually(lambda: manager.idle, True)
        with traced.recording():
            hub.create(a_placement("p1", predicates=PREDICATES))
            eventually(hub.decided, ["a"])
    assert not_taken(PLACEMENT, traced) == []
    assert not_taken(EXPRESSION, traced) == []


def test_an_explanation_takes_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [
        a_set("global"),
        a_binding("global"),
        a_cluster("a", {"cloud": "Azure"}),
        a_placement("p1", predicates=PREDICATES),
    ]
    file = tmp_path / "fleet.yaml"
    file.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    words = ["muster", "explain", "placement", "p1", "--cluster", "a", "-n", "apps", "--fleet", str(file)]
    monkeypatch.setattr(sys, "argv", words)
    with tracing() as traced, traced.recording(), pytest.raises(SystemExit):
        main()
    assert not_taken(EXPLANATION, traced) == []
