"""The observer: one fleet, fed by mirrors, and the answers to questions about it.

In the controllers' process it is given the world that decisions are made from, and asked on loopback by the hub. It
knows what the asker may be told, and not who he is.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
from muster.api.parts import PartialObject
from muster.api.reading import Reader
from muster.controllers.questions.kinds import Refusal
from muster.controllers.runtime.mirror import Mirror
from muster.questions.asked import OTHERS, SECONDS, Question, seconds_of
from muster.questions.facet_index import FacetIndex
from muster.questions.outlooks import cluster_explained, set_explained
from muster.questions.sharing import Share
from muster.questions.universe import ClusterUniverse, Collection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.client.reflector import Handler
    from muster.controllers.hosts.world import AgentWorld
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.resolutions.world import ResolutionWorld
    from muster.controllers.runtime.mirror import Stored
    from muster.questions.evaluator import Evaluator
    from muster.questions.previews import Previews

_CONFLICT: Final = 409
_TIMEOUT: Final = 504
_NOT_READY: Final = 503
_WARM: Final = 5.0  # seconds
_PATIENCE: Final = 30.0  # seconds that decisions come first after a start
_LOOK: Final = 0.2  # seconds between two looks whether they still do
_READER: Final = Reader(PartialObject)


class Observer:
    """Answers questions from the live world. `ready` once everything has been seen once."""

    def __init__(
        self,
        world: PlacementWorld,
        clock: Callable[[], datetime],
        seconds: float = SECONDS,
        *,
        hosts: AgentWorld | None = None,
        resolutions: ResolutionWorld | None = None,
        share: Share | None = None,
    ) -> None:
        self.ready = False
        self._world = world
        self._clock = clock
        self._seconds = seconds
        self._share = share or Share()
        self._clusters = ClusterUniverse(world)
        self._others = {resource: Collection() for resource in OTHERS}
        self._facets = FacetIndex(world.fleet)
        self._known = hosts, resolutions
        self._under_way = 0

    @cached_property
    def previews(self) -> Previews:
        """Hosts and operators: another language and a solver, for those who ask about them."""
        from muster.questions.previews import Previews

        return Previews(*self._known, self._share)

    @cached_property
    def _evaluator(self) -> Evaluator:
        from muster.questions.evaluator import Evaluator

        return Evaluator(self._world, self._clock, self._share, self._clusters, self._others)

    async def run(self, has_better: Callable[[], bool] = lambda: False) -> None:
        """Keep what questions need near at hand, so that none of them has to wait for all of it.

        To read a large fleet for the first time takes as long as many decisions. `has_better` says that some of these
        wait: they come first, for as long as whoever asks for labels can be told to come back.
        """
        try:
            waiting = asyncio.get_running_loop().time() + _PATIENCE
            # Nobody tells when the last of them is made: looking five times a second costs nothing.
            while has_better() and asyncio.get_running_loop().time() < waiting:  # noqa: ASYNC110
                await asyncio.sleep(_LOOK)
            while True:
                with contextlib.suppress(Exception):  # what is wrong shows to whoever asks
                    await self._share.done(self._facets.catch_up())
                await asyncio.sleep(_WARM)
        finally:
            await self.close()

    async def close(self) -> None:
        """End the process in which previews are resolved."""
        if "previews" in vars(self):
            await self.previews.close()

    def handlers(self) -> Mapping[str, Handler]:
        """What to watch beside what the world is fed with, by resource, and who listens."""
        return {OTHERS[resource]: _mirror(kept) for resource, kept in self._others.items()}

    async def answer(self, body: bytes) -> bytes:
        """The status of a question, as JSON. Raises Refusal."""
        question = msgspec.json.decode(body, type=Question)
        if not self.ready:
            raise Refusal(_NOT_READY, "the fleet is still being read; try again")
        self._under_way += 1
        seconds = seconds_of(question.kind, self._seconds)
        try:
            async with asyncio.timeout(seconds), self._share.turn(_turn_of(question)):
                return msgspec.json.encode(await self._answered(question))
        except TimeoutError:
            raise Refusal(
                _TIMEOUT,
                f"the question could not be answered within {seconds:g} seconds: its expressions take long, or "
                "others are being answered; simplify them, ask about fewer objects or try again",
            ) from None
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._clusters.forget_oldest()

    async def _answered(self, question: Question) -> msgspec.Struct:
        scope = question.scope
        match question.kind:
            case "FleetEvaluation":
                from muster.api.fleet_evaluation import FleetEvaluationSpec

                evaluated = msgspec.json.decode(question.spec, type=FleetEvaluationSpec)
                return await self._evaluator.evaluated(evaluated, scope, question.places)
            case "FleetFacets" | "Completion" if self._facets.is_warming:
                raise Refusal(_NOT_READY, "labels, claims and versions are still being counted; try again")
            case "FleetFacets":
                from muster.api.fleet_facets import FleetFacetsSpec

                facets = msgspec.json.decode(question.spec, type=FleetFacetsSpec)
                return await self._evaluator.faceted(facets, scope, self._facets)
            case "Completion":
                from muster.api.fleet_completion import CompletionSpec
                from muster.questions.completing import completed

                spec = msgspec.json.decode(question.spec, type=CompletionSpec)
                return await self._share.done(completed(spec, scope, self._facets))
            case "ClusterExplanation":
                asked = msgspec.json.decode(question.spec, type=ClusterExplanationSpec)
                work = cluster_explained(asked, scope, question.places, self._world, self._clock())
                return await self._share.done(work)
            case "SetExplanation":
                wanted = msgspec.json.decode(question.spec, type=SetExplanationSpec)
                return await self._share.done(
                    set_explained(wanted, scope, question.places, self._clusters, self._world)
                )
            case "ClassificationPreview":
                from muster.api.fleet_classification import ClassificationPreviewSpec

                tried = msgspec.json.decode(question.spec, type=ClassificationPreviewSpec)
                return await self.previews.classification(tried, scope, question.places, question.others)
            case "ResolutionPreview":
                from muster.api.fleet_resolution import ResolutionPreviewSpec

                resolved = msgspec.json.decode(question.spec, type=ResolutionPreviewSpec)
                return await self.previews.resolution(resolved, scope, question.places)
            case "Plan":
                from muster.questions.plans.planning import planned
                from muster.questions.plans.work import PlanWork

                given = msgspec.json.decode(question.spec, type=PlanWork)
                return await self._share.done(
                    planned(given, scope, question.places, self._world, self._clusters, self._clock())
                )
            case kind:
                raise Refusal(_CONFLICT, f"nobody here knows an answer to a {kind}")


def _turn_of(question: Question) -> str:
    """Whose turn it is. What is resolved elsewhere, and may take long, keeps nobody from asking something else."""
    return f"{question.asker}\n{question.kind}" if question.kind == "ResolutionPreview" else question.asker


def _mirror(kept: Collection) -> Handler:
    def put(new: Stored[PartialObject]) -> None:
        kept.put(f"{new.place.namespace}/{new.place.name}", new.encoded)

    return Mirror(_READER, put, lambda place: kept.remove(f"{place.namespace}/{place.name}"))
