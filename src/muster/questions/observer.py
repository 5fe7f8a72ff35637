"""The observer: one fleet, fed by mirrors, and the answers to questions about it.

In the controllers' process it is given the world that decisions are made from, and asked on loopback by the hub. It
knows what the asker may be told, and not who he is.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from muster.api.fleet_classification import ClassificationPreviewSpec
from muster.api.fleet_completion import CompletionSpec
from muster.api.fleet_evaluation import FleetEvaluationSpec, FleetEvaluationStatus
from muster.api.fleet_facets import FleetFacetsSpec, FleetFacetsStatus
from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
from muster.api.fleet_parts import ERROR, Diagnostic
from muster.api.fleet_resolution import ResolutionPreviewSpec
from muster.api.parts import PartialObject
from muster.api.reading import Reader
from muster.controllers.placements.dry_runs import DryRun
from muster.controllers.placements.timed_selectors import TimedSelector
from muster.controllers.questions.answering import read_placement
from muster.controllers.questions.kinds import Refusal
from muster.controllers.runtime.mirror import Mirror
from muster.errors import FailureKind
from muster.questions import evaluation
from muster.questions.asked import CLUSTERS, OTHERS, SECONDS, Question, seconds_of
from muster.questions.compiling import Compiler, FaultyError
from muster.questions.completing import completed
from muster.questions.evaluating import Looked, looked_at
from muster.questions.facet_index import FacetIndex
from muster.questions.facets import faceted
from muster.questions.looks import FAILED, MATCHED, UNMATCHED, ExpressionLook, Outcome, SelectorLook
from muster.questions.outlooks import cluster_explained, deciding, set_explained
from muster.questions.plans.planning import planned
from muster.questions.plans.work import PlanWork
from muster.questions.previews import Previews
from muster.questions.sharing import Share, Work
from muster.questions.universe import ClusterUniverse, Collection
from muster.selectors.cel import CEL_LIMITS, CelSelector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from muster.client.reflector import Handler
    from muster.controllers.hosts.world import AgentWorld
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.resolutions.world import ResolutionWorld
    from muster.controllers.runtime.mirror import Stored
    from muster.placement import ScheduleResult
    from muster.questions.asked import Scope
    from muster.questions.looks import Look
    from muster.questions.universe import Universe
    from muster.selectors.paths import Path
    from muster.values.json import JsonObject

_CONFLICT: Final = 409
_TIMEOUT: Final = 504
_NOT_READY: Final = 503
_WARM: Final = 5.0  # seconds
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
    ) -> None:
        self.ready = False
        self._world = world
        self._clock = clock
        self._seconds = seconds
        self._share = Share()
        self._trials = asyncio.Lock()  # one schedule on run at a time, which leaves half of the time to others
        self._clusters = ClusterUniverse(world)
        self._others = {resource: Collection() for resource in OTHERS}
        self._facets = FacetIndex(world.fleet)
        self.previews = Previews(hosts, resolutions, self._share)
        self._under_way = 0

    async def run(self) -> None:
        """Keep what questions need near at hand, so that none of them has to wait for all of it."""
        try:
            while True:
                with contextlib.suppress(Exception):  # what is wrong shows to whoever asks
                    await self._share.done(self._facets.catch_up())
                await asyncio.sleep(_WARM)
        finally:
            await self.close()

    async def close(self) -> None:
        """End the process in which previews are resolved."""
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
                evaluated = msgspec.json.decode(question.spec, type=FleetEvaluationSpec)
                return await self._evaluated(evaluated, scope, question.places)
            case "FleetFacets" | "Completion" if self._facets.is_warming:
                raise Refusal(_NOT_READY, "labels, claims and versions are still being counted; try again")
            case "FleetFacets":
                return await self._faceted(msgspec.json.decode(question.spec, type=FleetFacetsSpec), scope)
            case "Completion":
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
                tried = msgspec.json.decode(question.spec, type=ClassificationPreviewSpec)
                return await self.previews.classification(tried, scope, question.places, question.others)
            case "ResolutionPreview":
                resolved = msgspec.json.decode(question.spec, type=ResolutionPreviewSpec)
                return await self.previews.resolution(resolved, scope, question.places)
            case "Plan":
                given = msgspec.json.decode(question.spec, type=PlanWork)
                return await self._share.done(
                    planned(given, scope, question.places, self._world, self._clusters, self._clock())
                )
            case kind:
                raise Refusal(_CONFLICT, f"nobody here knows an answer to a {kind}")

    # -------------------------------------------------------------------------------------------- FleetEvaluation

    async def _evaluated(self, spec: FleetEvaluationSpec, scope: Scope, places: Scope) -> FleetEvaluationStatus:
        compiler = Compiler(spec.resource, self._world.fleet.scores)
        try:
            chosen = None if spec.placement is None else SelectorLook(())
            asked = await self._share.beside(partial(evaluation.Asked, spec, compiler, chosen))
        except FaultyError as error:
            universe = await self._share.done(self._universe(spec.resource, spec.namespace, scope, ()))
            return _faulty(universe, error.diagnostics)
        for each in (asked.chosen, asked.filter, asked.sorting, asked.distinct):
            self._refuse_set_aside(each)
        if spec.placement is not None:
            return await self._scheduled(spec.placement, asked, scope, places)
        return await self._share.done(self._over(asked, scope, places))

    def _over(self, asked: evaluation.Asked, scope: Scope, places: Scope) -> Work[FleetEvaluationStatus]:
        spec = asked.spec
        universe = yield from self._universe(spec.resource, spec.namespace, scope, asked.reads)
        looked = yield from looked_at(universe.snapshot, universe.rows, asked.chosen)
        return (yield from evaluation.answered(asked, universe, looked, partial(deciding, self._world, places)))

    def _universe(self, resource: str, namespace: str, scope: Scope, reads: Iterable[Path]) -> Work[Universe]:
        if resource == CLUSTERS:
            return (yield from self._clusters.of(scope, reads))
        yield False
        return self._others[resource].of(scope, namespace)

    async def _scheduled(
        self, placement: JsonObject, asked: evaluation.Asked, scope: Scope, places: Scope
    ) -> FleetEvaluationStatus:
        """What a placement would select: the schedule itself, of which what matched, did not and failed is told."""
        world, read = self._world, read_placement(placement)
        if (entry := world.plans.set_aside_like(read.obj.spec)) is not None:
            raise Refusal(_CONFLICT, entry.condition(world.quarantine.namespace)[2])
        async with self._trials:
            run = await DryRun.of(world, read)
            if (held := world.plans.why_held(run.plan, run.visibility)) is not None:
                raise Refusal(_CONFLICT, held.condition(world.quarantine.namespace)[2])
            with run:
                await run.evaluate()
                return await self._share.done(self._by_schedule(run, asked, scope, places))

    def _by_schedule(
        self, run: DryRun, asked: evaluation.Asked, scope: Scope, places: Scope
    ) -> Work[FleetEvaluationStatus]:
        universe = yield from self._clusters.of(scope, asked.reads)
        # The universe is of this moment, and so is the schedule: nothing pauses in between.
        result = run.result(self._clock())
        if result.fault is not None:
            return _faulty(universe, (Diagnostic("spec.placement", str(result.fault), ERROR),))
        looked = _verdicts(universe, result, self._world.fleet.capacity)
        return (yield from evaluation.answered(asked, universe, looked, partial(deciding, self._world, places)))

    def _refuse_set_aside(self, look: Look | None) -> None:
        """An expression that has brought down this process before is not evaluated again for a question."""
        if not self._world.quarantine.entries() or look is None:
            return
        parts = []
        if isinstance(look, ExpressionLook):
            parts.append(CelSelector((look.program,), self._world.fleet.scores, CEL_LIMITS.value))
        elif isinstance(look, SelectorLook):
            parts += [part for part in look.selectors() if isinstance(part, CelSelector)]
        entry = self._world.quarantine.holds_part(TimedSelector(each, self._world.plans.tally).digest for each in parts)
        if entry is not None:
            raise Refusal(_CONFLICT, entry.condition(self._world.quarantine.namespace)[2])

    # ------------------------------------------------------------------------------------------------- FleetFacets

    async def _faceted(self, spec: FleetFacetsSpec, scope: Scope) -> FleetFacetsStatus:
        scope = replace(scope, bound="")  # only what may be shown is counted here
        try:
            look = await self._share.beside(partial(Compiler(CLUSTERS, self._world.fleet.scores).chosen, spec))
        except FaultyError as error:
            universe = await self._share.done(self._clusters.of(scope, ()))
            return FleetFacetsStatus(valid=False, hidden=universe.hidden, diagnostics=error.diagnostics)
        self._refuse_set_aside(look)
        return await self._share.done(faceted(spec, scope, look, self._clusters, self._facets, self._world))


def _turn_of(question: Question) -> str:
    """Whose turn it is. What is resolved elsewhere, and may take long, keeps nobody from asking something else."""
    return f"{question.asker}\n{question.kind}" if question.kind == "ResolutionPreview" else question.asker


def _faulty(universe: Universe, diagnostics: tuple[Diagnostic, ...]) -> FleetEvaluationStatus:
    unnamed = len(universe.rows) - universe.shown
    return FleetEvaluationStatus(
        valid=False, objects=len(universe.rows), hidden=universe.hidden, unnamed=unnamed, diagnostics=diagnostics
    )


def _verdicts(universe: Universe, result: ScheduleResult, capacity: int) -> Looked:
    """What a schedule made of the rows: decided on, not, or not to be evaluated."""
    of_row = np.zeros(capacity, dtype=np.int64)
    if result.failing is not None:
        of_row[result.failing] = 2
    of_row[result.ranked] = 1
    outcomes = [Outcome(UNMATCHED), Outcome(MATCHED), Outcome(FAILED, error=FailureKind.OTHER.value)]
    return Looked(universe.rows, of_row[universe.rows], outcomes)


def _mirror(kept: Collection) -> Handler:
    def put(new: Stored[PartialObject]) -> None:
        kept.put(f"{new.place.namespace}/{new.place.name}", new.encoded)

    return Mirror(_READER, put, lambda place: kept.remove(f"{place.namespace}/{place.name}"))
