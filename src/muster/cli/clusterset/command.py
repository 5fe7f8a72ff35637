"""`muster clusterset`: who is in a set, which sets a cluster is in, who may join one, and may this user, and why."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from muster.cli.clusterset.inventory import FileInventory, Inventory, ask, ask_files, named
from muster.cli.completion.answers import names_of
from muster.cli.inputs.askers import Asked
from muster.cli.inputs.askers import ask as ask_server
from muster.cli.inputs.fleets import FleetFiles  # noqa: TC001 - typer reads annotations at run time
from muster.cli.inputs.grants import print_rows
from muster.cli.inputs.options import Context, Kubeconfig, Report, ReportFormat
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from muster.access.set_access import MoveAnswer
    from muster.cli.clusterset.membership import Members, SetsOfCluster

app = App()
SetName = Annotated[
    str, typer.Argument(metavar="SET", help="The cluster set.", autocompletion=names_of("managedclustersets"))
]
ClusterName = Annotated[
    str, typer.Argument(metavar="CLUSTER", help="The cluster.", autocompletion=names_of("managedclusters"))
]


@app.callback()
def _clusterset() -> None:
    """Ask about cluster sets. Works with a hub, any Kubernetes server, or files."""


@app.command()
def members(
    cluster_set: SetName,
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """The clusters of a set, by which rule, and those that miss it by a capital letter.

    Examples:
      muster clusterset members prod-clusters
      muster clusterset members prod-clusters --fleet fleet -o json
    """
    from muster.cli.clusterset.membership import members_of
    from muster.selectors.membership import ExclusiveMembership, membership

    async def question(inventory: Inventory) -> Members:
        wanted = named(await inventory.cluster_sets(), "cluster set", cluster_set)
        rule = membership(wanted)
        return members_of(wanted, await inventory.clusters(rule.key if isinstance(rule, ExclusiveMembership) else ""))

    found = ask(question, fleet, context, kubeconfig)
    if output is not Report.TEXT:
        print_report(msgspec.to_builtins(found), output)
        return
    sys.stdout.write(f"{found.set} has {_counted(found.members, 'cluster')}, by {found.rule}\n")
    sys.stdout.writelines(f"  {name}\n" for name in found.members)
    for each in found.near_misses:
        sys.stdout.write(f"not in it: {each.cluster}: {each.why}\n")


@app.command("of")
def sets_of_cluster(
    cluster: ClusterName,
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """All sets that a cluster is in, by key, and why; and the keys by which it is in none.

    Examples:
      muster clusterset of prod-eu-central-1-00023
      muster clusterset of prod-eu-central-1-00023 --fleet fleet
    """
    from muster.cli.clusterset.membership import sets_of

    async def question(inventory: Inventory) -> SetsOfCluster:
        return sets_of(await inventory.cluster(cluster), await inventory.cluster_sets())

    found = ask(question, fleet, context, kubeconfig)
    if output is not Report.TEXT:
        print_report(msgspec.to_builtins(found), output)
        return
    sys.stdout.write(f"{found.cluster} is in {_counted(found.sets, 'cluster set')}\n")
    rows = [{"key": each.key or "-", "set": each.set, "why": each.why} for each in found.sets]
    rows += [{"key": each.key, "set": "-", "why": each.why} for each in found.without]
    print_rows(rows)
    for broken in found.unusable:
        sys.stdout.write(f"{broken.set} cannot be evaluated: {broken.why}\n")


@app.command("who-can-join")
def who_can_join(
    cluster_set: SetName,
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Everybody whom a role lets put clusters into a set and take them out, the binding, and which clusters.

    Needs the right to list roles and bindings. Members of system:masters may do everything without a role.
    Exits with 1 if nobody else may.

    Examples:
      muster clusterset who-can-join prod-clusters
      muster clusterset who-can-join prod-clusters -o yaml
    """
    from muster.access.set_access import changers, joiners
    from muster.selectors.membership import ExclusiveMembership, membership

    async def in_files(inventory: FileInventory) -> tuple[bool, list[dict[str, str]]]:
        wanted = named(await inventory.cluster_sets(), "cluster set", cluster_set)
        guarded = isinstance(membership(wanted), ExclusiveMembership)
        policy = await inventory.policy()
        return guarded, joiners(policy, cluster_set) if guarded else changers(policy)

    async def of_server(asked: Asked) -> tuple[bool, list[dict[str, str]]]:
        from muster.cli.clusterset.reviews import joiners_of

        return await joiners_of(asked, cluster_set)

    if fleet:
        guarded, rows = ask_files(in_files, fleet)
    else:
        guarded, rows = ask_server(of_server, None, context, kubeconfig)
    if output is not Report.TEXT:
        print_report(rows, output)
    else:
        if not guarded:
            sys.stdout.write(f"{cluster_set} has a label selector: whoever may change a cluster's labels decides.\n")
            sys.stdout.write("These may change all clusters:\n" if rows else "")
        if rows:
            print_rows(rows)
        else:
            sys.stdout.write("no role allows it to anybody\n")
    if not rows:
        raise typer.Exit(int(Exit.NO))


@app.command()
def why(
    user: Annotated[str, typer.Argument(metavar="USER", help="The user, or system:serviceaccount:NAMESPACE:NAME.")],
    cluster: ClusterName,
    cluster_set: SetName,
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="GROUP", help="A group of the user; repeat for more.", show_default=False),
    ] = None,
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Whether a user may move a cluster into a set, or out of it when it is in there, and what that needs.

    Shows each permission with the binding that grants it, and rules for those that are missing. To ask about others
    needs the right to create subjectaccessreviews. Exits with 0 for yes and 1 for no.

    Examples:
      muster clusterset why dana prod-eu-central-1-00023 dev-clusters
      muster clusterset why dana prod-eu-central-1-00023 prod-clusters --group operators
    """
    from muster.access.set_access import move, the_user

    async def in_files(inventory: FileInventory) -> MoveAnswer:
        sets = await inventory.cluster_sets()
        wanted = named(sets, "cluster set", cluster_set)
        asked = the_user(user, groups or ())
        return move(await inventory.policy(), asked, await inventory.cluster(cluster), wanted, sets)

    async def of_server(asked: Asked) -> MoveAnswer:
        from muster.cli.clusterset.reviews import move_of

        return await move_of(asked, user, tuple(groups or ()), cluster, cluster_set)

    answer = ask_files(in_files, fleet) if fleet else ask_server(of_server, None, context, kubeconfig)
    if output is not Report.TEXT:
        print_report(_as_object(answer), output)
    else:
        _print_move(answer)
    if not answer.allowed:
        raise typer.Exit(int(Exit.NO))


def _print_move(answer: MoveAnswer) -> None:
    from muster.clustersets.permissions import rules_text

    write = sys.stdout.write
    way = "into" if answer.enters else "out of"
    verdict = f"yes: {answer.user} may" if answer.allowed else f"no: {answer.user} may not"
    write(f"{verdict} move {answer.cluster} {way} {answer.set}\n")
    if answer.note:
        write(f"  {answer.note}\n")
    if answer.change:
        write(f"  {answer.change}\n")
    for need in answer.needs:
        first = need.any_of[0]
        verbs = " or ".join(each.verb for each in need.any_of)
        write(f'├─ {"✓" if need.is_met else "✗"} {verbs} {first.path} "{first.name}": {first.reason}\n')
        for verb, binding in need.granted.items():
            write(f"│      {verb}: by {binding}\n")
    if answer.missing:
        write(f"└─ rules of a ClusterRole that grants what is missing:\n{rules_text(answer.missing)}\n")
    else:
        write("└─ nothing is missing\n" if answer.needs else "└─ no permission would do\n")


def _as_object(answer: MoveAnswer) -> JsonObject:
    from muster.clustersets.permissions import role_rules

    return {
        "allowed": answer.allowed,
        "user": answer.user,
        "cluster": answer.cluster,
        "set": answer.set,
        "direction": "into" if answer.enters else "out of",
        "change": answer.change,
        "note": answer.note,
        "needs": [
            {
                "anyOf": [
                    {"verb": each.verb, "group": each.group, "resource": each.path, "name": each.name}
                    for each in need.any_of
                ],
                "reason": need.any_of[0].reason,
                "met": need.is_met,
                "grantedBy": dict(need.granted),
            }
            for need in answer.needs
        ],
        "missingRules": role_rules(answer.missing),
    }


def _counted(things: tuple[Json, ...], noun: str) -> str:
    return f"{len(things) or 'no'} {noun}{'' if len(things) == 1 else 's'}"
