"""Maps and lists without entries are not kept, as on a kube-apiserver: neither when they are sent nor when they become
empty."""

from __future__ import annotations

from typing import Any

from tests.hub.a_hub import a_hub, config_map, placement, story

EMPTY: dict[str, Any] = {"labels": {}, "annotations": {}, "finalizers": [], "ownerReferences": [], "generateName": ""}


@story
async def test_empty_metadata_is_not_kept_on_create() -> None:
    async with a_hub() as hub:
        kept = await hub.create(placement(**EMPTY))
        assert not set(EMPTY) & set(kept["metadata"])


@story
async def test_the_last_label_goes_with_the_map() -> None:
    async with a_hub() as hub:
        made = await hub.create(placement(labels={"a": "b"}))
        kept = await hub.patch(hub.target_of(made), {"metadata": {"labels": {"a": None}}})
        assert "labels" not in kept["metadata"]


@story
async def test_a_config_map_without_entries_has_no_data() -> None:
    async with a_hub() as hub:
        kept = await hub.create({**config_map(), "data": {}, "binaryData": {}})
        assert not {"data", "binaryData"} & set(kept)
