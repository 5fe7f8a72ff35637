"""`muster plan`: what applying files would change in the decisions of placements, before anything is written.

`muster apply --plan` and `muster undo --plan` show the same. Files are applied to a hub in memory (`rehearsal`), what
comes out goes through the controllers' own steps (`muster.controllers.placements.preview`).
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from muster.cli.apply import MANAGER, How
from muster.cli.inputs.documents import Document, read_objects
from muster.cli.inputs.fields import text_in
from muster.cli.inputs.fleets import FleetFiles, gathered
from muster.cli.inputs.options import Context, Files, Kubeconfig, Namespace, Report, ReportFormat, with_client
from muster.cli.plan.host_labels import plain_preview, planned_labels, print_preview
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.cli.terminal.progress import under_way
from muster.errors import ApiError, InvalidObjectError
from muster.values.api_paths import object_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.classification import LabelPreview
    from muster.cli.plan.applied_in_memory import Refused
    from muster.client import Client
    from muster.controllers.placements.preview import PlacementChange

_SHOWN: Final = 12
_NAMESPACED: Final = ("Placement", "ManagedClusterSetBinding", "AddOnPlacementScore")


@dataclass(frozen=True, slots=True)
class Guards:
    """When a plan fails a pipeline."""

    removes: int | None = None
    empty: bool = False

    def tripped(self, changes: Iterable[PlacementChange]) -> list[str]:
        """What they object to."""
        found = []
        for change in changes:
            where = f"{change.namespace}/{change.name}"
            if self.removes is not None and len(change.lost) >= self.removes:
                found.append(f"{where} would lose {len(change.lost)} of {change.before} clusters")
            elif self.empty and not change.after and not change.is_gone and (change.before or change.is_new):
                found.append(f"{where} would have no cluster")
        return found


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What applying would bring."""

    placements: list[PlacementChange]
    refused: Sequence[Refused] = ()
    labels: LabelPreview | None = None  # of hosts, when the files are about them

    def plain(self) -> JsonObject:
        """For machines."""
        found: JsonObject = {
            "placements": [_plain_change(change) for change in self.placements],
            "refused": [msgspec.to_builtins(each) for each in self.refused],
        }
        return found if self.labels is None else found | {"hosts": plain_preview(self.labels)}

    def print(self) -> None:
        """For people."""
        if self.placements or self.labels is None:
            print_changes(self.placements)
        if self.labels is not None:
            print_preview(self.labels)
        for each in self.refused:
            sys.stdout.write(f"! {each.origin}: {each.kind} {each.name} would be refused: {each.reason}\n")


def command(
    filename: Files = None,
    namespace: Namespace = None,
    fleet: FleetFiles = None,
    delete: Annotated[bool, typer.Option("--delete", help="Plan for deleting the files' objects instead.")] = False,
    fail_if_removes: Annotated[
        int | None,
        typer.Option(
            "--fail-if-removes",
            min=1,
            metavar="COUNT",
            help="Exit with 1 if a placement would lose so many clusters or more.",
        ),
    ] = None,
    fail_if_empty: Annotated[
        bool, typer.Option("--fail-if-empty", help="Exit with 1 if a placement would have no cluster.")
    ] = False,
    force_conflicts: Annotated[
        bool, typer.Option("--force-conflicts", help="As apply would with it: take over fields of other managers.")
    ] = False,
    field_manager: Annotated[
        str, typer.Option("--field-manager", metavar="NAME", help="Name that apply owns fields by.")
    ] = MANAGER,
    with_status: Annotated[
        bool, typer.Option("--with-status", help="As apply would with it: the files' status counts too.")
    ] = False,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show which clusters each placement would gain and lose.

    Covers placements, cluster sets, bindings, clusters and scores, and hosts with their classifications. Files are
    merged into what is there as `muster apply` would do it: fields that they leave out and others own stay. Nothing is
    written. Exits with 1 when a guard trips or the server would refuse an object.

    Examples:
      muster plan -f examples/06-first-look/checkout.yaml
      muster plan -f examples/06-first-look/checkout.yaml --fleet fleet --fail-if-removes 1
      muster plan --delete -f examples/06-first-look/checkout.yaml --fleet fleet
    """
    if not filename:
        raise InvalidObjectError("", "nothing to plan: name files, directories or - with -f")
    documents = list(read_objects(filename))
    how = How(field_manager, force_conflicts, with_status, delete)
    report = planned(documents, how, fleet, namespace, context, kubeconfig)
    if output is Report.TEXT:
        report.print()
    else:
        print_report(report.plain(), output)
    sys.stdout.flush()  # objections are told on another stream
    objections = Guards(fail_if_removes, fail_if_empty).tripped(report.placements)
    sys.stderr.writelines(f"guard: {text}\n" for text in objections)
    if objections or report.refused:
        raise typer.Exit(int(Exit.NO))


def planned(
    documents: list[Document],
    how: How,
    fleet: list[str] | None,
    namespace: str | None,
    context: str | None,
    kubeconfig: str | None,
) -> PlanReport:
    """What applying the documents' objects would bring: on a live server, or to a fleet in files."""
    from muster.cli.plan.applied_in_memory import rehearse
    from muster.controllers.placements.preview import KINDS

    objects, default = gathered(fleet, context, kubeconfig)
    now = datetime.now(UTC)
    labels = planned_labels(
        [each.object for each in documents],
        fleet,
        context,
        kubeconfig,
        namespace,
        delete=how.delete,
        with_status=how.with_status,
    )
    placed = [_placed(document, namespace, default) for document in documents]
    wanted = [document for document in placed if document.object["kind"] in KINDS]
    new = {str(each.object["metadata"].get("name")) for each in documents if each.object["kind"] == "Namespace"}
    named = {text_in(each.object["metadata"], "namespace") for each in wanted} - {""}
    existing = named if fleet else with_client(lambda client: _existing(client, named), context, kubeconfig)
    if fleet:
        # Objects in files rarely say who owns their fields: then nobody is in the way, and nothing is let go.
        how = replace(how, force=True)
    with under_way(f"trying it with {len(objects):,} objects", len(objects)):
        outcome = asyncio.run(rehearse(wanted, objects, how, now, namespaces=existing | new))
        changes = previewed(objects, outcome.applied, outcome.deleted, now, alone=bool(fleet))
    return PlanReport(changes, outcome.refused, labels)


def previewed(
    present: Sequence[JsonObject],
    applied: Sequence[JsonObject],
    deleted: Sequence[JsonObject],
    now: datetime,
    *,
    alone: bool = False,
) -> list[PlacementChange]:
    """What objects as they would be bring, beside all that is there."""
    from muster.controllers.placements.preview import preview, settle, world_of

    world = world_of(present, now)
    if not world.decisions:
        settle(world, now)
    return preview(world, applied, now, deleted, alone=alone)


def _plain_change(change: PlacementChange) -> JsonObject:
    found: JsonObject = {
        "namespace": change.namespace,
        "name": change.name,
        "before": change.before,
        "after": change.after,
        "gained": list(change.gained),
        "lost": list(change.lost),
        "isNew": change.is_new,
        "isDeleted": change.is_gone,
    }
    return found | {"misconfigured": change.fault} if change.fault else found


def _placed(document: Document, namespace: str | None, default: str) -> Document:
    """The document with the namespace that apply would send it to."""
    obj = document.object
    if obj["kind"] not in _NAMESPACED:
        return document
    named = text_in(obj["metadata"], "namespace")
    if namespace and named and named != namespace:
        raise InvalidObjectError("metadata.namespace", f"the object is in {named!r}, but -n says {namespace!r}")
    metadata = {**obj["metadata"], "namespace": named or namespace or default}
    return Document(document.origin, {**obj, "metadata": metadata})


async def _existing(client: Client, namespaces: set[str]) -> set[str]:
    """Those of the namespaces that are there. Who may not see one takes it for given."""
    found = set()
    for name in sorted(namespaces):
        try:
            await client.request("GET", object_path("", "v1", "namespaces", "", name))
        except ApiError as error:
            if error.code == 404:
                continue
        found.add(name)
    return found


def print_changes(changes: Sequence[PlacementChange]) -> None:
    """For people."""
    if not changes:
        sys.stdout.write("no placement changes\n")
    for change in changes:
        kind = "new, " if change.is_new else "deleted, " if change.is_gone else ""
        sys.stdout.write(f"{change.namespace}/{change.name}: {kind}{change.before} → {change.after} clusters\n")
        if change.fault:
            sys.stdout.write(f"  ! misconfigured, its decisions would stay: {change.fault}\n")
        for sign, names in (("+", change.gained), ("-", change.lost)):
            sys.stdout.writelines(f"  {sign} {name}\n" for name in names[:_SHOWN])
            if len(names) > _SHOWN:
                sys.stdout.write(f"  {sign} … and {len(names) - _SHOWN} more\n")
