"""`muster lint`: mistakes in placements that are valid and still cannot be meant, judged by the fleet there is."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from muster.cli.documents import read_documents
from muster.cli.exits import Exit
from muster.cli.fleets import FleetFiles, gathered
from muster.cli.options import Context, Files, Kubeconfig  # noqa: TC001 - typer reads annotations at run time
from muster.cli.output import print_json
from muster.errors import InvalidObjectError


def command(
    filename: Files = None,
    fleet: FleetFiles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Look for names that no cluster has, comparisons that can never hold, costly expressions, tolerations for nothing.

    Without -f the placements of the fleet itself are looked at. Exits with 1 when there are findings.
    """
    from muster.controllers.preview import world_of
    from muster.placement import plan_of, visibility
    from muster.placement.lint import lint, vocabulary
    from muster.plugins import installed
    from muster.selectors.cel import CelLimits, cel_compiler

    objects, namespace = gathered(fleet, context, kubeconfig)
    world = world_of((each for each in objects if each["kind"] != "Placement"), datetime.now(UTC))
    if filename:
        wanted = [(each.origin, each.object) for each in read_documents(filename) if each.object["kind"] == "Placement"]
    else:
        wanted = [(each["metadata"]["name"], each) for each in objects if each["kind"] == "Placement"]
    if not wanted:
        raise InvalidObjectError("", "there is no Placement to look at")
    known, limits = vocabulary(world.fleet), CelLimits()
    found = []
    for origin, obj in wanted:
        placement = {**obj, "metadata": {"namespace": namespace, **obj["metadata"]}}
        plan = plan_of(placement, cel_compiler(world.fleet.scores, limits), installed()[1])
        seen = visibility(
            plan.namespace,
            plan.cluster_sets,
            world.bindings.get(plan.namespace, {}).values(),
            world.sets.values(),
        )
        found += [
            {"origin": origin, "placement": f"{plan.namespace}/{plan.name}", "where": each.where, "message": str(each)}
            for each in lint(plan, world.fleet, seen, known, limits.estimate)
        ]
    if as_json:
        print_json(found)
    else:
        sys.stdout.writelines(f"{each['origin']}: {each['placement']}: {each['message']}\n" for each in found)
        sys.stdout.write(f"{len(found)} findings in {len(wanted)} placements over {known.clusters} clusters\n")
    if found:
        raise typer.Exit(int(Exit.NO))
