"""Explanations as trees for people, and as documents for machines. Used by `muster explain`; decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.cli.terminal.paint import Shade
from muster.placement.explain.explained import ValueCount
from muster.reasons import Reason
from muster.values.json import Json
from muster.values.quoting import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.cli.terminal.paint import Paint
    from muster.placement.explain.explained import (
        Check,
        ClusterExplanation,
        ClusterVerdicts,
        FunnelStage,
        PlacementExplanation,
        ReasonCount,
        SetExplanation,
    )

_MOST_REASONS: Final = 8
_MOST_NAMES: Final = 10
_MOST_LISTED: Final = 20


def document(value: Json) -> Json:
    """The same as plain values, with keys in the manner of Kubernetes."""
    if isinstance(value, Reason):
        return msgspec.to_builtins(value)
    if isinstance(value, ValueCount):
        return [value.value, value.count]
    if isinstance(value, msgspec.Struct):
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        return {shown: document(getattr(value, name)) for name, shown in names}
    return [document(each) for each in value] if isinstance(value, tuple | list) else value


def placement_lines(found: PlacementExplanation, paint: Paint) -> Iterator[str]:
    """The funnel, who came nearest, who was taken."""
    count = f"{len(found.selected)} of {found.clusters} clusters"
    yield f"placement {paint(found.placement, Shade.STRONG)}: {paint(count, _good(bool(found.selected)))}"
    for stage in found.funnel:
        shade = Shade.QUIET if stage.before == stage.after else Shade.STRONG
        yield f"├─ {paint(f'{stage.name}: {stage.before} → {stage.after}', shade)}"
        for reason in stage.reasons[:_MOST_REASONS]:
            yield from (f"│  {line}" for line in _reason_lines(reason, paint))
        clusters, others = _others(stage)
        if others:
            yield f"│  {clusters:>6}  for {others} other reasons"
    if found.near_misses:
        yield f"├─ {paint('nearest misses', Shade.STRONG)}"
        for miss in found.near_misses:
            yield f"│    {paint(miss.cluster, Shade.UNSURE)}: {_on_one_line(miss.reason)}"
    if not found.ranked:
        yield f"└─ {paint('nothing is selected', Shade.BAD)}"
        return
    yield f"└─ {paint('selected', Shade.STRONG)}"
    for each in found.ranked:
        scores = ", ".join(f"{score.scorer} {_times(score.score, score.weight)}" for score in each.scores)
        yield f"     {paint(each.cluster, Shade.GOOD)}: rank {each.rank}, score {each.total}" + (
            f" ({scores})" if scores else ""
        )
    if len(found.selected) > len(found.ranked):
        yield f"     … and {len(found.selected) - len(found.ranked)} more"


def _others(stage: FunnelStage) -> tuple[int, int]:
    """Clusters that went for reasons that are not shown, and how many reasons that are."""
    rest = stage.reasons[_MOST_REASONS:]
    return sum(each.count for each in rest) + stage.other_count, len(rest) + stage.other_reasons


def _reason_lines(reason: ReasonCount, paint: Paint) -> Iterator[str]:
    more = ", …" if reason.count > len(reason.examples) else ""
    first, *rest_of_it = reason.reason.splitlines()
    yield f"{reason.count:>6}  {printable(first)}"
    yield from (f"        {printable(line)}" for line in rest_of_it)
    if reason.values:
        shown = ", ".join(f"{each.value} ({each.count})" for each in reason.values)
        rest = reason.count - sum(each.count for each in reason.values)
        yield f"        {paint(f'they have: {shown}' + (f', others ({rest})' if rest else ''), Shade.QUIET)}"
    yield f"        {paint(', '.join(reason.examples) + more, Shade.QUIET)}"


def cluster_lines(found: ClusterExplanation, paint: Paint) -> Iterator[str]:
    """Everything that was looked at, in the order of the stages."""
    summary = _on_one_line(found.summary)
    said = summary if found.selected else f"{_yes_or_no(found.selected, paint)}: {summary}"
    yield f"{paint(found.cluster, Shade.STRONG)} in {found.placement}: {said}"
    by_name: dict[str, list[Check]] = {}
    for check in found.checks:
        by_name.setdefault(check.name, []).append(check)
    # One set and one predicate are enough: that others do not fit is no fault then.
    enough = {name.partition(" ")[0] for name, checks in by_name.items() if all(check.passed for check in checks)}
    for check in found.checks:
        kind, _, which = check.name.partition(" ")
        yield from _check_lines(check, paint, matters=not (which and kind in enough))
    for score in found.scores:
        yield f"├─ {score.scorer}: {_times(score.score, score.weight)}"
    if found.rank is None:
        yield f"└─ removed by {paint(found.stage, Shade.BAD)}"
    else:
        yield f"└─ score {found.total}, rank {found.rank}, {found.cut}"


def _check_lines(check: Check, paint: Paint, *, matters: bool) -> Iterator[str]:
    mark = paint("✓", Shade.GOOD) if check.passed else paint("✗", Shade.BAD) if matters else paint("·", Shade.QUIET)
    if not check.passed and len(check.observed) == 1 and not check.observed[0].is_error:
        yield f"├─ {mark} {check.name}: {_on_one_line(check.reason)}; {check.details[0]}"
        return
    yield f"├─ {mark} {check.name}: {_on_one_line(check.reason)}"
    if not check.passed and check.details:
        yield f"│      {'; '.join(check.details)}"


def outlook_lines(found: ClusterVerdicts, paint: Paint) -> Iterator[str]:
    """The sets of a cluster, then the placements: those that take it, then the nearest misses."""
    taken = sum(each.selected for each in found.placements)
    yield f"cluster {paint(found.cluster, Shade.STRONG)}: taken by {taken} of {len(found.placements)} placements"
    inside = [each for each in found.sets if each.member]
    for each in inside:
        yield f"├─ in set {each.name}: {each.reason}; bound to {', '.join(each.namespaces) or 'no namespace'}"
    if not inside:
        yield f"├─ in {paint('no cluster set', Shade.BAD)}, so no placement can see it"
    for verdict in found.placements[:_MOST_LISTED]:
        yield f"├─ {_yes_or_no(verdict.selected, paint):3} {verdict.placement}: {_on_one_line(verdict.reason)}"
    rest = found.placements[_MOST_LISTED:]
    stages = sorted({each.stage for each in rest})
    for stage in stages:
        count = sum(each.stage == stage for each in rest)
        yield f"├─ … and {count} more placements: {f'removed by {stage}' if stage else 'taken'}"
    yield f"└─ more: muster explain placement NAME --cluster {found.cluster}"


def set_lines(found: SetExplanation, paint: Paint) -> Iterator[str]:
    """The rule, the members, the others by reason, who may choose from it."""
    if found.fault:
        yield f"set {paint(found.name, Shade.STRONG)}: {paint(found.fault, Shade.BAD)}"
    else:
        yield f"set {paint(found.name, Shade.STRONG)}: {len(found.members)} clusters by {found.rule}"
    if found.members:
        yield f"├─ members: {_names(found.members)}"
    for reason in found.others:
        yield from (
            f"├─ {line}" if place == 0 else f"│  {line}" for place, line in enumerate(_reason_lines(reason, paint))
        )
    nobody = paint("no namespace, so no placement can choose from it", Shade.BAD)
    yield f"├─ bound to: {', '.join(found.namespaces) or nobody}"
    yield f"└─ placements that choose from it: {_names(found.placements) or 'none'}"


def _on_one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _names(names: Sequence[str]) -> str:
    more = f", … and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _times(score: int, weight: int) -> str:
    return f"{score} × {weight}" if weight != 1 else str(score)


def _good(good: bool) -> Shade:
    return Shade.GOOD if good else Shade.BAD


def _yes_or_no(yes: bool, paint: Paint) -> str:
    return paint("yes", Shade.GOOD) if yes else paint("no", Shade.BAD)
