"""Deleting: preconditions, finalizers, propagation, collections."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from muster.hub.requests import DeleteOptions, ListOptions, ObjectBody
from tests.hub.a_hub import (
    ADMIN,
    CLUSTERS,
    GROUP,
    SETS,
    a_hub,
    cluster,
    complaint,
    names_in,
    refusal,
    story,
)


@story
async def test_an_object_without_finalizers_goes_and_a_status_says_so() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster())
        assert await hub.delete(CLUSTERS, "c1") == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {"name": "c1", "group": GROUP, "kind": "managedclusters", "uid": created["metadata"]["uid"]},
        }
        assert await complaint(hub.delete(CLUSTERS, "c1")) == (404, "NotFound", f'{CLUSTERS} "c1" not found')


@story
async def test_a_dry_run_deletes_nothing() -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        assert (await hub.delete(CLUSTERS, "c1", dry_run=("All",)))["status"] == "Success"
        assert await hub.names(CLUSTERS) == ["c1"]


@story
async def test_preconditions_name_the_object_that_is_meant() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster())
        uid, revision = created["metadata"]["uid"], created["metadata"]["resourceVersion"]
        error = await refusal(hub.delete(CLUSTERS, "c1", uid="other"))
        assert (error.code, error.message, error.details) == (
            409,
            f'Operation cannot be fulfilled on ManagedCluster.{GROUP} "c1": the UID in the precondition (other) does '
            f"not match the UID in record ({uid}). The object might have been deleted and then recreated",
            {"name": "c1", "group": GROUP, "kind": "ManagedCluster"},
        )
        assert (await refusal(hub.delete(CLUSTERS, "c1", resource_version="1"))).message == (
            f'Operation cannot be fulfilled on ManagedCluster.{GROUP} "c1": the ResourceVersion in the precondition '
            f"(1) does not match the ResourceVersion in record ({revision}). The object might have been modified"
        )
        await hub.delete(CLUSTERS, "c1", uid=uid, resource_version=revision)


@story
async def test_an_object_with_finalizers_is_marked_once_and_waits() -> None:
    async with a_hub() as hub:
        await hub.create(cluster() | {"metadata": {"name": "c1", "finalizers": ["a.b/c"]}})
        marked = await hub.delete(CLUSTERS, "c1")
        assert marked["metadata"]["deletionTimestamp"] == "2026-01-02T03:04:05Z"
        assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
        assert marked["metadata"]["generation"] == 2
        hub.later()
        assert await hub.delete(CLUSTERS, "c1") == marked
        assert (await complaint(hub.create(cluster())))[2] == f'object is being deleted: {CLUSTERS} "c1" already exists'


@pytest.mark.parametrize(
    ("options", "finalizers"),
    [
        ({"propagation_policy": "Foreground"}, ["foregroundDeletion"]),
        ({"propagation_policy": "Orphan"}, ["orphan"]),
        ({"orphan_dependents": True}, ["orphan"]),
    ],
)
@story
async def test_a_policy_that_needs_the_garbage_collector_is_a_finalizer(
    options: dict[str, Any], finalizers: list[str]
) -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        assert (await hub.delete(CLUSTERS, "c1", **options))["metadata"]["finalizers"] == finalizers
        # A later change of mind takes the finalizer away again.
        assert (await hub.delete(CLUSTERS, "c1", propagation_policy="Background"))["status"] == "Success"


@story
async def test_options_in_the_body_win_and_bad_ones_are_refused() -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        target = hub.target(CLUSTERS, "c1")

        async def delete(body: Any) -> Any:
            return await hub.api.delete(ADMIN, target, DeleteOptions(propagation_policy="Orphan"), ObjectBody(body))

        assert await complaint(delete({"propagationPolicy": "Bogus"})) == (
            422,
            "Invalid",
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bogus": '
            'supported values: "Foreground", "Background", "Orphan", "nil"',
        )
        assert (await complaint(delete({"preconditions": {"uid": "x"}})))[0] == 409
        assert (await complaint(delete({"gracePeriodSeconds": "x"})))[0] == 400
        assert (await complaint(delete({"kind": "Pod"})))[0] == 400
        answer = await delete({"propagationPolicy": "Background", "kind": "DeleteOptions", "apiVersion": "v1"})
        assert answer.decoded()["status"] == "Success"


@story
async def test_a_collection_is_deleted_as_far_as_its_selectors_reach() -> None:
    async with a_hub() as hub:
        for number in range(150):
            await hub.create(cluster(f"c{number:03}", labels={"third": str(number % 3)}))
        await hub.patch(hub.target(CLUSTERS, "c000"), {"metadata": {"finalizers": ["a.b/c"]}})
        before = await hub.list(CLUSTERS, label_selector="third=0")
        answer = await hub.api.delete_collection(
            ADMIN, hub.target(CLUSTERS), ListOptions(label_selector="third=0"), DeleteOptions()
        )
        assert list(answer.items) == list(before.items)
        assert len(names_in(answer)) == 50
        assert len(await hub.names(CLUSTERS)) == 101
        assert "deletionTimestamp" in (await hub.get(CLUSTERS, "c000"))["metadata"]


@story
async def test_a_marked_object_is_shown_in_the_version_asked_for() -> None:
    async with a_hub() as hub:
        spec = {"clusterSelector": {"selectorType": "LegacyClusterSetLabel"}}
        metadata = {"name": "s", "finalizers": ["a.b/c"]}
        obj = {"apiVersion": f"{GROUP}/v1beta1", "kind": "ManagedClusterSet", "metadata": metadata, "spec": spec}
        await hub.create(obj)
        target = hub.target(SETS, "s", version="v1beta1")
        answer = await hub.api.delete(ADMIN, target, DeleteOptions())
        assert msgspec.json.decode(answer.object)["apiVersion"] == f"{GROUP}/v1beta1"
