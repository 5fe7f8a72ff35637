"""Renewals of leases: the short way stores what the long way stores, and takes nothing that is more than a renewal."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.api.codec import encode_split
from muster.hub import renewals, replacement
from muster.hub.requests import Admitted, ObjectBody, WriteOptions
from muster.hub.rest.bodies import JsonBody
from muster.hub.status import StatusError
from muster.hub.storage import Key
from tests.hub.a_hub import ADMIN, Hub, a_hub, complaint, story

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.requests import AdmissionRequest

NOW = "2026-11-18T12:00:00Z"
LATER = "2026-11-01T00:00:07.000001Z"
OWNER = {
    "manager": "agent",
    "operation": "Update",
    "apiVersion": "coordination.k8s.io/v1",
    "time": "2026-11-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:spec": {"f:holderIdentity": {}, "f:renewTime": {}}},
}
BELOW: dict[str, Any] = {"f:spec": {"f:renewTime": {"f:nothing": {}}}}  # clients may say so
STORED: dict[str, Any] = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {
        "resourceVersion": "7",
        "name": "a",
        "namespace": "default",
        "uid": "u",
        "creationTimestamp": "2026-11-01T00:00:00Z",
        "labels": {"a": "b"},
        "managedFields": [OWNER],
    },
    "spec": {"holderIdentity": "a", "leaseDurationSeconds": 1, "renewTime": "2026-11-01T00:00:00.000000Z"},
}


def renewed(change: Callable[[Any], object] = lambda _: None, stored: Any = STORED, manager: str = "agent") -> Any:
    sent = copy.deepcopy(STORED)
    sent["spec"]["renewTime"] = LATER
    change(sent)
    return renewals.renewed(sent, stored, manager, "coordination.k8s.io/v1", NOW)


def put(*path: str, value: object) -> Callable[[Any], None]:
    def change(obj: Any) -> None:
        for name in path[:-1]:
            obj = obj[name]
        obj[path[-1]] = value

    return change


def drop(*path: str) -> Callable[[Any], None]:
    def change(obj: Any) -> None:
        for name in path[:-1]:
            obj = obj[name]
        del obj[path[-1]]

    return change


def test_a_renewal_changes_its_time_and_the_time_of_its_owner() -> None:
    expected = copy.deepcopy(STORED)
    expected["spec"]["renewTime"] = LATER
    expected["metadata"]["managedFields"][0]["time"] = NOW
    assert renewed() == expected


@pytest.mark.parametrize("name", ["uid", "creationTimestamp", "managedFields"])
def test_what_the_server_knows_anyway_may_be_left_out(name: str) -> None:
    assert renewed(drop("metadata", name)) == renewed()


@pytest.mark.parametrize(
    "change",
    [
        put("spec", "holderIdentity", value="b"),
        put("spec", "leaseDurationSeconds", value=True),
        put("spec", "leaseTransitions", value=1),
        put("spec", "renewTime", value=None),
        put("spec", "renewTime", value=STORED["spec"]["renewTime"]),
        put("spec", "renewTime", value="2026-11-01T00:00:07Z"),
        put("spec", "renewTime", value="2026-13-01T00:00:07.000001Z"),
        put("spec", "renewTime", value="2026-11-01T00:00:07.00000\u0661Z"),
        put("spec", "renewTime", value=["2026-11-01T00:00:07.000001Z"]),
        put("spec", "unknown", value=1),
        put("metadata", "resourceVersion", value="6"),
        put("metadata", "labels", value={"a": "c"}),
        put("metadata", "labels", value=None),
        put("metadata", "uid", value="another"),
        put("metadata", "uid", value=""),
        put("metadata", "finalizers", value=[]),
        put("metadata", "managedFields", value=[]),
        put("metadata", "managedFields", value=[{}]),
        put("metadata", value=None),
        put("spec", value=[]),
        put("kind", value="Lease2"),
        put("status", value={}),
        drop("metadata", "labels"),
        drop("metadata", "resourceVersion"),
        drop("metadata", "namespace"),
        drop("spec", "renewTime"),
        drop("apiVersion"),
    ],
)
def test_anything_else_goes_the_long_way(change: Callable[[Any], object]) -> None:
    assert renewed(change) is None


@pytest.mark.parametrize(
    "stored",
    [
        {**STORED, "metadata": {**STORED["metadata"], "ownerReferences": [{"controller": True}]}},
        {**STORED, "metadata": {**STORED["metadata"], "deletionTimestamp": "2026-11-01T00:00:00Z"}},
        {**STORED, "metadata": {**STORED["metadata"], "managedFields": [OWNER, {**OWNER, "manager": "kubectl"}]}},
        {**STORED, "metadata": {**STORED["metadata"], "managedFields": [{**OWNER, "operation": "Apply"}]}},
        {**STORED, "metadata": {**STORED["metadata"], "managedFields": [{**OWNER, "fieldsV1": {}}]}},
        {**STORED, "metadata": {**STORED["metadata"], "managedFields": [{**OWNER, "fieldsV1": BELOW}]}},
        {**STORED, "spec": {**STORED["spec"], "renewTime": None}},
    ],
)
def test_leases_that_are_not_one_managers_alone_go_the_long_way(stored: Any) -> None:
    assert renewed(lambda sent: sent["metadata"].update(stored["metadata"]), stored) is None


def _spliced(stored: Any = STORED, revision: int = 7) -> Any:
    """The renewal of a stored lease in bytes, made from its own, with 8 for its revision."""
    new = copy.deepcopy(stored)
    new["spec"]["renewTime"] = LATER
    new["metadata"]["managedFields"][0]["time"] = NOW
    head, tail = encode_split(stored)
    parts = renewals.respliced(b"%b%d%b" % (head, 7, tail), revision, stored, new)
    assert parts is None or parts == encode_split(new)
    return parts


def test_the_bytes_of_a_renewal_are_those_of_the_lease_with_other_times() -> None:
    head, tail = _spliced()
    assert head.endswith(b'"resourceVersion":"')
    assert tail.count(LATER.encode()) == 1
    labelled = _spliced({**STORED, "metadata": {**STORED["metadata"], "labels": {"renewTime": "x", "é": "7"}}})
    assert labelled is not None


def test_a_text_that_looks_like_a_member_is_none() -> None:
    text = '"time":"2026-11-01T00:00:00Z","renewTime":"2026-11-01T00:00:00.000000Z","metadata":{"resourceVersion":"7"'
    assert _spliced({**STORED, "metadata": {**STORED["metadata"], "annotations": {text: text}}}) is not None


@pytest.mark.parametrize(
    "annotations",
    [{"time": "2026-11-01T00:00:00Z"}, {"renewTime": "2026-11-01T00:00:00.000000Z"}],
)
def test_where_two_members_could_be_meant_the_lease_is_encoded_anew(annotations: Any) -> None:
    assert _spliced({**STORED, "metadata": {**STORED["metadata"], "annotations": annotations}}) is None


def test_where_it_was_never_said_when_the_owner_wrote_the_lease_is_encoded_anew() -> None:
    owner = {name: value for name, value in OWNER.items() if name != "time"}
    metadata = {**STORED["metadata"], "managedFields": [owner], "annotations": {"time": "None"}}
    assert _spliced({**STORED, "metadata": metadata}) is None


def test_bytes_of_another_revision_are_not_used() -> None:
    assert _spliced(revision=70) is None


def test_a_second_renewal_in_a_second_changes_one_time() -> None:
    owner = {**OWNER, "time": NOW}
    assert _spliced({**STORED, "metadata": {**STORED["metadata"], "managedFields": [owner]}}) is not None


def test_another_manager_goes_the_long_way() -> None:
    assert renewed(manager="kubectl") is None


def test_what_is_no_object_goes_the_long_way() -> None:
    assert renewals.renewed([], STORED, "agent", "coordination.k8s.io/v1", NOW) is None


LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "a", "namespace": "default", "labels": {"a": "b"}},
    "spec": {"holderIdentity": "me", "leaseDurationSeconds": 60, "renewTime": "2026-11-01T00:00:00.000000Z"},
}
KEY = Key(renewals.LEASES, "default", "a")


class Shortcut:
    """Counts the writes that were taken for renewals."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.taken = 0
        patch.setattr(replacement, "renewed", self._renewed)
        self.is_open = True

    def _renewed(self, *args: Any) -> Any:
        new = renewals.renewed(*args) if self.is_open else None
        self.taken += new is not None
        return new


@pytest.fixture
def shortcut(monkeypatch: pytest.MonkeyPatch) -> Shortcut:
    return Shortcut(monkeypatch)


def at(time: str, obj: Any, **metadata: object) -> Any:
    return {**obj, "metadata": {**obj["metadata"], **metadata}, "spec": {**obj["spec"], "renewTime": time}}


async def _story_of_renewals() -> tuple[Any, ...]:
    """What is answered, stored and told when a lease is renewed in several ways."""
    async with a_hub() as hub:
        created = await hub.create(LEASE)
        seen: list[Any] = []
        async with hub.watching(renewals.LEASES) as watcher:
            held = created
            for second in range(1, 5):
                hub.later()
                held = await hub.update(at(f"2026-11-01T00:00:0{second}.000000Z", held))
                seen += [held, hub.warnings, await watcher.next()]
                record = hub.store.get(KEY)
                assert record is not None
                seen.append(msgspec.json.decode(record.value))
        return tuple(seen)


def without_uids(seen: Any, uid: str) -> str:
    """As text; fields of an object have no order."""
    return msgspec.json.encode(seen, order="sorted").decode().replace(uid, "uid")


@story
async def test_the_short_way_answers_stores_and_tells_what_the_long_way_does(shortcut: Shortcut) -> None:
    short = await _story_of_renewals()
    assert shortcut.taken == 4
    shortcut.is_open = False
    long = await _story_of_renewals()
    assert shortcut.taken == 4
    short_uid, long_uid = (seen[0]["metadata"]["uid"] for seen in (short, long))
    assert without_uids(short, short_uid) == without_uids(long, long_uid)


@story
async def test_of_two_renewals_of_one_state_one_is_refused(shortcut: Shortcut) -> None:
    async with a_hub() as hub:
        held = await hub.create(LEASE)
        target = hub.target_of(held)
        answers = await asyncio.gather(
            *(_code(hub, at(f"2026-11-01T00:00:0{second}.000000Z", held), target) for second in (1, 2))
        )
        assert sorted(answers) == [200, 409]
        assert shortcut.taken == 2
        # An older state is no renewal at all, and refused as everywhere.
        assert (await complaint(hub.update(at("2026-11-01T00:00:03.000000Z", held))))[0] == 409
        assert shortcut.taken == 2


async def _code(hub: Hub, obj: Any, target: Any) -> int:
    try:
        return (await hub.api.update(ADMIN, target, ObjectBody(obj), WriteOptions(field_manager="test"))).code
    except StatusError as error:
        return error.code


@story
async def test_what_names_a_field_twice_goes_the_long_way(shortcut: Shortcut) -> None:
    async with a_hub() as hub:
        held = await hub.create(LEASE)
        text = msgspec.json.encode(at("2026-11-01T00:00:01.000000Z", held))
        options = WriteOptions(field_manager="test", field_validation="Warn")
        twice = JsonBody(text.replace(b'"holderIdentity"', b'"holderIdentity":"other","holderIdentity"'))
        answer = await hub.api.update(ADMIN, hub.target_of(held), twice, options)
        assert answer.warnings == ('duplicate field "spec.holderIdentity"',)
        assert (await complaint(hub.api.update(ADMIN, hub.target_of(held), JsonBody(b"{"), options)))[0] == 400
        assert shortcut.taken == 0


@story
async def test_a_lease_whose_owner_has_no_time_gets_one(shortcut: Shortcut) -> None:
    async with a_hub() as hub:
        held = await hub.create({**LEASE, "metadata": {"name": "a", "annotations": {"time": "None"}}})
        owner = {**held["metadata"]["managedFields"][0], "fieldsV1": {"f:spec": {"f:renewTime": {}}}}
        del owner["time"]
        held["metadata"]["managedFields"] = [owner]
        held = await hub.update(held)
        assert held["metadata"]["managedFields"] == [owner]
        renewed = await hub.update(at("2026-11-01T00:00:01.000000Z", held))
        assert shortcut.taken == 1
        assert renewed["metadata"]["annotations"] == {"time": "None"}
        assert renewed["metadata"]["managedFields"][0]["time"] == "2026-01-02T03:04:05Z"


class Labels:
    """Admission that adds something to every lease."""

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        obj = copy.deepcopy(request.new)
        assert obj is not None
        obj["metadata"].setdefault("labels", {})["count"] = obj["spec"]["renewTime"][-9:-1].replace(".", "-")
        return Admitted(obj)

    async def validate(self, request: AdmissionRequest) -> Admitted:
        return Admitted(request.new)


@story
async def test_what_admission_adds_is_merged_and_owned_as_everywhere(shortcut: Shortcut) -> None:
    async with a_hub(admission=[Labels()]) as hub:
        held = await hub.create(LEASE)
        renewed = await hub.update(at("2026-11-01T00:00:07.000001Z", held))
        assert shortcut.taken == 1
        assert renewed["metadata"]["labels"] == {"a": "b", "count": "7-000001"}
        assert "f:count" in repr(renewed["metadata"]["managedFields"])
