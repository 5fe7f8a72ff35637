"""The garbage collector follows kinds that are defined while it runs."""

from __future__ import annotations

import json
from typing import Any

from tests.controllers.running import Driver, controllers, driven_hub, eventually
from tests.hub.custom.a_kind import DEFINITIONS, GROUP, definition, path, toy


def test_objects_of_a_kind_that_was_just_defined_go_with_their_owner() -> None:
    with driven_hub() as hub, controllers(hub.hub):
        hub.send("POST", DEFINITIONS, definition())
        owner = hub.send("POST", path(), toy("owner"))
        _own(hub, "of-a-toy", f"{GROUP}/v1", owner)
        holder = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "holder"}}
        holder = hub.send("POST", "/api/v1/namespaces/default/configmaps", holder)
        dependent = toy("of-a-map")
        dependent["metadata"]["ownerReferences"] = [_reference("v1", holder)]
        hub.send("POST", path(), dependent)
        hub.send("DELETE", path("owner"))
        eventually(lambda: _code(hub, "/api/v1/namespaces/default/configmaps/of-a-toy"), 404)
        hub.send("DELETE", "/api/v1/namespaces/default/configmaps/holder")
        eventually(lambda: _code(hub, path("of-a-map")), 404)


def test_controllers_start_beside_custom_kinds() -> None:
    with driven_hub() as hub:
        hub.send("POST", DEFINITIONS, definition())
        hub.send("POST", path(), toy("a"))
        with controllers(hub.hub):
            hub.send("DELETE", f"{DEFINITIONS}/toys.{GROUP}")
            eventually(lambda: _code(hub, f"{DEFINITIONS}/toys.{GROUP}"), 404)


def _own(hub: Driver, name: str, api_version: str, owner: Any) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
    body["metadata"]["ownerReferences"] = [_reference(api_version, owner)]  # type: ignore[index]  # an object as JSON has it
    code, _, text = hub.hub.request("POST", "/api/v1/namespaces/default/configmaps", json.dumps(body).encode())
    assert code == 201, text


def _reference(api_version: str, owner: Any) -> dict[str, Any]:
    metadata = owner["metadata"]
    return {"apiVersion": api_version, "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"]}


def _code(hub: Driver, place: str) -> int:
    return hub.hub.request("GET", place)[0]
