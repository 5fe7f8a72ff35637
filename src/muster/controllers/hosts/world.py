"""What the host controllers know: the agents and classifications of every namespace, as the server last told.

Hosts of other kinds count as agents; their names have that of their kind before them (`hardwaredata/NAME`).
Reflectors feed it, and the controllers put the answers of their own writes in at once. Rosters hold what the rules
need; here are the revisions, the finalizers and the writes under way. It tells through two callbacks who is concerned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.classification import Roster, Work, read_applied, read_classification
from muster.client.heads import Place
from muster.supervision import Notes, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from contextlib import AbstractContextManager

    from muster.api.agent import Agent
    from muster.api.agent_classification import AgentClassification
    from muster.api.parts import Identity, ObjectMeta
    from muster.classification import Classification
    from muster.controllers.runtime.mirror import Stored
    from muster.importing.hosts import ReportedHost
    from muster.values.faults import Fault

_NOT_READ: Final = ("spec", "status.conditions")  # parts of a host that say nothing about its labels


class AgentWorld:
    """Everything about hosts."""

    def __init__(
        self,
        wake_agent: Callable[[Place], None],
        wake_classification: Callable[[Place], None],
        holds: Callable[[str, Identity], object] = lambda *_: None,
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
        self._classifications: dict[Place, AgentClassification] = {}
        self._writing: dict[Place, Mapping[str, str | None]] = {}

    # ------------------------------------------------------------------------------------------------------- reading

    def roster(self, namespace: str) -> Roster:
        known = self._rosters.get(namespace)
        return Roster() if known is None else known

    def namespaces(self) -> list[str]:
        """Those that have agents or classifications."""
        return sorted(self._rosters)

    def places(self) -> Collection[Place]:
        """Of all agents."""
        return self._revisions.keys()

    def classification_places(self) -> Collection[Place]:
        return self._classifications.keys()

    def revision(self, agent: Place) -> str:
        return self._revisions.get(agent, "")

    def classification(self, place: Place) -> AgentClassification | None:
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
            using = next((obj for obj in own if obj.spec.query == query), None)
            index[query] = b"" if using is None else Subject.of("AgentClassification", using.metadata).text()
        self._notes.refine(index[query])

    # ------------------------------------------------------------------------------------------------------- feeding

    def put_agent(self, new: Stored[Agent]) -> Fault | None:
        """One whose labels, annotations or inventory cannot be read stays as it was: a mistake takes no label away."""
        if (fault := next((each for each in new.faults if not each.path.startswith(_NOT_READ)), None)) is not None:
            return fault
        inventory = bytes(new.obj.status.inventory)
        self._put_host(new.place, new.obj.metadata, inventory if inventory not in (b"", b"null") else None)
        return new.fault

    def put_reported(self, place: Place, host: ReportedHost) -> None:
        """A host of another kind, at the place that it has among agents."""
        self._put_host(place, host.metadata, msgspec.json.encode(host.inventory()))

    def _put_host(self, place: Place, metadata: ObjectMeta, inventory: bytes | None) -> None:
        applied = read_applied(metadata.annotations)
        self._roster_of(place).put_agent(place.name, metadata.labels, applied, inventory)
        self._revisions[place] = metadata.resource_version
        self.spread(place.namespace)

    def remove_agent(self, place: Place) -> None:
        self._revisions.pop(place, None)
        self.roster(place.namespace).remove_agent(place.name)
        self.spread(place.namespace)

    def put_classification(self, new: Stored[AgentClassification]) -> Fault | None:
        if (fault := new.fault_in_spec) is not None:
            return fault  # what was known before it stays
        self._classifications[new.place] = new.obj
        self._texts.pop(new.place.namespace, None)
        self._put_into_roster(new.place)
        return new.fault

    def _put_into_roster(self, place: Place) -> None:
        obj = self._classifications[place]
        held = self._holds("AgentClassification", obj.metadata) is not None
        with self.evaluating(place, Subject.of("AgentClassification", obj.metadata).text()):
            self._roster_of(place).put_classification(read_classification(obj, held=held))
        self.spread(place.namespace)

    def reconsider(self, place: Place) -> None:
        """The quarantine has changed for a classification."""
        if place in self._classifications:
            self._put_into_roster(place)

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
            if place.namespace == agent.namespace and obj.metadata.is_going:
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
