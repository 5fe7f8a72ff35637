"""The answers to FleetEvaluation and FleetFacets: expressions and placements over every cluster that may be looked at.

The observer makes it when somebody asks for the first time: it brings compilers that explanations do without.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from muster.api.fleet_evaluation import FleetEvaluationStatus
from muster.api.fleet_facets import FleetFacetsStatus
from muster.api.fleet_parts import ERROR, Diagnostic
from muster.controllers.placements.dry_runs import DryRun
from muster.controllers.placements.timed_selectors import TimedSelector
from muster.controllers.questions.answering import read_placement
from muster.controllers.questions.kinds import Refusal
from muster.errors import FailureKind
from muster.questions import evaluation
from muster.questions.asked import CLUSTERS
from muster.questions.compiling import Compiler, FaultyError
from muster.questions.evaluating import Looked, looked_at
from muster.questions.facets import faceted
from muster.questions.looks import FAILED, MATCHED, UNMATCHED, ExpressionLook, Outcome, SelectorLook
from muster.questions.outlooks import deciding
from muster.selectors.cel import CEL_LIMITS, CelSelector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from muster.api.fleet_evaluation import FleetEvaluationSpec
    from muster.api.fleet_facets import FleetFacetsSpec
    from muster.controllers.placements.world import PlacementWorld
    from muster.placement import ScheduleResult
    from muster.questions.asked import Scope
    from muster.questions.facet_index import FacetIndex
    from muster.questions.looks import Look
    from muster.questions.sharing import Share, Work
    from muster.questions.universe import ClusterUniverse, Collection, Universe
    from muster.selectors.paths import Path
    from muster.values.json import JsonObject

_CONFLICT: Final = 409


class Evaluator:
    """Evaluates what is asked over the world, in the turns that the observer's share gives."""

    def __init__(
        self,
        world: PlacementWorld,
        clock: Callable[[], datetime],
        share: Share,
        clusters: ClusterUniverse,
        others: Mapping[str, Collection],
    ) -> None:
        self._world = world
        self._clock = clock
        self._share = share
        self._clusters = clusters
        self._others = others
        self._trials = asyncio.Lock()  # one schedule on run at a time, which leaves half of the time to others

    async def evaluated(self, spec: FleetEvaluationSpec, scope: Scope, places: Scope) -> FleetEvaluationStatus:
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

    async def faceted(self, spec: FleetFacetsSpec, scope: Scope, index: FacetIndex) -> FleetFacetsStatus:
        scope = replace(scope, bound="")  # only what may be shown is counted here
        try:
            look = await self._share.beside(partial(Compiler(CLUSTERS, self._world.fleet.scores).chosen, spec))
        except FaultyError as error:
            universe = await self._share.done(self._clusters.of(scope, ()))
            return FleetFacetsStatus(valid=False, hidden=universe.hidden, diagnostics=error.diagnostics)
        self._refuse_set_aside(look)
        return await self._share.done(faceted(spec, scope, look, self._clusters, index, self._world))


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
