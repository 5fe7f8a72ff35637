"""metadata.managedFields: who set which field, by which operation, in which version. Kept on every write.

Called by the API machinery for create, update and patch (`tracked`), and by apply. Time comes in as text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from muster.hub.patches.comparison import Comparison, compare, whole
from muster.hub.patches.field_sets import SELF, FieldSet, difference, is_field_set, union, union_of, without_below
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.hub.patches.structure import MapType

APPLY = "Apply"
UPDATE = "Update"
ANCIENT = "ancient-changes"
BEFORE_FIRST_APPLY = "before-first-apply"
_UPDATE_MANAGERS = 10  # beyond that the oldest are remembered as one, so that the list stays bounded


class ManagerId(NamedTuple):
    """What makes two entries the same manager's. Appliers keep their identity across versions."""

    manager: str
    operation: str
    api_version: str
    subresource: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of managedFields."""

    manager: str
    operation: str
    api_version: str
    fields: FieldSet
    time: str = ""
    subresource: str = ""

    @property
    def id(self) -> ManagerId:
        version = "" if self.operation == APPLY else self.api_version
        return ManagerId(self.manager, self.operation, version, self.subresource)

    def with_fields(self, fields: FieldSet) -> Entry:
        return Entry(self.manager, self.operation, self.api_version, fields, self.time, self.subresource)

    def encoded(self) -> JsonObject:
        entry: JsonObject = {"manager": self.manager, "operation": self.operation, "apiVersion": self.api_version}
        if self.time:
            entry["time"] = self.time
        entry["fieldsType"] = "FieldsV1"
        entry["fieldsV1"] = self.fields
        if self.subresource:
            entry["subresource"] = self.subresource
        return entry


Managers = dict[ManagerId, Entry]


@dataclass(frozen=True, slots=True)
class Versions:
    """The kind's merge types by apiVersion, and how its objects look in another version.

    Objects of `builtin` kinds always have a spec and a status, so that nobody owns these as such; nor the values that
    mean nothing (`zero`, by apiVersion) of fields that are always there.
    """

    types: Mapping[str, MapType]
    convert: Callable[[JsonObject, str], JsonObject]
    builtin: bool = False
    zero: Mapping[str, JsonMapping] = field(default_factory=dict)


class Writer(msgspec.Struct, frozen=True):
    """Who writes, as managedFields records it."""

    manager: str
    api_version: str
    time: str
    subresource: str = ""


def decoded(entries: object) -> Managers | None:
    """managedFields that a client sent, as managers; None if it is not well-formed."""
    if entries is None:
        return {}
    if not isinstance(entries, list) or not all(_is_entry(raw) for raw in entries):
        return None
    return stored(entries)


def _is_entry(raw: object) -> bool:
    if not isinstance(raw, dict) or raw.get("operation") not in (APPLY, UPDATE):
        return False
    return raw.get("fieldsType") == "FieldsV1" and is_field_set(raw.get("fieldsV1", {}))


def stored(entries: list[JsonObject] | None) -> Managers:
    """managedFields that we have encoded ourselves, as managers."""
    managers: Managers = {}
    for raw in entries or ():
        entry = Entry(
            raw.get("manager", ""),
            raw["operation"],
            raw.get("apiVersion", ""),
            raw.get("fieldsV1", {}),
            raw.get("time") or "",  # clients may say null
            raw.get("subresource", ""),
        )
        managers[entry.id] = entry
    return managers


def encoded(managers: Managers) -> list[JsonObject]:
    """Managers as managedFields: appliers first, then by time and name."""
    entries = sorted(
        managers.values(),
        key=lambda entry: (entry.operation, entry.time, entry.manager, entry.api_version, entry.subresource),
    )
    return [entry.encoded() for entry in entries]


def managers_of(old: JsonObject, new: JsonObject, subresource: str) -> Managers:
    """The managers a write starts from: those the client sent, if it sent any that can be read, else the stored ones.

    A single empty entry asks for a reset. Clients that know nothing of managedFields must not lose them.
    """
    before = old.get("metadata", {}).get("managedFields")
    sent = new.get("metadata", {}).get("managedFields")
    if subresource or not sent or sent == before:
        return stored(before)
    if sent == [{}]:
        return {}
    return decoded(sent) or stored(before)


def created(new: JsonObject, versions: Versions, writer: Writer, reset: JsonMapping | None = None) -> list[JsonObject]:
    """managedFields of an object that is being created: its creator owns all of it but what the server sets anew."""
    managers = managers_of({}, new, "")
    if managers:
        blank = _blank(new, versions, writer.api_version)
        return encoded(tracked(blank, new, managers, versions, writer, reset))
    fields = without_below(owned_at_creation(new, versions, writer.api_version), dict(reset or {}))
    if not fields:
        return []
    return [Entry(writer.manager, UPDATE, writer.api_version, fields, writer.time, writer.subresource).encoded()]


def owned_at_creation(new: JsonObject, versions: Versions, api_version: str) -> FieldSet:
    """Everything that can be owned, as if it had just been written: a comparison with nothing, without the detour."""
    type_ = versions.types[api_version]
    zero = versions.zero.get(api_version, {})
    fields: FieldSet = {}
    for key, value in new.items():
        if key in type_.skipped or (key in zero and value == zero[key]):
            continue
        below = type_.type_of(key)
        if below is None:
            continue
        node = whole(value, below)
        # metadata is nobody's own; spec and status of built-in kinds always exist, and so do some other fields.
        always = key == "metadata" or (versions.builtin and key in ("spec", "status"))
        if always or (key in zero and SELF in node):
            node = {element: child for element, child in node.items() if element != SELF}
            if not node:
                continue
        fields[f"f:{key}"] = node
    return fields


def _blank(new: JsonObject, versions: Versions, api_version: str) -> JsonObject:
    """The object before its creation."""
    present = ("metadata", "spec", "status") if versions.builtin else ("metadata",)
    blank: JsonObject = {key: {} for key in present if isinstance(new.get(key), dict)}
    return {**blank, **{key: value for key, value in versions.zero.get(api_version, {}).items() if key in new}}


def tracked(
    old: JsonObject,
    new: JsonObject,
    managers: Managers,
    versions: Versions,
    writer: Writer,
    reset: JsonMapping | None = None,
) -> Managers:
    """The managers after an update: the writer owns what it changed, and the others no longer do."""
    changes = ChangesByVersion(old, new, versions, writer.api_version)
    here = changes.of(writer.api_version)
    result: Managers = {}
    for id_, entry in managers.items():
        touched = changes.touched(entry.api_version)
        if touched is None:
            continue  # a version that is no longer served: nobody can say what its paths mean
        kept = difference(entry.fields, touched)
        if kept is entry.fields:
            result[id_] = entry
        elif kept:
            result[id_] = entry.with_fields(kept)
    taken = without_below(union(here.added, here.modified), dict(reset or {})) if here is not None else {}
    if taken:
        mine = Entry(writer.manager, UPDATE, writer.api_version, taken, writer.time, writer.subresource)
        previous = result.get(mine.id)
        result[mine.id] = mine if previous is None else mine.with_fields(union(taken, previous.fields))
    return _capped(result)


class ChangesByVersion:
    """The comparison of two states in each version that some manager wrote in, made when asked for."""

    def __init__(self, old: JsonObject, new: JsonObject, versions: Versions, native: str) -> None:
        self._old = old
        self._new = new
        self._versions = versions
        self._native = native
        self._known: dict[str, Comparison | None] = {}
        self._touched: dict[str, FieldSet | None] = {}
        self._set: dict[str, FieldSet] = {}

    def touched(self, api_version: str) -> FieldSet | None:
        """Whatever has changed in any way; None for a version that is not served."""
        if api_version not in self._touched:
            found = self.of(api_version)
            every = None if found is None else union(found.modified, union(found.added, found.removed))
            self._touched[api_version] = every
        return self._touched[api_version]

    def set_in(self, api_version: str) -> FieldSet:
        """Whatever has been given a value."""
        if api_version not in self._set:
            found = self.of(api_version)
            self._set[api_version] = {} if found is None else union(found.modified, found.added)
        return self._set[api_version]

    def of(self, api_version: str) -> Comparison | None:
        if api_version not in self._known:
            type_ = self._versions.types.get(api_version)
            if type_ is None:
                self._known[api_version] = None
            elif api_version == self._native:
                self._known[api_version] = compare(self._old, self._new, type_)
            else:
                convert = self._versions.convert
                self._known[api_version] = compare(
                    convert(self._old, api_version), convert(self._new, api_version), type_
                )
        return self._known[api_version]


def _capped(managers: Managers) -> Managers:
    """At most so many updaters: the oldest of each version are merged into one until there are few enough."""
    updaters = [entry for entry in managers.values() if entry.operation == UPDATE]
    surplus = len(updaters) - _UPDATE_MANAGERS
    if surplus <= 0:
        return managers
    updaters.sort(key=lambda entry: (entry.time, entry.manager))
    oldest: dict[str, list[Entry]] = {}
    for entry in updaters:
        merged = oldest.setdefault(entry.api_version, [])
        merged.append(entry)
        if len(merged) > 1:
            surplus -= 1
        if not surplus:
            break
    result = dict(managers)
    for api_version, merged in oldest.items():
        if len(merged) > 1:
            for entry in merged:
                result.pop(entry.id, None)
            fields = union_of([entry.fields for entry in reversed(merged)])
            bucket = Entry(ANCIENT, UPDATE, api_version, fields, merged[-1].time)
            result[bucket.id] = bucket
    return result


def without_times(entries: object) -> list[Json]:
    """managedFields without its timestamps: a write that changes nothing else is no write."""
    if not isinstance(entries, list):
        return []
    return [{key: value for key, value in entry.items() if key != "time"} for entry in entries]
