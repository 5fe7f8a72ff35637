"""Our decisions beside those that another scheduler wrote, with the reason of every difference. Writes nothing.

`muster shadow` feeds it what a user can read of an OCM hub. The decisions that stand count as the placement's own, as
they would if our controller took over now: what would move is what is told. Differences that are meant are named by
their heading in docs/differences.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.controllers.duties import DISABLED
from muster.placement.explain.explanation import explain_cluster
from muster.reasons import Code, Reason, sentence
from muster.selectors.membership import DEFAULT_KEY, ExclusiveMembership

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from muster.api.placement import Placement
    from muster.controllers.placements.decision_pages import DecisionPage
    from muster.controllers.placements.keys import Key
    from muster.controllers.placements.world import PlacementWorld
    from muster.placement import ScheduleResult

KEPT: Final = "a misconfigured placement keeps its decisions"
SPREAD: Final = "spreadPolicy is honoured"
DISLIKED: Final = "PreferNoSelect ranks last"
BY_SCORE: Final = "sortBy Score is honoured"
EXPIRED: Final = "an expired score is an error in CEL"
SPECIFIED: Final = "CEL as the specification writes it"
SKIPPED: Final = "one bad cluster set is skipped"
LASTING: Final = "a toleration of centuries lasts"
KEYED: Final = "exclusive keys beside the default one"
MEANT: Final = (KEPT, SPREAD, DISLIKED, BY_SCORE, EXPIRED, SPECIFIED, SKIPPED, LASTING, KEYED)
"""Headings of docs/differences.md that can move a decision."""
_LONGEST: Final = 9_223_372_036  # seconds that 64 bits of nanoseconds hold
_GROUP_NAME: Final = "cluster.open-cluster-management.io/decision-group-name"
_GROUP_INDEX: Final = "cluster.open-cluster-management.io/decision-group-index"
_ONLY_IN_SPECIFICATION: Final = ("parseJSON(", "scores(managedCluster", ", true)")


class Difference(msgspec.Struct, frozen=True, rename="camel"):
    """A cluster that one of the two selects, and why we do or do not."""

    cluster: str
    code: str
    reason: str


class Shadow(msgspec.Struct, frozen=True, rename="camel"):
    """One placement. `not_compared` says why, if it was not; `meant` are headings of docs/differences.md."""

    namespace: str
    name: str
    same: bool
    theirs: int = 0
    ours: int = 0
    only_theirs: tuple[Difference, ...] = ()
    only_ours: tuple[Difference, ...] = ()
    grouping: str = ""  # what differs in groups and order, where the clusters are the same
    fault: str = ""  # why we would decide nothing
    meant: tuple[str, ...] = ()
    not_compared: str = ""


class Comparison(msgspec.Struct, frozen=True, rename="camel"):
    """All placements, in the order of names."""

    placements: tuple[Shadow, ...]
    same: int
    different: int
    not_compared: int
    clusters: int
    unread: tuple[str, ...] = ()


def compared(world: PlacementWorld, now: datetime, namespace: str = "", unread: tuple[str, ...] = ()) -> Comparison:
    """What would move if we decided, in one namespace or in all. `unread` is what of the server could not be read."""
    keys = sorted(key for key in world.placements if namespace in ("", key.namespace))
    found = tuple(_shadow(world, key, now) for key in keys)
    left_out = sum(bool(each.not_compared) for each in found)
    same = sum(each.same for each in found)
    return Comparison(found, same, len(found) - same - left_out, left_out, len(world.fleet), unread)


def _shadow(world: PlacementWorld, key: Key, now: datetime) -> Shadow:
    placement = world.placements[key].obj
    pages = world.decisions.of(key)
    theirs = [name for page in pages for name in page.clusters]
    if (why := _why_not(placement)) is not None:
        return Shadow(*key, same=False, theirs=len(theirs), not_compared=sentence(why))
    result = world.decide(key, now)
    if result is None:
        return Shadow(*key, same=False, theirs=len(theirs), not_compared="it is another's to decide, or set aside")
    if result.fault is not None:
        # What stands would stay: nothing moves, unless the other one sees no mistake and goes on deciding.
        agreed = any(
            each.type == "PlacementMisconfigured" and each.status == "True" for each in placement.status.conditions
        )
        ours = len(theirs)
        return Shadow(*key, same=agreed, theirs=ours, ours=ours, fault=result.fault.message, meant=(KEPT,))
    mine = result.selected
    only_theirs = tuple(_against(result, name) for name in sorted(set(theirs) - set(mine)))
    only_ours = tuple(_favour(result, name) for name in sorted(set(mine) - set(theirs)))
    grouping = "" if only_theirs or only_ours else _grouping(result, pages)
    same = not (only_theirs or only_ours or grouping)
    meant = () if same else tuple(_meant(result, placement, only_theirs, only_ours, grouping))
    return Shadow(*key, same, len(theirs), len(mine), only_theirs, only_ours, grouping, meant=meant)


def _why_not(placement: Placement) -> Reason | None:
    if placement.metadata.is_going:
        return Reason(Code.PLACEMENT_DELETING)
    if placement.metadata.annotations.get(DISABLED) == "true":
        return Reason(Code.SCHEDULING_DISABLED, parameters={"annotation": DISABLED})
    return None


def _against(result: ScheduleResult, cluster: str) -> Difference:
    """Why we do not select what they select."""
    if cluster not in result.cycle.fleet:
        text = "there is no such cluster among those that could be read: it is gone, or hidden from you"
        return Difference(cluster, str(Code.NO_SUCH_CLUSTER), text)
    way = explain_cluster(result, cluster)
    return Difference(cluster, _telling(way.why), sentence(way.why))


def _favour(result: ScheduleResult, cluster: str) -> Difference:
    """Why we select what they do not."""
    way = explain_cluster(result, cluster)
    rank = "" if way.rank is None else f"; rank {way.rank} of {len(result.feasible)}, score {way.total}"
    return Difference(cluster, str(way.why.code), f"{sentence(way.why)}{rank}")


def _telling(why: Reason) -> str:
    """The code that says most: of a cluster that was not picked, why it was not."""
    inner = next((each.code for each in _all(why) if each.code in _TELLING), why.code)
    return str(inner)


_TELLING: Final = frozenset({Code.TAINT_DISLIKED, Code.EXPRESSION_FAILED, Code.SPREAD_OVER, Code.SPREAD_UNEVENLY})


def _all(why: Reason) -> Iterator[Reason]:
    yield why
    for each in why.parts:
        yield from _all(each)


def _grouping(result: ScheduleResult, pages: list[DecisionPage]) -> str:
    """What differs when the clusters are the same: in which group each is."""
    mine = {name: (page.group_name, page.group_index) for page in result.pages() for name in page.clusters}
    other = {name: _group_of(page) for page in pages for name in page.clusters}
    moved = sorted(name for name in mine if mine[name] != other.get(name))
    if not moved:
        return ""
    first = moved[0]
    group, index = mine[first]
    theirs = other.get(first, ("", 0))
    return (
        f"{len(moved)} clusters are in other decision groups: {first} is in group {index} ({group or 'no name'}), "
        f"theirs is {theirs[1]} ({theirs[0] or 'no name'})"
    )


def _group_of(page: DecisionPage) -> tuple[str, int]:
    labels = page.metadata.labels
    index = labels.get(_GROUP_INDEX, "0")
    return labels.get(_GROUP_NAME, ""), int(index) if index.isdecimal() else 0


def _meant(
    result: ScheduleResult,
    placement: Placement,
    only_theirs: tuple[Difference, ...],
    only_ours: tuple[Difference, ...],
    grouping: str,
) -> Iterator[str]:
    """What we do otherwise on purpose, and this placement makes use of."""
    plan, sets = result.cycle.plan, result.cycle.visibility
    codes = {each.code for each in only_theirs}
    texts = [
        text
        for each in placement.spec.predicates
        for text in each.required_cluster_selector.cel_selector.cel_expressions
    ]
    if plan.spread:
        yield SPREAD
    if Code.TAINT_DISLIKED in codes:
        yield DISLIKED
    if grouping and plan.by_score:
        yield BY_SCORE
    if Code.EXPRESSION_FAILED in codes and any("scores(" in text for text in texts):
        yield EXPIRED
    if only_ours and any(form in text for text in texts for form in _ONLY_IN_SPECIFICATION):
        yield SPECIFIED
    if sets.broken:
        yield SKIPPED
    if any((each.toleration_seconds or 0) > _LONGEST for each in placement.spec.tolerations):
        yield LASTING
    if any(isinstance(rule, ExclusiveMembership) and rule.key != DEFAULT_KEY for _, rule in sets.eligible):
        yield KEYED
