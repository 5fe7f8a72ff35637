"""When a kind changes: the steps that bring stored objects from the format they were written in to today's.

Every row of the store says in which format it was written. A release that changes how a kind is stored adds a step with
the next number; `app` runs the steps at the start, before the first request, and each object that is older is written
anew. A crash in between does no harm: every object knows for itself how far it has come. A program that does not know
a format refuses the database. Steps are never changed once they have been released.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from muster.api.codec import encode_split
from muster.hub.objects import decode
from muster.hub.storage import Put
from muster.hub.storage.schema import FIRST_FORMAT
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.hub.storage import Key, Store

_log = logging.getLogger(__name__)
_AT_ONCE = 200  # objects in one transaction


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """How objects of one resource, as in `placements.cluster.open-cluster-management.io`, get to a format."""

    format: int
    resource: str
    change: Callable[[JsonObject], JsonObject]


#: None so far: no kind has changed how it is stored since there are formats.
STEPS: tuple[UpgradeStep, ...] = ()


def today(steps: Sequence[UpgradeStep] = STEPS) -> int:
    """The format in which objects are written."""
    return max((step.format for step in steps), default=FIRST_FORMAT)


async def upgrade_objects(store: Store, steps: Sequence[UpgradeStep] = STEPS) -> int:
    """Write anew what is older than the steps for its kind; how many objects that were."""
    count = 0
    for resource in sorted({step.resource for step in steps}):
        mine = sorted((step for step in steps if step.resource == resource), key=lambda step: step.format)
        older = await store.formats_before(resource, mine[-1].format)
        waiting = _changes(store, mine, older)
        while batch := list(islice(waiting, _AT_ONCE)):
            await store.commit(batch)
            count += len(batch)
    if count:
        _log.warning("%d objects were brought to format %d", count, today(steps))
    return count


def _changes(store: Store, steps: Sequence[UpgradeStep], older: dict[Key, int]) -> Iterator[Put]:
    for key, written in older.items():
        record = store.get(key)
        if record is None:
            continue
        obj = decode(record.value)
        for step in steps:
            if step.format > written:
                obj = step.change(obj)
        yield Put(key, *encode_split(obj), record.revision)
