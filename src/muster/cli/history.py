"""`muster history`: what moved a placement's decisions, and the specs that it had."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from muster.cli.completion.answers import names_of
from muster.cli.inputs.fields import items_of, number_in, part_of
from muster.cli.inputs.options import Context, Kubeconfig, Namespace, Report, ReportFormat, with_client
from muster.cli.terminal.commands import App
from muster.cli.terminal.output import print_report, yaml_text
from muster.errors import ApiError, InvalidObjectError
from muster.values.api_paths import object_path
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.client import Client

app = App()
PLACEMENTS: Final = ("cluster.open-cluster-management.io", "v1beta1", "placements")
_HISTORIES: Final = ("placement.muster.dev", "v1alpha1", "placementhistories")
_NOT_FOUND: Final = 404


@app.callback()
def _history() -> None:
    """Show what moved decisions, and who did it as far as objects tell."""


@app.command()
def placement(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The placement.", autocompletion=names_of("placements"))],
    namespace: Namespace = None,
    last: Annotated[
        int, typer.Option("--last", min=1, metavar="COUNT", help="How many moves to show, the newest.")
    ] = 10,
    revision: Annotated[
        int | None,
        typer.Option("--revision", metavar="REVISION", help="Show the spec of this revision.", show_default=False),
    ] = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Moves of a placement's decisions with their causes, oldest first, then the specs that it had.

    A revision's number is the generation that the placement had with it; `muster undo placement` brings one back.

    Examples:
      muster history placement checkout -n apps
      muster history placement checkout -n apps --revision 1
    """

    async def work(client: Client) -> JsonObject:
        return await read_history(client, namespace or client.connection.namespace, name)

    record = with_client(work, context, kubeconfig)
    if revision is not None:
        chosen = revision_of(record, revision)
        if output is Report.TEXT:
            sys.stdout.write(yaml_text(chosen["spec"]))
        else:
            print_report(chosen, output)
    elif output is Report.TEXT:
        sys.stdout.writelines(f"{line}\n" for line in history_lines(record, last))
    else:
        shown = {key: record.get(key) for key in ("decided", "changes", "revisions")}
        print_report({**shown, "changes": items_of(record, "changes")[-last:]}, output)


async def read_history(client: Client, namespace: str, name: str) -> JsonObject:
    """The PlacementHistory. Raises InvalidObjectError, with the reason why there is none."""
    try:
        found: JsonObject = (await client.request("GET", object_path(*_HISTORIES, namespace, name))).json()
    except ApiError as error:
        if error.code != _NOT_FOUND:
            raise
        await client.request("GET", object_path(*PLACEMENTS, namespace, name))
        reason = "the placement has no history yet: controllers write it when they first decide"
        raise InvalidObjectError(f"{namespace}/{name}", reason) from error
    return found


def revision_of(record: JsonMapping, number: int) -> JsonObject:
    """One of the specs. Raises InvalidObjectError with those that there are."""
    revisions = {each["revision"]: each for each in items_of(record, "revisions")}
    if number not in revisions:
        kept = ", ".join(map(str, sorted(revisions))) or "none"
        raise InvalidObjectError("", f"there is no revision {number}; kept are {kept}")
    found: JsonObject = revisions[number]
    return found


def history_lines(record: JsonMapping, last: int) -> Iterator[str]:
    """For people."""
    metadata, changes, revisions = record["metadata"], items_of(record, "changes"), items_of(record, "revisions")
    count = number_in(part_of(record, "decided"), "count")
    shown = changes[-last:]
    earlier = f", {len(changes) - len(shown)} earlier moves" if len(changes) > len(shown) else ""
    yield f"{metadata['namespace']}/{metadata['name']}: {count} clusters{earlier}"
    for entry in shown:
        yield from _entry_lines(entry)
    if not changes:
        yield "its decisions have not moved"
    yield "specs:"
    for at, each in enumerate(revisions, start=1):
        writer = f"  by {each['manager']}" if each.get("manager") else ""
        present = "  present" if at == len(revisions) else ""
        yield f"  {each['revision']}  {each.get('time', '')}{writer}{present}"


def _entry_lines(entry: JsonMapping) -> Iterator[str]:
    from muster.api.placement_history import Cause, Flip

    if entry.get("skipped"):
        yield f"… {entry['skipped']} moves that were too many to be written down"
    names = [_names(sign, part_of(entry, what)) for sign, what in (("+", "gained"), ("-", "lost"))]
    yield "  ".join([entry["time"], f"{entry['before']} → {entry['after']}", *filter(None, names)])
    for cause in items_of(entry, "causes"):
        found = msgspec.convert(cause, Cause)
        yield f"    {found}" + (f" at {found.time}" if found.time else "")
    if entry.get("more"):
        yield f"    and {entry['more']} more"
    for flip in items_of(entry, "flips"):
        turned = msgspec.convert(flip, Flip)
        yield f"      {turned.cluster}: {turned}"


def _names(sign: str, clusters: JsonMapping) -> str:
    """`+ a b`, or `+ a b … (12)` when there are more."""
    count, examples = number_in(clusters, "count"), items_of(clusters, "examples")
    beyond = f" … ({count})" if count > len(examples) else ""
    return f"{sign} {' '.join(examples)}{beyond}" if count else ""
