"""`muster classify`: which hosts get which labels, without a hub, over files, standard input or what a server has."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.classify.output import label_text, outcome_text, plain_conditions, print_parts, trouble
from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fields import text_in
from muster.cli.inputs.options import Context, Files, Kubeconfig, Output, OutputFormat, with_client
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import TablePrinter, print_json, print_yaml
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.classification import Classified, ClassifiedAgent
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

    Exits with 0 when every query answers true or false on every agent, 1 when one does not or a label is in the way,
    2 for bad input. With --why: 0 when the agent gets a label, 1 when it gets none.

    Examples:
      muster classify
      muster classify -f examples/02-classify-hosts/classifications.yaml --agents fleet
      muster classify -f fleet --agents fleet --why 4d19aab7c8bc17e5
    """
    from muster.classification import classify

    wanted = _objects("AgentClassification", filename, context, kubeconfig)
    hosts = _objects("Agent", agents, context, kubeconfig)
    found = classify(wanted, hosts, trusting=not filename)
    if why:
        _explain(found, _agent_named(found, why), wanted, hosts)
        return
    if output in (Output.TABLE, Output.WIDE):
        _print_tables(found, wide=output is Output.WIDE)
    elif output is Output.NAME:
        sys.stdout.writelines(f"{agent.name}\n" for agent in found.agents if _given(agent))
    elif output is Output.JSON:
        print_json(_plain(found))
    else:
        print_yaml(_plain(found))
    if any(trouble(report) for report in found.reports.values()):
        raise typer.Exit(int(Exit.NO))


def _objects(kind: str, names: Sequence[str] | None, context: str | None, kubeconfig: str | None) -> list[JsonObject]:
    """The objects of one kind in files, or on the server when no file is named."""
    if not names:
        return with_client(lambda client: _live(client, kind), context, kubeconfig)
    found = [document.object for document in read_documents(names) if document.object["kind"] == kind]
    if not found:
        raise InvalidObjectError(", ".join(names), f"there is no {kind} here")
    return found


async def _live(client: Client, kind: str) -> list[JsonObject]:
    resource = (await client.discover()).named(f"{kind.lower()}s.{_GROUP}")
    return [item async for page in client.pages(resource.path()) for item in page["items"]]


# ---------------------------------------------------------------------------------------------------------- printing


def _given(agent: ClassifiedAgent) -> dict[str, str]:
    """The labels that classifications give, by key without the prefix."""
    from muster.classification import LABEL_PREFIX

    return {
        key.removeprefix(LABEL_PREFIX): value
        for key, value in sorted(agent.labels.items())
        if key.startswith(LABEL_PREFIX)
    }


def _print_tables(found: Classified, *, wide: bool) -> None:
    columns: list[JsonObject] = [{"name": "Agent"}, {"name": "Labels"}, {"name": "Changes", "priority": 1}]
    rows: list[JsonObject] = [
        {
            "cells": [agent.name, label_text(_given(agent)), _changes(agent)],
            "object": {"metadata": {"namespace": agent.namespace}},
        }
        for agent in found.agents
    ]
    TablePrinter(wide=wide, with_namespace=True).print({"columnDefinitions": columns, "rows": rows})
    sys.stdout.write("\n")
    columns = [{"name": name} for name in ("Classification", "Matched", "Errors", "Note")]
    rows = [
        {
            "cells": [name, report.matched, report.errors, trouble(report)],
            "object": {"metadata": {"namespace": namespace}},
        }
        for (namespace, name), report in found.reports.items()
    ]
    TablePrinter(wide=wide, with_namespace=True).print({"columnDefinitions": columns, "rows": rows})


def _changes(agent: ClassifiedAgent) -> str:
    from muster.classification import LABEL_PREFIX

    return ",".join(
        f"{key.removeprefix(LABEL_PREFIX)}{'-' if value is None else f'={value}'}"
        for key, value in sorted(agent.changes.items())
    )


def _plain(found: Classified) -> JsonObject:
    return {
        "agents": [
            {
                "namespace": agent.namespace,
                "name": agent.name,
                "labels": dict(agent.labels),
                "changes": dict(agent.changes),
                "outcomes": {name: outcome_text(outcome) for name, outcome in agent.outcomes.items()},
            }
            for agent in found.agents
        ],
        "classifications": [
            {
                "namespace": namespace,
                "name": name,
                "matchedCount": report.matched,
                "errorCount": report.errors,
                "conditions": plain_conditions(report),
            }
            for (namespace, name), report in found.reports.items()
        ],
    }


# -------------------------------------------------------------------------------------------------------- explaining


def _agent_named(found: Classified, wanted: str) -> ClassifiedAgent:
    """The agent that is meant by its name, or by namespace/name."""
    matching = [agent for agent in found.agents if wanted in (agent.name, f"{agent.namespace}/{agent.name}")]
    if not matching:
        raise InvalidObjectError("", f"there is no agent {wanted!r}")
    if len(matching) > 1:
        places = ", ".join(f"{agent.namespace}/{agent.name}" for agent in matching)
        raise InvalidObjectError("", f"{wanted!r} may be any of {places}")
    return matching[0]


def _explain(
    found: Classified, agent: ClassifiedAgent, wanted: Sequence[JsonObject], hosts: Sequence[JsonObject]
) -> None:
    from muster.classification import explain_query, queried_inventory

    inventory = next(
        queried_inventory(each)
        for each in hosts
        if (text_in(each["metadata"], "namespace"), each["metadata"]["name"]) == (agent.namespace, agent.name)
    )
    sys.stdout.write(f"{agent.name}: {label_text(_given(agent)) or 'no label'}\n")
    for obj in sorted(wanted, key=lambda each: str(each["metadata"]["name"])):
        if obj["metadata"].get("namespace") not in (None, "", agent.namespace):
            continue
        name, spec = obj["metadata"]["name"], obj["spec"]
        report = found.reports[agent.namespace, name]
        explanation = explain_query(spec["query"], inventory)
        outcome = agent.outcomes[name]  # a paused query says something else than one run of it
        sys.stdout.write(f"\n{name} ({spec['labelKey']}={spec['labelValue']}): {outcome_text(outcome)}\n")
        if name in agent.missed:
            sys.stdout.write(f"  the label is not applied, its key has the value {agent.missed[name]}\n")
        if report.conditions["QueryValid"][0] == "False":
            sys.stdout.write("".join(f"  {line}\n" for line in report.conditions["QueryValid"][2].splitlines()))
        print_parts(explanation.parts)
    if not _given(agent):
        raise typer.Exit(int(Exit.NO))
