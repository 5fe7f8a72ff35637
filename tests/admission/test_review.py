"""What webhooks are asked and answer."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from muster.admission.review import mutated, validated, write_of
from muster.admission.write import Asker
from muster.errors import InvalidObjectError
from muster.selectors.membership import DEFAULT_KEY
from tests.admission.writes import NOW, NOW_TEXT, OCM, Nothing


def review(plural: str, version: str, obj: dict[str, Any] | None, old: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "u-1",
            "resource": {"group": OCM, "version": version, "resource": plural},
            "name": "c1",
            "operation": "CREATE" if old is None else "UPDATE",
            "userInfo": {"username": "alice", "uid": "2", "groups": ["devs"]},
            "object": obj,
            "oldObject": old,
            "dryRun": False,
            "options": {"kind": "CreateOptions"},
        },
    }


def cluster(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{OCM}/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": "c1", "labels": {DEFAULT_KEY: "default"}},
        "spec": {"hubAcceptsClient": True, "leaseDurationSeconds": 60, **spec},
    }


def test_a_review_is_a_write() -> None:
    uid, write = write_of(review("managedclusters", "v1", cluster()), NOW)
    assert (uid, write.operation, write.resource, write.name) == ("u-1", "CREATE", f"managedclusters.{OCM}", "c1")
    assert write.asker == Asker("alice", "2", ("devs",))


def test_what_needs_no_change_is_allowed_without_a_patch() -> None:
    response = {"uid": "u-1", "allowed": True}
    wanted = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
    assert mutated(review("managedclusters", "v1", cluster()), NOW) == wanted
    assert asyncio.run(validated(review("managedclusters", "v1", cluster()), Nothing(), NOW)) == wanted


def test_a_change_is_a_json_patch() -> None:
    taint = {"key": "a", "effect": "NoSelect"}
    response = mutated(review("managedclusters", "v1", cluster(taints=[taint])), NOW)["response"]
    assert response.pop("patchType") == "JSONPatch"
    assert json.loads(base64.b64decode(response.pop("patch"))) == [
        {"op": "replace", "path": "/spec/taints", "value": [{**taint, "timeAdded": NOW_TEXT}]}
    ]
    assert response == {"uid": "u-1", "allowed": True}


def test_a_refusal_says_why() -> None:
    binding = {
        "apiVersion": f"{OCM}/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": "a", "namespace": "apps"},
        "spec": {"clusterSet": "b"},
    }
    answer = asyncio.run(validated(review("managedclustersetbindings", "v1beta2", binding), Nothing(), NOW))
    text = "The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet"
    status = {"code": 400, "reason": "BadRequest", "message": text}
    assert answer["response"] == {"uid": "u-1", "allowed": False, "status": status}


def test_rules_that_no_definition_can_state_are_checked_too() -> None:
    wrong = cluster(leaseDurationSeconds="soon")
    response = asyncio.run(validated(review("managedclusters", "v1", wrong), Nothing(), NOW))["response"]
    assert (response["allowed"], response["status"]["code"]) == (False, 422)
    assert response["status"]["details"]["causes"][0]["field"] == "spec.leaseDurationSeconds"


@pytest.mark.parametrize("wrong", [{}, {"apiVersion": "v1", "kind": "Pod", "request": {}}, {"request": None}])
def test_anything_else_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidObjectError):
        write_of(wrong, NOW)
