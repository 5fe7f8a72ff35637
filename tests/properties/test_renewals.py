"""For any lease and any updates the short way of renewals answers and stores what the long way does."""

from __future__ import annotations

import asyncio
import copy
from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from muster.hub import renewals, replacement
from muster.hub.requests import WriteOptions
from muster.hub.rest.bodies import JsonBody
from muster.hub.status import StatusError
from muster.hub.storage import Key
from tests.hub.a_hub import ADMIN, Hub, a_hub

Object = dict[str, Any]
KEY = Key(renewals.LEASES, "default", "a")
VERSION = "coordination.k8s.io/v1"
TIMES = [
    *(f"2026-11-01T00:00:0{second}.000000Z" for second in range(3)),
    "2026-11-01T00:00:02,000000Z",
    "2026-11-01T00:00:02.000000+01:00",
    "2026-12-31T23:59:60.000000Z",
    "0000-01-01T00:00:00.000000Z",
    "2026-02-30T00:00:00.000000Z",
    None,
]
#: Of which some look like what the short way looks for.
NAMES = ["time", "renewTime"]
TEXTS = ["None", 'é\\"time":"None"', "2026-01-02T03:04:05Z", TIMES[0]]
FIELDS = [
    {"f:spec": {"f:renewTime": {}}},
    {"f:spec": {"f:renewTime": {}, "f:gone": {}}, "f:metadata": {"f:labels": {"f:time": {}}}},
    {"f:spec": {}},
    {},
]
owners = st.lists(
    st.fixed_dictionaries(
        {
            "manager": st.sampled_from(["agent", "other"]),
            "operation": st.sampled_from(["Update", "Update", "Apply"]),
            "apiVersion": st.just(VERSION),
            "fieldsType": st.just("FieldsV1"),
            "fieldsV1": st.sampled_from(FIELDS),
        },
        optional={"time": st.sampled_from(["2026-01-02T03:04:05Z", None]), "subresource": st.just("status")},
    ),
    max_size=2,
)
texts = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(TEXTS), min_size=1, max_size=2)
leases = st.fixed_dictionaries(
    {
        "apiVersion": st.just(VERSION),
        "kind": st.just("Lease"),
        "metadata": st.fixed_dictionaries(
            {"name": st.just("a"), "namespace": st.just("default"), "annotations": texts}
        ),
        "spec": st.fixed_dictionaries(
            {"renewTime": st.sampled_from([*TIMES[:3], *TIMES]), "leaseDurationSeconds": st.just(1)},
            optional={"holderIdentity": st.sampled_from(["me", *TEXTS]), "acquireTime": st.sampled_from(TIMES)},
        ),
    }
)
#: Where something else is said than what is stored; `...` leaves it out.
edits = st.one_of(
    st.tuples(
        st.just("metadata"),
        st.sampled_from(
            ["uid", "creationTimestamp", "resourceVersion", "namespace", "labels", "generation", "unknown"]
        ),
        st.sampled_from([..., None, "", "5", 1, {}]),
    ),
    st.tuples(st.just("metadata"), st.just("annotations"), st.one_of(texts, st.sampled_from([..., None, {}]))),
    st.tuples(st.just("metadata"), st.just("managedFields"), st.one_of(owners, st.sampled_from([..., None, [{}]]))),
    st.tuples(st.just("metadata"), st.sampled_from(["finalizers", "ownerReferences"]), st.sampled_from([None, []])),
    st.tuples(
        st.just("spec"), st.just("leaseDurationSeconds"), st.sampled_from([..., None, 1, 1.0, True, "1", -1, 60])
    ),
    st.tuples(st.just("spec"), st.sampled_from(["holderIdentity", "unknown"]), st.sampled_from([..., None, "", "me"])),
)
#: The time is mostly one that was never said before, which is `...` here.
updates = st.lists(
    st.tuples(
        st.one_of(st.just(...), st.just(...), st.sampled_from(TIMES)),
        st.one_of(st.just([]), st.tuples(edits)),
        st.sampled_from(["agent"] * 8 + ["other"]),
        st.sampled_from(["Strict", "Warn", "Ignore"]),
        st.sampled_from([0, 1, 60]),
    ),
    min_size=5,
    max_size=10,
)


def edited(held: Object, time: Any, changes: Any) -> bytes:
    sent = copy.deepcopy(held)
    fresh = f"2026-11-01T00:01:00.{int(held['metadata']['resourceVersion']):06}Z"
    sent["spec"]["renewTime"] = fresh if time is ... else time
    for part, name, value in changes:
        sent[part].pop(name, None)
        if value is not ...:
            sent[part][name] = value
    return msgspec.json.encode(sent, order="sorted")


async def answers(hub: Hub, lease: Object, wanted: Any) -> list[Any]:
    """What is answered and stored. Fields of an object have no order; the uid is another one each time."""
    seen: list[Any] = []
    try:
        held = await hub.create(lease, manager="agent")
    except StatusError as error:
        return [error.status]
    uid, target = held["metadata"]["uid"], hub.target_of(held)
    for time, changes, manager, validation, seconds in wanted:
        hub.later(seconds)
        options = WriteOptions(field_manager=manager, field_validation=validation)
        try:
            answer = await hub.api.update(ADMIN, target, JsonBody(edited(held, time, changes)), options)
            seen += [answer.code, answer.warnings, answer.decoded()]
        except StatusError as error:
            seen += [error.status, error.warnings]
        record = hub.store.get(KEY)
        assert record is not None
        held = msgspec.json.decode(record.value)
        assert held["metadata"]["resourceVersion"] == str(record.revision)
        seen.append(held)
    return [msgspec.json.encode(each, order="sorted").decode().replace(uid, "uid") for each in seen]


@given(leases, updates)
def test_the_short_way_is_the_long_way(lease: Object, wanted: Any) -> None:
    async def both() -> None:
        async with a_hub() as hub:
            short = await answers(hub, copy.deepcopy(lease), wanted)
        async with a_hub() as hub:
            with patch.object(replacement, "renewed", return_value=None):
                assert await answers(hub, copy.deepcopy(lease), wanted) == short

    asyncio.run(both())
