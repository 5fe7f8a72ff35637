"""Answers the hub's questions from the live world: explanations and advice.

Beside the controllers' own work: one explanation at a time, in slices, within a time limit.
"""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from muster.controllers.placements.dry_runs import DryRun
from muster.controllers.questions.kinds import Advice, Refusal
from muster.placement.explain.explanation import explain_cluster
from muster.placement.explain.report import with_remarks
from muster.placement.explain.reporting import cluster_report, note, report_of
from muster.placement.schedule.plan import PLACEMENTS
from muster.reasons import Code, Reason
from muster.values.faults import Fault
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.api.parts import ObjectMeta
    from muster.api.placement import Placement
    from muster.api.reading import Reading
    from muster.controllers.duties import Duties
    from muster.controllers.placements.fleet_advice import FleetAdviser
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.questions.kinds import AdviceQuestion, ExplainQuestion
    from muster.placement.explain.report import PlacementReport

SECONDS: Final = 10.0  # for one explanation, the time it waits for others included
_CONFLICT: Final = 409
_MOST_WAITING: Final = 16
_MOST_PER_CLUSTER: Final = 0.25  # seconds that expressions may take for one cluster to be explained at all
_QUICK: Final = 0.02  # and with examples, near misses and single clusters


class QuestionService:
    """Answers from the live world. `ready` once everything has been seen once: before, answers would be wrong."""

    def __init__(
        self,
        world: PlacementWorld,
        clock: Callable[[], datetime],
        seconds: float = SECONDS,
        *,
        is_alone: bool = False,
    ) -> None:
        """Alone: nobody else has work in this process."""
        self.ready = False
        self._is_alone = is_alone
        self._world = world
        self._clock = clock
        self._seconds = seconds
        self._turn = asyncio.Semaphore()
        self._waiting = 0

    @cached_property
    def _adviser(self) -> FleetAdviser:
        """Lint has much to import, and few ask for its advice."""
        from muster.controllers.placements.fleet_advice import FleetAdviser

        return FleetAdviser(self._world)

    def close(self) -> None:
        if "_adviser" in vars(self):
            self._adviser.close()

    async def explain(self, question: ExplainQuestion) -> PlacementReport:
        """The report. Raises Refusal."""
        self._refuse_unready()
        if self._waiting >= _MOST_WAITING:
            raise Refusal(503, f"{_MOST_WAITING} other explanations are waiting; try again in a moment")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._seconds):
                async with self._turn:
                    return await self._explained(question)
        except TimeoutError:
            raise Refusal(
                504,
                f"the placement could not be evaluated within {self._seconds:g} seconds: its expressions take long, "
                "or others are being explained; simplify the expressions or try again",
            ) from None
        finally:
            self._waiting -= 1

    async def _explained(self, question: ExplainQuestion) -> PlacementReport:
        placement = read_placement(question.placement)
        if question.cluster and question.cluster not in self._world.fleet:
            raise Refusal(404, f"there is no cluster {question.cluster!r}")
        if (entry := self._world.plans.set_aside_like(placement.obj.spec)) is not None:
            raise Refusal(_CONFLICT, entry.condition(self._world.quarantine.namespace)[2])
        run = await DryRun.of(self._world, placement)
        if (held := self._world.plans.why_held(run.plan, run.visibility)) is not None:
            raise Refusal(_CONFLICT, held.condition(self._world.quarantine.namespace)[2])
        with run:
            await run.evaluate(is_alone=self._is_alone)
            # Reasons are found by evaluating again, in one go: for few clusters, so that mostly it does not matter.
            seconds = run.seconds_per_cluster()
            if seconds > _MOST_PER_CLUSTER:
                raise Refusal(
                    504,
                    f"the placement's expressions take {seconds:.2f} seconds for one cluster, "
                    f"more than the {_MOST_PER_CLUSTER:g} that are explained: simplify them",
                )
            is_quick = seconds <= _QUICK
            result = run.result(self._clock())
            revision = "" if question.dry_run else placement.obj.metadata.resource_version
            report = report_of(
                result,
                run.present(),
                question.window,
                revision=revision,
                examples=is_quick,
                values=question.values,
            )
            if not is_quick:
                report = with_remarks(report, (*report.remarks, note(Reason(Code.EXPRESSIONS_TAKE_LONG))))
            elif question.cluster:
                way = explain_cluster(result, question.cluster, rules=self._world.rules if question.all_sets else {})
                report = msgspec.structs.replace(report, cluster=cluster_report(way))
        remarks = _remarks(placement.obj.metadata, self._world.duties)
        report = with_remarks(report, (*map(note, remarks), *report.remarks))
        return msgspec.structs.replace(report, dry_run=question.dry_run)

    async def advise(self, question: AdviceQuestion) -> Advice:
        """What lint finds. Raises Refusal."""
        self._refuse_unready()
        try:
            return Advice(tuple(await self._adviser.findings(read_placement(question.placement), question.seconds)))
        except TimeoutError:
            raise Refusal(504, "looking at the fleet takes longer than anybody waits") from None

    def _refuse_unready(self) -> None:
        if not self.ready:
            raise Refusal(503, "the controllers have just started and are still reading the fleet; try again")


def read_placement(placement: JsonObject) -> Reading[Placement]:
    """The placement that is asked about. Raises Refusal for what is none at all."""
    found = PLACEMENTS.fitted(placement)
    if isinstance(found, Fault):
        raise Refusal(422, f"the placement cannot be read: {found}")
    return found


def _remarks(placement: ObjectMeta, duties: Duties) -> tuple[Reason, ...]:
    if placement.is_going:
        return (Reason(Code.PLACEMENT_DELETING),)
    if (annotation := duties.keeps_away(placement.annotations)) is not None:
        return (Reason(Code.SCHEDULING_DISABLED, parameters={"annotation": annotation}),)
    return ()
