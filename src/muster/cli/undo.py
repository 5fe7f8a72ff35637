"""`muster undo`: an earlier spec of a placement comes back, in one command."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.completion.answers import names_of
from muster.cli.history import PLACEMENTS, read_history, revision_of
from muster.cli.inputs.fields import items_of, number_in, part_of, text_in
from muster.cli.inputs.options import Context, Kubeconfig, Namespace, with_client
from muster.cli.terminal.commands import App
from muster.cli.terminal.consent import asked, require_terminal
from muster.cli.terminal.exits import Exit
from muster.errors import ApiError, InvalidObjectError
from muster.values.api_paths import object_path
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from muster.client import Client, Reply

app = App()
MANAGER: Final = "muster-undo"
_MOST_FIELDS: Final = 50
_ATTEMPTS: Final = 5
_CONFLICT: Final = 409


@app.callback()
def _undo() -> None:
    """Bring back what was there before."""


@app.command()
def placement(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The placement.", autocompletion=names_of("placements"))],
    namespace: Namespace = None,
    to: Annotated[
        int | None,
        typer.Option(
            "--to", metavar="REVISION", help="The revision to go back to; else the one before.", show_default=False
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Also show which clusters it would gain and lose.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Restore an earlier spec of a placement; nothing but the spec.

    Shows what changes and asks. Nothing is written if somebody else has changed its spec meanwhile.
    `muster history placement` lists the revisions.

    Examples:
      muster undo placement checkout -n apps --plan --yes
      muster undo placement checkout -n apps --to 1 --yes
    """
    if not yes:
        require_terminal("undo")

    async def read(client: Client) -> tuple[JsonObject, JsonObject]:
        where = namespace or client.connection.namespace
        current: JsonObject = (await client.request("GET", object_path(*PLACEMENTS, where, name))).json()
        return current, await read_history(client, where, name)

    current, record = with_client(read, context, kubeconfig)
    chosen = revision_of(record, to) if to is not None else before(record, current)
    restored = {**current, "spec": chosen["spec"]}
    if not _print_difference(current, restored, chosen):
        return
    if plan:
        _print_plan(restored, context, kubeconfig)
    if not yes and not asked("Restore it?"):
        sys.stderr.write("nothing was changed\n")
        raise typer.Exit(int(Exit.NO))

    async def write(client: Client) -> int:
        path = object_path(*PLACEMENTS, current["metadata"]["namespace"], name)
        reply = await _replaced(client, path, current, chosen)
        sys.stderr.writelines(f"Warning: {warning}\n" for warning in reply.warnings)
        return number_in(reply.json()["metadata"], "generation")

    generation = with_client(write, context, kubeconfig)
    sys.stdout.write(f"the spec of revision {chosen['revision']} is back, as revision {generation}\n")


async def _replaced(client: Client, path: str, shown: JsonObject, chosen: JsonObject) -> Reply:
    """Written over the spec that was shown, and over no other. That a status or a label has changed meanwhile is no
    reason to refuse: the controllers may be at work."""
    found = shown
    for _ in range(_ATTEMPTS):
        try:
            body = {**found, "spec": chosen["spec"]}
            return await client.request("PUT", path, params={"fieldManager": MANAGER}, body=body)
        except ApiError as error:
            if error.code != _CONFLICT:
                raise
            conflict = error
        found = (await client.request("GET", path)).json()
        if part_of(found, "spec") != part_of(shown, "spec") or _uid(found) != _uid(shown):
            break
    raise conflict


def _uid(found: JsonObject) -> str:
    return text_in(part_of(found, "metadata"), "uid")


def before(record: JsonMapping, current: JsonMapping) -> JsonObject:
    """The newest spec that is not the present one. Raises InvalidObjectError when there is none."""
    for each in reversed(items_of(record, "revisions")):
        if each["spec"] != part_of(current, "spec"):
            found: JsonObject = each
            return found
    raise InvalidObjectError("", "there is nothing to go back to: no earlier spec is kept")


def _print_difference(current: JsonObject, restored: JsonObject, chosen: JsonObject) -> bool:
    """What the restored spec changes; whether it changes anything."""
    from muster.placement.explain.differences import changed_fields

    fields = changed_fields(part_of(current, "spec"), restored["spec"], _MOST_FIELDS, "spec")
    if not fields:
        sys.stdout.write(f"the spec is that of revision {chosen['revision']} already\n")
        return False
    by = f" by {chosen['manager']}" if chosen.get("manager") else ""
    sys.stdout.write(f"back to revision {chosen['revision']} of {chosen.get('time', 'an unknown time')}{by}:\n")
    sys.stdout.writelines(f"  {field}\n" for field in fields)
    return True


def _print_plan(restored: JsonObject, context: str | None, kubeconfig: str | None) -> None:
    from muster.api.fleet_plan import PlanSpec
    from muster.cli.plan.asking import answered
    from muster.cli.plan.output import print_plan

    # Of whatever version: that controllers have written a status since is no reason to foresee nothing.
    metadata = {name: value for name, value in restored["metadata"].items() if name != "resourceVersion"}
    whole = {"apiVersion": f"{PLACEMENTS[0]}/{PLACEMENTS[1]}", "kind": "Placement", **restored, "metadata": metadata}
    print_plan(answered(PlanSpec(replace=(whole,), field_manager=MANAGER), None, context, kubeconfig))
