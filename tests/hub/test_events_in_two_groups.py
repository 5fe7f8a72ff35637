"""Events of v1 and of events.k8s.io/v1 on one hub: one store, two forms, each watched and selected in its own."""

from __future__ import annotations

from typing import Any

from muster.hub.requests import PatchType
from tests.api.test_event_forms import NEW
from tests.hub.a_hub import a_hub, complaint, namespace, story

GROUP = "events.events.k8s.io"
OLD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "old", "namespace": "apps"},
    "involvedObject": {"kind": "Secret", "name": "s", "namespace": "apps"},
    "reason": "Old",
    "message": "a message",
    "type": "Warning",
    "source": {"component": "kubelet"},
    "count": 3,
}


@story
async def test_what_one_group_writes_the_other_shows() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        await hub.create(NEW)
        await hub.create(OLD)
        old = await hub.get("events", "e", "apps")
        assert (old["message"], old["involvedObject"]["name"], old["reportingComponent"]) == (
            "a note",
            "cm",
            "example.com/ctl",
        )
        new = await hub.get(GROUP, "old", "apps")
        assert (new["apiVersion"], new["note"], new["deprecatedCount"], new["deprecatedSource"]) == (
            "events.k8s.io/v1",
            "a message",
            3,
            {"component": "kubelet"},
        )
        assert await hub.names("events", "apps") == await hub.names(GROUP, "apps") == ["e", "old"]
        assert hub.store.count("events") == 2


@story
async def test_each_group_selects_by_its_own_names() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        await hub.create(NEW)
        await hub.create(OLD)
        assert await hub.names(GROUP, "apps", field_selector="regarding.kind=Secret") == ["old"]
        assert await hub.names("events", "apps", field_selector="source=kubelet") == ["old"]
        assert await hub.names("events", "apps", field_selector="source=example.com/ctl") == ["e"]
        for resource, field in ((GROUP, "involvedObject.kind"), ("events", "regarding.kind")):
            code, _, text = await complaint(hub.list(resource, "apps", field_selector=f"{field}=Secret"))
            assert (code, text) == (400, f"field label not supported: {field}")


@story
async def test_watchers_of_both_groups_see_one_change_each_in_its_form() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        revision = str(hub.store.revision)
        await hub.create(NEW)
        async with (
            hub.watching("events", "apps", resource_version=revision) as older,
            hub.watching(GROUP, "apps", resource_version=revision) as newer,
        ):
            (_, old), (_, new) = await older.next(), await newer.next()
        assert (old["message"], old.get("note")) == ("a note", None)
        assert (new["note"], new.get("message")) == ("a note", None)


@story
async def test_the_reason_of_an_event_is_fixed_only_where_events_are_complete() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        await hub.create(NEW)
        patch = {"reason": "Other"}
        code, reason, _ = await complaint(hub.patch(hub.target(GROUP, "e", "apps"), patch))
        assert (code, reason) == (422, "Invalid")
        changed = await hub.patch(hub.target("events", "e", "apps"), patch)
        assert changed["reason"] == "Other"


@story
async def test_a_manager_of_one_group_keeps_its_fields_when_the_other_group_changes_others() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        await hub.create(NEW, manager="new")
        changed = await hub.patch(hub.target("events", "e", "apps"), {"message": "again"}, manager="old")
        owned = {entry["manager"]: entry["fieldsV1"] for entry in changed["metadata"]["managedFields"]}
        assert owned["old"] == {"f:message": {}}
        assert "f:note" not in owned["new"]
        assert "f:reason" in owned["new"]


@story
async def test_an_event_is_applied_through_the_newer_group() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        applied = await hub.apply(NEW, "recorder")
        assert applied["metadata"]["managedFields"][0]["apiVersion"] == "events.k8s.io/v1"
        series = {"count": 2, "lastObservedTime": "2026-11-01T12:00:00.000000Z"}
        again = await hub.patch(
            hub.target(GROUP, "e", "apps"), {"series": series}, PatchType.STRATEGIC, manager="recorder"
        )
        assert again["series"] == series


@story
async def test_a_deleted_collection_of_one_group_is_gone_in_the_other() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        await hub.create(NEW)
        await hub.create(OLD)
        await hub.delete(GROUP, "old", "apps")
        assert await hub.names("events", "apps") == ["e"]
