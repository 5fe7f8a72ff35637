"""`muster shadow`: our decisions beside those that OCM wrote, every difference with its reason. Read-only."""

from __future__ import annotations

import asyncio
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import typer

from muster.cli.inputs.options import OUTPUT, Context, Kubeconfig, Report, with_client
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.cli.terminal.paint import Shade, paint_for
from muster.errors import ApiError
from muster.values.quoting import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.cli.terminal.paint import Paint
    from muster.client import Client
    from muster.questions.local_fleet import LocalFleet
    from muster.questions.shadow import Comparison, Difference, Shadow

_MOST_SHOWN: Final = 20  # clusters of one placement
_QUIET: Final = 2.0  # seconds without a change before a watch looks: the other scheduler wants its turn
_DIFFERENCES: Final = "docs/differences.md"
_NOT_FOUND: Final = 404


class Format(StrEnum):
    """How the comparison is printed."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"


def command(
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAMESPACE", help="Only placements in this namespace.")
    ] = "",
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Go on, and print the comparison whenever it has changed.")
    ] = False,
    output: Annotated[
        Format, typer.Option("--output", "-o", help="How to print; json and yaml for machines.", rich_help_panel=OUTPUT)
    ] = Format.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Compare the PlacementDecisions on a server with what Muster would decide now, and say why they differ.

    For a hub of Open Cluster Management that somebody thinks of running Muster on: nothing is installed and nothing is
    written. Needs list on clusters, sets, bindings, placements, their decisions and scores, and watch for --watch.
    Exits with 0 when all decisions are the same, and with 1 for differences.

    Examples:
      muster shadow
      muster shadow -n apps -o markdown
      muster shadow -o json
    """

    async def once(client: Client) -> Comparison:
        from muster.questions.local import utc_now
        from muster.questions.local_fleet import LocalFleet

        return await _compared(LocalFleet(client, utc_now), namespace)

    async def forever(client: Client) -> Comparison:
        from muster.questions.local import observed

        async with observed(client, (namespace,)) as fleet:
            return await _follow(fleet, namespace, lambda found: _print(found, output))

    found = with_client(forever if watch else once, context, kubeconfig)
    if not watch:
        _print(found, output)
    if found.different:
        raise typer.Exit(int(Exit.NO))


async def _compared(fleet: LocalFleet, namespace: str) -> Comparison:
    """One comparison. Raises ApiError when too little can be read for it to mean anything."""
    from muster.questions.asked import CLUSTERS, PLACING, SCORES, SETS
    from muster.questions.local import utc_now
    from muster.questions.shadow import compared

    await fleet.read(PLACING, (namespace,))
    for resource in PLACING:
        unread = fleet.unread.get(resource)
        if unread is None or resource == SCORES or (unread.instead and resource not in (CLUSTERS, SETS)):
            continue
        if unread.error.code == _NOT_FOUND:
            raise ApiError(_NOT_FOUND, "NotFound", f"the server has no {resource}: is it a hub of OCM?")
        raise unread.error
    return compared(fleet.world, utc_now(), namespace, fleet.why_not(PLACING))


async def _follow(fleet: LocalFleet, namespace: str, show: Callable[[Comparison], None]) -> Comparison:
    """Compare after every change, when it has been quiet for a moment, until interrupted."""
    shown: Comparison | None = None
    while True:
        found = await _compared(fleet, namespace)
        if found != shown:
            show(found)
            shown = found
        await fleet.changed.wait()
        while fleet.changed.is_set():
            fleet.changed.clear()
            await asyncio.sleep(_QUIET)


# ------------------------------------------------------------------------------------------------------- showing


def _print(found: Comparison, output: Format) -> None:
    if output is Format.TEXT:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found, paint_for()))
    elif output is Format.MARKDOWN:
        sys.stdout.writelines(f"{line}\n" for line in _markdown(found))
    else:
        print_report(msgspec.to_builtins(found), Report(output.value))
    sys.stdout.flush()


def _lines(found: Comparison, paint: Paint) -> Iterator[str]:
    for each in found.placements:
        yield from _placement_lines(each, paint)
    yield _summary(found)
    for note in found.unread:
        yield f"not read: {printable(note)}"


def _placement_lines(found: Shadow, paint: Paint) -> Iterator[str]:
    name = f"placement {paint(f'{found.namespace}/{found.name}', Shade.STRONG)}"
    if found.not_compared:
        yield f"{name}: {paint('not compared', Shade.QUIET)}: {printable(found.not_compared)}"
        return
    if found.same:
        yield f"{name}: {paint('same', Shade.GOOD)}, {_counted(found.theirs, 'cluster')}"
        return
    decided = f"{_counted(found.theirs, 'cluster')} decided, ours would be {found.ours}"
    yield f"{name}: {paint('differs', Shade.BAD)}: {decided}"
    if found.fault:
        yield f"├─ we would decide nothing and keep what stands: {_on_one_line(found.fault)}"
    for what, differences in (("only theirs", found.only_theirs), ("only ours", found.only_ours)):
        for each in differences[:_MOST_SHOWN]:
            yield f"├─ {what}: {paint(each.cluster, Shade.UNSURE)}: {_on_one_line(each.reason)}"
        if len(differences) > _MOST_SHOWN:
            yield f"├─ {what}: … and {len(differences) - _MOST_SHOWN} more"
    if found.grouping:
        yield f"├─ {_on_one_line(found.grouping)}"
    yield f"└─ {_cause(found)}"


def _cause(found: Shadow) -> str:
    if found.meant:
        rules = "; ".join(f"“{each}”" for each in found.meant)
        return f"meant: {rules} ({_DIFFERENCES})"
    return "no difference that is meant: the other scheduler may not have looked yet, or one of the two is wrong"


def _summary(found: Comparison) -> str:
    parts = [f"{found.same} same", f"{found.different} different"]
    parts += [f"{found.not_compared} not compared"] if found.not_compared else []
    over = _counted(found.clusters, "cluster")
    return f"{_counted(len(found.placements), 'placement')} over {over}: {', '.join(parts)}"


def _markdown(found: Comparison) -> Iterator[str]:
    yield f"**{_summary(found)}**"
    yield ""
    yield "| placement | theirs | ours | verdict | why |"
    yield "|---|---|---|---|---|"
    for each in found.placements:
        verdict = "not compared" if each.not_compared else "same" if each.same else "differs"
        why = [each.not_compared, each.fault, each.grouping]
        why += [_said("only theirs", difference) for difference in each.only_theirs[:_MOST_SHOWN]]
        why += [_said("only ours", difference) for difference in each.only_ours[:_MOST_SHOWN]]
        rest = len(each.only_theirs[_MOST_SHOWN:]) + len(each.only_ours[_MOST_SHOWN:])
        why += [f"… and {rest} more clusters"] if rest else []
        why += [] if each.same or each.not_compared else [_cause(each)]
        text = "<br>".join(_cell(part) for part in why if part)
        yield f"| {_cell(f'{each.namespace}/{each.name}')} | {each.theirs} | {each.ours} | {verdict} | {text} |"
    for note in found.unread:
        yield ""
        yield f"Not read: {_cell(note)}"


def _said(what: str, difference: Difference) -> str:
    return f"{what}: {difference.cluster}: {difference.reason}"


def _cell(text: str) -> str:
    return _on_one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _on_one_line(text: str) -> str:
    return printable(" ".join(text.split()))
