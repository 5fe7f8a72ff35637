"""What the host controllers know: the agents and classifications of every namespace, as the server last told.

Reflectors feed it, and the controllers put the answers of their own writes in at once. Rosters hold what the rules
need; here are the revisions, the finalizers and the writes under way. It tells through two callbacks who is concerned.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from muster.classification import Roster, Work, read_applied, read_classification
from muster.client.heads import head_of
from muster.controllers.containment import unguarded
from muster.supervision import Notes, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from muster.classification import Classification

Object = dict[str, Any]


class Place(NamedTuple):
    """Where an object is."""

    namespace: str
    name: str


class _Meta(msgspec.Struct):
    name: str
    namespace: str = ""
    resourceVersion: str = ""  # noqa: N815 - the wire's names
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Status(msgspec.Struct):
    inventory: msgspec.Raw = msgspec.Raw(b"")


class _Agent(msgspec.Struct):
    metadata: _Meta
    status: _Status | None = None


_AGENTS = msgspec.json.Decoder(_Agent)
_MOST_DIGITS = 20  # of a revision


class AgentWorld:
    """Everything about hosts."""

    def __init__(
        self,
        wake_agent: Callable[[Place], None],
        wake_classification: Callable[[Place], None],
        holds: Callable[[str, Mapping[str, Any]], object] = lambda *_: None,
        notes: Notes | None = None,
    ) -> None:
        """`holds` says whether an object is in quarantine, by kind and metadata."""
        self._holds = holds
        self._notes = notes or Notes()
        self._namespace = ""  # that is evaluated now
        self._texts: dict[str, dict[str, bytes]] = {}  # notes by namespace and query, until a classification changes
        self._wake_agent = wake_agent
        self._wake_classification = wake_classification
        self.work = Work(watcher=self._note_query)  # of all namespaces
        self._rosters: dict[str, Roster] = {}
        self._revisions: dict[Place, str] = {}  # of agents
        self._classifications: dict[Place, Object] = {}
        self._writing: dict[Place, Mapping[str, str | None]] = {}

    # ------------------------------------------------------------------------------------------------------- reading

    def roster(self, namespace: str) -> Roster:
        return self._rosters.get(namespace) or Roster()

    def places(self) -> Collection[Place]:
        """Of all agents."""
        return self._revisions.keys()

    def classification_places(self) -> Collection[Place]:
        return self._classifications.keys()

    def revision(self, agent: Place) -> str:
        return self._revisions.get(agent, "")

    def classification(self, place: Place) -> Object | None:
        return self._classifications.get(place)

    def is_being_set(self, namespace: str, classification: Classification) -> bool:
        """Whether a write is under way that puts a label of this classification on an agent."""
        return any(
            classification.owns(changes.get(classification.label))
            for place, changes in self._writing.items()
            if place.namespace == namespace
        )

    # ----------------------------------------------------------------------------------------------- noting

    def evaluating(self, place: Place, text: bytes = b"") -> AbstractContextManager[None]:
        """Around everything that is evaluated in a namespace in one go."""
        self._namespace = place.namespace
        return self._notes.evaluating(text)

    def _note_query(self, query: str) -> None:
        """A query is about to be compiled or run: it is that of a classification of the namespace."""
        index = self._texts.setdefault(self._namespace, {})
        if query not in index:
            own = (obj for place, obj in self._classifications.items() if place.namespace == self._namespace)
            using = next((obj for obj in own if (obj.get("spec") or {}).get("query") == query), None)
            index[query] = b"" if using is None else _classification_text(using)
        self._notes.refine(index[query])

    # ------------------------------------------------------------------------------------------------------- feeding

    def put_agent(self, encoded: bytes) -> Place:
        agent = _AGENTS.decode(encoded)
        metadata = agent.metadata
        place = Place(metadata.namespace, metadata.name)
        if is_older(metadata.resourceVersion, self._revisions.get(place, "")):
            return place  # our own write has brought something newer
        inventory = bytes(agent.status.inventory) if agent.status is not None else b""
        self._roster_of(place).put_agent(
            place.name,
            metadata.labels or {},
            read_applied(metadata.annotations),
            inventory if inventory != b"null" else None,
        )
        self._revisions[place] = metadata.resourceVersion
        self.spread(place.namespace)
        return place

    def put_written_agent(self, place: Place, encoded: bytes) -> None:
        """The answer to our own write, unless the watch has told meanwhile that the agent is gone."""
        if place in self._revisions:
            self.put_agent(encoded)

    def remove_agent(self, place: Place) -> None:
        self._revisions.pop(place, None)
        self.roster(place.namespace).remove_agent(place.name)
        self.spread(place.namespace)

    def put_classification(self, obj: Object) -> Place:
        place = Place(obj["metadata"]["namespace"], obj["metadata"]["name"])
        known = self._classifications.get(place)
        if known and is_older(_revision_of(obj), _revision_of(known)):
            return place
        self._classifications[place] = obj
        self._texts.pop(place.namespace, None)
        try:
            self._put_into_roster(place)
        except Exception:
            # It cannot be read: what was known before it stays.
            self._classifications.pop(place)
            if known is not None:
                self._classifications[place] = known
            raise
        return place

    def _put_into_roster(self, place: Place) -> None:
        obj = self._classifications[place]
        held = self._holds("AgentClassification", obj["metadata"]) is not None
        with self.evaluating(place, _classification_text(obj)):
            self._roster_of(place).put_classification(read_classification(obj, held=held))
        self.spread(place.namespace)

    def reconsider(self, place: Place) -> None:
        """The quarantine has changed for a classification."""
        if place in self._classifications:
            self._put_into_roster(place)

    def put_written_classification(self, obj: Object) -> None:
        """The answer to our own write, unless the watch has told meanwhile that the classification is gone."""
        if Place(obj["metadata"]["namespace"], obj["metadata"]["name"]) in self._classifications:
            self.put_classification(obj)

    def remove_classification(self, place: Place) -> None:
        self._classifications.pop(place, None)
        self._texts.pop(place.namespace, None)
        with self.evaluating(place):
            self.roster(place.namespace).remove_classification(place.name)
        self.spread(place.namespace)

    def begin_write(self, agent: Place, changes: Mapping[str, str | None]) -> None:
        self._writing[agent] = changes

    def end_write(self, agent: Place) -> None:
        """However it ended. Classifications that wait for it to be deleted are looked at again."""
        del self._writing[agent]
        for place, obj in self._classifications.items():
            if place.namespace == agent.namespace and obj["metadata"].get("deletionTimestamp"):
                self._wake_classification(place)

    def _roster_of(self, place: Place) -> Roster:
        if (roster := self._rosters.get(place.namespace)) is None:
            self._rosters[place.namespace] = roster = Roster(self.work)
        return roster

    def spread(self, namespace: str) -> None:
        """Tell whom the last change of a roster concerns."""
        roster = self._rosters.get(namespace)
        if roster is None:
            return
        for name in roster.take_due():
            self._wake_agent(Place(namespace, name))
        for name in roster.take_touched():
            self._wake_classification(Place(namespace, name))
        if roster.is_empty:
            del self._rosters[namespace]


def _classification_text(obj: Object) -> bytes:
    metadata = obj["metadata"]
    generation = int(metadata.get("generation") or 0)
    return Subject(
        "AgentClassification", metadata["namespace"], metadata["name"], metadata.get("uid") or "", generation
    ).text()


class Feed:
    """Listens to a reflector. A new list is a put for each object, and a remove for each that is missing."""

    def __init__(self, put: Callable[[bytes], Place], remove: Callable[[Place], None]) -> None:
        self.guard = unguarded()
        self._put = put
        self._remove = remove
        self._known: set[Place] = set()

    def replace(self, objects: Sequence[bytes]) -> None:
        for encoded in objects:
            self.guard.take(encoded, self._put)
        there = {Place(*head_of(encoded).place) for encoded in objects}
        self._drop(self._known - there)
        self._known = there

    def put(self, encoded: bytes) -> None:
        self._known.add(Place(*head_of(encoded).place))
        self.guard.take(encoded, self._put)

    def remove(self, encoded: bytes) -> None:
        self._drop([Place(*head_of(encoded).place)])

    def _drop(self, places: Iterable[Place]) -> None:
        for place in places:
            self._known.discard(place)
            self.guard.drop(place, partial(self._remove, place))


def _revision_of(obj: Object) -> str:
    return str(obj["metadata"].get("resourceVersion") or "")


def is_older(revision: str, known: str) -> bool:
    """Whether a revision comes before another one. Those that are not numbers cannot be compared, and count as new."""
    new, old = number_of(revision), number_of(known)
    return new is not None and old is not None and new < old


def number_of(revision: str) -> int | None:
    """A revision as a number, where it is one."""
    return int(revision) if len(revision) <= _MOST_DIGITS and revision.isdecimal() else None
