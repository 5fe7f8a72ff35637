"""AdmissionReviews and ConversionReviews over HTTP, without a kube-apiserver: what goes in, and what comes out."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from muster.controllers.questions.asking import Controllers
from muster.errors import ApiError
from muster.hub.heavy_work import HeavyWork
from muster.kubernetes.serving.authorizer import ReviewingAuthorizer
from muster.kubernetes.serving.health import listening
from muster.kubernetes.serving.metrics import ServingMetrics
from muster.kubernetes.serving.mirrored_objects import MirroredObjects
from muster.kubernetes.serving.reviews import AccessReviews
from muster.kubernetes.serving.webhooks import ADVICE, CONVERSION, DEFAULTS, MOST_BYTES, PERMISSIONS, Webhooks
from muster.selectors.membership import DEFAULT_KEY
from tests.builders import a_cluster, a_placement
from tests.builders import a_set as a_set_of
from tests.kubernetes.fakes import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
OCM = "cluster.open-cluster-management.io"
CLUSTERS = f"managedclusters.{OCM}"


def a_set(name: str, **spec: Any) -> dict[str, Any]:
    return a_set_of(name, clusterSelector={"selectorType": "ExclusiveClusterSetLabel"}, **spec)


def a_review(obj: Any, old: Any = None, *, user: str = "dev", dry_run: bool = False, **more: Any) -> dict[str, Any]:
    group, _, version = obj["apiVersion"].partition("/")
    request = {
        "uid": "u1",
        "resource": {"group": group, "version": version, "resource": f"{obj['kind'].lower()}s"},
        "operation": "CREATE" if old is None else "UPDATE",
        "name": obj["metadata"]["name"],
        "namespace": obj["metadata"].get("namespace", ""),
        "userInfo": {"username": user, "uid": "7", "groups": ["devs"], "extra": {"example.com/x": ["1"]}},
        "object": obj,
        "oldObject": old,
        "dryRun": dry_run,
        **more,
    }
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}


def answered(tmp_path: Path, server: FakeServer, path: str, body: Any, query: str = "") -> tuple[int, Any]:
    """What one webhook answers to one body: a value, or bytes as they are."""
    return asyncio.run(_answered(tmp_path, server, path, body, query))


async def _answered(tmp_path: Path, server: FakeServer, path: str, body: Any, query: str) -> tuple[int, Any]:
    reviews, heavy = AccessReviews(server.client, 10.0), HeavyWork()
    authorizer = ReviewingAuthorizer(MirroredObjects(), reviews)
    controllers = Controllers(tmp_path / "nobody")
    hooks = Webhooks(server.client, reviews, authorizer, heavy, lambda: NOW, ServingMetrics(), controllers)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        async with (
            listening(hooks.routes(), "127.0.0.1", 0, None, MOST_BYTES) as port,
            aiohttp.ClientSession() as web,
            web.post(f"http://127.0.0.1:{port}{path}{query}", data=io.BytesIO(data)) as reply,
        ):
            content = await reply.read()
            is_json = reply.content_type == "application/json"
            return reply.status, json.loads(content) if is_json else content.decode()
    finally:
        heavy.close()


def test_a_set_that_takes_in_clusters_needs_permission_for_each_of_them(tmp_path: Path) -> None:
    allowed = {
        ("create", f"managedclustersets/exclusivekey.{OCM}"),
        ("update", CLUSTERS, "c1"),
        ("get", CLUSTERS, "c2"),
    }
    server = FakeServer(may=lambda _, verb, resource, name: (verb, resource, name) in allowed)
    server.lists[f"/apis/{OCM}/v1/managedclusters"] = [
        a_cluster(name, {DEFAULT_KEY: "dev"}) for name in ("c1", "c2", "c3")
    ]
    code, answer = answered(tmp_path, server, PERMISSIONS, a_review(a_set("dev")))
    response = answer["response"]
    assert (code, response["uid"], response["allowed"], response["status"]["code"]) == (200, "u1", False, 403)
    assert "c2" in response["status"]["message"]
    assert "c1" not in response["status"]["message"]
    assert "c3" not in response["status"]["message"], "a cluster that the asker may not get is counted, never named"
    spec = server.reviews[0]
    assert (spec["user"], spec["uid"], spec["groups"], spec["extra"]) == (
        "dev",
        "7",
        ["devs"],
        {"example.com/x": ["1"]},
    )


def test_no_permission_is_asked_for_twice_in_one_request(tmp_path: Path) -> None:
    server = FakeServer(may=lambda *_: True)
    server.lists[f"/apis/{OCM}/v1/managedclusters"] = [a_cluster("c1", {DEFAULT_KEY: "dev"})]
    _, answer = answered(tmp_path, server, PERMISSIONS, a_review(a_set("dev"), dry_run=True))
    assert answer["response"]["allowed"]
    assert len(server.asked) == len(set(server.asked))
    assert answer["response"]["warnings"] == [f"clusters labelled {DEFAULT_KEY}=dev become members: 1: c1"]


def test_too_many_clusters_to_be_asked_for_one_by_one_are_refused_with_a_clear_word(tmp_path: Path) -> None:
    server = FakeServer()
    server.lists[f"/apis/{OCM}/v1/managedclusters"] = [
        a_cluster(f"c{number}", {DEFAULT_KEY: "dev"}) for number in range(1001)
    ]
    code, answer = answered(tmp_path, server, PERMISSIONS, a_review(a_set("dev")))
    assert code == 200
    assert not answer["response"]["allowed"]
    assert "is not asked one by one" in answer["response"]["status"]["message"]
    assert len(server.asked) <= 1010


def test_pairs_that_nobody_has_in_mind_are_refused(tmp_path: Path) -> None:
    pairs = {"metadata": {"name": "clusterset-validation"}, "data": {"region": "apac"}}
    server = FakeServer(may=lambda *_: True)
    server.lists["/api/v1/namespaces/open-cluster-management-hub/configmaps"] = [pairs]
    cluster_set = a_set("emea", exclusiveKey="region")
    _, answer = answered(tmp_path, server, PERMISSIONS, a_review(cluster_set))
    assert answer["response"]["status"]["code"] == 403
    assert "region" in answer["response"]["status"]["message"]


def test_a_server_that_cannot_be_asked_is_an_http_error_so_that_the_failure_policy_decides(
    tmp_path: Path,
) -> None:
    server = FakeServer()
    server.fails = ApiError(500, "InternalError", "etcd is away")
    code, text = answered(tmp_path, server, PERMISSIONS, a_review(a_set("dev")))
    assert code == 503
    assert "etcd is away" in text


def test_advice_warns_and_lets_pass(tmp_path: Path) -> None:
    placement = a_placement("p", predicates=[{"requiredClusterSelector": {"celSelector": {"celExpressions": ["x("]}}}])
    code, answer = answered(tmp_path, FakeServer(), ADVICE, a_review(placement))
    assert code == 200
    assert answer["response"]["allowed"]
    assert answer["response"]["warnings"][0].startswith("placement cannot be scheduled: ")


def test_advice_asks_for_no_permission(tmp_path: Path) -> None:
    server = FakeServer()
    _, answer = answered(tmp_path, server, ADVICE, a_review(a_set("dev")))
    assert answer["response"]["allowed"]
    assert server.asked == []


def test_what_no_definition_can_say_is_refused_with_its_field(tmp_path: Path) -> None:
    cluster_set = a_set("dev")
    cluster_set["spec"] = {"clusterLabel": {"key": "a", "value": "b"}}
    _, answer = answered(tmp_path, FakeServer(), ADVICE, a_review(cluster_set))
    status = answer["response"]["status"]
    assert (answer["response"]["allowed"], status["code"], status["reason"]) == (False, 422, "Invalid")
    assert status["details"]["causes"][0]["field"] == "spec.clusterLabel"


def test_defaults_are_a_patch(tmp_path: Path) -> None:
    cluster = a_cluster("c1", {"a/b": "c"})
    cluster["spec"]["taints"] = [{"key": "k", "effect": "NoSelect"}]
    _, answer = answered(tmp_path, FakeServer(), DEFAULTS, a_review(cluster))
    response = answer["response"]
    assert response["patchType"] == "JSONPatch"
    patch = {each["path"]: each["value"] for each in json.loads(base64.b64decode(response["patch"]))}
    assert patch == {
        f"/metadata/labels/{DEFAULT_KEY.replace('/', '~1')}": "default",
        "/spec/taints": [{"key": "k", "effect": "NoSelect", "timeAdded": "2026-11-16T12:00:00Z"}],
    }


def test_a_taint_that_was_stored_without_a_time_may_get_one(tmp_path: Path) -> None:
    old = a_cluster("c1", {DEFAULT_KEY: "default"})
    old["spec"]["taints"] = [{"key": "k", "effect": "NoSelect"}]
    new = json.loads(json.dumps(old))
    new["spec"]["taints"][0]["timeAdded"] = "2020-01-01T00:00:00Z"
    _, answer = answered(tmp_path, FakeServer(), DEFAULTS, a_review(new, old))
    (change,) = json.loads(base64.b64decode(answer["response"]["patch"]))
    assert change["value"][0]["timeAdded"] == "2026-11-16T12:00:00Z", "the present time, whatever somebody says"
    known = json.loads(json.dumps(old))
    known["spec"]["taints"][0]["timeAdded"] = "2026-01-01T00:00:00Z"
    _, answer = answered(tmp_path, FakeServer(), DEFAULTS, a_review(new, known))
    assert not answer["response"]["allowed"]


def test_sets_are_converted_there_and_back(tmp_path: Path) -> None:
    stored = a_set("dev")
    stored["spec"] = {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}, "exclusiveKey": "region"}
    request = {"uid": "u9", "desiredAPIVersion": f"{OCM}/v1beta1", "objects": [stored]}
    review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    code, answer = answered(tmp_path, FakeServer(), CONVERSION, review)
    assert (code, answer["response"]["uid"], answer["response"]["result"]) == (200, "u9", {"status": "Success"})
    (older,) = answer["response"]["convertedObjects"]
    assert older["apiVersion"] == f"{OCM}/v1beta1"
    assert older["spec"]["clusterSelector"]["selectorType"] == "LegacyClusterSetLabel"
    review["request"] = {"uid": "u9", "desiredAPIVersion": f"{OCM}/v1beta2", "objects": [older]}
    _, answer = answered(tmp_path, FakeServer(), CONVERSION, review)
    assert answer["response"]["convertedObjects"] == [stored]


@pytest.mark.parametrize(
    ("objects", "wanted"),
    [
        ([{"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster"}], f"{OCM}/v9"),
        ([{"kind": 7}], f"{OCM}/v1beta1"),
        ([{"apiVersion": [], "kind": "ManagedClusterSet"}], f"{OCM}/v1beta1"),
    ],
)
def test_what_cannot_be_converted_is_said_and_not_guessed(tmp_path: Path, objects: Any, wanted: str) -> None:
    request = {"uid": "u", "desiredAPIVersion": wanted, "objects": objects}
    review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    code, answer = answered(tmp_path, FakeServer(), CONVERSION, review)
    assert code == 200
    assert answer["response"]["result"]["status"] == "Failed"
    assert "request.objects[0]" in answer["response"]["result"]["message"]


@pytest.mark.parametrize("path", [PERMISSIONS, ADVICE, DEFAULTS, CONVERSION])
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"kind": "AdmissionReview"}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_review_is_a_bad_request(tmp_path: Path, path: str, body: bytes) -> None:
    code, _ = answered(tmp_path, FakeServer(), path, body)
    assert code == 400


def test_a_body_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    code, text = answered(tmp_path, FakeServer(), ADVICE, b" " * (MOST_BYTES + 1))
    assert code == 413
    assert str(MOST_BYTES) in text


def test_the_time_that_the_server_waits_is_kept(tmp_path: Path) -> None:
    class Slow(FakeServer):
        async def request(self, method: str, path: str, *, body: Any = None, **more: Any) -> Any:
            await asyncio.sleep(30)
            return await super().request(method, path, body=body, **more)

    code, _ = answered(tmp_path, Slow(), PERMISSIONS, a_review(a_set("dev")), "?timeout=1s")
    assert code == 504
