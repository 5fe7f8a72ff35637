"""`muster explain`: why a placement selected what it did, and why not the rest; the same for a cluster and a set."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from muster.cli.exits import Exit
from muster.cli.fleets import FleetFiles, gathered
from muster.cli.options import Context, Kubeconfig, Namespace  # noqa: TC001 - typer reads annotations at run time
from muster.cli.output import print_json
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.placement.explanation import ClusterExplanation, FunnelStage
    from muster.selection import Selection

app = typer.Typer(no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
_MOST_REASONS = 8


@app.callback()
def _explain() -> None:
    """Say why: for a placement, a cluster or a cluster set. Works with a hub, any Kubernetes server, or files."""


@app.command()
def placement(
    name: Annotated[str, typer.Argument(help="The placement.")],
    cluster: Annotated[str, typer.Option("--cluster", help="The way of this one cluster.", show_default=False)] = "",
    namespace: Namespace = None,
    fleet: FleetFiles = None,
    as_json: Json = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """The funnel: how many clusters each stage removed, and why; or the whole way of one cluster."""
    from muster.placement.explanation import explain_cluster, funnel
    from muster.plugins import installed

    objects, default = gathered(fleet, context, kubeconfig)
    wanted = _named(objects, "Placement", name, namespace or default)
    selection = _scheduled(objects, wanted)
    result = selection.result
    if result is None:
        raise InvalidObjectError("", f"placement {name} was not scheduled")
    if not cluster:
        stages = funnel(result)
        if as_json:
            print_json({"placement": name, "selected": selection.names, "funnel": msgspec.to_builtins(stages)})
        else:
            _print_funnel(name, stages, selection)
        return
    try:
        explanation = explain_cluster(result, cluster, installed()[0])
    except KeyError:
        raise InvalidObjectError("", f"there is no cluster {cluster!r}") from None
    if as_json:
        print_json(msgspec.to_builtins(explanation))
    else:
        _print_cluster(explanation, name)
    if not explanation.selected:
        raise typer.Exit(int(Exit.NO))


@app.command("cluster")
def one_cluster(
    name: Annotated[str, typer.Argument(help="The cluster.")],
    fleet: FleetFiles = None,
    as_json: Json = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Which placements take the cluster, and why the others do not."""
    from muster.placement.pipeline import why_not
    from muster.plugins import installed

    objects, _ = gathered(fleet, context, kubeconfig)
    _named(objects, "ManagedCluster", name, "")
    answers = []
    for each in objects:
        if each["kind"] != "Placement":
            continue
        key = f"{each['metadata'].get('namespace', '')}/{each['metadata']['name']}"
        try:
            result = _scheduled(objects, each).result
            reason = why_not(result, name, installed()[0]) if result is not None else "not scheduled"
        except InvalidObjectError as error:
            reason = f"the placement is misconfigured: {str(error).splitlines()[0]}"
        answers.append({"placement": key, "selected": reason is None, "reason": reason or "selected"})
    if as_json:
        print_json({"cluster": name, "placements": answers})
        return
    for answer in sorted(answers, key=lambda each: (not each["selected"], str(each["placement"]))):
        sys.stdout.write(f"{'yes' if answer['selected'] else 'no ':3} {answer['placement']}: {answer['reason']}\n")


@app.command("set")
def one_set(
    name: Annotated[str, typer.Argument(help="The cluster set.")],
    fleet: FleetFiles = None,
    as_json: Json = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Which clusters are in a cluster set, by which rule, and where it is bound."""
    from muster.selectors.membership import members, membership

    objects, _ = gathered(fleet, context, kubeconfig)
    found = _named(objects, "ManagedClusterSet", name, "")
    rule = membership(found)
    names = members(found, (each for each in objects if each["kind"] == "ManagedCluster"))
    bound = sorted(
        each["metadata"]["namespace"]
        for each in objects
        if each["kind"] == "ManagedClusterSetBinding" and each["metadata"]["name"] == name
    )
    reads = sorted(str(path[-1]) for path in rule.reads)
    if as_json:
        print_json({"set": name, "reads": reads, "members": names, "namespaces": bound})
        return
    by = f"the label {reads[0]}" if len(reads) == 1 else f"the labels {', '.join(reads)}" if reads else "no condition"
    sys.stdout.write(f"{name} has {len(names)} clusters, by {by}\n")
    sys.stdout.write(f"bound to: {', '.join(bound) or 'no namespace, so no placement can choose from it'}\n")
    sys.stdout.writelines(f"  {each}\n" for each in names[:20])
    if len(names) > 20:
        sys.stdout.write(f"  … and {len(names) - 20} more\n")


def _named(objects: Sequence[Mapping[str, Any]], kind: str, name: str, namespace: str) -> Mapping[str, Any]:
    for each in objects:
        metadata = each["metadata"]
        if each["kind"] == kind and metadata["name"] == name and metadata.get("namespace", "") in ("", namespace):
            return each
    where = f" in namespace {namespace}" if namespace else ""
    raise InvalidObjectError("", f"there is no {kind} {name!r}{where}")


def _scheduled(objects: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]) -> Selection:
    from muster.selection import select

    return select(objects, placement=wanted)


def _print_funnel(name: str, stages: Sequence[FunnelStage], selection: Selection) -> None:
    write = sys.stdout.write
    write(f"placement {name}: {len(selection.names)} of {stages[0].before} clusters\n")
    for stage in stages:
        write(f"├─ {stage.name}: {stage.before} → {stage.after}\n")
        for reason in stage.reasons[:_MOST_REASONS]:
            shown = ", ".join(reason.examples)
            more = ", …" if reason.count > len(reason.examples) else ""
            write(f"│    {reason.count:>6} {reason.reason} ({shown}{more})\n")
        rest = stage.reasons[_MOST_REASONS:]
        if rest:
            write(f"│    {sum(each.count for each in rest):>6} for {len(rest)} other reasons\n")
    write(f"└─ {', '.join(selection.names[:10])}{' …' if len(selection.names) > 10 else ''}\n")


def _print_cluster(explanation: ClusterExplanation, placement_name: str) -> None:
    write = sys.stdout.write
    write(
        f"{explanation.cluster} in {placement_name}: {'yes' if explanation.selected else 'no'}: {explanation.summary}\n"
    )
    for check in explanation.checks:
        write(f"├─ {'✓' if check.passed else '✗'} {check.name}: {check.reason}\n")
        for detail in check.details:
            write(f"│      {detail}\n")
    for scorer, weight, score in explanation.scores:
        write(f"├─ {scorer}: {score} × {weight}\n")
    if explanation.total is not None:
        rank = f"rank {explanation.rank}" if explanation.rank is not None else "below the cut"
        write(f"└─ score {explanation.total}, {rank}\n")
