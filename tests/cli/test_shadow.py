"""`muster shadow` on a hub whose decisions somebody else writes: no controllers of ours run, and nothing is written."""

from __future__ import annotations

import io
import json
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from muster.cli.main import run
from muster.cli.shadow import _lines
from muster.cli.terminal.paint import Paint
from muster.controllers.placements.preview import world_of
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from muster.questions.shadow import MEANT, compared
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint
from tests.hub.rest.asking import GROUP, NAMESPACE, Asker, grant, on
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

OCM = f"/apis/{GROUP}"
SETS = f"{OCM}/v1beta2/managedclustersets"
CLUSTERS = f"{OCM}/v1/managedclusters"
APPS = f"{OCM}/v1beta1/namespaces/apps"
AMAZON = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}}
READING = (
    "managedclusters",
    "managedclustersets",
    "managedclustersetbindings",
    "placements",
    "placementdecisions",
    "addonplacementscores",
)


@pytest.fixture
def ocm(tmp_path: Path) -> Iterator[Asker]:
    """A hub with four clusters: two at Amazon, one of them disliked."""
    users = {f"the-token-of-{name}": User(name, groups=(AUTHENTICATED,)) for name in ("eve", "half")}
    with running_hub(state=tmp_path, users=users) as hub:
        asker = Asker(hub, tmp_path)
        create(asker, "/api/v1/namespaces", NAMESPACE)
        create(asker, SETS, a_set("global"))
        create(asker, f"{OCM}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("global"))
        for each in (
            a_cluster("a", {"cloud": "Amazon"}, taints=[a_taint("old", "PreferNoSelect")]),
            a_cluster("b", {"cloud": "Amazon", "region": "x"}),
            a_cluster("c", {"cloud": "Azure", "region": "y"}),
            a_cluster("d", {"cloud": "Azure", "region": "x"}, taints=[a_taint("gpu")]),
        ):
            create(asker, CLUSTERS, each)
        grant(asker, "eve", "reader", *(on(each, "get", "list", "watch") for each in READING))
        grant(asker, "half", "half-reader", on("managedclusters", "list"), on("placements", "list"))
        yield asker


def create(asker: Asker, path: str, obj: dict[str, Any]) -> None:
    code, _, answer = asker.send("POST", path, obj)
    assert code == 201, answer


def decide(asker: Asker, name: str, *clusters: str, **labels: str) -> None:
    """A PlacementDecision as OCM writes it."""
    own = {f"{GROUP}/placement": name, f"{GROUP}/decision-group-index": "0", f"{GROUP}/decision-group-name": ""}
    page = {"apiVersion": f"{GROUP}/v1beta1", "kind": "PlacementDecision"}
    metadata = {"name": f"{name}-decision-1", "labels": own | {f"{GROUP}/{key}": text for key, text in labels.items()}}
    create(asker, f"{APPS}/placementdecisions", {**page, "metadata": metadata})
    status = {"decisions": [{"clusterName": each, "reason": ""} for each in clusters]}
    path = f"{APPS}/placementdecisions/{name}-decision-1/status"
    code, _, answer = asker.send("PATCH", path, {"status": status}, **{"Content-Type": "application/merge-patch+json"})
    assert code == 200, answer


def shadow(asker: Asker, *args: str, user: str = "eve") -> tuple[int, str, str]:
    kubeconfig = asker.state / f"{user}.kubeconfig"
    config = yaml.safe_load(asker.hub.kubeconfig(kubeconfig).read_text())
    config["users"][0]["user"]["token"] = f"the-token-of-{user}"
    kubeconfig.write_text(yaml.safe_dump(config))
    out, err = io.StringIO(), io.StringIO()
    code = run(["shadow", *args, "--kubeconfig", str(kubeconfig)], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def test_the_same_decisions_are_a_yes_and_nothing_is_written(ocm: Asker) -> None:
    create(ocm, f"{APPS}/placements", a_placement("amazon", predicates=[AMAZON]))
    decide(ocm, "amazon", "a", "b")
    before = ocm.hub.revision

    assert shadow(ocm) == (
        0,
        "placement apps/amazon: same, 2 clusters\n1 placement over 4 clusters: 1 same, 0 different\n",
        "",
    )
    assert ocm.hub.revision == before


def test_every_difference_has_its_reason(ocm: Asker) -> None:
    create(ocm, f"{APPS}/placements", a_placement("amazon", predicates=[AMAZON]))
    create(ocm, f"{APPS}/placements", a_placement("tainted"))
    decide(ocm, "amazon", "b", "c", "gone")
    decide(ocm, "tainted", "a", "b", "c", "d")

    code, said, _ = shadow(ocm)

    assert code == 1
    lines = said.splitlines()
    assert lines[0] == "placement apps/amazon: differs: 3 clusters decided, ours would be 2"
    assert lines[1].startswith("├─ only theirs: c: Predicate: predicate 1: label cloud is 'Azure'")
    assert lines[2].startswith("├─ only theirs: gone: there is no such cluster")
    assert lines[3].startswith("├─ only ours: a: ")
    assert "; rank 2 of 2, score " in lines[3]
    assert lines[4].startswith("└─ no difference that is meant")
    assert lines[5] == "placement apps/tainted: differs: 4 clusters decided, ours would be 3"
    assert "gpu" in lines[6]
    assert lines[-1] == "2 placements over 4 clusters: 0 same, 2 different"


def test_what_is_meant_is_named_by_its_heading(ocm: Asker) -> None:
    create(ocm, f"{APPS}/placements", a_placement("disliked", numberOfClusters=1, predicates=[AMAZON]))
    spread = {"spreadConstraints": [{"topologyKey": "region", "topologyKeyType": "Label", "maxSkew": 1}]}
    create(ocm, f"{APPS}/placements", a_placement("spread", numberOfClusters=2, spreadPolicy=spread))
    broken = {"requiredClusterSelector": {"celSelector": {"celExpressions": ["managedCluster.metadata.name =="]}}}
    create(ocm, f"{APPS}/placements", a_placement("broken", predicates=[broken]))
    decide(ocm, "disliked", "a")
    decide(ocm, "spread", "a", "b")

    code, said, _ = shadow(ocm, "-o", "json")

    assert code == 1
    found = {each["name"]: each for each in json.loads(said)["placements"]}
    assert found["disliked"]["meant"] == ["PreferNoSelect ranks last"]
    assert [each["cluster"] for each in found["disliked"]["onlyTheirs"]] == ["a"]
    assert found["spread"]["meant"][0] == "spreadPolicy is honoured"
    assert {each["cluster"] for each in found["spread"]["onlyOurs"]} == {"c"}
    assert found["broken"]["meant"] == ["a misconfigured placement keeps its decisions"]


def test_groups_are_compared_where_clusters_are_the_same(ocm: Asker) -> None:
    groups = {
        "groupStrategy": {
            "decisionGroups": [
                {
                    "groupName": "first",
                    "groupClusterSelector": {"labelSelector": {"matchLabels": {"region": "x"}}},
                }
            ]
        }
    }
    create(ocm, f"{APPS}/placements", a_placement("amazon", predicates=[AMAZON], decisionStrategy=groups))
    decide(ocm, "amazon", "a", "b")

    code, said, _ = shadow(ocm)

    assert (code, "in other decision groups" in said) == (1, True)


def test_disabled_placements_are_named_and_not_compared(ocm: Asker) -> None:
    left = a_placement("left", predicates=[AMAZON])
    left["metadata"]["annotations"] = {f"{GROUP}/experimental-scheduling-disable": "true"}
    create(ocm, f"{APPS}/placements", left)

    code, said, _ = shadow(ocm)

    assert code == 0
    assert "placement apps/left: not compared: " in said
    assert said.endswith("1 placement over 4 clusters: 0 same, 0 different, 1 not compared\n")


def test_markdown_is_a_table_whose_cells_hold(ocm: Asker) -> None:
    create(ocm, f"{APPS}/placements", a_placement("amazon", predicates=[AMAZON]))
    decide(ocm, "amazon", "b")

    code, said, _ = shadow(ocm, "-o", "markdown")

    assert code == 1
    table = [line for line in said.splitlines() if line.startswith("|")]
    assert table[0] == "| placement | theirs | ours | verdict | why |"
    assert table[2].startswith("| apps/amazon | 1 | 2 | differs | only ours: a: ")
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in table)


def test_who_may_not_read_decisions_is_told_so(ocm: Asker) -> None:
    code, said, err = shadow(ocm, user="half")

    assert (code, said) == (4, "")
    assert "cannot list resource" in err


def test_a_watch_prints_when_the_other_scheduler_has_changed_its_mind(
    ocm: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muster.cli.shadow._QUIET", 0.05)
    create(ocm, f"{APPS}/placements", a_placement("amazon", predicates=[AMAZON]))
    printed: list[str] = []
    wrote, ended = threading.Event(), threading.Event()

    class StopError(Exception):
        pass

    def note(found: Any, _: Any) -> None:
        printed.append(f"{found.same} same, {found.different} different")
        if len(printed) == 1:
            wrote.set()
        elif found.same:
            ended.set()
            raise StopError

    monkeypatch.setattr("muster.cli.shadow._print", note)

    def watch() -> None:
        shadow(ocm, "--watch")

    watching = threading.Thread(target=watch)
    watching.start()
    assert wrote.wait(30)
    decide(ocm, "amazon", "a", "b")
    assert ended.wait(30)
    watching.join(30)
    assert (printed[0], printed[-1]) == ("0 same, 1 different", "1 same, 0 different")


def test_every_difference_that_is_meant_has_its_heading() -> None:
    page = (Path(__file__).parents[2] / "docs/differences.md").read_text()

    assert [each for each in MEANT if f"\n### {each}\n" not in page] == []


def test_the_guide_shows_what_is_printed() -> None:
    clusters = [a_cluster("c1", taints=[a_taint("old", "PreferNoSelect")]), a_cluster("c2"), a_cluster("c3")]
    placements = [a_placement("batch", numberOfClusters=1), a_placement("checkout")]
    decisions = [a_page("batch", "c1"), a_page("checkout", "c1", "c2", "c3")]
    now = datetime.now(UTC)
    world = world_of([a_set("global"), a_binding("global"), *clusters, *placements, *decisions], now)

    said = "\n".join(_lines(compared(world, now), Paint(coloured=False)))

    assert f"```\n{said}\n```" in (Path(__file__).parents[2] / "docs/guides/beside-ocm.md").read_text()


def a_page(name: str, *clusters: str) -> dict[str, Any]:
    metadata = {"name": f"{name}-decision-1", "namespace": "apps", "labels": {f"{GROUP}/placement": name}}
    status = {"decisions": [{"clusterName": each, "reason": ""} for each in clusters]}
    return {"kind": "PlacementDecision", "metadata": metadata, "status": status}
