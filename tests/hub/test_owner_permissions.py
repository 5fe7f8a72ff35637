"""Naming an owner is a way to have an object deleted: who may do it, on every road of a write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.hub.requests import PatchType
from muster.hub.status import StatusError
from tests.hub.a_guarded_hub import a_guarded_hub, a_set, rule
from tests.hub.a_hub import CLUSTERS, GROUP, story

if TYPE_CHECKING:
    from muster.hub.requests import User
    from tests.hub.a_guarded_hub import GuardedHub

Object = dict[str, Any]
GHOST = {"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "name": "ghost", "uid": "never-existed"}
EDITOR = rule("get,update,patch", "managedclusters")
REFUSAL = "cannot set an ownerRef on a resource you can't delete"


def a_cluster(name: str = "mc1", **metadata: Any) -> Object:
    return {"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": {"name": name, **metadata}, "spec": {}}


async def refusal(action: Any) -> str:
    with pytest.raises(StatusError) as raised:
        await action
    assert raised.value.code == 403
    return str(raised.value)


async def patch(hub: GuardedHub, user: User, body: Any, kind: PatchType = PatchType.MERGE, **more: Any) -> None:
    await hub.patch(hub.target(CLUSTERS, "mc1"), body, kind, user=user, **more)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (PatchType.MERGE, {"metadata": {"ownerReferences": [GHOST]}}),
        (PatchType.JSON, [{"op": "add", "path": "/metadata/ownerReferences", "value": [GHOST]}]),
    ],
    ids=["merge patch", "JSON patch"],
)
@story
async def test_who_may_update_but_not_delete_a_cluster_gives_it_no_owner(kind: PatchType, body: Any) -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_cluster())
        dev = await hub.grant("dev", EDITOR)
        assert REFUSAL in await refusal(patch(hub, dev, body, kind))
        may = await hub.grant("dev", EDITOR, rule("delete", "managedclusters", "mc1"))
        await patch(hub, may, body, kind)


@story
async def test_neither_updates_nor_applies_give_owners() -> None:
    async with a_guarded_hub() as hub:
        stored = await hub.create(a_cluster())
        dev = await hub.grant("dev", EDITOR)
        changed = {**stored, "metadata": {**stored["metadata"], "ownerReferences": [GHOST]}}
        assert REFUSAL in await refusal(hub.update(changed, user=dev))
        assert REFUSAL in await refusal(hub.apply(a_cluster(ownerReferences=[GHOST]), "dev", user=dev))
        assert REFUSAL in await refusal(hub.update(changed, user=dev, dry_run=("All",)))


@story
async def test_taking_an_owner_away_needs_the_same() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_cluster(ownerReferences=[GHOST]))
        dev = await hub.grant("dev", EDITOR)
        assert REFUSAL in await refusal(patch(hub, dev, {"metadata": {"ownerReferences": None}}))
        await patch(hub, dev, {"metadata": {"annotations": {"other": "change"}}})


@story
async def test_every_kind_is_asked_not_only_clusters() -> None:
    async with a_guarded_hub() as hub:
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
        await hub.create(config_map)
        dev = await hub.grant("dev", rule("get,update,patch", "configmaps", group=""))
        owned = {"metadata": {"ownerReferences": [{**GHOST, "kind": "ConfigMap", "apiVersion": "v1"}]}}
        with pytest.raises(StatusError, match="configmaps") as raised:
            await hub.patch(hub.target("configmaps", "c"), owned, user=dev)
        assert raised.value.code == 403


@story
async def test_a_permission_in_another_namespace_is_none() -> None:
    async with a_guarded_hub() as hub:
        for namespace in ("here", "there"):
            await hub.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
            metadata = {"name": "c", "namespace": namespace}
            await hub.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
        dev = await hub.grant("dev", rule("get,update,patch", "configmaps", group=""))
        rbac = "rbac.authorization.k8s.io"
        role = {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": {"name": "d", "namespace": "here"}}
        await hub.create({**role, "rules": [rule("delete", "configmaps", group="")]})
        binding = {"apiVersion": f"{rbac}/v1", "kind": "RoleBinding", "metadata": {"name": "d", "namespace": "here"}}
        reference = {"apiGroup": rbac, "kind": "Role", "name": "d"}
        subject = {"apiGroup": rbac, "kind": "User", "name": "dev"}
        await hub.create({**binding, "roleRef": reference, "subjects": [subject]})
        owned = {"metadata": {"ownerReferences": [{**GHOST, "kind": "ConfigMap", "apiVersion": "v1"}]}}
        await hub.patch(hub.target("configmaps", "c", "here"), owned, user=dev)
        with pytest.raises(StatusError, match="can't delete"):
            await hub.patch(hub.target("configmaps", "c", "there"), owned, user=dev)


@story
async def test_creating_an_object_with_owners_needs_nothing_more() -> None:
    async with a_guarded_hub() as hub:
        rules = (rule("create", "managedclusters"), rule("create", "managedclustersets/join", "default"))
        dev = await hub.grant("dev", *rules)
        await hub.create(a_cluster(ownerReferences=[GHOST]), user=dev)


@story
async def test_blocking_an_owner_needs_its_finalizers_also_on_create() -> None:
    async with a_guarded_hub() as hub:
        owner = await hub.create(a_set("team"))
        reference = {
            "apiVersion": f"{GROUP}/v1beta2",
            "kind": "ManagedClusterSet",
            "name": "team",
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": True,
        }
        rules = (
            rule("create,update,patch,delete", "managedclusters"),
            rule("create", "managedclustersets/join", "default"),
        )
        dev = await hub.grant("dev", *rules)
        blocking = a_cluster(ownerReferences=[reference])
        assert "can't set finalizers on" in await refusal(hub.create(blocking, user=dev))
        await hub.create(a_cluster(ownerReferences=[{**reference, "blockOwnerDeletion": False}]), user=dev)
        blocks = {"metadata": {"ownerReferences": [reference]}}
        assert "can't set finalizers on" in await refusal(patch(hub, dev, blocks))
        may = await hub.grant("dev", *rules, rule("update", "managedclustersets/finalizers", "team"))
        await patch(hub, may, blocks)
        # It blocks already: changing something else about it needs no finalizers.
        less = await hub.grant("dev", *rules)
        await patch(hub, less, {"metadata": {"ownerReferences": [{**reference, "controller": True}]}})


@story
async def test_an_owner_of_an_unknown_kind_cannot_be_blocked() -> None:
    async with a_guarded_hub() as hub:
        rules = (rule("create", "managedclusters"), rule("create", "managedclustersets/join", "default"))
        dev = await hub.grant("dev", *rules)
        reference = {**GHOST, "kind": "Nonsense", "blockOwnerDeletion": True}
        assert "cannot find RESTMapping" in await refusal(hub.create(a_cluster(ownerReferences=[reference]), user=dev))
