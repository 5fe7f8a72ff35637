"""Objects of the server as the hub's store would show them: what the hub's answers to questions read.

Fed by reflectors; bytes stay as the server sent them. Of clusters only the metadata are kept: their names and labels
are all that is asked for here, the rest is with the observer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.client.heads import head_of
from muster.client.reflector import Gathered
from muster.hub import status
from muster.hub.storage import Key, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_NONE: Final[dict[tuple[str, str], Record]] = {}


class MirroredObjects:
    """By resource, namespace and name. A resource that nobody feeds is not an empty one: asking for it is refused."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[tuple[str, str], Record]] = {}
        self._revision = 0

    @property
    def revision(self) -> int:
        """Counts what has come in. It is nobody's resourceVersion."""
        return self._revision

    def feeding(self, resource: str, changed: Callable[[], None] = lambda: None) -> Feed:
        """Who listens to a resource for this."""
        return Feed(self, resource, changed)

    def get(self, key: Key) -> Record | None:
        return self._of(key.resource).get((key.namespace, key.name))

    def scan(self, resource: str, namespace: str | None = None) -> Iterator[Record]:
        """By namespace and name; later changes do not show in it."""
        kept = self._of(resource)
        return iter([kept[place] for place in sorted(kept) if namespace is None or place[0] == namespace])

    def count(self, resource: str) -> int:
        return len(self._of(resource))

    def has(self, resource: str) -> bool:
        """Whether it has been listed."""
        return resource in self._kept

    def _of(self, resource: str) -> dict[tuple[str, str], Record]:
        kept = self._kept.get(resource)
        if kept is None:
            raise status.unavailable(f"{resource} cannot be read here, or not yet; see the log of muster", 5)
        return kept

    def replace(self, resource: str, records: dict[tuple[str, str], Record]) -> None:
        self._revision += 1
        self._kept[resource] = records

    def put(self, resource: str, record: Record) -> None:
        self._revision += 1
        self._kept.setdefault(resource, {})[record.key.namespace, record.key.name] = record

    def remove(self, resource: str, namespace: str, name: str) -> None:
        self._revision += 1
        self._kept.setdefault(resource, {}).pop((namespace, name), None)


class Feed:
    """A handler of reflectors."""

    def __init__(self, objects: MirroredObjects, resource: str, changed: Callable[[], None]) -> None:
        self._objects = objects
        self._resource = resource
        self._changed = changed

    def listing(self, revision: str) -> Gathered:  # noqa: ARG002 - the protocol
        return Gathered(self.replace)

    def replace(self, objects: Sequence[bytes], revision: str) -> None:  # noqa: ARG002 - as lists are told
        records = (self._record(each) for each in objects)
        self._objects.replace(self._resource, {(each.key.namespace, each.key.name): each for each in records})
        self._changed()

    def put(self, encoded: bytes) -> str | None:
        self._objects.put(self._resource, self._record(encoded))
        self._changed()
        return None

    def remove(self, encoded: bytes) -> str | None:
        key = self._record(encoded).key
        self._objects.remove(self._resource, key.namespace, key.name)
        self._changed()
        return None

    def _record(self, encoded: bytes) -> Record:
        metadata = head_of(encoded).metadata
        version = metadata.resourceVersion
        number = int(version) if version.isdecimal() else 0
        return Record(Key(self._resource, metadata.namespace, metadata.name), number, number, encoded)
