"""Objects whose evaluation has killed or hung the controllers: they are set aside until they change.

What is set aside is not evaluated; its last good decisions and labels stay, a condition and an event say so, and
everything else goes on. The list is kept in a ConfigMap, so that the next leader does not die of the same object. An
entry holds for one state of an object: another generation, or another object of that name, is a new chance. So is the
removal of the entry by an administrator.

Supervisors tell of deaths through the command that starts the next process; `Notes` tells of evaluations that ran out
of memory and lived. The worlds ask `holds` before they evaluate anything.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.config_map import ConfigMap
from muster.api.reading import Reader
from muster.client.errors import UnreachableError
from muster.client.heads import head_of
from muster.controllers.runtime.conditions import timestamp
from muster.errors import ApiError
from muster.supervision import Subject  # noqa: TC001 - msgspec reads the annotations
from muster.values.names import place_text
from muster.values.revisions import is_newer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from muster.api.parts import Identity
    from muster.client import Client, Reply
    from muster.controllers.runtime.mirror import Stored
    from muster.values.faults import Fault
    from muster.values.json import JsonObject

_LOGGER = logging.getLogger(__name__)
CONFIG_MAP: Final = "muster-quarantine"
CONDITION: Final = "Quarantined"
REASON: Final = "EvaluationFailed"
_MOST: Final = 500  # entries; a ConfigMap holds a megabyte
_PAUSE: Final = 1.0  # seconds between looks at what has to be written
_HEARD: Final = timedelta(seconds=30)  # after which a watch has told
_NOT_FOUND: Final = 404
_FORBIDDEN: Final = 403
_CONFIG_MAPS: Final = Reader(ConfigMap)
Place = tuple[str, str, str]  # kind, namespace, name
Condition = tuple[str, str, str]


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One object in one state, why it is set aside, and since when. `number`: by the supervisor, of its suspects."""

    subject: Subject
    reason: str
    since: str = ""
    number: int = 0

    @property
    def place(self) -> Place:
        return (self.subject.kind, self.subject.namespace, self.subject.name)

    @property
    def key(self) -> str:
        """The name of the entry in the ConfigMap."""
        text = place_text(*self.place)
        import hashlib  # few objects are ever set aside

        return f"{self.subject.kind.lower()}.{hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"

    def is_about(self, metadata: Identity) -> bool:
        """Whether an object is still in the state that was set aside."""
        same = not self.subject.uid or self.subject.uid == metadata.uid
        return same and self.subject.generation == metadata.generation

    def is_over(self, metadata: Identity | None, now: datetime) -> bool:
        """Whether the state is known to be gone. Of an object that is not there, or is another one, perhaps we have
        only not heard yet: that counts after a while."""
        if metadata is not None and self.subject.uid in ("", metadata.uid):
            return metadata.generation > self.subject.generation
        return self.since < timestamp(now - _HEARD)

    def condition(self, namespace: str) -> Condition:
        """What the object's condition says, for people."""
        return ("True", REASON, self._words("change its spec", namespace))

    def condition_of_dependent(self, namespace: str, why: str) -> Condition:
        """The same for what cannot be evaluated without it."""
        return ("True", "DependsOnQuarantined", f"{why} {self._words('change that', namespace)}")

    def _words(self, deed: str, namespace: str) -> str:
        return (
            f"Not evaluated since {self.since}: the controllers' process was evaluating {self.subject} when "
            f"{self.reason}. What was decided before stays as it is. To have it evaluated again, {deed}, or remove the "
            f"entry {self.key} of the ConfigMap {namespace}/{CONFIG_MAP}"
        )


_ENTRIES = msgspec.json.Decoder(Entry)


def read_entries(text: str) -> list[Entry]:
    """What a supervisor hands to the process that it starts."""
    return msgspec.json.decode(text, type=list[Entry]) if text else []


class Quarantine:
    """What is set aside, as far as this process knows. `changed` hears of every place that is added or released."""

    def __init__(self, namespace: str = "kube-system") -> None:
        self.namespace = namespace
        self.changed: Callable[[Place], None] = lambda _: None
        self.recorded = 0  # the highest number of a supervisor's suspect that is in the ConfigMap
        self._entries: dict[Place, Entry] = {}
        self._unwritten: dict[Place, Entry] = {}
        self._version = ""  # of the ConfigMap

    def entries(self) -> list[Entry]:
        return list(self._entries.values())

    def holds(self, kind: str, metadata: Identity) -> Entry | None:
        """The entry for an object in this state, if it is set aside. It is asked before every evaluation."""
        if not self._entries:
            return None
        entry = self._entries.get((kind, metadata.namespace, metadata.name))
        return entry if entry is not None and entry.is_about(metadata) else None

    def holds_part(self, parts: Iterable[str]) -> Entry | None:
        """The entry of an object that shares one of these texts, and died in it."""
        if not self._entries:
            return None
        wanted = set(parts)
        return next((each for each in self._entries.values() if each.subject.part in wanted), None)

    def first_in(self, kind: str, namespace: str) -> Entry | None:
        """Any entry of a kind in a namespace."""
        wanted = (kind, namespace)
        return next((each for each in self._entries.values() if each.place[:2] == wanted), None)

    def set_aside(self, entry: Entry) -> None:
        if len(self._entries) >= _MOST and entry.place not in self._entries:
            oldest = min(self._entries.values(), key=lambda each: each.since)
            self.forget(oldest.place)
        self._entries[entry.place] = self._unwritten[entry.place] = entry
        self.changed(entry.place)

    def forget(self, place: Place) -> None:
        self._unwritten.pop(place, None)
        if self._entries.pop(place, None) is not None:
            self.changed(place)

    # ------------------------------------------------------------------------------------- the ConfigMap, as watched

    def put(self, config_map: Stored[ConfigMap]) -> Fault | None:
        version = config_map.obj.metadata.resource_version
        if not is_newer(version, self._version) and version != self._version:
            return None  # our own write has brought something newer
        self._version = version
        told: dict[Place, Entry] = {}
        for text in config_map.obj.data.values():
            try:
                entry = _ENTRIES.decode(text)
            except msgspec.MsgspecError as error:
                _LOGGER.warning("ConfigMap %s has an entry that cannot be read: %s", CONFIG_MAP, error)
                continue
            told[entry.place] = entry
        self._replace({**told, **self._unwritten})
        return config_map.fault

    def remove(self, _: object = None) -> None:
        self._version = ""
        self._replace(dict(self._unwritten))

    def _replace(self, entries: dict[Place, Entry]) -> None:
        before, self._entries = self._entries, entries
        for place in before.keys() | entries.keys():
            if before.get(place) != entries.get(place):
                self.changed(place)

    # ---------------------------------------------------------------------------------------------- the ConfigMap, kept

    @property
    def version(self) -> str:
        return self._version

    def unwritten(self) -> list[Entry]:
        return list(self._unwritten.values())

    def written(self, entries: Iterable[Entry], version: str) -> None:
        for entry in entries:
            if self._unwritten.get(entry.place) is entry:
                del self._unwritten[entry.place]
            self.recorded = max(self.recorded, entry.number)
        self._version = version


class QuarantineKeeper:
    """Keeps the ConfigMap: adds what is set aside, and, while leading, removes what has changed or is gone."""

    def __init__(self, quarantine: Quarantine, client: Client, path: str, collection: str) -> None:
        """`client` need not lead: an entry must get there whoever does. `path` is that of the ConfigMap."""
        self._quarantine = quarantine
        self._client = client
        self._path = path
        self._collection = collection

    async def run(self) -> None:
        """Record for ever what is set aside; nothing waits for it."""
        while True:
            await self.record()
            await asyncio.sleep(_PAUSE)

    async def record(self) -> None:
        """Write what is not written yet. What does not work now is tried again."""
        entries = self._quarantine.unwritten()
        if not entries:
            return
        data = {entry.key: msgspec.json.encode(entry).decode() for entry in entries}
        try:
            self._quarantine.written(entries, await self._write(data))
        except (ApiError, UnreachableError) as error:
            _LOGGER.warning("the quarantine cannot be recorded: %s", error)

    async def release(self, entries: Iterable[Entry]) -> None:
        """Take entries out, and evaluate their objects again."""
        released = list(entries)
        if not released:
            return
        await self._write({entry.key: None for entry in released}, self._quarantine.version)
        for entry in released:
            self._quarantine.forget(entry.place)

    async def _write(self, data: Mapping[str, str | None], decided_from: str = "") -> str:
        """Entries are written by key, so that two processes do not take each other's away. The new version."""
        try:
            reply = await self._changed(data, decided_from)
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            body = self._body({}, {key: text for key, text in data.items() if text is not None})
            reply = await self._client.request("POST", self._collection, body=body)
        return head_of(reply.body).metadata.resourceVersion

    async def _changed(self, data: Mapping[str, str | None], decided_from: str) -> Reply:
        version = {"resourceVersion": decided_from} if decided_from else {}
        try:
            return await self._client.request(
                "PATCH",
                self._path,
                body={"data": data, **({"metadata": version} if version else {})},
                content_type="application/merge-patch+json",
            )
        except ApiError as error:
            if error.code != _FORBIDDEN:
                raise
        # Some may update and not patch: the role of Open Cluster Management's controller has it so.
        present = _CONFIG_MAPS.partly((await self._client.request("GET", self._path)).json()).obj
        version = {"resourceVersion": decided_from or present.metadata.resource_version}
        kept = {key: text for key, text in {**present.data, **data}.items() if text is not None}
        return await self._client.request("PUT", self._path, body=self._body(version, kept))

    def _body(self, version: Mapping[str, str], data: Mapping[str, str]) -> JsonObject:
        metadata = {"name": CONFIG_MAP, "namespace": self._quarantine.namespace, **version}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}
