"""Plans of installations on a terminal, and for machines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from muster.cli.terminal.paint import Shade, paint_for
from muster.kubernetes.installing.plan import Deed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.installing.plan import Plan, Step
    from muster.values.json import JsonObject

_SIGNS: Final = {
    Deed.CREATE: ("+", Shade.GOOD),
    Deed.CHANGE: ("~", Shade.UNSURE),
    Deed.REMOVE: ("-", Shade.BAD),
    Deed.KEEP: ("=", Shade.QUIET),
    Deed.LEAVE_OUT: ("=", Shade.QUIET),
    Deed.CONFLICT: ("!", Shade.BAD),
    Deed.REFUSE: ("!", Shade.BAD),
}
_WORDS: Final = {
    Deed.CREATE: "created",
    Deed.CHANGE: "changed",
    Deed.UNCHANGED: "unchanged",
    Deed.REMOVE: "removed",
    Deed.KEEP: "kept",
    Deed.LEAVE_OUT: "left out",
    Deed.CONFLICT: "in conflict",
    Deed.REFUSE: "refused",
}
_SHOWN: Final = 4


def print_plan(plan: Plan) -> None:
    """A line for each object that something happens to, and how many there are of each."""
    paint = paint_for()
    for alike in _alike(plan):
        step, others = alike[0], len(alike) - 1
        if step.deed in _SIGNS:
            sign, shade = _SIGNS[step.deed]
            more = f" and {others} more of this kind" if others else ""
            sys.stdout.write(f"{paint(f'{sign} {step.id}{more}', shade)}{_details(step)}\n")
    sys.stdout.write(f"{summary(plan)}\n")


def _alike(plan: Plan) -> Iterator[list[Step]]:
    """One line tells of all that is kept for the same reason."""
    kept: dict[tuple[Deed, str, tuple[str, ...]], list[Step]] = {}
    for step in plan.steps:
        if step.deed is Deed.KEEP and step.details:
            kept.setdefault((step.deed, step.id.kind, step.details), []).append(step)
        else:
            yield [step]
    yield from kept.values()


def summary(plan: Plan) -> str:
    counts = [(plan.count(deed), words) for deed, words in _WORDS.items()]
    told = ", ".join(f"{count} {words}" for count, words in counts if count)
    return f"plan: {told}" if told else "plan: nothing is there"


def plain_plan(plan: Plan) -> JsonObject:
    """For machines."""
    return {"steps": [step.plain() for step in plan.steps]}


def _details(step: Step) -> str:
    if not step.details:
        return ""
    if step.deed in (Deed.CONFLICT, Deed.REFUSE):
        return "".join(f"\n    {line}" for line in step.details)
    shown = ", ".join(step.details[:_SHOWN])
    more = len(step.details) - _SHOWN
    return f": {shown}" + (f" and {more} more" if more > 0 else "")
