"""Whatever is sent, the answer is an object or a Status, and what is stored can be read back."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.hub.requests import DeleteOptions, ListOptions, ObjectBody, PatchType, WriteOptions
from muster.hub.status import StatusError
from tests.hub.a_hub import ADMIN, CLUSTERS, Hub, a_hub, cluster, config_map

words = st.sampled_from(
    ["a", "metadata", "spec", "status", "labels", "name", "kind", "data", "finalizers", "$patch", "op", "path", "/spec"]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | words | st.text(max_size=3),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(words | st.text(max_size=3), below, max_size=4),
    max_leaves=12,
)
metadata = anything | st.fixed_dictionaries(
    {"name": st.just("c1")},
    optional={
        "labels": anything,
        "annotations": anything,
        "finalizers": anything,
        "ownerReferences": anything,
        "managedFields": anything,
        "resourceVersion": anything,
        "uid": anything,
        "generateName": anything,
        "namespace": anything,
        "deletionTimestamp": anything,
    },
)
near_objects = anything | st.fixed_dictionaries(
    {"metadata": metadata},
    optional={
        "apiVersion": st.sampled_from(["v1", "cluster.open-cluster-management.io/v1"]) | anything,
        "kind": st.sampled_from(["ConfigMap", "ManagedCluster"]) | anything,
        "spec": anything,
        "data": anything,
        "status": anything,
    },
)


async def _try(hub: Hub, resource: str, verb: str, body: Any) -> None:
    target = hub.target(resource, "c1")
    options = WriteOptions(field_manager="t", user_agent="t")
    try:
        match verb:
            case "create":
                collection = hub.target(resource, namespace=target.namespace)
                answer = await hub.api.create(ADMIN, collection, ObjectBody(body), options)
            case "update":
                answer = await hub.api.update(ADMIN, target, ObjectBody(body), options)
            case "delete":
                answer = await hub.api.delete(ADMIN, target, DeleteOptions(dry_run=("All",)), ObjectBody(body))
            case "status":
                target = hub.target(CLUSTERS, "c1", subresource="status")
                answer = await hub.api.patch(ADMIN, target, PatchType.MERGE, ObjectBody(body), options)
            case _:
                answer = await hub.api.patch(ADMIN, target, PatchType(verb), ObjectBody(body), options)
    except StatusError as error:
        msgspec.json.encode(error.status)
    else:
        assert isinstance(answer.decoded(), dict)


verbs = st.sampled_from(["create", "update", "delete", "status", *(kind.value for kind in PatchType)])


@settings(max_examples=40, deadline=None)
@given(
    requests=st.lists(st.tuples(st.sampled_from([CLUSTERS, "configmaps"]), verbs, near_objects), min_size=1, max_size=4)
)
def test_every_request_is_answered_and_what_is_stored_can_be_listed(requests: list[tuple[str, str, Any]]) -> None:
    async def asking() -> None:
        async with a_hub() as hub:
            await hub.create(cluster("c1", labels={"a": "1"}))
            await hub.create(config_map("c1", a="1"))
            for resource, verb, body in requests:
                await _try(hub, resource, verb, body)
            for resource in (CLUSTERS, "configmaps"):
                msgspec.json.decode((await hub.list(resource)).encode())
                await hub.api.list(ADMIN, hub.target(resource), ListOptions(label_selector="a"))

    asyncio.run(asking())
