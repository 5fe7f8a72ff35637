"""Nonsense of all kinds against every kind: each request gets an answer that is not a failure of the hub."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from muster.api import RESOURCES
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

VALUES = (
    '[null,true,0,-1,1.5,9223372036854775808,1e30,"","x","é","\\u0000",'
    '[],[1],["a","a"],[[[]]],[{}],{},{"a":1},{"a":null}]'
)
NAMES = [
    "metadata",
    "spec",
    "status",
    "name",
    "namespace",
    "labels",
    "annotations",
    "finalizers",
    "ownerReferences",
    "managedFields",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "generateName",
    "apiVersion",
    "kind",
    "taints",
    "conditions",
    "clusterSelector",
    "predicates",
    "tolerations",
    "numberOfClusters",
    "data",
    "stringData",
    "rules",
    "roleRef",
    "subjects",
    "type",
    "key",
    "effect",
    "$patch",
    "$retainKeys",
    "$setElementOrder/taints",
    "$deleteFromPrimitiveList/finalizers",
    "fieldsV1",
    "manager",
    "operation",
    "a",
]
PATCHES = ("merge-patch+json", "json-patch+json", "strategic-merge-patch+json", "apply-patch+yaml")
STRATEGIC = {"Content-Type": "application/strategic-merge-patch+json"}


class Nonsense:
    """Requests from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._kinds = [(kind, each) for kind in RESOURCES.values() for each in kind.versions if "create" in kind.verbs]

    def _value(self, depth: int = 0) -> Any:
        choice = self._random.random()
        if depth > 3 or choice < 0.5:
            return self._random.choice(json.loads(VALUES))
        if choice < 0.75:
            return [self._value(depth + 1) for _ in range(self._random.randrange(3))]
        return self._object(depth + 1)

    def _object(self, depth: int = 0) -> dict[str, Any]:
        return {self._random.choice(NAMES): self._value(depth) for _ in range(self._random.randrange(4))}

    def _operation(self) -> dict[str, Any]:
        path = "".join(
            f"/{self._random.choice([*NAMES, '0', '-', '~1', '~2'])}" for _ in range(self._random.randrange(3))
        )
        kind = self._random.choice(["add", "remove", "replace", "move", "copy", "test", "x"])
        return {"op": kind, "path": path, "from": f"/{self._random.choice(NAMES)}", "value": self._value()}

    def request(self) -> tuple[str, str, bytes, dict[str, str]]:
        kind, version = self._random.choice(self._kinds)
        base = f"/apis/{kind.group}/{version.name}" if kind.group else f"/api/{version.name}"
        path = f"{base}/namespaces/default/{kind.plural}" if kind.namespaced else f"{base}/{kind.plural}"
        method = self._random.choice(["POST", "POST", "PUT", "PATCH", "PATCH", "PATCH", "DELETE"])
        content_type = "application/json"
        body: Any = {"apiVersion": kind.api_version(version), "kind": kind.kind, "metadata": {"name": "a"}}
        body |= self._object()
        if isinstance(body.get("metadata"), dict):
            body["metadata"] |= self._object()
        if method != "POST":
            path += self._random.choice(["/a", "/a", "/b", "/a/status"])
        query = self._random.choice(["", "?dryRun=All", "?fieldValidation=Strict", "?fieldManager=m&force=true"])
        if method == "PATCH":
            patch = self._random.choice(PATCHES)
            content_type = f"application/{patch}"
            if patch == "json-patch+json":
                body = [self._operation() for _ in range(self._random.randrange(3))]
            elif patch != "apply-patch+yaml":
                body = self._object()
        return method, path + query, json.dumps(body).encode(), {"Content-Type": content_type}


@pytest.fixture(scope="module")
def hub() -> Iterator[RunningHub]:
    with running_hub() as running:
        yield running


@pytest.mark.parametrize("seed", range(4))
def test_nonsense_never_makes_the_hub_fail(hub: RunningHub, seed: int) -> None:
    nonsense = Nonsense(seed)
    for _ in range(500):
        method, path, body, headers = nonsense.request()
        code, _, answer = hub.request(method, path, body, headers)
        if code == 503 and "/fleet.muster.dev/" in path:
            continue  # nobody is here to answer questions about the fleet
        assert code < 500 or json.loads(answer).get("reason") is None, (method, path, headers, body, answer)


@pytest.mark.parametrize(
    "patch", ['{"$retainKeys":[{}]}', '{"$retainKeys":1}', '{"$deleteFromPrimitiveList/x":1}', '{"$patch":[]}']
)
def test_directives_of_a_strategic_patch_that_make_no_sense_are_refused(hub: RunningHub, patch: str) -> None:
    code, _, body = hub.request("PATCH", "/api/v1/namespaces/default", patch.encode(), STRATEGIC)
    assert code in (400, 422), body
