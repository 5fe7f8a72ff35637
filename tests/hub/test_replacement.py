"""Update and patch: optimistic locks, no-ops, generations, status, finalizers, ownership."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from muster.hub.requests import Decoded, MalformedBodyError, ObjectBody, PatchType, WriteOptions
from tests.hub.a_hub import (
    ADMIN,
    CLUSTERS,
    GROUP,
    SETS,
    Object,
    a_hub,
    cluster,
    complaint,
    config_map,
    refusal,
    story,
)

STALE = (
    409,
    "Conflict",
    f'Operation cannot be fulfilled on {CLUSTERS} "c1": the object has been modified; '
    "please apply your changes to the latest version and try again",
)


@story
async def test_an_update_that_changes_nothing_writes_nothing() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster(labels={"a": "1"}))
        hub.later()
        before = hub.store.revision
        assert await hub.update(created) == created
        assert await hub.update(created, manager="somebody-else") == created
        assert await hub.patch(hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {"a": "1"}}}) == created
        assert hub.store.revision == before


@story
async def test_only_what_is_not_metadata_makes_a_new_generation() -> None:
    async with a_hub() as hub:
        obj = await hub.create(cluster())
        obj["metadata"]["labels"] = {"x": "1"}
        obj = await hub.update(obj)
        assert obj["metadata"]["generation"] == 1
        obj["spec"]["leaseDurationSeconds"] = 77
        obj["status"] = {"version": {"kubernetes": "v9"}}
        obj = await hub.update(obj)
        assert obj["metadata"]["generation"] == 2
        assert "status" not in obj


@story
async def test_a_stale_update_is_refused() -> None:
    async with a_hub() as hub:
        first = await hub.create(cluster())
        await hub.patch(hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {"a": "1"}}})
        assert await complaint(hub.update(first)) == STALE
        patch = {"metadata": {"resourceVersion": "1", "labels": {"q": "1"}}}
        assert await complaint(hub.patch(hub.target(CLUSTERS, "c1"), patch)) == STALE


@story
async def test_an_update_of_a_custom_kind_must_name_its_revision() -> None:
    async with a_hub() as hub:
        obj = await hub.create(cluster())
        del obj["metadata"]["resourceVersion"]
        assert await complaint(hub.update(obj)) == (
            422,
            "Invalid",
            f'{CLUSTERS} "c1" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
        )
        await hub.create(config_map(a="1"))
        assert (await hub.update(config_map(a="2")))["data"] == {"a": "2"}


@story
async def test_an_update_must_be_about_the_object_it_is_sent_to() -> None:
    async with a_hub() as hub:
        obj = await hub.create(cluster())
        renamed = obj | {"metadata": obj["metadata"] | {"name": "other"}}
        call = hub.api.update(ADMIN, hub.target(CLUSTERS, "c1"), ObjectBody(renamed), WriteOptions())
        assert await complaint(call) == (
            400,
            "BadRequest",
            "the name of the object (other) does not match the name on the URL (c1)",
        )
        stranger = obj | {"metadata": obj["metadata"] | {"uid": "11111111-1111-1111-1111-111111111111"}}
        error = await refusal(hub.update(stranger))
        assert error.message == (
            f'Operation cannot be fulfilled on {CLUSTERS} "c1": StorageError: invalid object, Code: 4, Key: '
            f"/registry/{GROUP}/managedclusters/c1, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
            f"UID in precondition: 11111111-1111-1111-1111-111111111111, UID in object meta: {obj['metadata']['uid']}"
        )
        assert await complaint(hub.update(cluster("ghost"))) == (404, "NotFound", f'{CLUSTERS} "ghost" not found')


@story
async def test_the_status_endpoint_writes_status_only_and_keeps_its_own_owners() -> None:
    async with a_hub() as hub:
        obj = await hub.create(cluster(labels={"a": "1"}))
        sent = obj | {
            "metadata": obj["metadata"] | {"labels": {"hacked": "1"}},
            "spec": {"hubAcceptsClient": False},
            "status": {"version": {"kubernetes": "v1.30.0"}},
        }
        answer = await hub.update(sent, subresource="status", manager="agent")
        assert answer["status"] == {"version": {"kubernetes": "v1.30.0"}}
        assert (answer["spec"], answer["metadata"]["labels"]) == (obj["spec"], {"a": "1"})
        assert answer["metadata"]["generation"] == 1
        assert owners(answer) == {
            ("test", "Update", ""): owners(obj)["test", "Update", ""],
            ("agent", "Update", "status"): {"f:status": {".": {}, "f:version": {".": {}, "f:kubernetes": {}}}},
        }


@story
async def test_whoever_changes_a_field_takes_it_and_what_is_removed_is_nobodys() -> None:
    async with a_hub() as hub:
        await hub.create(cluster(labels={"a": "1", "b": "1"}), manager="m1")
        answer = await hub.patch(
            hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {"a": "2", "b": None, "c": "1"}}}, manager="m2"
        )
        spec: Object = {"f:spec": {".": {}, "f:hubAcceptsClient": {}, "f:leaseDurationSeconds": {}}}
        assert owners(answer) == {
            ("m1", "Update", ""): {"f:metadata": {"f:labels": {}}, **spec},
            ("m2", "Update", ""): {"f:metadata": {"f:labels": {"f:a": {}, "f:c": {}}}},
        }


@story
async def test_managed_fields_survive_clients_that_do_not_know_them_and_can_be_reset() -> None:
    async with a_hub() as hub:
        obj = await hub.create(cluster())
        ignorant = obj | {"metadata": {**obj["metadata"], "managedFields": []}}
        assert await hub.update(ignorant) == obj
        reset = await hub.update(obj | {"metadata": {**obj["metadata"], "managedFields": [{}]}})
        assert "managedFields" not in reset["metadata"]
        relabelled = await hub.patch(hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {"a": "1"}}})
        assert "managedFields" not in relabelled["metadata"]


@story
async def test_owners_may_say_that_they_have_no_time() -> None:
    async with a_hub() as hub:
        obj = await hub.create(cluster(), manager="m1")
        entry = {**obj["metadata"]["managedFields"][0], "time": None}
        relabelled = obj | {"metadata": {**obj["metadata"], "labels": {"a": "1"}, "managedFields": [entry]}}
        updated = await hub.update(relabelled, manager="m2")
        assert [each.get("time") for each in updated["metadata"]["managedFields"]] == [None, "2026-01-02T03:04:05Z"]


@story
async def test_more_than_ten_updaters_are_remembered_as_the_newest_and_the_ancient() -> None:
    async with a_hub() as hub:
        await hub.create(cluster(), manager="m0")
        for number in range(1, 14):
            hub.later(1)
            obj = await hub.patch(
                hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {f"l{number}": "1"}}}, manager=f"m{number}"
            )
        entries = owners(obj)
        assert [name for name, _, _ in entries] == ["ancient-changes", *(f"m{number}" for number in range(5, 14))]
        assert entries["ancient-changes", "Update", ""]["f:metadata"] == {
            "f:labels": {".": {}, **{f"f:l{number}": {} for number in range(1, 5)}}
        }


@story
async def test_patches_of_many_clients_all_arrive() -> None:
    async with a_hub() as hub:
        await hub.create(cluster(labels={}))
        calls = [
            hub.patch(hub.target(CLUSTERS, "c1"), {"metadata": {"labels": {f"l{number}": "1"}}}) for number in range(4)
        ]
        await asyncio.gather(*calls)
        assert (await hub.get(CLUSTERS, "c1"))["metadata"]["labels"] == {f"l{number}": "1" for number in range(4)}


@story
async def test_the_last_finalizer_takes_the_object_with_it() -> None:
    async with a_hub() as hub:
        body = cluster()
        body["metadata"]["finalizers"] = ["a.b/c", "nodomain"]
        await hub.create(body)
        assert hub.warnings == (
            'metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts '
            "with other finalizer writers",
        )
        marked = await hub.delete(CLUSTERS, "c1")
        assert marked["metadata"]["deletionTimestamp"] == "2026-01-02T03:04:05Z"
        target = hub.target(CLUSTERS, "c1")
        left = await hub.patch(target, {"metadata": {"finalizers": ["a.b/c"]}})
        assert left["metadata"]["finalizers"] == ["a.b/c"]
        assert (await complaint(hub.patch(target, {"metadata": {"finalizers": ["a.b/c", "x.y/z"]}})))[:2] == (
            422,
            "Invalid",
        )
        gone = await hub.patch(target, {"metadata": {"finalizers": None}})
        assert "finalizers" not in gone["metadata"]
        assert gone["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]
        assert (await complaint(hub.get(CLUSTERS, "c1")))[0] == 404


@story
async def test_dry_runs_change_nothing() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster())
        target = hub.target(CLUSTERS, "c1")
        answer = await hub.patch(target, {"spec": {"leaseDurationSeconds": 5}}, dry_run=("All",))
        assert answer["spec"]["leaseDurationSeconds"] == 5
        assert answer["metadata"]["generation"] == 2
        assert await hub.get(CLUSTERS, "c1") == created


@story
async def test_a_json_patch_that_fails_says_as_little_as_the_real_server() -> None:
    async with a_hub() as hub:
        await hub.create(cluster(labels={"j": "1"}))
        target = hub.target(CLUSTERS, "c1")
        added = [{"op": "add", "path": "/metadata/labels/k", "value": "1"}]
        assert (await hub.patch(target, added, PatchType.JSON))["metadata"]["labels"] == {"j": "1", "k": "1"}
        failing = [{"op": "test", "path": "/metadata/labels/j", "value": "2"}]
        error = await refusal(hub.patch(target, failing, PatchType.JSON))
        assert (error.code, error.reason, error.message, error.details) == (
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
            {},
        )


@pytest.mark.parametrize(
    ("kind", "patch", "message"),
    [
        (PatchType.MERGE, [], "json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (PatchType.JSON, {"op": "add"}, "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (PatchType.JSON, [1], "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
    ],
)
@story
async def test_a_patch_of_the_wrong_shape_is_refused(kind: PatchType, patch: Any, message: str) -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        assert await complaint(hub.patch(hub.target(CLUSTERS, "c1"), patch, kind)) == (
            400,
            "BadRequest",
            f"error decoding patch: {message}",
        )


class Broken:
    """A body that cannot be parsed."""

    text = '{"a":'
    weight = 5

    def name(self) -> str:
        return ""

    def read(self) -> Decoded:
        raise MalformedBodyError("unexpected end of JSON input")


@story
async def test_what_cannot_be_parsed_is_refused_in_the_words_of_each_verb() -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        target = hub.target(CLUSTERS, "c1")
        messages = [
            (await refusal(hub.api.update(ADMIN, target, Broken(), WriteOptions()))).message,
            (await refusal(hub.api.patch(ADMIN, target, PatchType.MERGE, Broken(), WriteOptions()))).message,
            (
                await refusal(hub.api.patch(ADMIN, target, PatchType.APPLY, Broken(), WriteOptions(field_manager="m")))
            ).message,
        ]
        assert messages == [
            "the object provided is unrecognized (must be of type ManagedCluster): couldn't get version/kind; "
            'json parse error: unexpected end of JSON input ({"a":)',
            "error decoding patch: unexpected end of JSON input",
            "error decoding patch: unexpected end of JSON input",
        ]


@story
async def test_unknown_fields_in_a_patch_are_strict_errors_about_the_patch() -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        target = hub.target(CLUSTERS, "c1")
        await hub.patch(target, {"spec": {"bogus": 1}})
        assert hub.warnings == ('unknown field "spec.bogus"',)
        error = await refusal(hub.patch(target, {"spec": {"bogus": 1}}, field_validation="Strict"))
        assert error.code == 422
        # The value is the whole object that the patch would have made.
        assert error.message.startswith(' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":')
        assert error.message.endswith('": strict decoding error: unknown field "spec.bogus"')


@story
async def test_strategic_patches_are_for_built_in_kinds() -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        assert await complaint(hub.patch(hub.target(CLUSTERS, "c1"), {}, PatchType.STRATEGIC)) == (
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
        )
        await hub.create(config_map(a="1", b="1"))
        answer = await hub.patch(hub.target("configmaps", "m1"), {"data": {"a": "2", "b": None}}, PatchType.STRATEGIC)
        assert answer["data"] == {"a": "2"}


@story
async def test_an_update_of_a_role_that_is_missing_creates_it() -> None:
    async with a_hub() as hub:
        role = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "r"},
            "rules": [],
        }
        assert (await hub.update(role))["metadata"]["name"] == "r"
        assert (await hub.get("clusterroles.rbac.authorization.k8s.io", "r"))["kind"] == "ClusterRole"


@story
async def test_one_stored_form_is_read_and_written_in_every_version() -> None:
    async with a_hub() as hub:
        obj: Object = {
            "apiVersion": f"{GROUP}/v1beta1",
            "kind": "ManagedClusterSet",
            "metadata": {"name": "s"},
            "spec": {"clusterSelector": {"selectorType": "LegacyClusterSetLabel"}},
        }
        created = await hub.create(obj)
        assert created["apiVersion"] == f"{GROUP}/v1beta1"
        newer = await hub.get(SETS, "s", version="v1beta2")
        assert newer["apiVersion"] == f"{GROUP}/v1beta2"
        older = await hub.get(SETS, "s", version="v1beta1")
        assert older == created
        newer["metadata"]["labels"] = {"a": "1"}
        hub.later()
        updated = await hub.update(newer, manager="test")
        assert {(entry["manager"], entry["apiVersion"]) for entry in updated["metadata"]["managedFields"]} == {
            ("test", f"{GROUP}/v1beta1"),
            ("test", f"{GROUP}/v1beta2"),
        }


def owners(obj: Object) -> dict[tuple[str, str, str], Any]:
    """managedFields by manager, operation and subresource."""
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry["fieldsV1"]
        for entry in obj["metadata"].get("managedFields", ())
    }


@story
async def test_patches_cannot_grow_or_nest_an_object_beyond_its_limits() -> None:
    async with a_hub() as hub:
        await hub.create(cluster(managedClusterClientConfigs=[{"url": "x", "caBundle": "eHh4" * 500_000}]))
        target = hub.target(CLUSTERS, "c1")
        configs = "/spec/managedClusterClientConfigs"
        copy = [{"op": "copy", "from": f"{configs}/0", "path": f"{configs}/-"}]
        assert await complaint(hub.patch(target, copy, PatchType.JSON)) == (
            413,
            "RequestEntityTooLarge",
            "Request entity too large: limit is 3145728",
        )
        deep: Object = {}
        for _ in range(200):
            deep = {"d": deep}
        assert (await complaint(hub.patch(target, {"spec": deep})))[0] == 422


@story
async def test_many_writers_of_one_object_all_get_their_turn() -> None:
    async with a_hub() as hub:
        await hub.create(config_map())
        target = hub.target("configmaps", "m1")
        await asyncio.gather(*(hub.patch(target, {"data": {f"k{number}": "1"}}) for number in range(30)))
        assert len((await hub.get("configmaps", "m1"))["data"]) == 30


@story
async def test_an_object_is_not_deleted_by_an_update() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster())
        created["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        assert await complaint(hub.update(created)) == (
            422,
            "Invalid",
            f'ManagedCluster.{GROUP} "c1" is invalid: metadata.deletionTimestamp: '
            'Invalid value: "2026-01-01T00:00:00Z": field is immutable',
        )


@story
async def test_a_store_that_takes_no_writes_is_unavailable_and_still_read() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster(labels={"a": "1"}))
        await hub.store.close()
        changed = created | {"metadata": {**created["metadata"], "labels": {"a": "2"}}}
        for call in (hub.create(cluster("c2")), hub.update(changed), hub.delete(CLUSTERS, "c1")):
            error = await refusal(call)
            assert (error.code, error.reason, error.retry_after) == (503, "ServiceUnavailable", 1)
        assert await hub.get(CLUSTERS, "c1") == created
