"""A plan for a pull request: a table of placements, and beneath it what is long, folded.

Names and reasons come from other people's objects: nothing in them may become a link, a mention or markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.cli.plan.output import objections, waits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.api.fleet_plan import HostPlan, PlacementPlan, PlanStatus

_SHOWN: Final = 50
_LONGEST: Final = 300
_LONGEST_VERDICT: Final = 2000  # ten clusters by name, and everything that holds them
_MARKUP: Final = frozenset("\\`*_{}[]<>()#+-.!|~@&$:")


def markdown(status: PlanStatus, *, live: bool) -> str:
    """The whole text, ending with a line break."""
    return "\n".join(_lines(status, live=live)) + "\n"


def _lines(status: PlanStatus, *, live: bool) -> Iterator[str]:
    yield f"### {_headline(status)}"
    yield ""
    if status.placements:
        yield "| placement | before | after | gained | lost | |"
        yield "|---|---:|---:|---:|---:|---|"
        yield from map(_row, status.placements)
        yield ""
    for text in objections(status):
        yield f"- **guard**: {_escaped(text, _LONGEST_VERDICT)}"
    waiting = [text for each in status.placements for text in waits(each)]
    for text in waiting:
        yield f"- **waits**: {_escaped(text, _LONGEST_VERDICT)}"
    for refused in status.refused:
        yield f"- **refused**: {_escaped(f'{refused.kind} {refused.name} ({refused.field}): {refused.message}')}"
    for diagnostic in status.diagnostics:
        yield f"- {_escaped(diagnostic.message)}"
    if status.restricted:
        yield "- There is more than the asker may see: placements and clusters of others are left out."
    if objections(status) or waiting or status.refused or status.diagnostics or status.restricted:
        yield ""
    for each in status.placements:
        if each.gained.count or each.lost.count:
            yield from _folded(f"{each.namespace}/{each.name}", _clusters(each))
    changed = [each for each in status.sets if each.gained.count or each.lost.count]
    if changed:
        texts = [f"- {_code(each.name)}: +{each.gained.count}, −{each.lost.count}" for each in changed]
        yield from _folded(f"{len(changed)} cluster sets", texts)
    if missing := [each for each in status.permissions if not each.allowed]:
        texts = [f"- {_code(f'{each.verb} {each.resource} {each.name}')}" for each in missing]
        yield from _folded(f"{len(missing)} permissions that the asker lacks", texts)
    if status.hosts is not None:
        yield from _hosts(status.hosts)
    if live:
        yield f"`{status.token}`"


def _headline(status: PlanStatus) -> str:
    gained = sum(each.gained.count for each in status.placements)
    lost = sum(each.lost.count for each in status.placements)
    count = len(status.placements)
    what = f"{count} placement{' changes' if count == 1 else 's change'}: +{gained}, −{lost} clusters" if count else ""
    if not what:
        what = "No placement changes" if status.hosts is None else f"{len(status.hosts.labels)} labels of hosts change"
    return f"{what}. Not allowed" if not status.allowed else what


def _row(each: PlacementPlan) -> str:
    remark = "new" if each.created else "deleted" if each.deleted else ""
    if each.fault:
        remark = f"misconfigured, its decisions would stay: {_escaped(each.fault)}"
    elif any(not guard.allowed for guard in each.guards):
        remark = "guarded"
    elif waits(each):
        remark = "waits"
    where = _code(f"{each.namespace}/{each.name}")
    return f"| {where} | {each.before} | {each.after} | {each.gained.count} | {each.lost.count} | {remark} |"


def _clusters(each: PlacementPlan) -> Iterator[str]:
    for name in each.gained.names[:_SHOWN]:
        yield f"- gains {_code(name)}"
    if (more := each.gained.count - min(len(each.gained.names), _SHOWN)) > 0:
        yield f"- gains {more} more"
    for lost in each.lost.clusters[:_SHOWN]:
        yield f"- loses {_code(lost.name)}: {_escaped(lost.reason)}" if lost.reason else f"- loses {_code(lost.name)}"
    if (more := each.lost.count - min(len(each.lost.clusters), _SHOWN)) > 0:
        yield f"- loses {more} more"


def _hosts(hosts: HostPlan) -> Iterator[str]:
    texts = [
        f"- {_code(f'{each.namespace}/{each.agent}')}: {_code(f'{each.key}={each.before}')} → "
        f"{_code(f'{each.key}={each.after}')}"
        for each in hosts.labels[:_SHOWN]
    ]
    if len(hosts.labels) > _SHOWN:
        texts.append(f"- and {len(hosts.labels) - _SHOWN} more")
    if texts:
        yield from _folded(f"{len(hosts.labels)} labels of hosts", texts)


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    shown = summary.replace("&", "&amp;").replace("<", "&lt;")
    yield f"<details><summary>{shown}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
    yield ""


def _code(text: str) -> str:
    """As it is, in one line: a span of code that nothing in it can end."""
    plain = " ".join(text.split()).replace("|", "¦")
    fence = "`"
    while fence in plain:
        fence += "`"
    return f"{fence} {plain} {fence}" if fence != "`" else f"`{plain}`"


def _escaped(text: str, most: int = _LONGEST) -> str:
    """Words without any effect: in one line, not too long, markup escaped."""
    line = " ".join(text.split())
    shown = line if len(line) <= most else f"{line[:most]}…"
    return "".join(f"&#{ord(each)};" if each in _MARKUP and each not in "().:-!+" else each for each in shown)
