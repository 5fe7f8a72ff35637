"""The local observer: answers questions in this process, from what a user can read of a server, or from files.

`asking` makes it where no server answers. The same world, observer and functions as in the controllers' process: the
answers are those that a server would give to somebody who may get everything that was read. What could not be read is
said in the answer's notes.
"""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from muster.api.fleet_explanations import PlacementExplanationSpec
from muster.api.managed_cluster import GROUP
from muster.client.asking import LOCAL, Answer
from muster.controllers.placements.keys import Key
from muster.controllers.placements.preview import KINDS, world_of
from muster.controllers.questions.answering import QuestionService
from muster.controllers.questions.kinds import AdviceQuestion, ExplainQuestion, Refusal
from muster.errors import ApiError
from muster.importing.hosts import OTHER_KINDS
from muster.placement.explain.report import Window
from muster.questions.asked import (
    AGENTS,
    CLUSTERS,
    GUARDS,
    LABELLING,
    LOCAL_SECONDS,
    PLACEMENTS,
    PLACING,
    RESOLUTIONS,
    SETS,
    Question,
    Scope,
    served,
)
from muster.questions.checking import checked_placement, checked_spec
from muster.questions.rules import namespace_of, preview_namespace
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence

    from muster.api.fleet_joining import JoinReviewSpec
    from muster.api.fleet_plan import PlanSpec, PlanStatus
    from muster.client import Client
    from muster.controllers.placements.world import PlacementWorld
    from muster.fleet.shapes import Shape
    from muster.questions.local_fleet import LocalFleet
    from muster.questions.observer import Observer

_EVERYTHING: Final = Scope(everything=True, sets=None)
_NEEDS: Final = {
    "FleetFacets": (CLUSTERS, SETS),
    "Completion": (CLUSTERS,),
    "SetExplanation": (CLUSTERS, SETS, "managedclustersetbindings", PLACEMENTS),
    "JoinReview": (SETS,),
    "Plan": (*PLACING, *GUARDS),
    "ClassificationPreview": (AGENTS, LABELLING, *OTHER_KINDS),
    "ResolutionPreview": (),
}
_PREVIEWED: Final = {each: served(each).group for each in (AGENTS, LABELLING, RESOLUTIONS, *OTHER_KINDS)}
_OTHER_HOSTS: Final = dict.fromkeys(OTHER_KINDS, _EVERYTHING)
_REASONS: Final = {
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    429: "TooManyRequests",
    500: "InternalError",
    504: "Timeout",
}
PLACING_KINDS: Final = frozenset(KINDS)  # what a fleet of files is made of
_FILES, _NOBODY = 409, 503
_ADVICE: Final = 1.0  # seconds that a dry run waits for what lint has to say


def utc_now() -> datetime:
    return datetime.now(UTC)


class Planner(Protocol):
    """Says what writing objects would change in a fleet."""

    def __call__(self, spec: PlanSpec, fleet: LocalFleet) -> Awaitable[PlanStatus]:
        """Raises ApiError and Refusal."""


class ReadFleet(Protocol):
    """What has been read, and may have to be read."""

    @property
    def world(self) -> PlacementWorld: ...

    @property
    def observer(self) -> Observer: ...

    async def read(self, resources: Iterable[str], namespaces: Iterable[str] = ()) -> None:
        """Have these resources. Raises ApiError when that is in vain."""

    def why_not(self, resources: Iterable[str]) -> tuple[str, ...]:
        """What of them could not be read, in words."""


class FileFleet:
    """A fleet of objects that are at hand, and stay as they are."""

    def __init__(
        self,
        objects: Iterable[JsonMapping],
        now: datetime,
        clusters: Iterable[bytes] = (),
        scores: Sequence[bytes] = (),
        shapes: Iterable[Shape | None] = (),
    ) -> None:
        """`clusters` and `scores` beside those among the objects, as JSON: they are many. `shapes` are what is known of
        these clusters."""
        self.world = world_of(objects, now, clusters, scores, shapes, is_final=True)
        self._now = now

    @cached_property
    def observer(self) -> Observer:
        from muster.questions.observer import Observer
        from muster.questions.sharing import ALONE, Share

        found = Observer(self.world, lambda: self._now, LOCAL_SECONDS, share=Share(most=ALONE))
        found.ready = True
        return found

    async def read(self, resources: Iterable[str], namespaces: Iterable[str] = ()) -> None:
        """All of them are there."""

    def why_not(self, resources: Iterable[str]) -> tuple[str, ...]:
        del resources
        return ()


class LocalAsker:
    """Answers from a fleet. What a question needs is read when it is asked for the first time.

    `planner` merges the objects of a Plan: that is a hub's code (`muster.hub.local_plans`), which is given.
    """

    def __init__(
        self, fleet: ReadFleet, clock: Callable[[], datetime] = utc_now, planner: Planner | None = None
    ) -> None:
        self._fleet = fleet
        self._clock = clock
        self._planner = planner
        self._explaining = QuestionService(fleet.world, clock, LOCAL_SECONDS, is_alone=isinstance(fleet, FileFleet))
        self._explaining.ready = True

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        asked, warnings = checked_spec(kind, spec)
        needs = _needs(kind, asked)
        await self._fleet.read(needs, _namespaces(asked))
        try:
            status, more = await self._answered(kind, asked)
        except Refusal as refusal:
            raise _refused(kind, asked, refusal) from None
        return Answer(msgspec.Raw(status), (*warnings, *more), LOCAL, self._fleet.why_not(needs))

    async def _answered(self, kind: str, asked: JsonObject) -> tuple[bytes, tuple[str, ...]]:
        match kind:
            case "PlacementExplanation":
                return await self._explained(msgspec.convert(asked, PlacementExplanationSpec))
            case "JoinReview":
                from muster.api.fleet_joining import JoinReviewSpec

                return msgspec.json.encode(await self._joining(msgspec.convert(asked, JoinReviewSpec))), ()
            case "Plan":
                from muster.api.fleet_plan import PlanSpec

                return msgspec.json.encode(await self._planned(msgspec.convert(asked, PlanSpec))), ()
            case "ClassificationPreview":
                return await self._observed(kind, {**asked, "namespace": preview_namespace(kind, asked)}), ()
            case "ResolutionPreview":
                from muster.api.fleet_resolution import ResolutionPreviewSpec
                from muster.questions.local_previews import readable_catalogs

                placed = {**asked, "namespace": preview_namespace(kind, asked)}
                maps = await readable_catalogs(msgspec.convert(placed, ResolutionPreviewSpec), self._server_of(kind))
                return await self._observed(kind, placed, maps), ()
            case _:
                return await self._observed(kind, asked), ()

    async def _observed(self, kind: str, asked: JsonObject, scope: Scope = _EVERYTHING) -> bytes:
        given = msgspec.Raw(msgspec.json.encode(asked))
        question = Question(kind, given, "", scope, _EVERYTHING, _OTHER_HOSTS)
        return await self._fleet.observer.answer(msgspec.json.encode(question))

    def _server_of(self, kind: str) -> LocalFleet:
        from muster.questions.local_fleet import LocalFleet

        if not isinstance(self._fleet, LocalFleet):
            raise Refusal(_FILES, f"files are no server: {kind} needs one")
        return self._fleet

    async def _joining(self, asked: JoinReviewSpec) -> msgspec.Struct:
        from muster.questions.local_joining import join_reviewed

        return await join_reviewed(asked, self._server_of("JoinReview"))

    async def _planned(self, asked: PlanSpec) -> PlanStatus:
        if self._planner is None:
            raise Refusal(_NOBODY, "nobody here can merge objects as a server would")
        return await self._planner(asked, self._server_of("Plan"))

    async def _explained(self, asked: PlacementExplanationSpec) -> tuple[bytes, tuple[str, ...]]:
        warnings: tuple[str, ...] = ()
        if asked.placement is None:
            placement = await self._stored(Key(asked.namespace, asked.name))
        else:
            placement, warnings = await asyncio.to_thread(checked_placement, asked.placement, self._clock())
            with contextlib.suppress(Refusal):
                advice = await self._explaining.advise(AdviceQuestion(placement, _ADVICE))
                warnings += tuple(map(str, advice.findings))
        sent = {"metadata": placement["metadata"], "spec": placement.get("spec", {})}
        window = Window(int(asked.continue_ or 0), max(asked.limit, 1))
        question = ExplainQuestion(sent, asked.placement is not None, window, asked.cluster, all_sets=True, values=True)
        return msgspec.json.encode(await self._explaining.explain(question)), warnings

    async def _stored(self, key: Key) -> JsonObject:
        """The placement as it is. Raises ApiError, as the server says it, when there is none or it may not be read."""
        known = self._fleet.world.placements.get(key)
        if known is not None:
            return known.plain()
        from muster.questions.local_fleet import LocalFleet

        if isinstance(self._fleet, LocalFleet):
            path = served(PLACEMENTS).object_path(*key)
            found: JsonObject = (await self._fleet.client.request("GET", path)).json()
            return found
        raise _not_found(PLACEMENTS, key.name)


def _needs(kind: str, asked: JsonObject) -> tuple[str, ...]:
    """What must have been read for an answer."""
    if kind != "FleetEvaluation":
        return _NEEDS.get(kind, PLACING)
    resource = asked.get("resource", CLUSTERS)
    if resource != CLUSTERS:
        return (resource,)
    if asked.get("placement") is not None or asked.get("rows", {}).get("placements"):
        return PLACING
    return (CLUSTERS, "addonplacementscores")


def _namespaces(asked: JsonObject) -> set[str]:
    """The namespaces that are asked about."""
    placement = asked.get("placement")
    return {asked.get("namespace", ""), namespace_of(placement) if isinstance(placement, dict) else ""}


def _refused(kind: str, asked: JsonObject, refusal: Refusal) -> ApiError:
    if refusal.code == 404 and (group := _PREVIEWED.get(resource := refusal.message.partition("/")[0])):
        name = refusal.message.partition("/")[2]
        return ApiError(404, "NotFound", f'{resource}.{group} "{name}" not found', resource, name)
    if refusal.code == 404:
        resource = SETS if kind == "SetExplanation" else CLUSTERS
        return _not_found(resource, str(asked.get("cluster" if kind == "PlacementExplanation" else "name")))
    return ApiError(refusal.code, _REASONS.get(refusal.code, "ServiceUnavailable"), refusal.message)


def _not_found(resource: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource}.{GROUP} "{name}" not found', resource, name)


@contextlib.asynccontextmanager
async def watching(
    client: Client, namespaces: Iterable[str] = (), planner: Planner | None = None
) -> AsyncIterator[LocalAsker]:
    """An observer that lists the fleet now and keeps it up to date until the block ends. Raises ApiError."""
    async with observed(client, namespaces) as fleet:
        yield LocalAsker(fleet, planner=planner)


@contextlib.asynccontextmanager
async def observed(client: Client, namespaces: Iterable[str] = ()) -> AsyncIterator[LocalFleet]:
    """The same as the fleet itself, for those who ask it other things. Raises ApiError."""
    from muster.questions.local_fleet import LocalFleet

    fleet = LocalFleet(client, utc_now)
    places = tuple(namespaces)
    await fleet.read((*PLACING, "clusterprofiles", "clusters", "clusterrequests"), places)
    # Tasks, not a group: whoever closes may be another task than whoever opened.
    tasks = [asyncio.create_task(fleet.watch(places)), asyncio.create_task(fleet.observer.run())]
    try:
        yield fleet
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
