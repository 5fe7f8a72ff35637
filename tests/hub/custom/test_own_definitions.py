"""Definitions of the hub's own kinds: written once, put right when they are not what the program says."""

from __future__ import annotations

from muster.api.codec import encode_split
from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.custom.lifecycle import key_of_definition
from muster.hub.objects import decode
from muster.hub.storage import Put, Store
from tests.hub.a_hub import story

OWN = key_of_definition("managedclusters.cluster.open-cluster-management.io")


@story
async def test_a_second_start_writes_nothing_and_puts_right_what_is_wrong() -> None:
    async with Store.open(None) as store:
        await _started(store)
        first = store.revision
        await _started(store)
        assert store.revision == first
        record = store.get(OWN)
        assert record is not None
        stored = decode(record.value)
        changed = {**stored, "spec": {**stored["spec"], "scope": "Namespaced"}}
        await store.commit([Put(OWN, *encode_split(changed), record.revision)])
        await _started(store)
        record = store.get(OWN)
        assert record is not None
        assert decode(record.value)["spec"] == stored["spec"]
        assert decode(record.value)["metadata"]["generation"] == 2


async def _started(store: Store) -> None:
    api = Api(store, AdministratorsOnlyAuthorizer())
    await api.start()
    await api.close()
