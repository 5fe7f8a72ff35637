"""Server-side apply: a manager states the fields it cares about; they are merged, owned, contested and let go.

Called by the API machinery for apply patches. It merges and decides ownership; it does not default or validate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from muster.errors import MusterError
from muster.hub.patches import managed_fields
from muster.hub.patches.comparison import applied_fields
from muster.hub.patches.field_sets import (
    SELF,
    FieldSet,
    difference,
    intersection,
    path_text,
    paths,
    union,
    union_of,
    without_below,
)
from muster.hub.patches.managed_fields import APPLY, UPDATE, ChangesByVersion, Entry, Managers, Versions, Writer
from muster.hub.patches.typed_merge import merged, problems, with_named_members, without
from muster.values.causes import MOST_FOUND, MOST_NAMED
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.patches.structure import MapType


class InvalidConfigurationError(MusterError):
    """The configuration does not fit the schema; all that is wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return self.problems[0]
        return "\n".join(["errors:", *(f"  {problem}" for problem in self.problems[:MOST_NAMED])])


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that another manager owns and the configuration would change."""

    manager: str  # quoted, with what tells it apart
    path: str


class ApplyConflictError(MusterError):
    """Fields of other managers stand in the way; `force` would take them."""

    def __init__(self, conflicts: Sequence[FieldConflict]) -> None:
        self.conflicts = tuple(conflicts)
        super().__init__(self.conflicts)

    def __str__(self) -> str:
        if len(self.conflicts) == 1:
            only = self.conflicts[0]
            return f"Apply failed with 1 conflict: conflict with {only.manager}: {only.path}"
        fields: dict[str, list[str]] = {}
        for conflict in self.conflicts[:MOST_NAMED]:
            fields.setdefault(conflict.manager, []).append(f"- {conflict.path}")
        lines = [line for manager, some in fields.items() for line in (f"conflicts with {manager}:", *some)]
        if len(self.conflicts) > MOST_NAMED:
            lines.append(f"and {len(self.conflicts) - MOST_NAMED} more")
        return f"Apply failed with {len(self.conflicts)} conflicts: " + "\n".join(lines)


def applied(
    live: JsonObject,
    config: JsonObject,
    versions: Versions,
    writer: Writer,
    *,
    force: bool,
    ignored: FieldSet,
    unclaimed: FieldSet | None = None,
) -> tuple[JsonObject, list[JsonObject]]:
    """The object with the configuration applied, and its managedFields.

    `live` is `{}` for an object to be created; `ignored` are the fields this endpoint does not write, `unclaimed` those
    that are taken from a new object and put back in an old one, so that nobody owns them.
    Raises InvalidConfigurationError and ApplyConflictError.
    """
    type_ = versions.types[writer.api_version]
    if found := list(islice(problems(config, type_), MOST_FOUND)):
        raise InvalidConfigurationError(found)
    managers = _managers_before(live, versions, writer)
    claimed = without_below(without_below(applied_fields(config, type_), ignored), unclaimed or {})
    mine = Entry(writer.manager, APPLY, writer.api_version, claimed, writer.time, writer.subresource)
    last = managers.get(mine.id)

    # 1. Lay the configuration over the object, then take out what this manager alone had applied and now leaves out.
    result = merged(live, without(config, ignored, type_), type_)
    managers[mine.id] = mine
    if last is not None and last.fields:
        result = _pruned(result, managers, last, versions, writer.api_version)

    # 2. Whoever owns a field that changes is asked, or overruled.
    others = {id_: entry for id_, entry in managers.items() if id_ != mine.id}
    remaining = _settled(live, result, others, versions, writer.api_version, force=force)

    # 3. Record the ownership. Its time is that of the last change it made: a claim that changes nothing has none.
    if result == live:
        mine = replace(mine, time=last.time if last is not None else "")
    if claimed:
        remaining[mine.id] = mine
    return result, managed_fields.encoded(remaining)


def _managers_before(live: JsonObject, versions: Versions, writer: Writer) -> Managers:
    """The recorded managers. Fields of an object that has none are held by a manager of their own, so that a first
    apply cannot silently take them."""
    managers = managed_fields.stored(live.get("metadata", {}).get("managedFields"))
    if managers or not live:
        return managers
    everything = managed_fields.owned_at_creation(live, versions, writer.api_version)
    entry = Entry(managed_fields.BEFORE_FIRST_APPLY, UPDATE, writer.api_version, everything, writer.time)
    return {entry.id: entry} if everything else {}


def _pruned(result: JsonObject, managers: Managers, last: Entry, versions: Versions, api_version: str) -> JsonObject:
    """The object without the items that were applied last time, are not now, and nobody else owns."""
    type_ = versions.types.get(last.api_version)
    if type_ is None:
        return result
    whole = versions.convert(result, last.api_version)
    before = _named(last.fields, type_)
    present = _named(applied_fields(whole, type_), type_)
    # Take out everything that was applied last time …
    stripped = without(whole, before, type_)
    # … put back what some manager (the applier included) owns …
    owning: list[FieldSet] = []
    for entry in managers.values():
        if entry.api_version == last.api_version:
            owning.append(entry.fields)
        elif (other := versions.types.get(entry.api_version)) is not None:
            # Ownership recorded in another version: what it names there, seen from here.
            theirs = versions.convert(result, entry.api_version)
            gone = difference(applied_fields(theirs, other), entry.fields)
            kept = versions.convert(without(theirs, gone, other), last.api_version)
            owning.append(applied_fields(kept, type_))
    owned = union_of(owning)
    still = _named(applied_fields(_emptied_as_null(stripped), type_), type_)
    stripped = without(whole, difference(present, union(still, _named(owned, type_))), type_)
    # … and everything that was not applied last time.
    still = _named(applied_fields(_emptied_as_null(stripped), type_), type_)
    pruned = without(whole, intersection(difference(present, still), before), type_)
    return versions.convert(pruned, api_version)


def _emptied_as_null(value: Json) -> Json:
    """A value whose lists without items are null: an empty list claims nothing, one that was emptied is still there."""
    match value:
        case dict():
            return {key: _emptied_as_null(below) for key, below in value.items()}
        case list():
            return [_emptied_as_null(item) for item in value] or None
        case _:
            return value


def _named(fields: FieldSet, type_: MapType) -> FieldSet:
    """The set with the declared fields on its paths, so that a structure goes when its last field does.

    Not so metadata: every object has it, and what is in it without an owner belongs to the server.
    """
    named = with_named_members(fields, type_)
    metadata = {element: node for element, node in named.pop("f:metadata", {}).items() if element != SELF}
    return {**named, "f:metadata": metadata} if metadata else named


def _settled(
    live: JsonObject,
    result: JsonObject,
    others: Managers,
    versions: Versions,
    api_version: str,
    *,
    force: bool,
) -> Managers:
    """The other managers with what they lose. Raises ApplyConflictError unless forced."""
    conflicts: list[FieldConflict] = []
    remaining: Managers = {}
    compared = ChangesByVersion(live, result, versions, api_version)
    for id_, entry in sorted(others.items()):
        changes = compared.of(entry.api_version)
        if changes is None:
            continue
        contested = intersection(entry.fields, compared.set_in(entry.api_version))
        name = _manager_text(entry)
        if not force:
            conflicts.extend(FieldConflict(name, path_text(path)) for path in paths(contested))
        kept = difference(difference(entry.fields, contested), changes.removed)
        if kept:
            remaining[id_] = entry if kept == entry.fields else replace(entry, fields=kept)
    if conflicts and not force:
        raise ApplyConflictError(conflicts)
    return remaining


def _manager_text(entry: Entry) -> str:
    text = f'"{entry.manager}"'
    if entry.subresource:
        text += f' with subresource "{entry.subresource}"'
    return f"{text} using {entry.api_version}" if entry.operation == UPDATE else text
