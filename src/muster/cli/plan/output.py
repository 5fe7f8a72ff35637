"""How a plan is told: to people in lines, to machines as JSON or YAML. Markdown is in its own module."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from muster.cli.plan.host_labels import plain_hosts, print_hosts
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.fleet_plan import PlacementPlan, PlanStatus

_SHOWN: Final = 12
_ASKED: Final = ("FailIfRemoves", "FailIfEmpty")  # muster.questions.plans.guards, without its imports


def print_plan(status: PlanStatus, *, reasons: bool = False) -> None:
    """For people."""
    if status.placements or status.hosts is None:
        print_placements(status.placements, reasons=reasons)
    if status.hosts is not None:
        print_hosts(status.hosts)
    for each in status.refused:
        sys.stdout.write(f"! {each.field}: {each.kind} {each.name} would be refused: {each.message}\n")
    for diagnostic in status.diagnostics:
        sys.stdout.write(f"! {diagnostic.message}\n")
    if status.restricted:
        sys.stdout.write("! there is more than you may see: placements and clusters of others are left out\n")


def print_placements(placements: Sequence[PlacementPlan], *, reasons: bool = False) -> None:
    """For people."""
    if not placements:
        sys.stdout.write("no placement changes\n")
    for each in placements:
        sys.stdout.write(f"{each.namespace}/{each.name}: {kind_of(each)}{each.before} → {each.after} clusters\n")
        if each.fault:
            sys.stdout.write(f"  ! misconfigured, its decisions would stay: {each.fault}\n")
        gained = list(each.gained.names)
        lost = [f"{one.name}: {one.reason}" if reasons and one.reason else one.name for one in each.lost.clusters]
        sys.stdout.writelines(f"  ~ {text}\n" for text in waits(each))
        for sign, lines, count in (("+", gained, each.gained.count), ("-", lost, each.lost.count)):
            sys.stdout.writelines(f"  {sign} {line}\n" for line in lines[:_SHOWN])
            if count > min(len(lines), _SHOWN):
                sys.stdout.write(f"  {sign} … and {count - min(len(lines), _SHOWN)} more\n")


def kind_of(placement: PlacementPlan) -> str:
    """What comes before the numbers."""
    return "new, " if placement.created else "deleted, " if placement.deleted else ""


def objections(status: PlanStatus) -> list[str]:
    """What guards object to."""
    return [guard.message for each in status.placements for guard in each.guards if not guard.allowed]


def waits(placement: PlacementPlan) -> list[str]:
    """What guards would hold for a while, or hold already: nothing that speaks against the plan."""
    return [guard.message for guard in placement.guards if guard.allowed and guard.code not in _ASKED]


def plain(status: PlanStatus, *, live: bool) -> JsonObject:
    """For machines. What is empty is left out, except what was always there."""
    found: JsonObject = {
        "placements": [dict(_plain_placement(each)) for each in status.placements],
        "refused": [
            {"origin": each.field, "kind": each.kind, "name": each.name, "code": each.code, "reason": each.message}
            for each in status.refused
        ],
    }
    if status.hosts is not None:
        found["hosts"] = plain_hosts(status.hosts)
    if status.sets:
        found["sets"] = [
            {"name": each.name, "gained": list(each.gained.names), "lost": list(each.lost.names)}
            for each in status.sets
        ]
    if missing := [each for each in status.permissions if not each.allowed]:
        found["missingPermissions"] = [
            {"verb": each.verb, "resource": each.resource, "namespace": each.namespace, "name": each.name}
            for each in missing
        ]
    if status.diagnostics:
        found["notes"] = [each.message for each in status.diagnostics]
    if status.restricted:
        found["restricted"] = True
    if live:
        found["token"] = status.token
    return found


def _plain_placement(each: PlacementPlan) -> Iterator[tuple[str, object]]:
    yield "namespace", each.namespace
    yield "name", each.name
    yield "before", each.before
    yield "after", each.after
    yield "gained", list(each.gained.names)
    yield "lost", [one.name for one in each.lost.clusters]
    yield "isNew", each.created
    yield "isDeleted", each.deleted
    if each.kept.names:
        yield "kept", list(each.kept.names)
    if each.lost.clusters:
        yield "reasons", {one.name: {"code": one.code, "reason": one.reason} for one in each.lost.clusters}
    if unnamed := each.gained.unnamed + each.lost.unnamed + each.kept.unnamed:
        yield "unnamed", unnamed
    if each.guards:
        yield "guards", [{"code": one.code, "allowed": one.allowed, "message": one.message} for one in each.guards]
    if each.fault:
        yield "misconfigured", each.fault
