"""Plans over HTTP: what would change, what would be refused, what it takes, and what whom is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.hub.rest.asking import GROUP, Asker, asked_hub, grant, on, wanting
from tests.hub.rest.test_questions import MAY_ASK, ask, post

if TYPE_CHECKING:
    from collections.abc import Iterator

V1 = f"{GROUP}/v1"


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """dora may try out placements in apps and get some clusters; mona gets everything and writes nothing; writa may
    get and change clusters, and join no set."""
    with asked_hub(tmp_path_factory.mktemp("hub")) as found:
        grant(found, "dora", "planner", MAY_ASK, on("placements", "get"), on("managedclustersets", "get"))
        grant(found, "mona", "viewer", MAY_ASK, on("*", "get"))
        grant(found, "writa", "labeller", MAY_ASK, on("*", "get"), on("managedclusters", "patch"))
        grant(found, "blind", "blind", MAY_ASK)
        yield found


def plan(asker: Asker, user: str = "", **spec: Any) -> Any:
    return ask(asker, "Plan", spec, user)


def relabelled(name: str, **labels: str | None) -> dict[str, Any]:
    return {"apiVersion": V1, "kind": "ManagedCluster", "name": name, "labels": labels}


def told(status: Any) -> dict[str, tuple[int, int, list[str], list[str]]]:
    return {
        each["name"]: (
            each["before"],
            each["after"],
            each["gained"]["names"],
            [lost["name"] for lost in each["lost"]["clusters"]],
        )
        for each in status["placements"]
    }


def test_an_edited_placement_tells_what_it_gains_loses_and_keeps_and_why(asker: Asker) -> None:
    status = plan(asker, objects=[wanting("Azure")], forceConflicts=True)

    (found,) = status["placements"]
    assert (found["before"], found["after"], found["created"], found["deleted"]) == (2, 2, False, False)
    assert found["gained"] == {"count": 2, "unnamed": 0, "names": ["secret-2", "visible-2"]}
    assert [(each["name"], each["code"]) for each in found["lost"]["clusters"]] == [
        ("secret-1", "NoPredicateHolds"),
        ("visible-1", "NoPredicateHolds"),
    ]
    assert "label cloud is 'Amazon'" in found["lost"]["clusters"][0]["reason"]
    assert found["lost"]["clusters"][0]["why"]["code"] == "NoPredicateHolds"
    assert (status["allowed"], status["restricted"], status["hidden"]) == (True, False, 0)


def test_label_edits_and_deletions_are_planned_with_the_sets_they_change(asker: Asker) -> None:
    gone = {"apiVersion": V1, "kind": "ManagedCluster", "name": "secret-1"}
    status = plan(asker, labels=[relabelled("visible-2", cloud="Amazon")], delete=[gone])

    # visible-2 says nothing of being available: the controllers taint what is written.
    assert told(status)["p1"] == (2, 1, [], ["secret-1"])
    assert status["sets"] == [
        {
            "name": "global",
            "gained": {"count": 0, "unnamed": 0, "names": []},
            "lost": {"count": 1, "unnamed": 0, "names": ["secret-1"]},
            "fault": "",
        }
    ]
    assert [each["code"] for each in status["placements"][1]["lost"]["clusters"]] == ["NoSuchCluster"]


def test_objects_see_one_another_and_nothing_is_written(asker: Asker) -> None:
    before = asker.hub.revision
    objects = [
        a_placement("fresh", "shop"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        a_binding("few", "shop"),
        a_set("few", {"cloud": "Azure"}),
    ]

    status = plan(asker, objects=objects)

    assert told(status) == {"fresh": (0, 2, ["secret-2", "visible-2"], [])}
    assert status["placements"][0]["created"]
    assert status["refused"] == []
    assert asker.hub.revision == before


def test_what_the_server_would_refuse_is_told_and_the_rest_is_planned(asker: Asker) -> None:
    broken = a_placement("broken", tolerations=[{"key": "gpu", "effect": "Sometimes"}])
    nowhere = a_placement("p9", "nowhere")
    status = plan(asker, objects=[broken, nowhere, a_placement("fine")])

    assert {(each["field"], each["code"]) for each in status["refused"]} == {
        ("spec.objects[0]", "Invalid"),
        ("spec.objects[1]", "NotFound"),
    }
    assert list(told(status)) == ["fine"]
    assert not status["allowed"]


def test_guards_say_what_they_think_of_every_placement(asker: Asker) -> None:
    status = plan(
        asker, objects=[wanting("Nowhere")], forceConflicts=True, guards={"failIfRemoves": 3, "failIfEmpty": True}
    )

    (found,) = status["placements"]
    assert found["guards"] == [
        {"code": "FailIfRemoves", "allowed": True, "message": "apps/p1 would lose 2 of 2 clusters"},
        {"code": "FailIfEmpty", "allowed": False, "message": "apps/p1 would have no cluster"},
    ]
    assert not status["allowed"]


def test_who_may_only_read_plans_and_learns_what_writing_takes(asker: Asker) -> None:
    edit = relabelled("visible-2", cloud="Amazon", **{f"{GROUP}/clusterset": "prod"})
    needed = {
        user: {(each["verb"], each["resource"], each["name"]): each["allowed"] for each in status["permissions"]}
        for user in ("mona", "writa", "")
        for status in [plan(asker, user, labels=[edit])]
    }

    patch, join = (
        ("patch", f"managedclusters.{GROUP}", "visible-2"),
        ("create", f"managedclustersets/join.{GROUP}", "prod"),
    )
    assert {user: (found[patch], found[join]) for user, found in needed.items()} == {
        "mona": (False, False),
        "writa": (True, False),
        "": (True, True),
    }


def test_an_object_that_the_asker_may_not_get_takes_no_part_whether_it_is_there_or_not(asker: Asker) -> None:
    there, absent = (plan(asker, "dora", labels=[relabelled(name, cloud="Azure")]) for name in ("secret-1", "secret-9"))

    for status, name in ((there, "secret-1"), (absent, "secret-9")):
        (refused,) = status.pop("refused")
        assert (refused["code"], refused["name"]) == ("Forbidden", name)
        assert status.pop("token")
    assert there == absent
    assert there["placements"] == []


def test_clusters_that_the_asker_may_not_get_are_counted_where_he_may_try_out_placements(asker: Asker) -> None:
    (found,) = plan(asker, "dora", objects=[wanting("Azure")], forceConflicts=True)["placements"]

    assert (found["before"], found["after"]) == (2, 2)
    assert found["gained"] == {"count": 2, "unnamed": 1, "names": ["visible-2"]}
    assert (found["lost"]["count"], found["lost"]["unnamed"]) == (2, 1)
    assert [each["name"] for each in found["lost"]["clusters"]] == ["visible-1"]


def test_a_plan_lets_nobody_count_clusters_of_sets_that_are_not_bound_yet(asker: Asker) -> None:
    """With a set and a binding of one's own making, every cluster could be asked about."""
    lone = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lone"}}
    assert asker.send("POST", "/api/v1/namespaces", lone)[0] == 201
    spy = [a_set("spy"), a_binding("spy", "lone"), a_placement("spying", "lone", clusterSets=["spy"])]
    grant(asker, "spy", "spying", MAY_ASK, on("placements/explain", "create"), on("*", "get", names=("spy", "spying")))

    status = plan(asker, "spy", objects=spy)

    assert (told(status), status["hidden"], status["restricted"]) == ({"spying": (0, 0, [], [])}, 5, True)
    assert told(plan(asker, objects=spy))["spying"][1] == 4  # there are some


def test_who_may_know_of_no_placement_is_told_of_none(asker: Asker) -> None:
    status = plan(asker, "blind", objects=[wanting("Azure")], forceConflicts=True)

    assert (status["placements"], status["sets"], status["hidden"]) == ([], [], 5)
    assert [each["code"] for each in status["refused"]] == ["Forbidden"]


def test_a_plan_of_nothing_or_without_names_is_invalid(asker: Asker) -> None:
    code, answer = post(asker, "Plan", {})
    assert (code, answer["reason"]) == (422, "Invalid")
    nameless = [{"apiVersion": V1, "kind": "ManagedCluster"}, {"metadata": {"name": "x"}}]
    code, answer = post(asker, "Plan", {"objects": nameless, "delete": [{"kind": "Placement"}]})
    assert code == 422
    assert {each["field"] for each in answer["details"]["causes"]} == {
        "spec.objects[0].metadata.name",
        "spec.objects[1].apiVersion",
        "spec.objects[1].kind",
        "spec.delete[0].apiVersion",
        "spec.delete[0].name",
    }


def test_other_kinds_are_left_out_and_said_to_be(asker: Asker) -> None:
    status = plan(asker, objects=[{"apiVersion": "example.com/v1", "kind": "Sock", "metadata": {"name": "left"}}])

    assert (status["placements"], status["allowed"]) == ([], True)
    assert [(each["field"], each["message"]) for each in status["diagnostics"]] == [
        ("spec.objects[0]", "Sock of example.com/v1 is nothing that a plan looks at")
    ]


def test_the_token_stays_until_something_changes_that_the_plan_rests_on(asker: Asker) -> None:
    spec: dict[str, Any] = {"objects": [wanting("Azure")], "forceConflicts": True}
    token = plan(asker, **spec)["token"]

    assert plan(asker, **spec, token=token)["changed"] == []
    assert plan(asker, **spec, guards={"failIfEmpty": True}, mostNames=0)["token"] == token
    # What says nothing of what somebody wrote.
    status = {
        "apiVersion": V1,
        "kind": "ManagedCluster",
        "metadata": {"name": "visible-1"},
        "status": {"version": {"kubernetes": "v1.99"}},
    }
    path = f"/apis/{V1}/managedclusters/visible-1"
    merge = {"Content-Type": "application/merge-patch+json"}
    assert asker.send("PATCH", f"{path}/status", status, **merge)[0] == 200
    assert plan(asker, **spec, token=token)["changed"] == []

    other = plan(asker, objects=[wanting("Azure", numberOfClusters=1)], forceConflicts=True, token=token)
    assert "what is asked for has changed" in other["changed"]
    placement = f"/apis/{GROUP}/v1beta1/namespaces/apps/placements/p1"
    assert asker.send("PATCH", placement, {"metadata": {"annotations": {"note": "x"}}}, **merge)[0] == 200
    assert plan(asker, **spec, token=token)["changed"] == ["Placement apps/p1 has changed"]
    assert plan(asker, **spec, token="nonsense")["changed"] == ["it is no token of a plan: `muster plan` prints one"]


def test_a_whole_object_is_replaced_only_in_the_state_it_was_read_in(asker: Asker) -> None:
    path = f"/apis/{GROUP}/v1beta1/namespaces/apps/placements/everything"
    current = asker.send("GET", path)[2]
    restored = {**current, "spec": {"numberOfClusters": 1}}

    fresh = plan(asker, replace=[restored])
    stale = plan(asker, replace=[{**restored, "metadata": {**current["metadata"], "resourceVersion": "1"}}])

    assert told(fresh)["everything"][:2] == (4, 1)
    assert [each["code"] for each in stale["refused"]] == ["Conflict"]


def test_deleting_a_placement_and_what_is_not_there(asker: Asker) -> None:
    reference = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "namespace": "apps"}
    status = plan(asker, delete=[{**reference, "name": "p1"}, {**reference, "name": "nothing"}])

    (found,) = status["placements"]
    assert (found["deleted"], found["after"], status["refused"]) == (True, 0, [])
    assert {each["code"] for each in found["lost"]["clusters"]} == {"PlacementDeleting"}


def test_a_cluster_changed_by_apply_keeps_what_others_own(asker: Asker) -> None:
    bare = a_cluster("visible-1")
    del bare["metadata"]["labels"], bare["status"]
    assert told(plan(asker, objects=[bare]))["p1"][:2] == (2, 1)  # tainted: nobody says that it is available
