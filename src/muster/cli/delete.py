"""`muster delete`: objects named on the command line, chosen by a selector, or read from files."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.completion.answers import kinds_and_names
from muster.cli.completion.answers import names as names_of_kind
from muster.cli.inputs.documents import read_objects
from muster.cli.inputs.fields import text_in
from muster.cli.inputs.options import Context, Files, Kubeconfig, Namespace, Selector, with_client
from muster.cli.terminal.exits import Exit
from muster.errors import ApiError, InvalidObjectError

if TYPE_CHECKING:
    from muster.client import Client, ServedResource


def command(
    resource: Annotated[
        str, typer.Argument(metavar="KIND", help="Kind, or KIND/NAME.", autocompletion=kinds_and_names)
    ] = "",
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names.", autocompletion=names_of_kind)
    ] = None,
    filename: Files = None,
    namespace: Namespace = None,
    selector: Selector = "",
    everything: Annotated[bool, typer.Option("--all", help="All objects of the kind in the namespace.")] = False,
    ignore_not_found: Annotated[
        bool, typer.Option("--ignore-not-found", help="What is not there is no failure.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Change nothing.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Delete objects by file or by name.

    Examples:
      muster delete placement checkout -n apps --dry-run
      muster delete managedclusters -l cloud=Elsewhere --dry-run
      muster delete -f examples/06-first-look/checkout.yaml --ignore-not-found --dry-run
    """
    kind, _, name = resource.partition("/")
    wanted = [name, *(names or [])] if name else list(names or [])
    ways = [bool(filename), bool(wanted), bool(selector), everything]
    if sum(ways) != 1 or bool(filename) == bool(kind):
        raise InvalidObjectError(
            "", "say what to delete in one way: KIND NAME…, KIND -l LABELS, KIND --all, or -f FILE"
        )

    # Last come, first gone: what was created first is what the rest lives in.
    documents = list(read_objects(filename))[::-1] if filename else []

    async def work(client: Client) -> int:
        deletion = _Deletion(client, dry_run, ignore_not_found)
        discovery = await client.discover()
        default = namespace or client.connection.namespace
        if filename:
            for document in documents:
                obj = document.object
                served = discovery.of_kind(obj["apiVersion"], obj["kind"])
                await deletion.delete(served, text_in(obj["metadata"], "namespace") or default, obj["metadata"]["name"])
            return deletion.missing
        served = discovery.named(kind)
        if not wanted:
            params = {"labelSelector": selector} if selector else {}
            async for page in client.pages(served.path(default), params=params):
                wanted.extend(item["metadata"]["name"] for item in page["items"])
            if not wanted:
                sys.stderr.write("No resources found\n")
        for each in wanted:
            await deletion.delete(served, default, each)
        return deletion.missing

    if with_client(work, context, kubeconfig):
        raise typer.Exit(int(Exit.NO))


class _Deletion:
    """Deletes one object after the other and counts those that were not there."""

    def __init__(self, client: Client, dry_run: bool, ignore_not_found: bool) -> None:
        self._client = client
        self._params = {"dryRun": "All"} if dry_run else {}
        self._suffix = " (dry run)" if dry_run else ""
        self._ignore_not_found = ignore_not_found
        self.missing = 0

    async def delete(self, resource: ServedResource, namespace: str, name: str) -> None:
        path = resource.object_path(namespace, name)
        try:
            await self._client.request("DELETE", path, params=self._params, body={"propagationPolicy": "Background"})
        except ApiError as error:
            if error.code != 404:
                raise
            if not self._ignore_not_found:
                self.missing += 1
                sys.stderr.write(f"muster: {error}\n")
            return
        sys.stdout.write(f"{resource.full_name}/{name} deleted{self._suffix}\n")
