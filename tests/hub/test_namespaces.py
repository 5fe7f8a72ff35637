"""The life of namespaces: those that are always there, what a new one carries, how one is emptied."""

from __future__ import annotations

import asyncio

from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.requests import PatchType
from muster.hub.storage import Store
from tests.hub.a_hub import PLACEMENTS, Hub, a_hub, complaint, config_map, namespace, placement, story


async def gone(hub: Hub, name: str) -> bool:
    """Whether a namespace disappears soon."""
    for _ in range(200):
        if name not in await hub.names("namespaces"):
            return True
        await asyncio.sleep(0.005)
    return False


@story
async def test_some_namespaces_are_always_there_and_stay() -> None:
    async with a_hub() as hub:
        assert await hub.names("namespaces") == ["default", "kube-public", "kube-system"]
        assert await complaint(hub.delete("namespaces", "default")) == (
            403,
            "Forbidden",
            'namespaces "default" is forbidden: this namespace may not be deleted',
        )
        await hub.api.start()
        assert await hub.names("namespaces") == ["default", "kube-public", "kube-system"]


@story
async def test_a_new_namespace_is_labelled_active_and_held_by_its_contents() -> None:
    async with a_hub() as hub:
        created = await hub.create(namespace("apps") | {"spec": {"finalizers": ["mine"]}, "status": {"phase": "Odd"}})
        assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "apps"}
        assert (created["spec"], created["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})
        assert [entry["fieldsV1"] for entry in created["metadata"]["managedFields"]] == [
            {"f:metadata": {"f:labels": {".": {}, "f:kubernetes.io/metadata.name": {}}}}
        ]


@story
async def test_an_update_cannot_let_a_namespace_go() -> None:
    async with a_hub() as hub:
        created = await hub.create(namespace("apps"))
        updated = await hub.update(
            created | {"spec": {}, "metadata": {**created["metadata"], "annotations": {"a": "1"}}}
        )
        assert updated["spec"] == {"finalizers": ["kubernetes"]}
        patched = await hub.patch(
            hub.target("namespaces", "apps"), {"metadata": {"labels": {"x": "1"}}}, PatchType.STRATEGIC
        )
        assert patched["metadata"]["labels"] == {"kubernetes.io/metadata.name": "apps", "x": "1"}
        assert patched["spec"] == {"finalizers": ["kubernetes"]}


@story
async def test_a_deleted_namespace_is_emptied_and_goes() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        await asyncio.gather(*(hub.create(config_map(f"m{number}", "apps")) for number in range(450)))
        await hub.create(placement("p", "apps"))
        await hub.create(placement("p"))
        answer = await hub.delete("namespaces", "apps")
        assert (answer["kind"], answer["status"], answer["spec"]) == (
            "Namespace",
            {"phase": "Terminating"},
            {"finalizers": ["kubernetes"]},
        )
        assert await gone(hub, "apps")
        assert await hub.names("configmaps") == []
        assert await hub.names(PLACEMENTS) == ["p"]


@story
async def test_a_namespace_waits_for_the_finalizers_of_what_is_in_it() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        await hub.create(placement("held", "apps", finalizers=["a.b/c"]))
        await hub.delete("namespaces", "apps")
        for _ in range(50):
            if "deletionTimestamp" in (await hub.get(PLACEMENTS, "held", "apps"))["metadata"]:
                break
            await asyncio.sleep(0.005)
        assert (await hub.get("namespaces", "apps"))["status"]["phase"] == "Terminating"
        await hub.patch(hub.target(PLACEMENTS, "held", "apps"), {"metadata": {"finalizers": None}})
        assert await gone(hub, "apps")


@story
async def test_nothing_slips_into_a_namespace_while_it_goes() -> None:
    async with a_hub() as hub:
        for attempt in range(10):
            name = f"n{attempt}"
            await hub.create(namespace(name))
            results = await asyncio.gather(
                *(hub.create(config_map(f"m{number}", name)) for number in range(10)),
                hub.delete("namespaces", name),
                *(hub.create(config_map(f"late{number}", name)) for number in range(10)),
                return_exceptions=True,
            )
            assert any(isinstance(result, dict) for result in results)
            assert await gone(hub, name)
            assert await hub.names("configmaps", name) == []


@story
async def test_emptying_goes_on_after_a_restart() -> None:
    store = Store.open(None)
    first = Hub(store, AdministratorsOnlyAuthorizer(), ())
    await first.api.start()
    await first.create(namespace("apps"))
    await first.create(config_map("m", "apps"))
    await first.delete("namespaces", "apps")
    await first.api.close()  # before it has begun
    second = Hub(store, AdministratorsOnlyAuthorizer(), ())
    second.api = Api(store, AdministratorsOnlyAuthorizer())
    await second.api.start()
    assert await gone(second, "apps")
    await second.api.close()
    await store.close()
