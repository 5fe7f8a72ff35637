"""`muster classify`: which hosts get which labels, without a hub, over files, standard input or what a server has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from muster.cli.classify.asking import asked_server, checked, tried_here
from muster.cli.classify.output import (
    label_text,
    outcome_text,
    plain_conditions,
    print_parts,
    report_of,
    taken_text,
    trouble,
)
from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.options import Context, Files, Kubeconfig, Output, OutputFormat, with_client
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import TablePrinter, print_json, print_yaml
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.api.fleet_classification import ClassificationPreviewSpec, ClassificationPreviewStatus, HostRow
    from muster.client import Client

_GROUP = "agent-install.openshift.io"


def command(
    filename: Files = None,
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agents", metavar="FILE", help="Agents: files, directories, -; else the server of the kubeconfig."
        ),
    ] = None,
    why: Annotated[
        str,
        typer.Option(
            "--why",
            metavar="AGENT",
            help="Explain what every classification says of this agent.",
            show_default=False,
        ),
    ] = "",
    output: OutputFormat = Output.TABLE,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Say which labels AgentClassifications put on which agents.

    A server is asked where it answers such questions, so that inventories need not travel.

    Exits with 0 when every query answers true or false on every agent, 1 when one does not or a label is in the way,
    2 for bad input. With --why: 0 when the agent gets a label, 1 when it gets none.

    Examples:
      muster classify
      muster classify -f examples/02-classify-hosts/classifications.yaml --agents fleet
      muster classify -f fleet --agents fleet --why 4d19aab7c8bc17e5
    """
    from muster.api.fleet_classification import ClassificationPreviewSpec

    inputs = _Inputs(filename, agents, context, kubeconfig)
    found = inputs.answer(ClassificationPreviewSpec())
    if why:
        _explain(inputs, found, _agent_named(found, why))
        return
    if output in (Output.TABLE, Output.WIDE):
        _print_tables(found, wide=output is Output.WIDE)
    elif output is Output.NAME:
        sys.stdout.writelines(f"{row.name}\n" for row in found.rows if row.labels)
    elif output is Output.JSON:
        print_json(_plain(found))
    else:
        print_yaml(_plain(found))
    if any(trouble(report_of(fare)) for fare in found.classifications):
        raise typer.Exit(int(Exit.NO))


class _Inputs:
    """What is classified, and where: files, or what a server has; those who answer for it."""

    def __init__(
        self, filename: list[str] | None, agents: list[str] | None, context: str | None, kubeconfig: str | None
    ) -> None:
        self._filename = filename
        self._agents = agents
        self._server = (context, kubeconfig)
        self._given = None if not filename else _in_files("AgentClassification", filename)
        self._listed: tuple[list[JsonObject], list[JsonObject]] | None = None

    def answer(self, spec: ClassificationPreviewSpec) -> ClassificationPreviewStatus:
        """All classifications together, or on one host."""
        for obj in self._given or ():
            checked(obj, trusting=False)
        if not self._agents:
            among = None if self._given is None else tuple(self._given)
            return asked_server(msgspec.structs.replace(spec, among=among), *self._server)
        if self._listed is None:
            wanted = self._given if self._given is not None else self._live("AgentClassification")
            self._listed = wanted, _in_files("Agent", self._agents)
        return tried_here(spec, *self._listed, trusting=self._given is None)

    def _live(self, kind: str) -> list[JsonObject]:
        return with_client(lambda client: _live(client, kind), *self._server)


def _in_files(kind: str, names: Sequence[str]) -> list[JsonObject]:
    """Objects of a kind. Hosts that metal3 or NFD have found stand for Agents."""
    from muster.importing.hosts import agent_of

    objects = [document.object for document in read_documents(names)]
    found = [obj for obj in objects if obj["kind"] == kind]
    if kind == "Agent":
        found += [agent for obj in objects if (agent := agent_of(obj)) is not None]
    if not found:
        raise InvalidObjectError(", ".join(names), f"there is no {kind} here")
    return found


async def _live(client: Client, kind: str) -> list[JsonObject]:
    resource = (await client.discover()).named(f"{kind.lower()}s.{_GROUP}")
    return [item async for page in client.pages(resource.path()) for item in page["items"]]


# ---------------------------------------------------------------------------------------------------------- printing


def _print_tables(found: ClassificationPreviewStatus, *, wide: bool) -> None:
    columns: list[JsonObject] = [{"name": "Agent"}, {"name": "Labels"}, {"name": "Changes", "priority": 1}]
    rows: list[JsonObject] = [
        {
            "cells": [row.name, label_text(row.labels), _changes(row)],
            "object": {"metadata": {"namespace": row.namespace}},
        }
        for row in found.rows
    ]
    TablePrinter(wide=wide, with_namespace=True).print({"columnDefinitions": columns, "rows": rows})
    sys.stdout.write("\n")
    columns = [{"name": name} for name in ("Classification", "Matched", "Errors", "Note")]
    rows = [
        {
            "cells": [fare.name, fare.matched, fare.errors, trouble(report_of(fare))],
            "object": {"metadata": {"namespace": fare.namespace}},
        }
        for fare in found.classifications
    ]
    TablePrinter(wide=wide, with_namespace=True).print({"columnDefinitions": columns, "rows": rows})
    if found.hidden or found.hidden_classifications:
        sys.stderr.write(
            f"{found.hidden} agents and {found.hidden_classifications} classifications are not shown: "
            "you may not get them\n"
        )


def _changes(row: HostRow) -> str:
    return ",".join(f"{key}{'-' if value is None else f'={value}'}" for key, value in sorted(row.changes.items()))


def _plain(found: ClassificationPreviewStatus) -> JsonObject:
    from muster.classification import LABEL_PREFIX

    return {
        "agents": [
            {
                "namespace": row.namespace,
                "name": row.name,
                "labels": {LABEL_PREFIX + key: value for key, value in row.labels.items()},
                "changes": {LABEL_PREFIX + key: value for key, value in row.changes.items()},
                "outcomes": {each.classification: outcome_text(each) for each in row.outcomes},
            }
            for row in found.rows
        ],
        "classifications": [
            {
                "namespace": fare.namespace,
                "name": fare.name,
                "matchedCount": fare.matched,
                "errorCount": fare.errors,
                "conditions": plain_conditions(report_of(fare)),
            }
            for fare in found.classifications
        ],
    }


# -------------------------------------------------------------------------------------------------------- explaining


def _agent_named(found: ClassificationPreviewStatus, wanted: str) -> HostRow:
    """The agent that is meant by its name, or by namespace/name."""
    matching = [row for row in found.rows if wanted in (row.name, f"{row.namespace}/{row.name}")]
    if not matching:
        raise InvalidObjectError("", f"there is no agent {wanted!r}")
    if len(matching) > 1:
        places = ", ".join(f"{row.namespace}/{row.name}" for row in matching)
        raise InvalidObjectError("", f"{wanted!r} may be any of {places}")
    return matching[0]


def _explain(inputs: _Inputs, found: ClassificationPreviewStatus, agent: HostRow) -> None:
    from muster.api.fleet_classification import ClassificationPreviewSpec

    spec = ClassificationPreviewSpec(namespace=agent.namespace, host=agent.name, explain=True)
    row = next(each for each in inputs.answer(spec).rows if each.namespace == agent.namespace)
    fares = {each.name: each for each in found.classifications if each.namespace == agent.namespace}
    sys.stdout.write(f"{row.name}: {label_text(row.labels) or 'no label'}\n")
    for outcome in row.outcomes:
        fare = fares[outcome.classification]
        sys.stdout.write(f"\n{fare.name} ({fare.key}={fare.value}): {outcome_text(outcome)}\n")
        if outcome.taken is not None:
            sys.stdout.write(f"  the label is not applied, its key has the value {taken_text(outcome.taken)}\n")
        status, _, message = report_of(fare).conditions["QueryValid"]
        if status == "False":
            sys.stdout.write("".join(f"  {line}\n" for line in message.splitlines()))
        print_parts(outcome.parts)
    if not row.labels:
        raise typer.Exit(int(Exit.NO))
