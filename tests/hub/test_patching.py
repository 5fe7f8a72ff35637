"""Server-side apply through the API: creation, conflicts, the status subresource, defaults, versions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from muster.hub.requests import ObjectBody, PatchType, WriteOptions
from tests.hub.a_hub import ADMIN, CLUSTERS, GROUP, SETS, Object, a_hub, cluster, complaint, config_map, refusal, story
from tests.hub.test_replacement import owners


def config(name: str = "c1", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    obj = cluster(name, labels)
    obj["spec"] = spec
    if not spec:
        del obj["spec"]
    return obj


@story
async def test_applying_creates_and_owns_only_what_was_written() -> None:
    async with a_hub() as hub:
        target = hub.target(CLUSTERS, "c1")
        answer = await hub.api.patch(
            ADMIN,
            target,
            PatchType.APPLY,
            ObjectBody(config(labels={"a": "1"}, hubAcceptsClient=True)),
            WriteOptions(field_manager="m1"),
        )
        assert answer.code == 201
        obj = answer.decoded()
        assert obj["spec"] == {"hubAcceptsClient": True, "leaseDurationSeconds": 60}
        assert owners(obj) == {
            ("m1", "Apply", ""): {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:hubAcceptsClient": {}}}
        }
        hub.later()
        assert await hub.apply(config(labels={"a": "1"}, hubAcceptsClient=True), "m1") == obj


@story
async def test_conflicts_name_manager_and_field_and_force_overrules() -> None:
    async with a_hub() as hub:
        await hub.apply(config(labels={"a": "1"}, hubAcceptsClient=True), "m1")
        error = await refusal(hub.apply(config(labels={"a": "2"}, hubAcceptsClient=False), "m2"))
        assert (error.code, error.reason, error.message) == (
            409,
            "Conflict",
            'Apply failed with 2 conflicts: conflicts with "m1":\n- .metadata.labels.a\n- .spec.hubAcceptsClient',
        )
        assert error.details == {
            "causes": [
                {"reason": "FieldManagerConflict", "message": 'conflict with "m1"', "field": ".metadata.labels.a"},
                {"reason": "FieldManagerConflict", "message": 'conflict with "m1"', "field": ".spec.hubAcceptsClient"},
            ]
        }
        forced = await hub.apply(config(labels={"a": "2", "b": "1"}, hubAcceptsClient=False), "m2", force=True)
        assert owners(forced) == {
            ("m2", "Apply", ""): {
                "f:metadata": {"f:labels": {"f:a": {}, "f:b": {}}},
                "f:spec": {"f:hubAcceptsClient": {}},
            }
        }
        dropped = await hub.apply(config(labels={"a": "2"}, hubAcceptsClient=False), "m2")
        assert dropped["metadata"]["labels"] == {"a": "2"}


@story
async def test_an_updater_owns_what_it_writes_over_and_contests_it() -> None:
    async with a_hub() as hub:
        await hub.apply(config(labels={"a": "1"}, hubAcceptsClient=True), "m1")
        await hub.patch(hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {"a": "2"}}}, manager="kubectl-label")
        assert (await complaint(hub.apply(config(labels={"a": "1"}, hubAcceptsClient=True), "m1")))[2] == (
            f'Apply failed with 1 conflict: conflict with "kubectl-label" using {GROUP}/v1: .metadata.labels.a'
        )


@story
async def test_status_is_applied_apart() -> None:
    async with a_hub() as hub:
        await hub.apply(config(hubAcceptsClient=True), "m1")
        obj = config(labels={"ignored": "1"}) | {"status": {"version": {"kubernetes": "v1"}}}
        answer = await hub.apply(obj, "m4", subresource="status")
        assert answer["status"] == {"version": {"kubernetes": "v1"}}
        assert "labels" not in answer["metadata"]
        assert owners(answer)["m4", "Apply", "status"] == {"f:status": {"f:version": {"f:kubernetes": {}}}}
        # On the main endpoint a status is neither written nor owned.
        again = await hub.apply(config(hubAcceptsClient=True) | {"status": {"version": {"kubernetes": "v2"}}}, "m1")
        assert again["status"] == {"version": {"kubernetes": "v1"}}
        assert owners(again)["m1", "Apply", ""] == {"f:spec": {"f:hubAcceptsClient": {}}}
        assert (await complaint(hub.apply(config("nope"), "m1", subresource="status")))[0] == 404


@story
async def test_configurations_that_cannot_be_applied_are_refused() -> None:
    async with a_hub() as hub:
        target = hub.target(CLUSTERS, "c1")

        async def apply(obj: Any, manager: str = "m", **options: Any) -> tuple[int, str, str]:
            return await complaint(hub.patch(target, obj, PatchType.APPLY, manager, **options))

        assert await apply(config(hubAcceptsClient=True), "") == (
            422,
            "Invalid",
            'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
        )
        assert await apply({"metadata": {"name": "c1"}}) == (400, "BadRequest", "invalid object type: /, Kind=")
        managed = config(hubAcceptsClient=True)
        managed["metadata"]["managedFields"] = [{}]
        assert await apply(managed) == (400, "BadRequest", "metadata.managedFields must be nil")
        assert await apply(config(hubAcceptsClient=True, bogus=1)) == (
            500,
            "",
            f"failed to create typed patch object (/c1; {GROUP}/v1, Kind=ManagedCluster): "
            ".spec.bogus: field not declared in schema",
        )
        assert (await apply(config("other", hubAcceptsClient=True)))[2] == (
            "the name of the object (other) does not match the name on the URL (c1)"
        )
        assert await complaint(hub.patch(target, {}, force=True)) == (
            422,
            "Invalid",
            'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
        )


@story
async def test_an_apply_with_a_revision_is_a_locked_one() -> None:
    async with a_hub() as hub:
        obj = await hub.apply(config(hubAcceptsClient=True), "m1")
        stale = config(labels={"a": "1"}, hubAcceptsClient=True)
        stale["metadata"]["resourceVersion"] = "1"
        assert (await complaint(hub.apply(stale, "m1")))[:2] == (409, "Conflict")
        stale["metadata"]["resourceVersion"] = obj["metadata"]["resourceVersion"]
        assert (await hub.apply(stale, "m1"))["metadata"]["labels"] == {"a": "1"}


@story
async def test_built_in_kinds_are_applied_too() -> None:
    async with a_hub() as hub:
        await hub.apply(config_map(a="1"), "m1")
        answer = await hub.apply(config_map(b="1"), "m2")
        assert answer["data"] == {"a": "1", "b": "1"}
        assert (await hub.apply(config_map(), "m1"))["data"] == {"b": "1"}


@story
async def test_ownership_follows_a_field_into_another_version() -> None:
    async with a_hub() as hub:

        def a_set(version: str, key: str) -> Object:
            selector = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"k": key}}}
            return {
                "apiVersion": f"{GROUP}/{version}",
                "kind": "ManagedClusterSet",
                "metadata": {"name": "s", "labels": {"l": key}},
                "spec": {"clusterSelector": selector},
            }

        await hub.apply(a_set("v1beta1", "one"), "m1")
        error = await refusal(hub.apply(a_set("v1beta2", "two"), "m2"))
        assert error.code == 409
        assert ".metadata.labels.l" in error.message
        await hub.apply(a_set("v1beta2", "two"), "m2", force=True)
        stored = await hub.get(SETS, "s", version="v1beta2")
        assert stored["metadata"]["labels"] == {"l": "two"}
        assert [entry["manager"] for entry in stored["metadata"]["managedFields"]][-1] == "m2"


@story
async def test_kubectl_may_go_over_from_applying_on_its_side_to_applying_on_the_server() -> None:
    annotation = "kubectl.kubernetes.io/last-applied-configuration"
    async with a_hub() as hub:
        first = config(labels={"a": "1"}, hubAcceptsClient=True)
        remembered = json.dumps(first)
        obj = first | {"metadata": {**first["metadata"], "annotations": {annotation: remembered}}}
        await hub.create(obj, manager="kubectl-client-side-apply")
        second = config(labels={"a": "2"}, hubAcceptsClient=True)
        assert (await complaint(hub.apply(second, "somebody")))[0] == 409
        taken = await hub.apply(second, "kubectl")
        assert taken["metadata"]["labels"] == {"a": "2"}
        assert json.loads(taken["metadata"]["annotations"][annotation]) == second
        # What others have changed since is not kubectl's to take.
        await hub.patch(hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {"a": "3"}}}, manager="other")
        assert (await complaint(hub.apply(second, "kubectl")))[2] == (
            f'Apply failed with 1 conflict: conflict with "other" using {GROUP}/v1: .metadata.labels.a'
        )


@story
async def test_appliers_who_create_the_same_object_at_once_all_get_their_fields_in() -> None:
    async with a_hub() as hub:
        applied = [
            hub.apply(config(labels={f"l{number}": "1"}, hubAcceptsClient=True), f"m{number}") for number in range(8)
        ]
        await asyncio.gather(*applied)
        obj = await hub.get(CLUSTERS, "c1")
        assert obj["metadata"]["labels"] == {f"l{number}": "1" for number in range(8)}
        assert len(owners(obj)) == 8


@story
async def test_an_apply_that_names_the_uid_of_what_is_not_there_is_a_conflict() -> None:
    async with a_hub() as hub:
        obj = config(hubAcceptsClient=True)
        obj["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111"
        assert (await complaint(hub.apply(obj, "m")))[2] == (
            f'Operation cannot be fulfilled on {CLUSTERS} "c1": uid mismatch: the provided object specified uid '
            "11111111-1111-1111-1111-111111111111, and no existing object was found"
        )
