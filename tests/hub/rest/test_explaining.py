"""GET and POST placements/NAME/explain: what is answered, to whom, and what is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.placements.preview import world_of
from tests.builders import a_cluster, a_placement
from tests.controllers.questions.answering import NOW, answering
from tests.hub.rest.asking import GROUP, PLACEMENTS, Asker, asked_hub, asking, wanting
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with pytest.MonkeyPatch.context() as patch, asked_hub(tmp_path_factory.mktemp("state")) as asker:
        patch.setattr("muster.hub.advice.PATIENCE", 10.0)  # the machine may be busy
        yield asker


def test_a_saved_placement_is_explained_as_it_was_decided(asker: Asker) -> None:
    answer = asker.get("p1")
    assert (answer["apiVersion"], answer["kind"]) == ("explain.muster.dev/v1alpha1", "PlacementExplanation")
    assert {key: answer["metadata"][key] for key in ("name", "namespace", "continue")} == {
        "name": "p1",
        "namespace": "apps",
        "continue": "",
    }
    assert answer["metadata"]["resourceVersion"].isdecimal()
    assert (answer["dryRun"], answer["fleet"], answer["selected"], answer["unscheduled"]) == (False, 5, 2, 0)
    assert answer["decisions"] == [
        {
            "name": "p1-decision-1",
            "groupName": "",
            "groupIndex": 0,
            "clusters": {"count": 2, "clusters": ["secret-1", "visible-1"], "hidden": 0},
        }
    ]
    assert answer["diff"] == {
        "present": 2,
        "gained": {"count": 0, "clusters": [], "hidden": 0},
        "lost": {"count": 0, "clusters": [], "hidden": 0},
    }
    assert [(each["name"], each["before"], each["after"]) for each in answer["funnel"]] == [
        ("ClusterSets", 5, 5),
        ("Predicate", 5, 3),
        ("TaintToleration", 3, 2),
        ("Pick", 2, 2),
    ]
    assert {each["type"]: each["status"] for each in answer["conditions"]} == {
        "PlacementSatisfied": "True",
        "PlacementMisconfigured": "False",
    }
    assert (answer["hidden"], answer["notes"]) == (0, [])


def test_a_dry_run_says_what_would_change_and_changes_nothing(asker: Asker) -> None:
    before = asker.hub.revision
    answer = asker.try_out(wanting("Azure", numberOfClusters=1))
    assert (answer["dryRun"], answer["selected"], answer["metadata"]["resourceVersion"]) == (True, 1, "")
    assert answer["diff"] == {
        "present": 2,
        "gained": {"count": 1, "clusters": ["secret-2"], "hidden": 0},
        "lost": {"count": 2, "clusters": ["secret-1", "visible-1"], "hidden": 0},
    }
    assert answer["scores"]["count"] == 2
    assert [(each["cluster"], each["selected"], each["rank"]) for each in answer["scores"]["clusters"]] == [
        ("secret-2", True, 1),
        ("visible-2", False, 2),
    ]
    assert [each["name"] for each in answer["scores"]["scorers"]] == ["Balance", "Steady"]
    assert asker.hub.revision == before


def test_a_placement_that_exists_nowhere_can_be_tried_out(asker: Asker) -> None:
    answer = asker.try_out(wanting("Azure", "new"))
    assert answer["diff"]["gained"] == {"count": 2, "clusters": ["secret-2", "visible-2"], "hidden": 0}
    assert asker.send("GET", f"{PLACEMENTS}/new")[0] == 404


def test_clusters_come_page_by_page(asker: Asker) -> None:
    first = asker.try_out(a_placement("everything"), "?limit=3")
    assert first["decisions"][0]["clusters"] == {
        "count": 4,
        "clusters": ["secret-1", "secret-2", "visible-1"],
        "hidden": 0,
    }
    second = asker.try_out(a_placement("everything"), f"?limit=3&continue={first['metadata']['continue']}")
    assert second["decisions"][0]["clusters"] == {"count": 4, "clusters": ["visible-2"], "hidden": 0}
    assert [each["rank"] for each in second["scores"]["clusters"]] == [4]
    assert second["metadata"]["continue"] == ""


def test_one_cluster_is_explained_in_full(asker: Asker) -> None:
    answer = asker.get("p1", "?cluster=secret-3")["cluster"]
    assert (answer["cluster"], answer["selected"], answer["stage"]) == ("secret-3", False, "TaintToleration")
    assert {each["name"]: each["passed"] for each in answer["checks"]} == {
        "set global": True,
        "predicate 1": True,
        "taints": False,
    }


def test_clusters_that_the_asker_may_not_get_are_counted_and_nowhere_named(asker: Asker) -> None:
    tries = [
        asker.get("p1", user="dora"),
        asker.get("p1", "?cluster=visible-2", user="dora"),
        asker.get("everything", "?cluster=visible-2", user="dora"),
        asker.try_out(wanting("Azure", numberOfClusters=1), "?cluster=visible-2", user="dora"),
        asker.try_out(asking('managedCluster.metadata.labels["tier"] == "gold"'), user="dora"),
        asker.try_out(asking('managedCluster.metadata.name.startsWith("x")'), user="dora"),
    ]
    assert [answer["fleet"] for answer in tries] == [5] * 6
    assert "secret" not in json.dumps(tries)
    assert tries[0]["decisions"][0]["clusters"] == {"count": 2, "clusters": ["visible-1"], "hidden": 1}
    assert tries[3]["diff"]["lost"] == {"count": 2, "clusters": ["visible-1"], "hidden": 1}
    assert (tries[3]["scores"]["count"], tries[3]["scores"]["hidden"]) == (2, 1)
    assert "(hidden)" in tries[3]["cluster"]["cut"]
    assert tries[4]["failures"]["count"] == 5
    assert all(answer["hidden"] > 0 for answer in tries)


def test_errors_tell_values_only_to_those_who_may_get_the_clusters(asker: Asker) -> None:
    labels = "managedCluster.metadata.labels"
    assert "no such key: A" in json.dumps(asker.try_out(asking(f'{labels}[{labels}["cloud"]] == "x"')))
    exfiltrating = [f'{labels}[{labels}["cloud"]] == "x"', f'int({labels}["cloud"]) == 1']
    for expression, kind in zip(exfiltrating, ("no such key", "type conversion error"), strict=True):
        veiled = asker.try_out(asking(expression), user="dora")
        visible = [each["cluster"] for each in veiled["failures"]["examples"]]
        assert all(name.startswith("visible") for name in visible)
        assert veiled["failures"]["reasons"] == [f"'{expression}' failed: {kind}"]
        reasons = [each["reason"] for stage in veiled["funnel"] for each in stage["reasons"]]
        assert not any("Azure" in each or "Amazon" in each for each in reasons)


def test_what_clusters_have_is_told_to_those_who_may_get_them(asker: Asker) -> None:
    def values(user: str) -> list[list[dict[str, Any]]]:
        (predicate,) = (each for each in asker.get("p1", user=user)["funnel"] if each["name"] == "Predicate")
        return [each["values"] for each in predicate["reasons"]]

    assert values("") == [[{"value": "Azure", "count": 2}]]
    assert values("dora") == [[]]


def test_a_cluster_that_the_asker_may_not_get_is_refused_whether_it_exists_or_not(asker: Asker) -> None:
    refusals = []
    for name in ("secret-1", "nowhere"):
        code, _, answer = asker.send("GET", f"{PLACEMENTS}/p1/explain?cluster={name}", user="dora")
        refusals.append((code, answer["reason"], answer["message"].replace(name, "NAME")))
    assert refusals[0] == refusals[1]
    assert refusals[0][:2] == (403, "Forbidden")
    assert asker.send("GET", f"{PLACEMENTS}/p1/explain?cluster=nowhere")[2]["message"] == (
        f'managedclusters.{GROUP} "nowhere" not found'
    )


def test_the_subresource_is_guarded_by_its_own_verbs(asker: Asker) -> None:
    path = f"{PLACEMENTS}/p1/explain"
    assert asker.send("GET", path, user="rhea")[0] == 200
    code, _, answer = asker.send("POST", path, wanting("Azure"), user="rhea")
    assert (code, answer["message"]) == (
        403,
        f'placements.{GROUP} "p1" is forbidden: User "rhea" cannot create resource "placements/explain" '
        f'in API group "{GROUP}" in the namespace "apps"',
    )
    assert asker.send("GET", path, user="nobody")[0] == 403
    assert asker.send("GET", path, Authorization="Bearer wrong")[0] == 401


LOOP = "managedCluster.status.clusterClaims.all({0}, {1})"
COSTLY = LOOP.format("a", LOOP.format("b", LOOP.format("c", LOOP.format("d", "a.value == d.value"))))


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (b"{", 400, "couldn't get version/kind; json parse error"),
        (b"[]", 400, "couldn't get version/kind"),
        (a_cluster("p1"), 400, "does not match the expected API version"),
        (a_placement("other"), 400, "does not match the name on the URL"),
        (a_placement("p1", "elsewhere"), 400, "does not match the namespace"),
        (a_placement("p1", numberOfCluster=1), 400, 'strict decoding error: unknown field "spec.numberOfCluster"'),
        (a_placement("p1", numberOfClusters="two"), 422, "spec.numberOfClusters"),
        (asking(COSTLY), 422, "more than the limit of"),
    ],
)
def test_a_body_is_refused_as_a_create_would_refuse_it(asker: Asker, body: Any, code: int, message: str) -> None:
    answered, _, answer = asker.send("POST", f"{PLACEMENTS}/p1/explain", body)
    assert answered == code, answer
    assert message in answer.get("message", "")


def test_methods_and_paths_that_do_not_exist(asker: Asker) -> None:
    path = f"{PLACEMENTS}/p1/explain"
    refused = {method: asker.send(method, path, {}) for method in ("PUT", "PATCH", "DELETE")}
    assert {method: (code, answer["reason"]) for method, (code, _, answer) in refused.items()} == dict.fromkeys(
        ("PUT", "PATCH", "DELETE"), (405, "MethodNotAllowed")
    )
    assert asker.send("GET", f"{PLACEMENTS}/nowhere/explain")[2]["message"] == (
        f'placements.{GROUP} "nowhere" not found'
    )
    assert asker.send("GET", f"{path}?continue=x")[0] == 400
    assert asker.send("GET", path.replace("/namespaces/", "/watch/namespaces/"))[0] == 404
    code, _, answer = asker.send("POST", path.replace("/apps/", "/nowhere/"), a_placement("p1", "nowhere"))
    assert (code, answer["message"]) == (404, 'namespaces "nowhere" not found')


def test_a_misconfigured_placement_is_explained_as_such(asker: Asker) -> None:
    answer = asker.try_out(asking("managedCluster.nothing =="))
    found = {each["type"]: each["status"] for each in answer["conditions"]}
    assert found["PlacementMisconfigured"] == "True"
    assert answer["diff"]["gained"]["count"] == answer["diff"]["lost"]["count"] == 0


def test_without_controllers_the_answer_says_what_to_do(tmp_path: Path) -> None:
    with running_hub(state=tmp_path) as hub:
        asker = Asker(hub, tmp_path)
        asker.send(
            "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
        )
        code, headers, answer = asker.send("POST", f"{PLACEMENTS}/p1/explain", a_placement())
        assert (code, headers["retry-after"], answer["reason"]) == (503, "2", "ServiceUnavailable")
        assert "they are not running. `muster hub run` runs and restarts them" in answer["message"]
        with answering(tmp_path / "controllers.json", world_of([], NOW), ready=False):
            code, _, answer = asker.send("POST", f"{PLACEMENTS}/p1/explain", a_placement())
            assert (code, answer["message"].partition(".")[0]) == (
                503,
                "the controllers have just started and are still reading the fleet; try again",
            )


def test_the_answer_comes_as_yaml_to_those_who_want_it(asker: Asker) -> None:
    code, headers, answer = asker.send("GET", f"{PLACEMENTS}/p1/explain", Accept="application/yaml")
    assert (code, headers["content-type"]) == (200, "application/yaml")
    assert b"kind: PlacementExplanation" in answer


def test_discovery_and_openapi_know_the_subresource(asker: Asker) -> None:
    _, _, found = asker.send("GET", f"/apis/{GROUP}/v1beta1")
    (entry,) = (each for each in found["resources"] if each["name"] == "placements/explain")
    assert entry == {
        "name": "placements/explain",
        "singularName": "",
        "namespaced": True,
        "group": "explain.muster.dev",
        "version": "v1alpha1",
        "kind": "PlacementExplanation",
        "verbs": ["create", "get"],
    }
    _, _, document = asker.send("GET", f"/openapi/v3/apis/{GROUP}/v1beta1")
    path = document["paths"][f"/apis/{GROUP}/v1beta1/namespaces/{{namespace}}/placements/{{name}}/explain"]
    assert {"get", "post"} <= path.keys()
    schema = document["components"]["schemas"]["dev.muster.explain.v1alpha1.PlacementExplanation"]
    assert {"funnel", "decisions", "diff", "scores", "cluster"} <= schema["properties"].keys()


def test_requests_are_counted_and_dry_runs_are_audited(asker: Asker) -> None:
    asker.try_out(wanting("Azure"))
    _, _, metrics = asker.send("GET", "/metrics")
    assert b'resource="placements",subresource="explain"' in metrics
    assert '"subresource":"explain"' in (asker.state / "audit.log").read_text()
