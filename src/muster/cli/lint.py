"""`muster lint`: mistakes in objects that are valid and still cannot be meant, judged by the fleet there is."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.documents import read_objects
from muster.cli.inputs.fields import text_in
from muster.cli.inputs.fleets import FleetFiles, counted, in_namespace
from muster.cli.inputs.options import Context, Files, Kubeconfig, Report, ReportFormat, with_client
from muster.cli.inputs.positions import Positions
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.cli.terminal.paint import Shade, paint_for
from muster.cli.terminal.progress import Progress, under_way
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject
from muster.values.quoting import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.placement import Placement
    from muster.api.reading import Reading
    from muster.cli.inputs.documents import Document
    from muster.cli.terminal.paint import Paint
    from muster.client import Client
    from muster.library.linting import World
    from muster.placement import Plan, Visibility
    from muster.placement.lint.findings import Finding


class Level(StrEnum):
    """How bad findings are, the worst first: the values of `Severity`, which a shell that completes need not import."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


_ORDER = tuple(Level)
_SHADES = {Level.ERROR: Shade.BAD, Level.WARNING: Shade.UNSURE, Level.INFO: Shade.QUIET}
_JUDGED = ("Placement", "ManagedClusterSet", "ManagedClusterSetBinding")


@dataclass(frozen=True, slots=True)
class Located:
    """A finding in an object that came from somewhere."""

    finding: Finding
    subject: str
    file: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


def command(
    filename: Files = None,
    fleet: FleetFiles = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Only what can be judged without a fleet: no server is asked.")
    ] = False,
    fail_on: Annotated[
        Level, typer.Option("--fail-on", help="Exit with 1 for findings that are so bad, or worse.")
    ] = Level.WARNING,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Look for unknown fields, names that no cluster has, comparisons that can never hold, costly expressions and more.

    The files are judged by the fleet: --fleet, or the clusters in the files themselves, or the server of the
    kubeconfig. Without -f the placements, sets and bindings of the fleet are looked at. Exits with 1 for findings.

    Examples:
      muster lint -f examples/05-why-not/broken/02-label.yaml --fleet examples/05-why-not/fleet.yaml
      muster lint --offline -f examples/06-first-look/checkout.yaml
      muster lint --fail-on error -o json
    """
    documents = list(read_objects(filename)) if filename else []
    if not documents and offline:
        raise InvalidObjectError("", "nothing to look at: name files, directories or - with -f")
    world, documents = _looked_at(documents, fleet, context, kubeconfig, offline=offline)
    if not documents:
        raise InvalidObjectError("", "there is nothing to look at: no placement, cluster set or binding")
    positions = Positions()
    found: list[Located] = []
    with Progress("judged") as progress:
        for document in documents:
            found += _findings(document, world, positions)
            progress.advance()
    found.sort(key=lambda each: (each.file, each.line))
    if output is Report.TEXT:
        _print(found, len(documents), world.known.clusters)
    else:
        answer = {"findings": [_document(each) for each in found], "objects": len(documents)}
        print_report({**answer, "clusters": world.known.clusters}, output)
    if any(_ORDER.index(Level(each.finding.severity.value)) <= _ORDER.index(fail_on) for each in found):
        raise typer.Exit(int(Exit.NO))


def _known(documents: Sequence[Document]) -> list[Document]:
    """Those whose kind is one of ours; the others are named, not silently passed."""
    from muster.api import RESOURCES

    kinds = {resource.kind for resource in RESOURCES.values()}
    strange = sorted({str(each.object["kind"]) for each in documents} - kinds)
    if strange:
        sys.stderr.write(f"muster: not judged, because lint does not know the kind: {', '.join(strange)}\n")
    return [each for each in documents if each.object["kind"] in kinds]


def _looked_at(
    documents: list[Document], fleet: list[str] | None, context: str | None, kubeconfig: str | None, *, offline: bool
) -> tuple[World, list[Document]]:
    """What objects are judged by, and which are judged: those of the files, or else what the fleet has."""
    from muster.client import KubeconfigError

    brings_its_own = any(each.object["kind"] == "ManagedCluster" for each in documents)
    if offline or fleet or brings_its_own:
        return _in_files(documents, [] if offline or not fleet else counted(fleet))
    known = _known(documents)
    try:
        return with_client(lambda client: _on_server(client, known), context, kubeconfig)
    except KubeconfigError:
        if not documents or context or kubeconfig or os.environ.get("KUBECONFIG"):
            raise
        sys.stderr.write("muster: there is no kubeconfig, so nothing is compared with a fleet (name one: --fleet)\n")
        return _in_files(documents, [])


def _in_files(documents: list[Document], others: list[Document]) -> tuple[World, list[Document]]:
    from muster.library.linting import world_of

    judged = _known(documents or [each for each in others if each.object["kind"] in _JUDGED])
    count = len(others) + len(judged)
    with under_way(f"looking at {count:,} objects", count):
        return world_of([each.object for each in [*others, *judged]], datetime.now(UTC)), judged


async def _on_server(client: Client, documents: list[Document]) -> tuple[World, list[Document]]:
    """As the server has it, and the files count more. What may not be read is said, and judged as if it were not."""
    from muster.cli.inputs.askers import warn
    from muster.cli.inputs.documents import Document
    from muster.controllers.placements.preview import KINDS, put
    from muster.library.linting import World
    from muster.placement import plan_read, visible
    from muster.placement.lint.placements import vocabulary
    from muster.questions.asked import BINDINGS, PLACING, SETS
    from muster.questions.local import utc_now
    from muster.questions.local_fleet import LocalFleet
    from muster.selectors.cel import cel_compiler

    observed, namespace = LocalFleet(client, utc_now), client.connection.namespace
    await observed.read(PLACING)
    for sentence in observed.why_not(PLACING):
        warn(sentence)
    world = observed.world
    if not documents:
        bindings = [each for bound in world.bindings.values() for each in bound.values()]
        found = [("Placement", each.place.name, each.plain()) for each in world.placements.values()]
        found += [("ManagedClusterSet", each.place.name, each.plain()) for each in world.sets.values()]
        found += [("ManagedClusterSetBinding", each.place.name, each.plain()) for each in bindings]
        documents += [Document(f"{kind}/{name}", {"kind": kind, **obj}) for kind, name, obj in found]
    else:
        for document in documents:
            obj = in_namespace(document.object, namespace)
            if obj["kind"] in KINDS and text_in(obj["metadata"], "name"):
                with contextlib.suppress(InvalidObjectError):  # what has no shape is for the findings
                    put(world, obj)

    def compiled(placement: Reading[Placement]) -> tuple[Plan, Visibility]:
        plan = plan_read(placement, cel_compiler(world.fleet.scores))
        return plan, visible(plan.cluster_sets, world.bindings.get(plan.namespace, {}), world.rules)

    knows_sets = observed.unread.keys().isdisjoint((SETS, BINDINGS))
    return World(world.rules, vocabulary(world.fleet), namespace, compiled, knows_sets), documents


def _findings(document: Document, world: World, positions: Positions) -> Iterator[Located]:
    from muster.library.linting import judged

    obj = in_namespace(document.object, world.namespace)
    metadata = obj["metadata"]
    name, namespace = text_in(metadata, "name") or text_in(metadata, "generateName"), text_in(metadata, "namespace")
    subject = f"{obj['kind']} {namespace}/{name}" if namespace else f"{obj['kind']} {name}"
    for finding in judged(obj, world):
        file, line = positions.line(document.origin, finding.where)
        yield Located(finding, subject, file, line)


def _document(each: Located) -> JsonObject:
    finding = each.finding
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "file": each.file,
        "line": each.line,
        "object": each.subject,
        "field": finding.where,
        "message": finding.message,
        "fix": finding.remedy,
        "expression": finding.expression,
        "offset": finding.offset,
    }


def _print(found: Sequence[Located], objects: int, clusters: int) -> None:
    paint = paint_for()
    for each in found:
        sys.stdout.writelines(f"{line}\n" for line in _lines(each, paint))
    counts = {level: sum(each.finding.severity.value == level for each in found) for level in _ORDER}
    shown = ", ".join(f"{count} {severity.value}{_plural(count)}" for severity, count in counts.items() if count)
    judged = f"over {clusters:,} clusters" if clusters else "without a fleet"
    sys.stdout.write(f"{shown or 'nothing found'} in {objects} object{_plural(objects)}, judged {judged}\n")


def _lines(each: Located, paint: Paint) -> Iterator[str]:
    finding = each.finding
    severity = paint(finding.severity.value, _SHADES[Level(finding.severity.value)])
    first, *rest = finding.message.splitlines() or [""]
    yield f"{paint(each.place, Shade.STRONG)}: {severity}: {printable(first)} [{finding.code}]"
    yield f"    {printable(f'{each.subject}: {finding.where}')}"
    yield from (f"    {printable(line)}" for line in (*rest, *finding.excerpt))
    yield f"    {paint('fix:', Shade.GOOD)} {printable(finding.remedy)}"


def _plural(count: int) -> str:
    return "" if count == 1 else "s"
