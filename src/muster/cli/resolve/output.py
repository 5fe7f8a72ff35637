"""How `muster resolve` prints plans and failures for people."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from muster.cli.terminal.output import print_json, print_yaml
from muster.resolution.telling.plan import Action
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.resolution import Fix, Plan, Step, Story
    from muster.resolution.catalog.catalog import Fault


class Output(StrEnum):
    """How to print: for people, or for programs."""

    TREE = "tree"
    JSON = "json"
    YAML = "yaml"


_MOST_PASSED_OVER = 3
_SIGN = {Action.INSTALL: "+", Action.UPDATE: "^", Action.KEEP: "="}


def plan_lines(plan: Plan) -> Iterator[str]:
    """A tree: what was asked for, and below it what that needs. An operator is described where it first appears."""
    by_name = {step.name: step for step in plan.steps}
    counts = {action: sum(step.action is action for step in plan.steps) for action in Action}
    counted = ", ".join(f"{count} to {action.value}" for action, count in counts.items() if count)
    yield counted or "nothing to do"
    shown: set[str] = set()
    roots = [step for step in plan.steps if step.wants]
    for step in [*roots, *plan.steps]:
        if step.name not in shown:
            yield from _branch(step, by_name, shown, "")
    if plan.notes:
        yield ""
        yield from (f"note: {note}" for note in plan.notes)


def _branch(step: Step, by_name: dict[str, Step], shown: set[str], indent: str) -> Iterator[str]:
    again = step.name in shown
    yield f"{indent}{_SIGN[step.action]} {_title(step)}{'  (see above)' if again else ''}"
    if again:
        return
    shown.add(step.name)
    for asked in step.asked_by:
        yield f"{indent}    because {asked}"
    for each in step.passed_over[:_MOST_PASSED_OVER]:
        yield f"{indent}    not {each.name} ({each.channel or 'installed'}): {each.why}"
    if len(step.passed_over) > _MOST_PASSED_OVER:
        yield f"{indent}    and not {len(step.passed_over) - _MOST_PASSED_OVER} more"
    for need in step.needs:
        if need in by_name:
            yield from _branch(by_name[need], by_name, shown, f"{indent}    ")


def _title(step: Step) -> str:
    where = f" from {step.catalog}, channel {step.channel}" if step.catalog else ""
    replaces = f", replaces {step.replaces}" if step.action is Action.UPDATE else ""
    return f"{step.name}{where}{replaces}"


def print_value(value: Json, output: Output) -> None:
    (print_json if output is Output.JSON else print_yaml)(value)


def drawn(plan: Plan, name: str) -> str:
    """The picture of a plan, in the manner that the name of its file asks for."""
    from muster.resolution.telling.graph import mermaid, svg

    return svg(plan) if name.endswith(".svg") else mermaid(plan)


def failure_lines(story: Story, fixes: Sequence[Fix]) -> Iterator[str]:
    yield "No answer."
    yield story.text
    if fixes:
        yield ""
        yield "Each of these would help (tried):"
        yield from (f"  - {fix.text}" for fix in fixes)


def fault_lines(faults: Sequence[Fault]) -> Iterator[str]:
    """What was taken out because it cannot be used."""
    return (f"warning: {fault}" for fault in faults)
