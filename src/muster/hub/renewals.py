"""A renewed lease: the object that is stored, with another time in it. No write of a fleet is more frequent.

`Api.update` asks here first. A renewal has nothing to prune, to default, to merge or to check that was not pruned,
defaulted, merged and checked when the lease was stored; whatever is more than a renewal goes the long way.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from muster.values.json import Json, JsonObject

LEASES: Final = "leases.coordination.k8s.io"
_FIELDS: Final = {"apiVersion", "kind", "metadata", "spec"}
#: What a renewal may repeat of the metadata; texts, and objects of texts, so that equality is identity.
_REPEATED: Final = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "resourceVersion",
        "uid",
    }
)
#: And what it may leave out: the server has it, or the address of the request.
_LEFT_OUT: Final = frozenset({"creationTimestamp", "managedFields", "uid"})
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


def respliced(value: bytes, revision: int, old: JsonObject, new: JsonObject) -> tuple[bytes, bytes] | None:
    """A renewed lease before and after its revision: the bytes of the old one, with other times in them.

    None if these cannot be found without doubt. A quote within a text is escaped, so that what is sought, quotes and
    all, is that member wherever it is; only where another has the same name and value it would not be clear which.
    """
    head, mark, tail = value.partition(b'"metadata":{"resourceVersion":"%d"' % revision)
    if not mark:
        return None
    before, after = old["metadata"]["managedFields"][0].get("time"), new["metadata"]["managedFields"][0]["time"]
    times = ("time", before, after), ("renewTime", old["spec"]["renewTime"], new["spec"]["renewTime"])
    for name, then, now in times:
        if then == now:
            continue
        sought = f'"{name}":"{then}"'.encode()
        if then is None or tail.count(sought) != 1:
            return None
        tail = tail.replace(sought, f'"{name}":"{now}"'.encode())
    return head + b'"metadata":{"resourceVersion":"', b'"' + tail


def renewed(sent: Json, old: JsonObject, manager: str, api_version: str, now: str) -> JsonObject | None:
    """The next state of a lease if nothing is new but `spec.renewTime`; None if anything else is, or may be.

    `manager` writes it, and has to be who alone is said to own the lease's fields: then ownership changes in its time.
    """
    if not isinstance(sent, dict) or sent.keys() != _FIELDS or old.keys() != _FIELDS:
        return None
    if sent["apiVersion"] != old["apiVersion"] or sent["kind"] != old["kind"]:
        return None
    owners = _renewed_owners(old["metadata"].get("managedFields"), manager, api_version, now)
    if owners is None or not _is_same_metadata(sent["metadata"], old["metadata"]):
        return None
    spec = _renewed_spec(sent["spec"], old["spec"])
    return None if spec is None else {**old, "metadata": {**old["metadata"], "managedFields": owners}, "spec": spec}


def _is_same_metadata(sent: Json, old: JsonObject) -> bool:
    """Whether it names the stored state, and nothing that differs from it."""
    if not isinstance(sent, dict) or "resourceVersion" not in sent or not _REPEATED.issuperset(old):
        return False
    for name, value in old.items():
        if name in sent:
            if sent[name] != value:
                return False
        elif name not in _LEFT_OUT:
            return False
    return sent.keys() <= old.keys()


def _renewed_spec(sent: Json, old: JsonObject) -> JsonObject | None:
    if not isinstance(sent, dict) or sent.keys() != old.keys():
        return None
    time = sent.get("renewTime")
    if not isinstance(time, str) or time == old["renewTime"] or old["renewTime"] is None:
        return None
    for name, value in old.items():
        # True is not 1 here.
        if name != "renewTime" and (sent[name] != value or sent[name].__class__ is not value.__class__):
            return None
    if _TIME.fullmatch(time) is None or not _is_time(time):
        return None
    return {**old, "renewTime": time}


def _is_time(text: str) -> bool:
    """Whether there is such a moment; where Python knows none, such as leap seconds, the long way looks closer."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _renewed_owners(entries: list[JsonObject] | None, manager: str, api_version: str, now: str) -> list[Json] | None:
    if not entries or len(entries) > 1:
        return None
    entry = entries[0]
    is_own = (
        entry.get("manager") == manager
        and entry["operation"] == "Update"
        and entry.get("apiVersion") == api_version
        and "subresource" not in entry
        and entry.get("fieldsV1", {}).get("f:spec", {}).get("f:renewTime") == {}  # and nothing below it
    )
    return [{**entry, "time": now}] if is_own else None
