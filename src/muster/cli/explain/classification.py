"""`muster explain classification`: what a query says of many hosts, or of one with the values of the query's parts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from muster.cli.classify.asking import asked_server, tried_here
from muster.cli.classify.output import (
    outcome_text,
    plain_conditions,
    plain_parts,
    plain_reason,
    print_parts,
    report_of,
    taken_text,
    trouble,
    verdict_word,
)
from muster.cli.completion.answers import names_of
from muster.cli.inputs.fleets import FleetFiles  # noqa: TC001 - typer reads annotations at run time
from muster.cli.inputs.host_objects import DEFAULT_NAMESPACE, host_objects, namespace_of, one_named, placed
from muster.cli.inputs.options import Context, Kubeconfig, Namespace, Report, ReportFormat, with_client
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.errors import ApiError, InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.api.fleet_classification import (
        ClassificationFare,
        ClassificationPreviewSpec,
        ClassificationPreviewStatus,
        HostRow,
    )
    from muster.cli.inputs.host_objects import HostObjects
    from muster.client import Client

_MOST_GROUPS = 8
_NOT_FOUND = 404


def command(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The classification.", autocompletion=names_of("agentclassifications")),
    ],
    agent: Annotated[
        str,
        typer.Option(
            "--agent",
            metavar="AGENT",
            help="What it says of this one agent.",
            show_default=False,
            autocompletion=names_of("agents"),
        ),
    ] = "",
    namespace: Namespace = None,
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """What a classification says of the agents of its namespace, and the values of its query's parts.

    A server is asked where it answers such questions. All agents are summarised by outcome, each with the parts on an
    example. Exits with 1 when the query fails somewhere or a label is in the way; with --agent, when the agent does not
    get the label.

    Examples:
      muster explain classification size-large -n hosts
      muster explain classification size-large -n hosts --agent 4d19aab7c8bc17e5
    """
    from muster.api.fleet_classification import ClassificationPreviewSpec, HostRows

    rows = HostRows(limit=1 if agent else 0)
    host = agent.rpartition("/")[2]
    spec = ClassificationPreviewSpec(name=name, host=host, explain=True, rows=rows)
    if fleet:
        found = _tried(spec, fleet, namespace, agent)
    else:
        found = _asked(spec, namespace or agent.rpartition("/")[0], context, kubeconfig)
    fare = next(each for each in found.classifications if each.name == name)
    if agent:
        _explain_one(fare, found.rows[0], output)
    else:
        _explain_all(fare, found, output)


def _tried(
    spec: ClassificationPreviewSpec, files: list[str], namespace: str | None, agent: str
) -> ClassificationPreviewStatus:
    """What comes of hosts and classifications in files. Raises InvalidObjectError for what is not there."""
    objects = host_objects(files)
    wanted = one_named(objects.classifications, "AgentClassification", spec.name, namespace or "")
    where = _namespace(objects, wanted, namespace, agent)
    agents = [placed(each, where) for each in objects.agents if namespace_of(each) == where]
    if spec.host and not any(each["metadata"]["name"] == spec.host for each in agents):
        raise InvalidObjectError("", f"there is no agent {spec.host!r} in namespace {where}")
    rivals = [placed(each, where) for each in objects.classifications if namespace_of(each) in ("", where)]
    return tried_here(msgspec.structs.replace(spec, namespace=where), rivals, agents, trusting=False)


def _asked(
    spec: ClassificationPreviewSpec, namespace: str, context: str | None, kubeconfig: str | None
) -> ClassificationPreviewStatus:
    """What a server says. Raises InvalidObjectError for what is not there."""

    async def meant(client: Client) -> str:
        return client.connection.namespace

    where = namespace or with_client(meant, context, kubeconfig)
    try:
        return asked_server(msgspec.structs.replace(spec, namespace=where), context, kubeconfig)
    except ApiError as error:
        if error.code != _NOT_FOUND:
            raise
        what = "agent" if error.kind == "agents" else "AgentClassification"
        raise InvalidObjectError("", f"there is no {what} {error.name!r} in namespace {where}") from None


def _namespace(objects: HostObjects, wanted: JsonObject, namespace: str | None, agent: str) -> str:
    """Whose agents are meant. In files a classification without a namespace counts for all of them."""
    own = namespace_of(wanted) or namespace or agent.rpartition("/")[0]
    if own:
        return own
    found = {namespace_of(each) for each in objects.agents}
    if len(found) > 1:
        raise InvalidObjectError(
            "", f"the agents are in several namespaces, {', '.join(sorted(found))}: choose with -n"
        )
    return found.pop() if found else DEFAULT_NAMESPACE


def _plain(fare: ClassificationFare) -> JsonObject:
    return {
        "classification": fare.name,
        "namespace": fare.namespace,
        "label": f"{fare.key}={fare.value}",
        "query": fare.query,
        "conditions": plain_conditions(report_of(fare)),
    }


# ------------------------------------------------------------------------------------------------------- one agent


def _explain_one(fare: ClassificationFare, row: HostRow, output: Report) -> None:
    gets_it = row.verdict == "Matched" and row.after == fare.value
    if output is not Report.TEXT:
        told = {
            "agent": row.name,
            "outcome": verdict_word(row),
            "text": row.error,
            "why": plain_reason(row),
            "value": row.after,
            "taken": None if row.taken is None else taken_text(row.taken),
            "parts": plain_parts(row.parts),
        }
        print_report({**_plain(fare), **told}, output)
    else:
        _print_head(fare)
        sys.stdout.write(f"\n{row.name}: {outcome_text(row)}\n")
        if row.taken is not None:
            sys.stdout.write(f"  the label is not applied, its key has the value {taken_text(row.taken)}\n")
        print_parts(row.parts)
    if not gets_it:
        raise typer.Exit(int(Exit.NO))


# ------------------------------------------------------------------------------------------------------ all agents


def _explain_all(fare: ClassificationFare, found: ClassificationPreviewStatus, output: Report) -> None:
    if output is not Report.TEXT:
        told = {
            "agents": found.hosts,
            "matchedCount": fare.matched,
            "errorCount": fare.errors,
            "outcomes": [
                {
                    "outcome": verdict_word(group),
                    "text": group.error,
                    "why": plain_reason(group),
                    "count": group.count,
                    "examples": list(group.examples),
                    "parts": plain_parts(group.parts),
                }
                for group in found.outcomes
            ],
        }
        print_report({**_plain(fare), **told}, output)
    else:
        _print_head(fare)
        _print_groups(fare, found)
    if trouble(report_of(fare)):
        raise typer.Exit(int(Exit.NO))


def _print_head(fare: ClassificationFare) -> None:
    write = sys.stdout.write
    write(f"{fare.name} in {fare.namespace} sets {fare.key}={fare.value} where {' '.join(fare.query.split())}\n")
    for kind, bad in (("QueryValid", "False"), ("QueryPaused", "True"), ("LabelsApplied", "False")):
        status, _, message = report_of(fare).conditions.get(kind, ("", "", ""))
        if status == bad:
            write("".join(f"! {line}\n" for line in message.splitlines()))


def _print_groups(fare: ClassificationFare, found: ClassificationPreviewStatus) -> None:
    write = sys.stdout.write
    write(f"it matches {found.matched} of {found.hosts} agents and is on {fare.matched}\n")
    if found.hidden:
        write(f"{found.hidden} more agents were not looked at: you may not get them\n")
    for group in found.outcomes[:_MOST_GROUPS]:
        more = ", …" if group.count > len(group.examples) else ""
        write(f"\n{group.count} {outcome_text(group)} ({', '.join(group.examples)}{more})\n")
        print_parts(group.parts)
    if found.outcomes_in_all > _MOST_GROUPS:
        rest = found.hosts - sum(group.count for group in found.outcomes[:_MOST_GROUPS])
        write(f"\n{rest} for {found.outcomes_in_all - _MOST_GROUPS} other reasons\n")
