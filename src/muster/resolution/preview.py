"""An outcome as the status of a ResolutionPreview: the plan, or the conflict with fixes that were tried.

`muster resolve` prints it, whether it has resolved files itself or a server's worker has. Pure: reading catalogs and
clocks belong to the callers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from muster.api.fleet_parts import ERROR, Diagnostic
from muster.api.fleet_resolution import (
    IMPOSSIBLE,
    INVALID,
    REFUSED,
    RESOLVED,
    UNDECIDED,
    ConflictFact,
    LockDifference,
    PassedOverStep,
    PlannedStep,
    PreviewFix,
    ResolutionPreviewStatus,
)
from muster.reasons import Code, Reason, sentence
from muster.resolution.resolve import Impossible, Refused, Resolved, Undecided
from muster.resolution.telling.conflict_graph import conflict_graph
from muster.resolution.telling.explain import explain_package
from muster.resolution.telling.fixes import suggested_fixes
from muster.resolution.telling.lock import lock_changes, make_lock
from muster.resolution.telling.plan import Action
from muster.resolution.telling.story import tell
from muster.resolution.time_limits import GoOn, UndecidedError, always

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.resolution.catalog.catalog import Fault
    from muster.resolution.resolve import Outcome
    from muster.resolution.telling.lock import Lock
    from muster.resolution.telling.plan import Plan, Step
    from muster.values.causes import Cause
    from muster.values.json import JsonObject

_MOST_STEPS: Final = 500
_MOST_PASSED_OVER: Final = 3
_MOST_LINES: Final = 20
_MOST_FIXES: Final = 8
_MOST_FACTS: Final = 40
_MOST_TEXT: Final = 8192


def previewed(
    outcome: Outcome,
    *,
    go_on: GoOn = always,
    seconds: float = 0,
    explain: str = "",
    lock: Lock | None = None,
    unavailable: Sequence[Fault] = (),
) -> ResolutionPreviewStatus:
    """The whole answer. `seconds` is the limit that was given for deciding, `unavailable` are catalogs that could not
    be read."""
    match outcome:
        case Resolved():
            found = _resolved(outcome, go_on, explain, lock)
        case Undecided():
            late = Reason(Code.NOT_DECIDED, parameters={"seconds": f"{seconds:g}"})
            found = ResolutionPreviewStatus(UNDECIDED, sentence(late), _plain(late))
        case Refused(text=text, reason=reason):
            found = ResolutionPreviewStatus(REFUSED, text, _plain(reason))
        case _:
            found = _impossible(outcome, go_on, seconds)
    catalogs: Iterable[Fault] = ()
    if isinstance(outcome, Resolved | Impossible):
        catalogs = (fault for each in outcome.problem.request.catalogs for fault in each.faults)
    faults = dict.fromkeys(map(str, (*unavailable, *catalogs)))
    return replace(found, catalog_faults=tuple(faults))


def invalid_preview(text: str, causes: Iterable[Cause] = ()) -> ResolutionPreviewStatus:
    """What was asked cannot be resolved at all."""
    diagnostics = tuple(Diagnostic(each.field, each.message, ERROR) for each in causes)
    return ResolutionPreviewStatus(INVALID, text, diagnostics=diagnostics)


def summary(steps: Sequence[PlannedStep]) -> str:
    """How many are to be installed, updated and kept."""
    counts = {action: sum(step.action == action for step in steps) for action in Action}
    return ", ".join(f"{count} to {action.value}" for action, count in counts.items() if count) or "nothing to do"


def bounded(status: ResolutionPreviewStatus) -> ResolutionPreviewStatus:
    """As much of an answer as travels: the first of everything, long texts shortened."""
    return replace(
        status,
        text=status.text if len(status.text) <= _MOST_TEXT else f"{status.text[:_MOST_TEXT]}…",
        plan=_first_steps(status.plan),
        notes=_first(status.notes),
        facts=status.facts[:_MOST_FACTS],
        fixes=tuple(replace(fix, plan=_first_steps(fix.plan)) for fix in status.fixes[:_MOST_FIXES]),
        faults=_first(status.faults),
        catalog_faults=_first(status.catalog_faults),
        reasons={name: reasons[:_MOST_LINES] for name, reasons in status.reasons.items()},
        diagnostics=status.diagnostics[:_MOST_LINES],
    )


def _first_steps(steps: tuple[PlannedStep, ...]) -> tuple[PlannedStep, ...]:
    return tuple(replace(each, passed_over=each.passed_over[:_MOST_PASSED_OVER]) for each in steps[:_MOST_STEPS])


def _first(texts: tuple[str, ...]) -> tuple[str, ...]:
    more = len(texts) - _MOST_LINES
    return (*texts[:_MOST_LINES], f"and {more} more") if more > 0 else texts


def _resolved(outcome: Resolved, go_on: GoOn, explain: str, lock: Lock | None) -> ResolutionPreviewStatus:
    plan, after = outcome.plan, make_lock(outcome)
    steps = planned_steps(plan)
    reasons = {"notes": _plain_all(plan.remarks), "faults": _plain_all(fault.reason for fault in plan.faults)}
    explanation: JsonObject | None = None
    if explain:
        try:
            explanation = explain_package(outcome, explain, go_on).to_json()
        except UndecidedError:
            explanation = {"package": explain, "text": "why was not found out in time"}
    changes = None
    if lock is not None:
        changes = tuple(LockDifference(each.package, each.before, each.after) for each in lock_changes(lock, after))
    return ResolutionPreviewStatus(
        RESOLVED,
        summary(steps),
        plan=steps,
        notes=plan.notes,
        faults=tuple(map(str, plan.faults)),
        reasons=reasons,
        explanation=explanation,
        lock=after.to_json(),
        lock_changes=changes,
    )


def _impossible(outcome: Impossible, go_on: GoOn, seconds: float) -> ResolutionPreviewStatus:
    problem = outcome.problem
    faults = tuple(map(str, problem.faults))
    reasons = {"faults": _plain_all(fault.reason for fault in problem.faults)}
    try:
        if problem.request.upstream:
            told = {**reasons, "facts": _plain_all(outcome.reasons)}
            return ResolutionPreviewStatus(IMPOSSIBLE, outcome.upstream_text, faults=faults, reasons=told)
        story = tell(problem, go_on=go_on)
    except UndecidedError:
        late = f"No answer. Why was not found out in {seconds:g} s."
        return ResolutionPreviewStatus(IMPOSSIBLE, late, faults=faults, reasons=reasons)
    found = ResolutionPreviewStatus(
        IMPOSSIBLE,
        story.text,
        facts=tuple(msgspec.convert(each, ConflictFact) for each in story.to_json()),
        conflict=conflict_graph(problem, [each.fact for each in story.facts]),
        faults=faults,
        reasons=reasons,
    )
    fixes = suggested_fixes(problem, go_on, with_plans=True)
    told_fixes = tuple(PreviewFix(fix.text, _plain(fix.reason), planned_steps(fix.plan)) for fix in fixes)
    return replace(found, fixes=told_fixes)


def planned_steps(plan: Plan) -> tuple[PlannedStep, ...]:
    """A plan as answers have it."""
    return tuple(map(_step, plan.steps))


def _step(step: Step) -> PlannedStep:
    return PlannedStep(
        action=step.action.value,
        name=step.name,
        package=step.package,
        version=step.version,
        channel=step.channel,
        catalog=step.catalog,
        replaces=step.replaces,
        asked_by=step.asked_by,
        needs=step.needs,
        passed_over=tuple(
            PassedOverStep(each.name, each.version, each.channel, each.catalog, each.why, _plain(each.reason))
            for each in step.passed_over
        ),
        reasons={"askedBy": _plain_all(step.reasons)},
    )


def _plain(reason: Reason) -> JsonObject:
    found: JsonObject = msgspec.to_builtins(reason)
    return found


def _plain_all(reasons: Iterable[Reason]) -> tuple[JsonObject, ...]:
    return tuple(map(_plain, reasons))
