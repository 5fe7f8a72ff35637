"""`muster auth`: may I, who may, who am I. Works against the hub and against any Kubernetes server."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from muster.access.subjects import grant_rows
from muster.cli.completion.answers import kinds, verbs
from muster.cli.inputs.fields import items_of
from muster.cli.inputs.grants import live_policy, print_rows
from muster.cli.inputs.options import AllNamespaces, Context, Kubeconfig, Namespace, Report, ReportFormat, with_client
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.values.api_paths import collection_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.client import Client
    from muster.hub.requests import Attributes

app = App()

Verb = Annotated[str, typer.Argument(autocompletion=verbs, help="get, list, watch, create, update, patch, delete, …")]
What = Annotated[
    str,
    typer.Argument(metavar="KIND", help="Kind, kind/subresource, or a path such as /metrics.", autocompletion=kinds),
]
Name = Annotated[str, typer.Argument(help="Name of one object.")]


@app.callback()
def _auth() -> None:
    """Ask who may do what."""


@app.command("can-i")
def can_i(
    verb: Verb,
    what: What,
    name: Name = "",
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    user: Annotated[
        str, typer.Option("--as", metavar="USER", help="Ask about this user; needs the right to ask.")
    ] = "",
    groups: Annotated[list[str] | None, typer.Option("--as-group", metavar="GROUP", help="And these groups.")] = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Whether something is allowed, and by what. Exits with 0 for yes and 1 for no.

    Examples:
      muster auth can-i delete managedclusters
      muster auth can-i create placements -n apps --as dana
      muster auth can-i get /metrics
    """

    async def work(client: Client) -> JsonObject:
        asked = await _attributes(client, verb, what, name, "" if all_namespaces else namespace)
        kind = "SubjectAccessReview" if user or groups else "SelfSubjectAccessReview"
        spec: JsonObject = _review_spec(asked)
        if user or groups:
            spec |= {"user": user, "groups": list(groups or ())}
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
        path = collection_path("authorization.k8s.io", "v1", f"{kind.lower()}s")
        status: JsonObject = (await client.request("POST", path, body=body)).json()["status"]
        return status

    status = with_client(work, context, kubeconfig)
    if output is not Report.TEXT:
        print_report(status, output)
    else:
        reason = f" - {status['reason']}" if status.get("reason") else ""
        sys.stdout.write(f"{'yes' if status.get('allowed') else 'no'}{reason}\n")
    if not status.get("allowed"):
        raise typer.Exit(int(Exit.NO))


@app.command("who-can")
def who_can(
    verb: Verb,
    what: What,
    name: Name = "",
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Everybody whom a role allows something, and the binding that does. Needs the right to list roles and bindings.

    Members of system:masters may do everything without a role. Exits with 1 if nobody else may.

    Examples:
      muster auth who-can update managedclusters
      muster auth who-can create placements -n apps
    """

    async def work(client: Client) -> list[dict[str, str]]:
        asked = await _attributes(client, verb, what, name, "" if all_namespaces else namespace)
        policy = await live_policy(client)
        return [row for binding in policy.who_can(asked) for row in grant_rows(binding)]

    rows = with_client(work, context, kubeconfig)
    if output is not Report.TEXT:
        print_report(rows, output)
    elif rows:
        print_rows(rows)
    else:
        sys.stdout.write("no role allows it to anybody\n")
    if not rows:
        raise typer.Exit(int(Exit.NO))


@app.command()
def whoami(output: ReportFormat = Report.TEXT, context: Context = None, kubeconfig: Kubeconfig = None) -> None:
    """Who the server takes me for.

    Examples:
      muster auth whoami
      muster auth whoami -o json
    """

    async def work(client: Client) -> JsonObject:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        info: JsonObject = (await client.request("POST", path, body=body)).json()["status"]["userInfo"]
        return info

    info = with_client(work, context, kubeconfig)
    if output is not Report.TEXT:
        print_report(info, output)
        return
    sys.stdout.write(f"{info.get('username', '')}\n")
    for group in items_of(info, "groups"):
        sys.stdout.write(f"  in {group}\n")


async def _attributes(client: Client, verb: str, what: str, name: str, namespace: str | None) -> Attributes:
    """What is asked about. Resources may be abbreviated as on any command line."""
    from muster.hub.requests import Attributes

    if what.startswith("/"):
        return Attributes(verb, path=what)
    resource, _, subresource = what.partition("/")
    served = (await client.discover()).named(resource)
    where = ""
    if served.namespaced:
        where = client.connection.namespace if namespace is None else namespace
    return Attributes(verb, served.group, served.version, served.plural, subresource, where, name)


def _review_spec(asked: Attributes) -> JsonObject:
    if asked.path:
        return {"nonResourceAttributes": {"verb": asked.verb, "path": asked.path}}
    members = {
        name: getattr(asked, name)
        for name in ("verb", "group", "version", "resource", "subresource", "namespace", "name")
    }
    return {"resourceAttributes": {name: value for name, value in members.items() if value}}
