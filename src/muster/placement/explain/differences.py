"""What differs between two states of an object, field by field, and who wrote it. Pure; `causes` asks, commands too.

A controller never sees users. What an object keeps of them is `metadata.managedFields`: the name that each writer gave
itself, what it owns, and when it last changed that. A field that was removed has no owner any more, and a deletion
leaves nothing: then nobody is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import ManagedObject
from muster.api.placement_history import FieldChange
from muster.api.reading import Reader
from muster.selectors.paths import SCORES, WHOLE, describe, project
from muster.values.faults import Fault
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.paths import Where

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.api.parts import FieldManager
    from muster.selectors.paths import Path

_LONGEST: Final = 200  # characters of a shown value
_DEEPEST: Final = 32
_MANAGED: Final = Reader(ManagedObject)
_MISSING: Final = object()
# What every write moves, and what the server keeps for itself.
_NOISE: Final = ("managedFields", "resourceVersion", "generation")


@dataclass(frozen=True, slots=True)
class Writer:
    """A field manager, what it did last, and when."""

    manager: str
    operation: str = ""
    time: str = ""


def changed_fields(old: Json, new: Json, most: int, root: str = "") -> list[FieldChange]:
    """The deepest fields that differ, at most so many of them."""
    found: list[FieldChange] = []
    for change in _leaves(root, old, new, 0):
        if len(found) == most:
            break
        found.append(change)
    return found


def changed_paths(old: JsonMapping, new: JsonMapping, paths: Iterable[Path], most: int) -> list[FieldChange]:
    """The fields among those that somebody reads whose values differ. Scores are not part of an object."""
    found: list[FieldChange] = []
    for path in sorted(paths, key=describe):
        if path == WHOLE:
            found += changed_fields(_without_noise(old), _without_noise(new), most)
        elif path[0] != SCORES and project(old, path) != project(new, path):
            field, before, after = describe(path), _at(old, path), _at(new, path)
            found.append(FieldChange(field, _shown(before), _shown(after)))
    return list(dict.fromkeys(found))[:most]


def writer_of(old: JsonObject | None, new: JsonObject | None, field: str = "") -> Writer | None:
    """Who made one state out of the other: the newest of those who have written since, owners of the field first."""
    known = {_identity(each) for each in _managers(old)}
    fresh = [each for each in _managers(new) if _identity(each) not in known]
    owners = [each for each in fresh if _owns(each.fields_v1, field)]
    newest = max(owners or fresh, key=lambda each: each.time, default=None)
    return None if newest is None else _writer(newest)


def writer_since(obj: JsonObject, since: str, *, with_status: bool) -> Writer | None:
    """The newest writer after a moment; an object's status is written by controllers and may be left out."""
    later = [each for each in _managers(obj) if each.time > since and (with_status or not each.subresource)]
    # A heartbeat is always the newest: whoever wrote the object itself is the better guess.
    later.sort(key=lambda each: (not each.subresource, each.time))
    return _writer(later[-1]) if later else None


def _writer(manager: FieldManager) -> Writer:
    return Writer(manager.manager, manager.operation, manager.time)


def _managers(obj: JsonObject | None) -> tuple[FieldManager, ...]:
    found = _MANAGED.fitted(obj)
    return () if isinstance(found, Fault) else found.obj.metadata.managed_fields


def _identity(manager: FieldManager) -> tuple[str, ...]:
    """An entry that has only lost fields to another keeps its time: that was not its doing."""
    return manager.manager, manager.operation, manager.subresource, manager.api_version, manager.time


def _owns(fields: JsonMapping, field: str) -> bool:
    """Whether a set of fields has the path, or something whole that it is in. An empty set has nothing."""
    node: Json = fields
    for at, step in enumerate(_steps(field)):
        if at and not node:
            return True
        if not isinstance(node, Mapping) or step not in node:
            return False
        node = node[step]
    return True


def _steps(field: str) -> Iterator[str]:
    """`metadata.labels["a/b"]` and `status.scores[name=x].value` in the steps of a managers' set of fields."""
    rest = field
    while rest:
        if rest.startswith('["'):
            step, _, rest = rest[2:].partition('"]')
            yield f"f:{step}"
        elif rest.startswith("["):
            step, _, rest = rest[1:].partition("]")
            key, is_named, value = step.partition("=")
            if is_named:
                yield f"k:{msgspec.json.encode({key: value}).decode()}"
        else:
            rest = rest.removeprefix(".")
            end = min((at for at in (rest.find("."), rest.find("[")) if at >= 0), default=len(rest))
            yield f"f:{rest[:end]}"
            rest = rest[end:]


def _leaves(field: str, old: Json, new: Json, depth: int) -> Iterator[FieldChange]:
    if old is not _MISSING and new is not _MISSING and msgspec.json.encode(old) == msgspec.json.encode(new):
        return
    if depth < _DEEPEST and isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys((*old, *new)):
            name = str(key)
            step = (f".{name}" if field else name) if name.isidentifier() else f'["{name}"]'
            yield from _leaves(field + step, old.get(key, _MISSING), new.get(key, _MISSING), depth + 1)
    elif depth < _DEEPEST and _is_list(old) and _is_list(new) and len(old) == len(new):
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from _leaves(f"{field}[{index}]", before, after, depth + 1)
    else:
        yield FieldChange(field, _shown(old), _shown(new))


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _at(obj: Json, path: Path) -> Json:
    """The value at a path, for people: of the elements with a name their value."""
    value = obj
    for step in path:
        if isinstance(step, Where):
            chosen = [each for each in value if isinstance(each, dict) and each.get(step.field) == step.value]
            if not chosen:
                return _MISSING
            only = chosen[0] if len(chosen) == 1 else None
            value = only["value"] if only is not None and only.keys() == {step.field, "value"} else chosen
        elif not isinstance(step, str):
            return True
        elif isinstance(value, Mapping) and step in value:
            value = value[step]
        else:
            return _MISSING
    return value


def _shown(value: Json) -> str:
    if value is _MISSING:
        return ""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _without_noise(obj: JsonMapping) -> JsonObject:
    metadata = obj.get("metadata")
    if not isinstance(metadata, Mapping):
        return dict(obj)
    return {**obj, "metadata": {name: value for name, value in metadata.items() if name not in _NOISE}}
