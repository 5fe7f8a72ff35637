"""The metadata of objects of any kind: what it says, and the rules of names, labels, annotations, owners, finalizers.

The first part is for whoever has an object as JSON: what an object does not say is empty. The rules are called on
create and update by `validation`. Names are expected to be generated already; `generateName` is checked beside the
name, as the real server does.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from muster.values.causes import MOST_FOUND, MOST_NAMED, Cause, forbidden, invalid, required, too_long
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import list_at, object_at, text_at
from muster.values.labels import label_causes
from muster.values.names import (
    dns_label_problems,
    is_plain_key,
    qualified_name_problems,
    subdomain_problems,
    without_trailing_dash,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


ANNOTATIONS_LIMIT: Final = 256 * 1024
FINALIZER_ORPHAN: Final = "orphan"
FINALIZER_FOREGROUND: Final = "foregroundDeletion"
_STANDARD_FINALIZERS: Final = frozenset({FINALIZER_ORPHAN, FINALIZER_FOREGROUND, "kubernetes"})


# What a real server does not keep when there is nothing in it: to Go an empty map is none.
_NOTHING_WHEN_EMPTY: Final = ("labels", "annotations", "finalizers", "ownerReferences", "generateName", "selfLink")


def without_empty(metadata: JsonObject) -> JsonObject:
    """The same without fields that hold nothing; the very same if there are none, as nearly always."""
    empty = [name for name in _NOTHING_WHEN_EMPTY if name in metadata and not metadata[name]]
    return {name: value for name, value in metadata.items() if name not in empty} if empty else metadata


# ----------------------------------------------------------------------------------------------------------------------
# What an object says of itself. To be read, not to be written to.


def metadata_of(obj: JsonMapping | None) -> JsonObject:
    """An empty object where there is none. Every write passes here, so that nothing general is called."""
    found = None if obj is None else obj.get("metadata")
    return found if isinstance(found, dict) else {}


def name_of(obj: JsonMapping | None) -> str:
    return text_at(metadata_of(obj), "name")


def namespace_of(obj: JsonMapping | None) -> str:
    return text_at(metadata_of(obj), "namespace")


def labels_of(obj: JsonMapping | None) -> dict[str, str]:
    return object_at(metadata_of(obj), "labels")


def annotations_of(obj: JsonMapping | None) -> dict[str, str]:
    return object_at(metadata_of(obj), "annotations")


def finalizers_of(obj: JsonMapping | None) -> list[str]:
    return list_at(metadata_of(obj), "finalizers")


# ----------------------------------------------------------------------------------------------------------------------
# The rules.


def validate_metadata(
    obj: JsonObject,
    old: JsonObject | None,
    namespaced: bool,
    name_problems: Callable[[str], list[str]] = subdomain_problems,
) -> list[Cause]:
    """Everything wrong with the metadata of a new object, or of the new state of an old one."""
    metadata = metadata_of(obj)
    if old is None:
        first = _identity(metadata, name_problems, namespaced=namespaced)
    else:
        first = _update(metadata, metadata_of(old))
    return first + list(islice(_common(metadata), MOST_FOUND))


def metadata_warnings(obj: JsonObject, old: JsonObject | None = None) -> list[str]:
    """What is allowed and unwise, for Warning headers."""
    known = finalizers_of(old)
    return [
        f'metadata.finalizers: "{finalizer}": prefer a domain-qualified finalizer name'
        f"{' including a path (/)' if '.' in finalizer else ''} to avoid accidental conflicts with other finalizer "
        "writers"
        for finalizer in finalizers_of(obj)
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS and finalizer not in known
    ]


def _identity(metadata: JsonObject, name_problems: Callable[[str], list[str]], *, namespaced: bool) -> list[Cause]:
    causes: list[Cause] = []
    if prefix := metadata.get("generateName"):
        problems = name_problems(without_trailing_dash(prefix))
        causes.extend(invalid("metadata.generateName", prefix, problem) for problem in problems)
    name = metadata.get("name")
    if not name:
        causes.append(required("metadata.name", "name or generateName is required"))
    else:
        causes.extend(invalid("metadata.name", name, problem) for problem in name_problems(name))
    namespace = metadata.get("namespace")
    if not namespaced:
        if namespace:
            causes.append(forbidden("metadata.namespace", "not allowed on this type"))
    elif not namespace:
        causes.append(required("metadata.namespace"))
    else:
        causes.extend(invalid("metadata.namespace", namespace, problem) for problem in dns_label_problems(namespace))
    return causes


def _update(metadata: JsonObject, old: JsonObject) -> list[Cause]:
    causes: list[Cause] = []
    if old.get("deletionTimestamp"):
        added = sorted(set(list_at(metadata, "finalizers")).difference(list_at(old, "finalizers")))
        if added:
            shown = ", ".join(f'"{name}"' for name in added[:MOST_NAMED])
            detail = (
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{shown}}}"
            )
            causes.append(forbidden("metadata.finalizers", detail))
    causes.extend(
        invalid(f"metadata.{field}", metadata.get(field, ""), "field is immutable")
        for field in ("name", "namespace", "uid")
        if metadata.get(field, "") != old.get(field, "")
    )
    return causes


def _common(metadata: JsonObject) -> Iterator[Cause]:
    if labels := metadata.get("labels"):
        yield from label_causes(labels, "metadata.labels")
    if annotations := metadata.get("annotations"):
        yield from _annotations(annotations)
    if owners := metadata.get("ownerReferences"):
        yield from _owners(owners)
    if finalizers := metadata.get("finalizers"):
        yield from _finalizers(finalizers)


def _annotations(annotations: dict[str, str]) -> Iterator[Cause]:
    path = "metadata.annotations"
    size = 0
    for key, value in annotations.items():
        if not is_plain_key(key):
            yield from (invalid(path, key, problem) for problem in qualified_name_problems(key.lower()))
        size += _bytes(key) + _bytes(value)
    if size > ANNOTATIONS_LIMIT:
        yield too_long(path, ANNOTATIONS_LIMIT)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _owners(owners: Sequence[JsonObject]) -> Iterator[Cause]:
    path = "metadata.ownerReferences"
    controller = ""
    for owner in owners:
        version = text_at(owner, "apiVersion")
        if not version.rpartition("/")[2]:
            yield invalid(f"{path}.apiVersion", version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not owner.get(field):
                yield invalid(f"{path}.{field}", text_at(owner, field), "must not be empty")
        if version == "v1" and owner.get("kind") == "Event":
            yield invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            name = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                detail = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {name}"
                )
                yield invalid(path, list(owners[:MOST_NAMED]), detail)
            controller = controller or name


def _finalizers(finalizers: Sequence[str]) -> Iterator[Cause]:
    path = "metadata.finalizers"
    for finalizer in finalizers:
        yield from (invalid(path, finalizer, problem) for problem in qualified_name_problems(finalizer))
    if FINALIZER_ORPHAN in finalizers and FINALIZER_FOREGROUND in finalizers:
        detail = f"finalizer {FINALIZER_ORPHAN} and {FINALIZER_FOREGROUND} cannot be both set"
        yield invalid(path, list(finalizers[:MOST_NAMED]), detail)
