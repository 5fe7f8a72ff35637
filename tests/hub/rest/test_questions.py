"""Questions about the fleet over HTTP: who may ask, what he is told, and what becomes of those nobody waits for."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from muster.api.fleet_questions import QUESTIONS
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from tests.builders import a_placement
from tests.controllers.questions.answering import answering
from tests.hub.rest.asking import Asker, asked_hub, asked_world, grant, on, token_of
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLEET = "/apis/fleet.muster.dev/v1alpha1"
LABELS = "managedCluster.metadata.labels"
PLURALS = {each.kind: each.plural for each in QUESTIONS}
MAY_ASK = {"apiGroups": ["fleet.muster.dev"], "resources": ["*"], "verbs": ["create"]}


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    """dora may also ask; mona may ask and get every cluster, and nothing else."""
    with asked_hub(tmp_path_factory.mktemp("hub")) as found:
        grant(found, "dora", "asker", MAY_ASK)
        grant(found, "mona", "getter", MAY_ASK, on("managedclusters", "get"))
        yield found


def post(asker: Asker, kind: str, spec: dict[str, Any], user: str = "") -> tuple[int, Any]:
    body = {"apiVersion": "fleet.muster.dev/v1alpha1", "kind": kind, "spec": spec}
    code, _, answer = asker.send("POST", f"{FLEET}/{PLURALS[kind]}", body, user)
    return code, answer


def ask(asker: Asker, kind: str, spec: dict[str, Any], user: str = "") -> Any:
    code, answer = post(asker, kind, spec, user)
    assert code == 201, answer
    assert (answer["kind"], answer["spec"]) == (kind, spec)
    return answer["status"]


def test_the_kinds_are_in_discovery_and_openapi_and_can_only_be_created(asker: Asker) -> None:
    found = asker.send("GET", FLEET)[2]
    document = asker.send("GET", "/openapi/v3/apis/fleet.muster.dev/v1alpha1")[2]

    assert {each["kind"]: each["verbs"] for each in found["resources"]} == {kind: ["create"] for kind in PLURALS}
    for kind, plural in PLURALS.items():
        schema = document["components"]["schemas"][f"dev.muster.fleet.v1alpha1.{kind}"]
        assert {"spec", "status"} <= schema["properties"].keys()
        assert asker.send("GET", f"{FLEET}/{plural}")[0] == 405


def test_nothing_is_stored_by_asking(asker: Asker) -> None:
    before = asker.hub.revision

    ask(asker, "FleetEvaluation", {"expression": "true"})

    assert asker.hub.revision == before


def test_who_may_not_create_the_kind_may_not_ask(asker: Asker) -> None:
    for kind in PLURALS:
        assert post(asker, kind, {"name": "x"}, "rhea")[0] == 403


def test_a_question_ranges_over_what_the_asker_may_get(asker: Asker) -> None:
    spec = {"expression": f"{LABELS}.cloud == 'Amazon'", "rows": {"show": "All"}}

    everything = ask(asker, "FleetEvaluation", spec, "mona")
    some = ask(asker, "FleetEvaluation", spec, "dora")

    assert (everything["matched"], everything["unmatched"], everything["hidden"]) == (3, 2, 0)
    assert (some["matched"], some["unmatched"], some["hidden"]) == (1, 1, 3)
    assert [each["name"] for each in some["rows"]] == ["visible-1", "visible-2"]


def test_rows_count_the_placements_that_the_asker_may_explain_and_no_others(asker: Asker) -> None:
    spec = {"rows": {"placements": True}}

    def counted(user: str) -> dict[str, int]:
        return {row["name"]: row["placements"] for row in ask(asker, "FleetEvaluation", spec, user)["rows"]}

    assert counted("")["visible-1"] == 2
    assert counted("dora") == {"visible-1": 2, "visible-2": 1}
    assert set(counted("mona").values()) == {0}


def test_sets_bound_to_a_namespace_are_counted_for_those_who_may_try_out_placements_there(asker: Asker) -> None:
    spec = {"namespace": "apps", "expression": f"{LABELS}.cloud == 'Amazon'", "rows": {"show": "All"}}

    counted = ask(asker, "FleetEvaluation", spec, "dora")
    code, refusal = post(asker, "FleetEvaluation", spec, "mona")

    assert (counted["matched"], counted["unmatched"], counted["unnamed"], counted["hidden"]) == (3, 2, 3, 0)
    assert [each["name"] for each in counted["rows"]] == ["visible-1", "visible-2"]
    assert (code, refusal["reason"]) == (403, "Forbidden")
    assert "placements/explain" in refusal["message"]


def test_a_placement_is_evaluated_for_those_who_may_try_it_out(asker: Asker) -> None:
    placement = a_placement("new", predicates=[], numberOfClusters=2)

    status = ask(asker, "FleetEvaluation", {"placement": placement}, "dora")

    assert (status["matched"], status["unnamed"]) == (2, 3)
    assert post(asker, "FleetEvaluation", {"placement": placement}, "mona")[0] == 403
    code, answer = post(asker, "FleetEvaluation", {"placement": {"spec": {}}}, "dora")
    assert (code, answer["details"]["causes"][0]["field"]) == (422, "spec.placement.metadata.namespace")
    code, answer = post(asker, "FleetEvaluation", {"placement": placement, "namespace": "other"}, "dora")
    assert (code, answer["details"]["causes"][0]["field"]) == (422, "spec.namespace")


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("FleetEvaluation", {"expression": "true", "selector": {"matchLabels": {"a": "b"}}}, "spec.selector"),
        ("FleetEvaluation", {"rows": {"limit": 501}}, "spec.rows.limit"),
        ("FleetEvaluation", {"rows": {"show": "Some"}}, "spec.rows.show"),
        ("FleetEvaluation", {"resource": "pods"}, "spec.resource"),
        ("FleetEvaluation", {"resource": "clusters", "placement": {"spec": {}}}, "spec.placement"),
        ("FleetEvaluation", {"resource": "clusters", "rows": {"placements": True}}, "spec.rows.placements"),
        ("FleetEvaluation", {"expression": "x" * 10_241}, "spec.expression"),
        ("Completion", {"expression": "a", "position": 2}, "spec.position"),
        ("PlacementExplanation", {"name": "p1"}, "spec.namespace"),
        ("ClusterExplanation", {}, "spec.name"),
        ("SetExplanation", {}, "spec.name"),
        ("JoinReview", {"cluster": "c"}, "spec.set"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_field(
    asker: Asker, kind: str, spec: dict[str, Any], field: str
) -> None:
    code, answer = post(asker, kind, spec)

    assert (code, field in [each["field"] for each in answer["details"]["causes"]]) == (422, True), answer


def test_facets_and_completions_are_of_what_the_asker_may_get(asker: Asker) -> None:
    grant(asker, "dora", "one-set", on("managedclustersets", "get", names=("global",)))

    facets = ask(asker, "FleetFacets", {}, "dora")
    completion = ask(asker, "Completion", {"expression": f"{LABELS}.cloud == '"}, "dora")

    assert facets["hidden"] == 3
    assert [(each["facet"], each["clusters"]) for each in facets["facets"]] == [("label", 2), ("set", 2)]
    assert [(each["text"], each["count"]) for each in completion["items"]] == [("Amazon", 1), ("Azure", 1)]


def test_a_placement_is_explained_as_its_subresource_does(asker: Asker) -> None:
    status = ask(asker, "PlacementExplanation", {"namespace": "apps", "name": "p1"}, "dora")
    tried = ask(asker, "PlacementExplanation", {"placement": a_placement("new"), "cluster": "visible-1"}, "dora")

    assert status == asker.get("p1", user="dora")
    assert tried == asker.try_out(a_placement("new"), "?cluster=visible-1", user="dora")
    assert post(asker, "PlacementExplanation", {"namespace": "apps", "name": "p1"}, "mona")[0] == 403
    assert post(asker, "PlacementExplanation", {"namespace": "apps", "name": "gone"}, "dora")[0] == 404
    page = ask(asker, "PlacementExplanation", {"namespace": "apps", "name": "everything", "limit": 2})
    token = page["metadata"]["continue"]
    more = ask(
        asker, "PlacementExplanation", {"namespace": "apps", "name": "everything", "limit": 2, "continue": token}
    )
    assert more["decisions"][0]["clusters"]["clusters"] == ["visible-1", "visible-2"]


def test_a_cluster_is_explained_over_the_placements_that_the_asker_may_explain(asker: Asker) -> None:
    told = ask(asker, "ClusterExplanation", {"name": "visible-2"}, "dora")
    bare = ask(asker, "ClusterExplanation", {"name": "visible-2"}, "mona")

    assert [(each["name"], each["selected"], each["code"]) for each in told["placements"]] == [
        ("everything", True, "Selected"),
        ("p1", False, "NoPredicateHolds"),
    ]
    assert "wanted cloud=Amazon" in told["placements"][1]["reason"]
    assert (bare["placements"], bare["placementsInAll"], bare["sets"]) == ([], 0, [])
    assert post(asker, "ClusterExplanation", {"name": "secret-1"}, "dora")[0] == 403
    assert post(asker, "ClusterExplanation", {"name": "nothing"}, "dora")[0] == 403
    assert post(asker, "ClusterExplanation", {"name": "nothing"})[0] == 404


def test_a_set_is_explained_over_the_clusters_that_the_asker_may_get(asker: Asker) -> None:
    grant(
        asker,
        "sam",
        "set-reader",
        MAY_ASK,
        on("managedclustersets", "get"),
        on("managedclusters", "get", names=("secret-2",)),
    )

    told = ask(asker, "SetExplanation", {"name": "global"}, "sam")

    assert (told["members"], told["clusters"], told["hidden"], told["rule"]) == (1, ["secret-2"], 4, "every cluster")
    assert (told["namespaces"], told["placements"]) == ([], [])
    assert ask(asker, "SetExplanation", {"name": "global"})["placements"] == ["apps/everything", "apps/p1"]
    assert post(asker, "SetExplanation", {"name": "global"}, "mona")[0] == 403


def test_joining_is_reviewed_for_oneself_and_for_others_by_those_who_may(asker: Asker) -> None:
    told = ask(asker, "JoinReview", {"user": "dora", "set": "global", "cluster": "visible-1"})
    mine = ask(asker, "JoinReview", {}, "mona")

    assert (told["user"], told["sets"][0]["mayJoin"], told["move"]["allowed"]) == ("dora", False, False)
    assert told["move"]["missingRules"][0]["resourceNames"] == ["visible-1"]
    assert "system:masters" in {each["subject"] for each in told["who"]}
    assert mine == {"user": "mona", "sets": [], "move": None, "who": [], "whoIsHidden": False}
    assert post(asker, "JoinReview", {"user": "dora"}, "mona")[0] == 403
    assert post(asker, "JoinReview", {"set": "global"}, "mona")[0] == 403
    assert post(asker, "JoinReview", {"set": "nothing"})[0] == 404


def test_null_and_the_empty_list_of_identities_are_kept_apart_on_the_way(asker: Asker) -> None:
    for identities, matched in ((None, 5), ([], 0), ([{"name": "secret-1"}], 1)):
        status = ask(asker, "FleetEvaluation", {"selector": {"matchIdentities": identities}}, "mona")
        assert status["matched"] == matched, identities


def test_whose_questions_range_over_nothing_is_told_so(asker: Asker) -> None:
    view: dict[str, Any] = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole"}
    for role, user in (("view", "vera"), ("muster:fleet-view", "flo")):
        subjects = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}]
        binding = {**view, "metadata": {"name": user}, "roleRef": {**reference, "name": role}, "subjects": subjects}
        assert asker.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)[0] == 201
    body = {"apiVersion": "fleet.muster.dev/v1alpha1", "kind": "FleetEvaluation", "spec": {"expression": "true"}}

    _, blind, nothing = asker.send("POST", f"{FLEET}/fleetevaluations", body, "vera")
    _, seeing, everything = asker.send("POST", f"{FLEET}/fleetevaluations", body, "flo")

    assert (nothing["status"]["objects"], nothing["status"]["hidden"]) == (0, 5)
    warning = next(value for name, value in blind.items() if name.lower() == "warning")
    assert "a ClusterRoleBinding to muster:fleet-view allows it" in warning
    assert (everything["status"]["matched"], [name for name in seeing if name.lower() == "warning"]) == (5, [])


def test_roles_that_name_very_many_clusters_are_bounded(asker: Asker) -> None:
    many = tuple(f"cluster-{number:05}" for number in range(20_001))
    few = ("secret-1", *many)[:20_000]
    grant(asker, "many", "very-many", MAY_ASK, on("managedclusters", "get", names=many))
    grant(asker, "some", "as-many-as-may-be", MAY_ASK, on("managedclusters", "get", names=few))

    code, answer = post(asker, "FleetEvaluation", {"expression": "true"}, "many")

    assert (code, "a question ranges over 20000 at most" in answer["message"]) == (400, True)
    rows = ask(asker, "FleetEvaluation", {"expression": "true"}, "some")["rows"]
    assert [row["name"] for row in rows] == ["secret-1"]


def test_unknown_fields_are_told(asker: Asker) -> None:
    body = {"apiVersion": "fleet.muster.dev/v1alpha1", "kind": "FleetEvaluation", "spec": {"expresion": "true"}}

    code, _, answer = asker.send("POST", f"{FLEET}/fleetevaluations?fieldValidation=Strict", body)

    assert (code, 'unknown field "spec.expresion"' in answer["message"]) == (400, True)


NONSENSE: tuple[Any, ...] = (
    *(None, 0, -1, 2**63, 1.5, True, "", "x", "managedCluster.metadata.labels", "1 +", "é\u0000", "a" * 300),
    *([], [None], [{}], {}, {"": None}, {"matchLabels": None}, {"celSelector": {"celExpressions": [None]}}),
    {"metadata": {"namespace": "apps", "name": 5}, "spec": []},
    {"metadata": {"namespace": "apps"}, "spec": {"predicates": [None]}},
    {"kind": "ManagedClusterSet", "metadata": None, "spec": 3},
    {"matchIdentities": [None], "matchPurposes": [{}]},
)


@pytest.mark.parametrize("seed", range(4))
def test_nonsense_is_refused_or_answered_and_never_breaks_anything(asker: Asker, seed: int) -> None:
    chance = random.Random(seed)
    kinds = {each.kind: each.storage_version.schema["properties"]["spec"]["properties"] for each in QUESTIONS}
    for _ in range(80):
        kind = chance.choice(list(kinds))
        fields = chance.sample(list(kinds[kind]), min(3, len(kinds[kind])))
        spec: dict[str, Any] = {name: chance.choice(NONSENSE) for name in fields}
        if "rows" in spec and chance.random() < 0.7:
            inner = kinds[kind]["rows"]["properties"]
            spec["rows"] = {name: chance.choice(NONSENSE) for name in chance.sample(list(inner), 3)}
        code, answer = post(asker, kind, spec, chance.choice(("", "dora")))
        assert code in (201, 400, 403, 404, 422), (kind, spec, answer)


def test_without_controllers_a_question_is_answered_with_503(tmp_path: Path) -> None:
    with running_hub(state=tmp_path) as hub:
        asker = Asker(hub, tmp_path)
        code, answer = post(asker, "FleetEvaluation", {"expression": "true"})
        assert (code, answer["reason"]) == (503, "ServiceUnavailable")
        assert ask(asker, "JoinReview", {}) == {
            "user": "muster:admin",
            "sets": [],
            "move": None,
            "who": [],
            "whoIsHidden": False,
        }


class Waiting:
    """An observer that never answers, and notes when nobody waits any more."""

    def __init__(self, *_: Any) -> None:
        self.ready = True
        self.asked = threading.Event()
        self.given_up = threading.Event()

    def handlers(self) -> dict[str, Any]:
        return {}

    async def run(self, _: Any) -> None:
        """Nothing to do."""

    async def answer(self, body: bytes) -> bytes:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.set()
        return body


def test_closing_the_connection_ends_the_work(tmp_path: Path) -> None:
    observer = Waiting()
    users = {token_of("dora"): User("dora", groups=(AUTHENTICATED, "system:masters"))}
    with (
        running_hub(state=tmp_path, users=users) as hub,
        answering(tmp_path / "controllers.json", asked_world(), observer=lambda *_: observer),
    ):
        body = json.dumps({"apiVersion": "fleet.muster.dev/v1alpha1", "kind": "FleetEvaluation", "spec": {}}).encode()
        connection = socket.create_connection((hub.host, hub.port), timeout=10)
        head = (
            f"POST {FLEET}/fleetevaluations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token_of('dora')}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body)
        assert observer.asked.wait(10)
        assert not observer.given_up.is_set()

        connection.close()

        assert observer.given_up.wait(10), time.monotonic()
