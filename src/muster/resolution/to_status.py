"""An outcome as the status of a Resolution: the plan or the story, within bounds that an object can carry.

The worker of the controllers calls it; the times of conditions are the controller's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, assert_never

from muster.resolution.resolve import Impossible, Outcome, Refused, Resolved, Undecided
from muster.resolution.solving.sat import GoOn, UndecidedError
from muster.resolution.telling.fixes import suggested_fixes
from muster.resolution.telling.plan import Action
from muster.resolution.telling.story import tell
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


class Verdict(NamedTuple):
    """A condition without its times."""

    status: str
    reason: str
    message: str


class Answer(NamedTuple):
    """What a resolution came to: its conditions by type, and the other fields of the status."""

    conditions: dict[str, Verdict]
    fields: JsonObject


def answer(outcome: Outcome, unavailable: Sequence[Fault], go_on: GoOn, limit: float) -> Answer:
    """The status of an outcome. `unavailable` are catalogs that could not be read at all."""
    match outcome:
        case Resolved(plan=plan):
            verdict, fields = _resolved(plan)
        case Impossible():
            verdict, fields = _impossible(outcome, unavailable, go_on)
        case Undecided():
            text = f"not decided in {limit:g} s; spec.timeLimitSeconds allows more, a range or a channel leaves less"
            verdict, fields = Verdict("Unknown", NOT_DECIDED, text), {}
        case Refused(text=text):
            verdict, fields = Verdict("False", REFUSED, shortened(text, _MOST_STORY)), {}
        case _:
            assert_never(outcome)
    faults = _faults(outcome)
    problems = list(dict.fromkeys(str(fault) for fault in (*unavailable, *faults)))
    return finished(verdict, fields, problems)


def finished(verdict: Verdict, fields: JsonObject, problems: Sequence[str] = ()) -> Answer:
    """The answer with its problems, and the message where people look for it."""
    usable = Verdict("True", ALL_USABLE, "")
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        usable = Verdict("False", SOME_UNUSABLE, shortened(problems[0], _MOST_TEXT) + more)
        fields = fields | {"problems": lines(problems)}
    conditions = {
        RESOLVED: verdict._replace(message=shortened(verdict.message, 1024)),
        CATALOGS_USABLE: usable,
    }
    return Answer(conditions, {"message": verdict.message, "planned": 0} | fields)


def _faults(outcome: Outcome) -> Iterable[Fault]:
    if not isinstance(outcome, Resolved | Impossible):
        return ()
    problem = outcome.problem
    return (*(fault for catalog in problem.request.catalogs for fault in catalog.faults), *problem.faults)


def _resolved(plan: Plan) -> tuple[Verdict, JsonObject]:
    counts = {action: sum(step.action is action for step in plan.steps) for action in Action}
    text = ", ".join(f"{count} to {action.value}" for action, count in counts.items() if count) or "nothing to do"
    if len(plan.steps) > _MOST_STEPS:
        text += f"; the first {_MOST_STEPS} are shown"
    fields: JsonObject = {
        "plan": [_step(step) for step in plan.steps[:_MOST_STEPS]],
        "planned": counts[Action.INSTALL] + counts[Action.UPDATE],
    }
    if plan.notes:
        fields["notes"] = lines(plan.notes)
    return Verdict("True", RESOLVED, text), fields


def _step(step: Step) -> JsonObject:
    found = step.to_json()
    found["askedBy"] = lines(step.asked_by)
    if step.needs:
        found["needs"] = lines(step.needs)
    if step.passed_over:
        found["passedOver"] = [
            {"name": each.name, "channel": each.channel, "why": shortened(each.why, _MOST_TEXT)}
            for each in step.passed_over[:_MOST_PASSED_OVER]
        ]
    return found


def _impossible(outcome: Impossible, unavailable: Sequence[Fault], go_on: GoOn) -> tuple[Verdict, JsonObject]:
    # Without all catalogs, what is missing may be in those that could not be read.
    reason = CATALOG_PROBLEM if unavailable else UNSATISFIABLE
    try:
        if outcome.problem.request.upstream:
            return Verdict("False", reason, shortened(outcome.upstream_text, _MOST_STORY)), {}
        story = tell(outcome.problem, go_on=go_on).text
    except UndecidedError:
        return Verdict("False", reason, "there is no answer; why was not found out in time"), {}
    fixes = [fix.text for fix in suggested_fixes(outcome.problem, go_on)]
    return Verdict("False", reason, shortened(story, _MOST_STORY)), {"fixes": lines(fixes)} if fixes else {}


def lines(texts: Sequence[str]) -> list[str]:
    """The first of the texts, each shortened, and how many more there are."""
    shown = [shortened(text, _MOST_TEXT) for text in texts[:_MOST_LINES]]
    return [*shown, f"and {len(texts) - _MOST_LINES} more"] if len(texts) > _MOST_LINES else shown


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
