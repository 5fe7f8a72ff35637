"""`muster approve`: let removals go that a guard holds, exactly those that were shown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.completion.answers import names_of
from muster.cli.inputs.options import Context, Kubeconfig, Namespace, with_client
from muster.cli.terminal.commands import App
from muster.cli.terminal.consent import asked, require_terminal
from muster.cli.terminal.exits import Exit
from muster.errors import ApiError, InvalidObjectError
from muster.values.api_paths import object_path
from muster.values.json import JsonObject
from muster.values.messages import listed

if TYPE_CHECKING:
    from muster.client import Client

app = App()
MANAGER: Final = "muster-approve"
APPROVAL: Final = "placement.muster.dev/approve-removals"  # muster.placement.guards.APPROVAL, without its imports
_PLACEMENTS: Final = ("cluster.open-cluster-management.io", "v1beta1", "placements")
_RECORDS: Final = ("placement.muster.dev", "v1alpha1", "placementguardrecords")
_NOT_FOUND: Final = 404
_SHOWN: Final = 50


@app.callback()
def _approve() -> None:
    """Let through what a guard holds."""


@app.command()
def placement(
    name: Annotated[
        str,
        typer.Argument(metavar="[NAMESPACE/]NAME", help="The placement.", autocompletion=names_of("placements")),
    ],
    namespace: Namespace = None,
    digest: Annotated[
        str,
        typer.Option("--digest", metavar="DIGEST", help="Approve only if this is the change that waits."),
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Let the removals go that the guards of a placement hold: those that are shown, and nothing else.

    Shows what would be removed and what holds it, and asks. With --digest nothing is asked: the digest names the
    change, as the condition RemovalsHeld shows it. You need the permission to `approve` placements.

    Examples:
      muster approve placement apps/checkout --yes
      muster approve placement checkout -n apps --digest 3f0c2a9d1b7e64a85c11
    """
    if not yes and not digest:
        require_terminal("approve")
    of, slash, rest = name.partition("/")
    if slash and namespace and of != namespace:
        raise InvalidObjectError("", f"{name} is not in the namespace {namespace}: say it once")

    async def read(client: Client) -> tuple[str, str, JsonObject | None]:
        where = of if slash else namespace or client.connection.namespace
        return where, rest if slash else name, await _held(client, where, rest if slash else name)

    where, chosen, held = with_client(read, context, kubeconfig)
    if held is None:
        sys.stdout.write(f"nothing waits for an approval: no removal of {where}/{chosen} is held\n")
        raise typer.Exit(int(Exit.NO))
    _print(where, chosen, held)
    if digest and digest != held["digest"]:
        raise InvalidObjectError("", f"{digest} is not the change that waits, which is {held['digest']}: look again")
    if not yes and not digest and not asked("Remove them?"):
        sys.stderr.write("nothing was approved\n")
        raise typer.Exit(int(Exit.NO))

    async def write(client: Client) -> None:
        body = {"metadata": {"annotations": {APPROVAL: held["digest"]}}}
        reply = await client.request(
            "PATCH",
            object_path(*_PLACEMENTS, where, chosen),
            params={"fieldManager": MANAGER},
            body=body,
            content_type="application/merge-patch+json",
        )
        sys.stderr.writelines(f"Warning: {warning}\n" for warning in reply.warnings)

    with_client(write, context, kubeconfig)
    sys.stdout.write(f"approved: change {held['digest']} of {where}/{chosen}\n")


async def _held(client: Client, namespace: str, name: str) -> JsonObject | None:
    """The change that waits, if one does."""
    try:
        record: JsonObject = (await client.request("GET", object_path(*_RECORDS, namespace, name))).json()
    except ApiError as error:
        if error.code != _NOT_FOUND:
            raise
        # No record: either nothing was ever held, or there is no such placement, which the server says better.
        await client.request("GET", object_path(*_PLACEMENTS, namespace, name))
        record = {}
    held = record.get("held")
    return held if isinstance(held, dict) else None


def _print(namespace: str, name: str, held: JsonObject) -> None:
    names = [str(each) for each in held.get("clusters", [])]
    sys.stdout.write(f"{namespace}/{name}: {held['count']} clusters would be removed:\n")
    sys.stdout.writelines(f"  {each}\n" for each in names[:_SHOWN])
    more = held["count"] - min(len(names), _SHOWN)
    if more > 0:
        sys.stdout.write(f"  and {more} more\n")
    if held.get("revoked"):
        sys.stdout.write(f"{held['revoked']} of them are in no cluster set any more that is bound to {namespace}\n")
    sys.stdout.write(f"held since {held.get('since', 'an unknown time')}: {held.get('message', '')}\n")
    sys.stdout.write(f"codes: {listed([str(each) for each in held.get('reasons', [])])}; digest: {held['digest']}\n")
