"""An outcome as the status of a Resolution: the plan or the story, within bounds that an object can carry.

The worker of the controllers calls it; the times of conditions are the controller's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

import msgspec

from muster.api.resolution import PassedOverBundle, PlannedOperator, ResolutionReason, ResolutionStatus
from muster.resolution.resolve import Impossible, Outcome, Refused, Resolved, Undecided
from muster.resolution.telling.fixes import suggested_fixes
from muster.resolution.telling.plan import Action
from muster.resolution.telling.story import tell
from muster.resolution.time_limits import GoOn, UndecidedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.reasons import Reason
    from muster.resolution.catalog.catalog import Fault
    from muster.resolution.telling.plan import Plan, Step

RESOLVED: Final = "Resolved"  # the condition, and its reason when it is true
UNSATISFIABLE: Final = "Unsatisfiable"
NOT_DECIDED: Final = "NotDecided"
CATALOG_PROBLEM: Final = "CatalogProblem"
REFUSED: Final = "Refused"
INVALID_SPEC: Final = "InvalidSpec"
CATALOGS_USABLE: Final = "CatalogsUsable"
ALL_USABLE: Final = "AllUsable"
SOME_UNUSABLE: Final = "SomeUnusable"

_MOST_STEPS: Final = 500
_MOST_PASSED_OVER: Final = 3  # per step
_MOST_LINES: Final = 20  # notes, problems
_MOST_TEXT: Final = 512  # characters of one line
_MOST_STORY: Final = 8192
_MOST_NAME: Final = 253  # characters
_NOTHING: Final = ResolutionStatus()


class Verdict(NamedTuple):
    """A condition without its times."""

    status: str
    reason: str
    message: str


class Answer(NamedTuple):
    """What a resolution came to: its conditions by type, and the rest of the status."""

    conditions: dict[str, Verdict]
    status: ResolutionStatus


def answer(outcome: Outcome, unavailable: Sequence[Fault], go_on: GoOn, limit: float) -> Answer:
    """The status of an outcome. `unavailable` are catalogs that could not be read at all."""
    match outcome:
        case Resolved(plan=plan):
            verdict, status = _resolved(plan)
        case Impossible():
            verdict, status = _impossible(outcome, unavailable, go_on)
        case Undecided():
            text = f"not decided in {limit:g} s; spec.timeLimitSeconds allows more, a range or a channel leaves less"
            verdict, status = Verdict("Unknown", NOT_DECIDED, text), _NOTHING
        case Refused(text=text, reason=reason):
            verdict = Verdict("False", REFUSED, shortened(text, _MOST_STORY))
            status = ResolutionStatus(reasons=_coded("fact", (reason,)))
        case _:
            assert_never(outcome)
    return finished(verdict, status, [*unavailable, *_faults(outcome)])


def finished(verdict: Verdict, status: ResolutionStatus = _NOTHING, faults: Sequence[Fault] = ()) -> Answer:
    """The answer with its problems, and the message where people look for it."""
    usable = Verdict("True", ALL_USABLE, "")
    faults = list(dict.fromkeys(faults))
    problems = [str(fault) for fault in faults]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        usable = Verdict("False", SOME_UNUSABLE, shortened(problems[0], _MOST_TEXT) + more)
    conditions = {
        RESOLVED: verdict._replace(message=shortened(verdict.message, 1024)),
        CATALOGS_USABLE: usable,
    }
    reasons = (*status.reasons, *_coded("problem", [fault.reason for fault in faults]))
    told = msgspec.structs.replace(status, message=verdict.message, problems=lines(problems), reasons=reasons)
    return Answer(conditions, told)


def _faults(outcome: Outcome) -> Iterable[Fault]:
    if not isinstance(outcome, Resolved | Impossible):
        return ()
    problem = outcome.problem
    return (*(fault for catalog in problem.request.catalogs for fault in catalog.faults), *problem.faults)


def _resolved(plan: Plan) -> tuple[Verdict, ResolutionStatus]:
    counts = {action: sum(step.action is action for step in plan.steps) for action in Action}
    text = ", ".join(f"{count} to {action.value}" for action, count in counts.items() if count) or "nothing to do"
    if len(plan.steps) > _MOST_STEPS:
        text += f"; the first {_MOST_STEPS} are shown"
    return Verdict("True", RESOLVED, text), ResolutionStatus(
        plan=tuple(_step(step) for step in plan.steps[:_MOST_STEPS]),
        planned=counts[Action.INSTALL] + counts[Action.UPDATE],
        notes=lines(plan.notes),
        reasons=_coded("note", plan.remarks),
    )


def _step(step: Step) -> PlannedOperator:
    return PlannedOperator(
        action=step.action.value,
        name=step.name,
        package=step.package,
        version=step.version,
        channel=step.channel,
        catalog=step.catalog,
        replaces=step.replaces,
        asked_by=lines(step.asked_by),
        needs=lines(step.needs),
        passed_over=tuple(
            PassedOverBundle(each.name, each.channel, shortened(each.why, _MOST_TEXT), each.reason.code)
            for each in step.passed_over[:_MOST_PASSED_OVER]
        ),
    )


def _impossible(outcome: Impossible, unavailable: Sequence[Fault], go_on: GoOn) -> tuple[Verdict, ResolutionStatus]:
    # Without all catalogs, what is missing may be in those that could not be read.
    reason = CATALOG_PROBLEM if unavailable else UNSATISFIABLE
    try:
        if outcome.problem.request.upstream:
            verdict = Verdict("False", reason, shortened(outcome.upstream_text, _MOST_STORY))
            return verdict, ResolutionStatus(reasons=_coded("fact", outcome.reasons))
        story = tell(outcome.problem, go_on=go_on)
    except UndecidedError:
        return Verdict("False", reason, "there is no answer; why was not found out in time"), _NOTHING
    fixes = suggested_fixes(outcome.problem, go_on)
    facts = _coded("fact", [each.reason for each in story.facts])
    return Verdict("False", reason, shortened(story.text, _MOST_STORY)), ResolutionStatus(
        fixes=lines([fix.text for fix in fixes]), reasons=(*facts, *_coded("fix", [fix.reason for fix in fixes]))
    )


def _coded(of: str, reasons: Sequence[Reason]) -> tuple[ResolutionReason, ...]:
    """The first of the reasons, for programs."""
    return tuple(
        ResolutionReason(
            of, each.code, shortened(each.subject.package, _MOST_NAME), shortened(each.subject.bundle, _MOST_NAME)
        )
        for each in reasons[:_MOST_LINES]
    )


def lines(texts: Sequence[str]) -> tuple[str, ...]:
    """The first of the texts, each shortened, and how many more there are."""
    shown = tuple(shortened(text, _MOST_TEXT) for text in texts[:_MOST_LINES])
    return (*shown, f"and {len(texts) - _MOST_LINES} more") if len(texts) > _MOST_LINES else shown


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
