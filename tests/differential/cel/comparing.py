"""Where a peer's answer and ours differ, by aspect."""

from __future__ import annotations

from typing import Any

from muster.cel.costs.runtime import LIMIT_MESSAGE
from tests.differential.cel.ours import COST_LIMIT, Answer
from tests.differential.cel.world import canonical
from tests.differential.peer import Lost


def read(answer: Any) -> Answer | Lost:
    """A peer's answer in the form of ours."""
    if isinstance(answer, Lost):
        return answer
    estimate = answer.get("estimate")
    error = answer.get("error")
    return Answer(
        issues=answer.get("issues"),
        creation=answer.get("creation"),
        type=answer.get("type", ""),
        value=canonical(answer.get("value")),
        error=None if error is None else error.replace("proto:\N{NO-BREAK SPACE}", "proto: "),  # differs by build
        cost=answer.get("cost"),
        estimate=None if estimate is None else (estimate[0], estimate[1]),
        panic=answer.get("panic", ""),
    )


def outcome(answer: Answer) -> str:
    """How far an expression came."""
    for name in ("panic", "issues", "creation", "error"):
        if getattr(answer, name) not in (None, ""):
            return name
    return "value"


def aspects(ours: Answer, theirs: Answer) -> list[str]:
    """The aspects in which the two differ, the weightiest first; none if they are the same."""
    ending = outcome(theirs)
    if outcome(ours) != ending:
        return [f"{ending} there, {outcome(ours)} here"]
    different = []
    if ending in ("issues", "creation", "error") and getattr(ours, ending) != getattr(theirs, ending):
        different.append("text")
    if ending in ("value", "error") and ours.type != theirs.type:
        different.append("type")
    if ending == "value" and ours.value != theirs.value:
        different.append("value")
    if ending in ("value", "error") and theirs.cost is not None and _cost(ours) != _cost(theirs):
        different.append("cost")
    if ending in ("value", "error") and theirs.estimate is not None and ours.estimate != theirs.estimate:
        different.append("estimate")
    return different


def _cost(answer: Answer) -> int | None:
    """Above the limit the cost says only that it is."""
    return COST_LIMIT + 1 if answer.error == LIMIT_MESSAGE else answer.cost
