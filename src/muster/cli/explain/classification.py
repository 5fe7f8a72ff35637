"""`muster explain classification`: what a query says of many hosts, or of one with the values of the query's parts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from muster.cli.classify.output import outcome_text, plain_conditions, print_parts, trouble
from muster.cli.completion.answers import names_of
from muster.cli.inputs.fields import part_of, text_in
from muster.cli.inputs.fleets import FleetFiles  # noqa: TC001 - typer reads annotations at run time
from muster.cli.inputs.host_objects import DEFAULT_NAMESPACE, host_objects, namespace_of, one_named, placed
from muster.cli.inputs.options import Context, Kubeconfig, Namespace, Report, ReportFormat
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.classification import ClassifiedAgent, Explanation, OutcomeGroup
    from muster.classification import Report as ClassificationReport
    from muster.cli.inputs.host_objects import HostObjects

_MOST_GROUPS = 8


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

    All agents are summarised by outcome, each with the parts on an example. Exits with 1 when the query fails
    somewhere or a label is in the way; with --agent, when the agent does not get the label.

    Examples:
      muster explain classification size-large -n hosts
      muster explain classification size-large -n hosts --agent 4d19aab7c8bc17e5
    """
    from muster.classification import classify

    objects = host_objects(fleet, context, kubeconfig, namespace)
    wanted = one_named(objects.classifications, "AgentClassification", name, namespace or objects.namespace)
    where = _namespace(objects, wanted, namespace, agent)
    agents = {each["metadata"]["name"]: placed(each, where) for each in objects.agents if namespace_of(each) == where}
    rivals = [placed(each, where) for each in objects.classifications if namespace_of(each) in ("", where)]
    found = classify(rivals, agents.values(), trusting=objects.is_live)
    asked = _Asked(wanted, where, found.reports[where, name], agents)
    if agent:
        named = agent.rpartition("/")[2]
        classified = next((each for each in found.agents if each.name == named), None)
        if classified is None:
            raise InvalidObjectError("", f"there is no agent {named!r} in namespace {where}")
        _explain_one(asked, classified, output)
    else:
        _explain_all(asked, found.agents, output)


class _Asked:
    """The classification in question, and the agents it is about."""

    def __init__(
        self, obj: JsonObject, namespace: str, report: ClassificationReport, agents: dict[str, JsonObject]
    ) -> None:
        spec = part_of(obj, "spec")
        self.name: str = obj["metadata"]["name"]
        self.namespace = namespace
        self.label = f"{spec.get('labelKey')}={spec.get('labelValue')}"
        self.query = text_in(spec, "query")
        self.report = report
        self._agents = agents

    def explain(self, agent: str) -> Explanation:
        from muster.classification import explain_query, queried_inventory

        return explain_query(self.query, queried_inventory(self._agents[agent]))

    def plain(self) -> JsonObject:
        return {
            "classification": self.name,
            "namespace": self.namespace,
            "label": self.label,
            "query": self.query,
            "conditions": plain_conditions(self.report),
        }


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


# ------------------------------------------------------------------------------------------------------- one agent


def _explain_one(asked: _Asked, agent: ClassifiedAgent, output: Report) -> None:
    from muster.classification import LABEL_PREFIX, Verdict

    outcome = agent.outcomes[asked.name]  # a paused query says something else than one run of it
    explanation = asked.explain(agent.name)
    key, _, value = asked.label.partition("=")
    carried = agent.labels.get(LABEL_PREFIX + key)
    gets_it = outcome.verdict is Verdict.MATCH and carried == value
    if output is not Report.TEXT:
        told = {
            "agent": agent.name,
            "outcome": outcome.verdict.value,
            "text": outcome.text,
            "why": msgspec.to_builtins(outcome.why),
            "value": carried,
            "taken": agent.missed.get(asked.name),
            "parts": _plain_parts(explanation),
        }
        print_report({**asked.plain(), **told}, output)
    else:
        _print_head(asked)
        sys.stdout.write(f"\n{agent.name}: {outcome_text(outcome)}\n")
        if asked.name in agent.missed:
            sys.stdout.write(f"  the label is not applied, its key has the value {agent.missed[asked.name]}\n")
        print_parts(explanation.parts)
    if not gets_it:
        raise typer.Exit(int(Exit.NO))


def _plain_parts(explanation: Explanation) -> list[JsonObject]:
    return [{"text": part.text, "values": list(part.values), "more": part.more} for part in explanation.parts]


# ------------------------------------------------------------------------------------------------------ all agents


def _explain_all(asked: _Asked, agents: Sequence[ClassifiedAgent], output: Report) -> None:
    from muster.classification import outcome_groups

    groups = outcome_groups(agents, asked.name)
    report = asked.report
    if output is not Report.TEXT:
        told = {
            "agents": len(agents),
            "matchedCount": report.matched,
            "errorCount": report.errors,
            "outcomes": [
                {
                    "outcome": group.outcome.verdict.value,
                    "text": group.outcome.text,
                    "why": msgspec.to_builtins(group.outcome.why),
                    "count": group.count,
                    "examples": list(group.examples),
                    "parts": _plain_parts(asked.explain(group.examples[0])),
                }
                for group in groups
            ],
        }
        print_report({**asked.plain(), **told}, output)
    else:
        _print_head(asked)
        _print_groups(asked, groups, len(agents))
    if trouble(report):
        raise typer.Exit(int(Exit.NO))


def _print_head(asked: _Asked) -> None:
    write = sys.stdout.write
    write(f"{asked.name} in {asked.namespace} sets {asked.label} where {' '.join(asked.query.split())}\n")
    for kind, bad in (("QueryValid", "False"), ("QueryPaused", "True"), ("LabelsApplied", "False")):
        status, _, message = asked.report.conditions.get(kind, ("", "", ""))
        if status == bad:
            write("".join(f"! {line}\n" for line in message.splitlines()))


def _print_groups(asked: _Asked, groups: Sequence[OutcomeGroup], total: int) -> None:
    write = sys.stdout.write
    matching = sum(group.count for group in groups if group.outcome.verdict.value == "match")
    write(f"it matches {matching} of {total} agents and is on {asked.report.matched}\n")
    for group in groups[:_MOST_GROUPS]:
        more = ", …" if group.count > len(group.examples) else ""
        write(f"\n{group.count} {outcome_text(group.outcome)} ({', '.join(group.examples)}{more})\n")
        print_parts(asked.explain(group.examples[0]).parts)
    rest = groups[_MOST_GROUPS:]
    if rest:
        write(f"\n{sum(group.count for group in rest)} for {len(rest)} other reasons\n")
