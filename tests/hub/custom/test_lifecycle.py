"""Definitions come and go: with their objects, within limits, and never in the place of the hub's own kinds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from muster.hub.access import AccessSettings
from muster.hub.requests import User
from tests.hub.custom.a_kind import (
    APPLY,
    DEFINITIONS,
    GROUP,
    MERGE,
    Shop,
    definition,
    fields,
    path,
    schema,
    shop,
    toy,
    version,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OWN = "managedclusters.cluster.open-cluster-management.io"
NAME = f"toys.{GROUP}"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"


def until(question: Callable[[], Any]) -> None:
    deadline = time.monotonic() + 20
    while not question():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)


def gone(hub: Shop) -> bool:
    hub.send("GET", f"{DEFINITIONS}/{NAME}")
    return hub.code == 404


def test_a_definition_goes_with_its_objects(hub: Shop) -> None:
    hub.define(definition())
    for name in ("a", "b"):
        hub.create(name)
    answer = hub.send("DELETE", f"{DEFINITIONS}/{NAME}")
    assert answer["metadata"]["finalizers"] == [CLEANUP]
    assert answer["status"]["conditions"][-1]["reason"] == "InstanceDeletionPending"
    until(lambda: gone(hub))
    assert hub.send("GET", path()) == "404 page not found\n"
    hub.define(definition())
    assert hub.send("GET", path())["items"] == []


def test_objects_with_finalizers_hold_their_definition(hub: Shop) -> None:
    hub.define(definition())
    hub.create("held", metadata={"finalizers": ["example.com/hold"]})
    hub.create("free")
    hub.send("DELETE", f"{DEFINITIONS}/{NAME}")
    until(lambda: hub.condition("Terminating") == ("True", "InstanceDeletionInProgress"))
    until(lambda: [item["metadata"]["name"] for item in hub.send("GET", path())["items"]] == ["held"])
    answer = hub.create("late")
    assert (hub.code, answer["message"]) == (
        403,
        f'{NAME} "late" is forbidden: create not allowed while custom resource definition is terminating',
    )
    hub.patch("late", toy("late"), APPLY, "?fieldManager=x")
    assert hub.code == 403
    hub.patch("held", {"metadata": {"finalizers": None}})
    until(lambda: gone(hub))


def test_a_definition_that_was_let_go_and_made_anew_is_not_deleted(hub: Shop) -> None:
    hub.define(definition())
    hub.create("held", metadata={"finalizers": ["example.com/hold"]})
    hub.send("DELETE", f"{DEFINITIONS}/{NAME}", {"propagationPolicy": "Foreground"})
    until(lambda: hub.condition("Terminating") == ("True", "InstanceDeletionInProgress"))
    hub.redefine({"metadata": {"finalizers": None}})
    until(lambda: gone(hub))
    hub.define(definition())
    hub.patch("held", {"metadata": {"finalizers": None}})
    assert hub.send("GET", path())["items"] == []
    hub.create("new")
    assert (hub.code, hub.condition("Established")) == (201, ("True", "InitialNamesAccepted"))


def test_a_deletion_goes_on_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "hub.db"
    with shop(path=file) as first:
        first.define(definition())
        first.create("held", metadata={"finalizers": ["example.com/hold"]})
        first.send("DELETE", f"{DEFINITIONS}/{NAME}")
        until(lambda: first.condition("Terminating") == ("True", "InstanceDeletionInProgress"))
    with shop(path=file) as second:
        second.create("late")
        assert second.code == 403
        second.patch("held", {"metadata": {"finalizers": None}})
        until(lambda: gone(second))


def test_a_definition_of_one_of_the_hubs_own_kinds_keeps_what_it_says(hub: Shop) -> None:
    before = hub.definition(OWN)
    answer = hub.redefine({"spec": {"scope": "Namespaced"}, "metadata": {"labels": {"a": "b"}}}, OWN)
    assert (hub.code, answer["spec"], answer["metadata"]["labels"]) == (200, before["spec"], {"a": "b"})
    assert hub.warnings == [f'299 - "{OWN}: the hub serves this kind itself, in v1; its definition stays as it is"']
    other = definition(plural="managedclusters", kind="X", group="cluster.open-cluster-management.io")
    other["spec"]["versions"] = [version("v9")]
    other["metadata"].pop("managedFields", None)
    hub.send("PATCH", f"{DEFINITIONS}/{OWN}?fieldManager=x", other, APPLY)
    assert (hub.code, "v9 not served" in str(hub.warnings)) == (200, True)
    assert (
        hub.send("GET", "/apis/cluster.open-cluster-management.io/v1/managedclusters")["kind"] == "ManagedClusterList"
    )
    hub.send("POST", DEFINITIONS, other)
    assert hub.code == 409
    hub.send("DELETE", f"{DEFINITIONS}/{OWN}")
    assert hub.code == 403


def test_replicas_are_shown_and_set_through_scale(hub: Shop) -> None:
    of = schema(fields(replicas={"type": "integer"}, most={"type": "integer"}))
    of["properties"]["status"] = {"type": "object", "properties": {"n": {"type": "integer"}, "by": {"type": "string"}}}
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.by"}
    hub.define(definition(of, subresources={"status": {}, "scale": paths}))
    hub.create("a", {"replicas": 2})
    hub.send("PATCH", f"{path('a')}/status", {"status": {"n": 1, "by": "x=y"}}, MERGE)
    scale = hub.send("GET", f"{path('a')}/scale")
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 2},
        {"replicas": 1, "selector": "x=y"},
    )
    answer = hub.send("PATCH", f"{path('a')}/scale", {"spec": {"replicas": 5}}, MERGE)
    assert (answer["spec"], hub.get("a")["spec"]) == ({"replicas": 5}, {"replicas": 5})
    owner = hub.get("a")["metadata"]["managedFields"][-1]
    assert any(each.get("subresource") == "scale" for each in hub.get("a")["metadata"]["managedFields"]), owner
    hub.send("PUT", f"{path('a')}/scale", scale)
    assert hub.code == 409
    answer = hub.send("PATCH", f"{path('a')}/scale", {"spec": {"replicas": -1}}, MERGE)
    assert answer["details"]["causes"][0]["message"] == "Invalid value: -1: should be a non-negative integer"
    hub.create("b", {})
    assert hub.send("GET", f"{path('b')}/scale")["message"].endswith('field ".spec.replicas" does not exist')
    listed = {each["name"]: each for each in hub.send("GET", f"/apis/{GROUP}/v1")["resources"]}
    assert (listed["toys/scale"]["group"], listed["toys/scale"]["kind"]) == ("autoscaling", "Scale")


def test_roles_decide_about_custom_kinds_as_about_any(tmp_path: Path) -> None:
    users = {"alice-token": User("alice", "2", ("system:authenticated",))}
    with shop(path=tmp_path / "hub.db", state=tmp_path, users=users, access_settings=AccessSettings()) as hub:
        hub.define(definition())
        hub.create("a")
        alice = {"Authorization": "Bearer alice-token"}
        answer = hub.send("GET", path(), **alice)
        assert (hub.code, f'cannot list resource "toys" in API group "{GROUP}"' in answer["message"]) == (403, True)
        rule = {"apiGroups": [GROUP], "resources": ["toys"], "verbs": ["get", "list"]}
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        hub.send("POST", f"{rbac}/clusterroles", {"metadata": {"name": "reader"}, "rules": [rule]})
        subject = {"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}
        role = {"kind": "ClusterRole", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}
        binding = {"metadata": {"name": "reader"}, "roleRef": role, "subjects": [subject]}
        hub.send("POST", f"{rbac}/clusterrolebindings", binding)
        until(lambda: isinstance(hub.send("GET", path(), **alice).get("items"), list))
        hub.send("POST", DEFINITIONS, definition(plural="games", kind="Game"), **alice)
        assert hub.code == 403


def test_hostile_schemas_are_refused_in_words(hub: Shop) -> None:
    patterns = {f"f{n}": {"type": "string", "pattern": f"(a{{1,500}}){{1,2}}{n}"} for n in range(500)}
    assert "its patterns take more than the 200000 steps" in hub.refusal(definition(schema(fields(**patterns))))
    assert "$ref is not supported" in hub.refusal(definition(schema(fields(a={"$ref": "#/definitions/a"}))))
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        deep = {"type": "object", "properties": {"a": deep}}
    answer = hub.send("POST", DEFINITIONS, definition(schema(fields(a=deep))))
    assert (hub.code, "nests deeper" in answer["message"]) == (400, True)
    rules = [{"rule": f"self.a != 'x{n}' || self.a.size() < {n} || self.a.startsWith('y')"} for n in range(2000)]
    many = schema(fields(a={"type": "string", "maxLength": 9}) | {"x-kubernetes-validations": rules})
    assert "compiling takes more than the 150000 steps" in hub.refusal(definition(many))


def test_a_definition_may_have_so_many_bytes(hub: Shop) -> None:
    wide = {f"field-{n}": {"type": "string", "description": "x" * 1000} for n in range(1600)}
    answer = hub.send("POST", DEFINITIONS, definition(schema(fields(**wide))))
    assert (hub.code, "definition-bytes" in answer["message"]) == (413, True)


def test_an_applied_definition_that_go_could_not_decode_is_refused_with_the_field(hub: Shop) -> None:
    broken = definition(of={"type": "object", "properties": {"spec": []}})
    answer = hub.send("PATCH", f"{DEFINITIONS}/{NAME}?fieldManager=m", broken, APPLY)
    assert (hub.code, answer.get("reason")) == (500, None)  # as a real server: without a reason
    assert answer["message"] == (
        f"failed to create typed patch object (/{NAME}; apiextensions.k8s.io/v1, Kind=CustomResourceDefinition): "
        "json: cannot unmarshal array into Go struct field "
        "CustomResourceDefinition.spec.versions.schema.openAPIV3Schema.properties.spec of type "
        "v1.JSONSchemaProps"
    )
    hub.define(definition())
    hub.send("PATCH", f"{DEFINITIONS}/{NAME}?fieldManager=m&force=true", broken, APPLY)
    assert hub.code == 500


def test_a_definition_whose_conditions_were_written_over_is_established_again(hub: Shop) -> None:
    hub.define(definition())
    change = [{"op": "add", "path": "/status/conditions", "value": [{"message": "patched"}]}]
    answer = hub.send("PATCH", f"{DEFINITIONS}/{NAME}/status", change, "application/json-patch+json")
    assert (hub.code, [each["message"] for each in answer["status"]["conditions"]]) == (200, ["patched"])
    found = {each.get("type"): each.get("status") for each in hub.definition()["status"]["conditions"]}
    assert (found["NamesAccepted"], found["Established"]) == ("True", "True")
    hub.create("a")
    assert hub.code == 201
