"""How `muster resolve` prints plans and failures, for people and for programs. Answers come from here or a server."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from muster.api.fleet_resolution import IMPOSSIBLE, RESOLVED
from muster.cli.terminal.output import print_json, print_yaml
from muster.resolution.telling.plan import Action
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.fleet_resolution import PlannedStep, ResolutionPreviewStatus


class Output(StrEnum):
    """How to print: for people, or for programs."""

    TREE = "tree"
    JSON = "json"
    YAML = "yaml"


_MOST_PASSED_OVER = 3
_SIGN = {Action.INSTALL: "+", Action.UPDATE: "^", Action.KEEP: "="}


@dataclass(frozen=True, slots=True)
class _Drawn:
    steps: Sequence[PlannedStep]


def print_answer(status: ResolutionPreviewStatus, output: Output) -> None:
    """The plan, the package that was asked about, or why there is none."""
    if status.outcome == RESOLVED:
        _print_resolved(status, output)
    elif status.outcome == IMPOSSIBLE and (status.facts or "facts" in status.reasons):
        _print_impossible(status, output)
    else:
        # People read it on standard error; programs get the outcome where they expect it.
        sys.stderr.write(f"{status.text}\n")
        if output is not Output.TREE:
            why = {} if status.reason is None else {"reason": status.reason}
            print_value({"outcome": status.outcome, "text": status.text, **why}, output)


def _print_resolved(status: ResolutionPreviewStatus, output: Output) -> None:
    if status.explanation is not None:
        if output is Output.TREE:
            sys.stdout.write(f"{status.explanation['text']}\n")
        else:
            print_value({"outcome": status.outcome, **status.explanation}, output)
        return
    _print_faults(status.faults)
    if output is Output.TREE:
        sys.stdout.writelines(f"{line}\n" for line in plan_lines(status))
        return
    plain = _plain(status)
    told = {name: plain.get(name, []) for name in ("plan", "notes", "faults")}
    reasons = {name: plain["reasons"].get(name, []) for name in ("notes", "faults")}
    print_value({"outcome": status.outcome, **told, "reasons": reasons}, output)


def _print_impossible(status: ResolutionPreviewStatus, output: Output) -> None:
    plain = _plain(status)
    if not status.facts:  # in the dialect of OLM v0: the conflict in upstream's words; programs get it clause by clause
        if output is Output.TREE:
            sys.stdout.write(f"{status.text}\n")
        else:
            reasons = {"facts": plain["reasons"]["facts"]}
            print_value({"outcome": status.outcome, "text": status.text, "reasons": reasons}, output)
        return
    _print_faults(status.faults)
    if output is Output.TREE:
        sys.stdout.writelines(f"{line}\n" for line in failure_lines(status))
        return
    fixes = plain.get("fixes", [])
    value = {
        "outcome": status.outcome,
        "facts": plain["facts"],
        "conflict": plain.get("conflict"),
        "fixes": [fix["text"] for fix in fixes],
        "plans": [fix["plan"] for fix in fixes],
        "faults": list(status.faults),
        "reasons": {"fixes": [fix["reason"] for fix in fixes], "faults": plain["reasons"].get("faults", [])},
    }
    print_value(value, output)


def _print_faults(faults: Sequence[str]) -> None:
    """What was taken out because it cannot be used."""
    sys.stderr.writelines(f"warning: {fault}\n" for fault in faults)


def print_catalog_faults(status: ResolutionPreviewStatus) -> None:
    _print_faults(status.catalog_faults)


def _plain(status: ResolutionPreviewStatus) -> JsonObject:
    found: JsonObject = msgspec.json.decode(msgspec.json.encode(status))
    return {"reasons": {}, **found}


def plan_lines(status: ResolutionPreviewStatus) -> Iterator[str]:
    """A tree: what was asked for, and below it what that needs. An operator is described where it first appears."""
    by_name = {step.name: step for step in status.plan}
    yield status.text
    shown: set[str] = set()
    roots = [step for step in status.plan if step.wants]
    for step in [*roots, *status.plan]:
        if step.name not in shown:
            yield from _branch(step, by_name, shown, "")
    if status.notes:
        yield ""
        yield from (f"note: {note}" for note in status.notes)


def _branch(step: PlannedStep, by_name: dict[str, PlannedStep], shown: set[str], indent: str) -> Iterator[str]:
    again = step.name in shown
    yield f"{indent}{_SIGN[Action(step.action)]} {_title(step)}{'  (see above)' if again else ''}"
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


def _title(step: PlannedStep) -> str:
    where = f" from {step.catalog}, channel {step.channel}" if step.catalog else ""
    replaces = f", replaces {step.replaces}" if step.action == Action.UPDATE else ""
    return f"{step.name}{where}{replaces}"


def print_value(value: Json, output: Output) -> None:
    (print_json if output is Output.JSON else print_yaml)(value)


def drawn(steps: Sequence[PlannedStep], name: str) -> str:
    """The picture of a plan, in the manner that the name of its file asks for."""
    from muster.resolution.telling.graph import mermaid, svg

    plan = _Drawn(steps)
    return svg(plan) if name.endswith(".svg") else mermaid(plan)


def failure_lines(status: ResolutionPreviewStatus) -> Iterator[str]:
    yield "No answer."
    yield status.text
    if status.fixes:
        yield ""
        yield "Each of these would help (tried):"
        yield from (f"  - {fix.text}" for fix in status.fixes)
