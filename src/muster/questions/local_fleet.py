"""The fleet as one user can read it: lists, and watches if it stays, of everything that questions are answered from.

`local` answers from it. It reads with the user's own rights and nothing else: what he may not list is not there, and
it says what that is. Servers differ in what they have: a kind that is missing is one that could not be read. Writes
nothing, and knows no kind of question.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api.agent import Agent
from muster.api.reading import Reader
from muster.classification.classification import CLASSIFICATIONS
from muster.client.errors import UnreachableError
from muster.client.reflector import Reflector, listed
from muster.client.rights import names_in_roles
from muster.controllers.hosts.reported import mirror_of
from muster.controllers.hosts.world import AgentWorld
from muster.controllers.placements.guards.following import CONFIG_MAPS, MISSING, records_mirror
from muster.controllers.placements.mirrors import PlacementMirrors
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.resolutions.world import ResolutionWorld
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.mirror import Mirror
from muster.errors import ApiError
from muster.importing.hosts import OTHER_KINDS
from muster.questions.asked import (
    AGENTS,
    BINDINGS,
    CLUSTERS,
    DECISIONS,
    DEFAULTS,
    GUARD_RECORDS,
    LABELLING,
    LOCAL_SECONDS,
    OTHERS,
    PLACED,
    PLACEMENTS,
    PLACING,
    SCORES,
    SETS,
    served,
)
from muster.questions.observer import Observer
from muster.questions.plans.defaults import found_defaults

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from datetime import datetime

    from muster.api.lease import Lease
    from muster.api.managed_cluster import ClusterHealth
    from muster.client import Client
    from muster.client.heads import Place
    from muster.client.reflector import Handler
    from muster.controllers.runtime.mirror import AnyMirror, Stored

_LOGGER = logging.getLogger(__name__)
_IN_ORDER: Final = (*PLACING, GUARD_RECORDS, *OTHERS, AGENTS, *OTHER_KINDS, LABELLING)
_NEEDED: Final = (CLUSTERS, AGENTS)  # who may read none of these has nothing to ask about
_AGAIN: Final = 60.0  # seconds after which what could not be read is tried again, by those who stay
_MOST_NAMED: Final = 200  # clusters that are read one by one
_FORBIDDEN, _NOT_FOUND = 403, 404
_AGENTS: Final = Reader(Agent)


@dataclass(frozen=True, slots=True)
class Unread:
    """A resource that could not be read, or not all of it, and why."""

    resource: str
    error: ApiError
    instead: str = ""  # what was read of it nevertheless

    def __str__(self) -> str:
        if self.error.code == _NOT_FOUND:
            return f"the server has no {self.resource}: the answer is as if there were none"
        known = f"only {self.instead} known" if self.instead else "none of them is known"
        return f"{self.resource}: {known}, and how many others there are is not: {self.error}"


class LocalFleet:
    """One world, read from a server. `observer` answers from it; `changed` is told when a decision may have moved."""

    def __init__(self, client: Client, clock: Callable[[], datetime]) -> None:
        self.client = client
        self.world = PlacementWorld()
        self.world.advance(clock())
        self.hosts = AgentWorld(lambda _: None, lambda _: None)
        self.resolutions = ResolutionWorld(lambda _: None, {})
        self.observer = Observer(self.world, clock, LOCAL_SECONDS, hosts=self.hosts, resolutions=self.resolutions)
        self.observer.ready = True
        self.changed = asyncio.Event()
        self.unread: dict[str, Unread] = {}
        self._remarks: dict[str, str] = {}
        self._defaults = Mirror(CONFIG_MAPS, self.world.recorded.put_defaults, self.world.recorded.remove_defaults)
        self._clock = clock
        self._read: dict[tuple[str, str], str] = {}  # revisions of lists: of resources, and a namespace if not of all
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._reading = asyncio.Lock()
        self._grown = asyncio.Event()  # something more has been read

    async def read(self, resources: Iterable[str], namespaces: Iterable[str] = ()) -> None:
        """List what has not been listed yet. What may not be listed everywhere is listed in these namespaces.

        Raises ApiError when nothing at all can be read of the clusters, and UnreachableError.
        """
        async with self._reading:
            self.world.advance(self._clock())
            places = sorted({*namespaces, self.client.connection.namespace} - {""})
            wanted = set(resources)
            if DEFAULTS in wanted:  # one small object, as it is now
                await self._read_defaults(places)
            await self._read_all([each for each in _IN_ORDER if each in wanted], places)

    async def _read_all(self, resources: list[str], places: list[str]) -> None:
        """Asked for all at once, and taken in one after the other: a placement looks for its sets when it comes."""
        asked = {
            each: asyncio.create_task(listed(self.client, served(each).path("")))
            for each in resources
            if (each, "") not in self._read
        }
        try:
            for each, found in asked.items():
                await self._read_one(each, places, found)
        finally:
            for found in asked.values():
                found.cancel()
            await asyncio.gather(*asked.values(), return_exceptions=True)

    async def _read_defaults(self, places: list[str]) -> None:
        found = await found_defaults(self.client, places)
        self._defaults.replace([] if found.encoded is None else [found.encoded])
        self._remarks[DEFAULTS] = found.remark

    def why_not(self, resources: Iterable[str]) -> tuple[str, ...]:
        """What could not be read of these resources, in words."""
        asked = tuple(resources)
        remarks = [self._remarks[each] for each in asked if self._remarks.get(each)]
        return (*(str(self.unread[each]) for each in asked if each in self.unread), *remarks)

    async def watch(self, namespaces: Iterable[str] = ()) -> None:
        """Keep all that can be read up to date, until cancelled. What cannot be is tried again now and then."""
        wanted = [*PLACING, *OTHERS, GUARD_RECORDS]
        places = sorted({*namespaces, self.client.connection.namespace} - {""})
        running: dict[tuple[str, str], asyncio.Task[None]] = {}
        try:
            while True:
                for resource, namespace in sorted(self._read.keys() - running.keys()):
                    running[resource, namespace] = asyncio.create_task(self._follow(resource, namespace))
                self._grown.clear()
                if await self._has_grown():
                    continue
                for resource in wanted:
                    if (resource, "") not in self._read:
                        await self._tried_again(resource, places)
                if self.world.advance(self._clock()):
                    self.changed.set()
        finally:
            for task in running.values():
                task.cancel()
            await asyncio.gather(*running.values(), return_exceptions=True)

    async def _has_grown(self) -> bool:
        """Whether something more has been read, waiting for it a while."""
        try:
            async with asyncio.timeout(_AGAIN):
                return await self._grown.wait()
        except TimeoutError:
            return False

    async def _follow(self, resource: str, namespace: str) -> None:
        handler, since = self._handler(resource, namespace), self._read[resource, namespace]
        await Reflector(self.client, served(resource), handler, namespace=namespace, since=since).run()

    async def _tried_again(self, resource: str, places: list[str]) -> None:
        try:
            await self._read_all([resource], places)
        except (ApiError, UnreachableError) as error:
            _LOGGER.info("reading %s: %s", resource, error)

    async def _read_one(self, resource: str, places: list[str], found: Awaitable[tuple[list[bytes], str]]) -> None:
        try:
            self._take(resource, "", *await found)
            self.unread.pop(resource, None)
        except ApiError as error:
            if error.code not in (_FORBIDDEN, _NOT_FOUND):
                raise
            await self._read_part(resource, places, error)

    async def _list(self, resource: str, namespace: str) -> None:
        self._take(resource, namespace, *await listed(self.client, served(resource).path(namespace)))

    def _take(self, resource: str, namespace: str, objects: list[bytes], revision: str) -> None:
        self._handler(resource, namespace).replace(objects, revision)
        self._read[resource, namespace] = revision
        self._grown.set()

    async def _read_part(self, resource: str, places: list[str], error: ApiError) -> None:
        """As much as can be had of what may not be listed."""
        if error.code == _NOT_FOUND and resource in OTHER_KINDS:
            return  # few servers have them, and nobody misses them
        if error.code == _NOT_FOUND and resource == GUARD_RECORDS:
            self.world.recorded.missing = MISSING  # controllers let nothing go then: the verdicts say so
        elif error.code == _NOT_FOUND:
            self.unread[resource] = Unread(resource, error)
        elif resource in PLACED:
            known = [place for place in places if await self._listed_in(resource, place)]
            if not known and resource in _NEEDED:
                raise error
            self.unread[resource] = Unread(resource, error, f"those in {', '.join(known)} are" if known else "")
        else:
            named = await self._named(resource)
            if not named and resource in _NEEDED:
                raise error
            self.unread[resource] = Unread(resource, error, f"{named} that roles name are" if named else "")

    async def _listed_in(self, resource: str, namespace: str) -> bool:
        if (resource, namespace) in self._read:
            return True
        try:
            await self._list(resource, namespace)
        except ApiError as error:
            if error.code not in (_FORBIDDEN, _NOT_FOUND):
                raise
            return False
        return True

    async def _named(self, resource: str) -> int:
        """Read the objects that roles let the user get by name; how many these are."""
        found: list[bytes] = []
        for name in sorted(await names_in_roles(self.client, served(resource).group, resource))[:_MOST_NAMED]:
            try:
                found.append((await self.client.request("GET", served(resource).object_path("", name))).body)
            except ApiError as error:
                if error.code not in (_FORBIDDEN, _NOT_FOUND):
                    raise
        self._handler(resource, "").replace(found, "")
        return len(found)

    def _handler(self, resource: str, namespace: str) -> Handler:
        """Who listens: one for each list, because a list says what is no more."""
        known = self._handlers.get((resource, namespace))
        if known is None:
            known = self._handlers[resource, namespace] = self._new_handler(resource)
        return known

    def _new_handler(self, resource: str) -> Handler:
        if resource in OTHERS:
            return self.observer.handlers()[OTHERS[resource]]

        if resource == GUARD_RECORDS:
            return records_mirror(self.world.recorded)
        if resource == AGENTS:
            return Mirror(_AGENTS, self.hosts.put_agent, self.hosts.remove_agent)
        if resource in OTHER_KINDS:
            return mirror_of(OTHER_KINDS[resource], self.hosts)
        if resource == LABELLING:
            return Mirror(CLASSIFICATIONS, self.hosts.put_classification, self.hosts.remove_classification)

        def tell(_: object) -> None:
            self.changed.set()

        mirrors = PlacementMirrors(self.world, _Nobody(), tell, tell, Unreadable())
        of_resource: dict[str, AnyMirror] = {
            CLUSTERS: mirrors.clusters,
            SETS: mirrors.sets,
            BINDINGS: mirrors.bindings,
            SCORES: mirrors.scores,
            DECISIONS: mirrors.decisions,
            PLACEMENTS: mirrors.placements,
        }
        return of_resource[resource]


class _Nobody:
    """Nobody looks after clusters here: that is for controllers."""

    def look_at(self, new: Stored[ClusterHealth]) -> None: ...

    def put_lease(self, new: Stored[Lease]) -> None: ...

    def remove_lease(self, place: Place) -> None: ...
