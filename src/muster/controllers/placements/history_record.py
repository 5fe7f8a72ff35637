"""The PlacementHistory object: how entries and specs are added, and how it stays small. Pure.

Bounds are in entries and in bytes: fifty moves with ten causes each could hold a megabyte, which nobody wants to watch.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.placement_history import GROUP
from muster.controllers.runtime.conditions import timestamp
from muster.placement.explain.differences import writer_of
from muster.values.api_paths import collection_path, object_path
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from muster.controllers.placements.world import Key

MOST_ENTRIES: Final = 50
MOST_REVISIONS: Final = 11  # the present spec and ten before it
MOST_BYTES: Final = 128 * 1024  # of all entries, and of all specs
_HISTORIES: Final = (GROUP, "v1alpha1", "placementhistories")


def path_of(key: Key | None = None, *, named: bool = False) -> str:
    """The collection of a namespace, the object in it, or all of them."""
    if key is None or not named:
        return collection_path(*_HISTORIES, key.namespace if key else "")
    return object_path(*_HISTORIES, key.namespace, key.name)


def digest_of(clusters: Iterable[str]) -> str:
    """The same for the same clusters, in whatever order."""
    return hashlib.blake2b("\n".join(sorted(clusters)).encode(), digest_size=8).hexdigest()


def new_record(placement: JsonMapping) -> JsonObject:
    metadata = placement["metadata"]
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "PlacementHistory",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "ownerReferences": [
                {
                    "apiVersion": "cluster.open-cluster-management.io/v1beta1",
                    "kind": "Placement",
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                    "controller": True,
                    "blockOwnerDeletion": False,
                }
            ],
        },
    }


def belongs_to(record: JsonMapping, placement: JsonMapping) -> bool:
    """Whether it is the history of this placement, and not of one of the same name before it."""
    owners = record["metadata"].get("ownerReferences") or ()
    return any(owner.get("uid") == placement["metadata"].get("uid") for owner in owners)


def revision_of(placement: JsonMapping, before: JsonMapping | None, now: datetime) -> JsonObject:
    """A placement's spec as a revision. `before`: the state that it was made from, which tells by whom."""
    found: JsonObject = {
        "revision": int(placement["metadata"].get("generation") or 0),
        "time": timestamp(now),
        "spec": placement.get("spec") or {},
    }
    writer = writer_of(before, placement, "spec")
    return found | {"manager": writer.manager} if writer is not None and writer.manager else found


def extended(
    record: JsonMapping,
    entries: Sequence[JsonMapping],
    revisions: Iterable[JsonMapping],
    decided: tuple[int, str],
) -> JsonObject:
    """The history with more in it, and without what is too much."""
    specs = {each["revision"]: each for each in record.get("revisions") or ()}
    for revision in revisions:
        if len(msgspec.json.encode(revision)) > MOST_BYTES:
            continue
        newest = specs[max(specs)] if specs else None
        if newest is None or newest["spec"] != revision["spec"]:
            specs.setdefault(revision["revision"], revision)
    ordered = [specs[number] for number in sorted(specs)]
    count, digest = decided
    return {
        **record,
        "decided": {"count": count, "digest": digest},
        "changes": _newest([*(record.get("changes") or ()), *entries], MOST_ENTRIES),
        "revisions": _newest(ordered, MOST_REVISIONS),
    }


def _newest(items: Sequence[Json], most: int) -> list[Json]:
    """The last items, as many as are kept and as fit; the very last always stays."""
    kept: list[Json] = []
    size = 0
    for item in reversed(items[-most:]):
        size += len(msgspec.json.encode(item))
        if kept and size > MOST_BYTES:
            break
        kept.append(item)
    return kept[::-1]
