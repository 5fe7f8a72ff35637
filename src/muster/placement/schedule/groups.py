"""Decision groups: selected clusters in named groups, cut to size, in pages of at most 100."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.errors import InvalidObjectError
from muster.selectors.labels import claim_selector, label_selector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.api import placement
    from muster.fleet import Fleet
    from muster.selectors import Selector

PAGE: Final = 100
_PERCENT: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)%")


@dataclass(frozen=True, slots=True)
class NamedGroup:
    name: str
    selectors: tuple[Selector, ...]


@dataclass(frozen=True, slots=True)
class GroupStrategy:
    """Groups in order, and how many clusters one may have: a number, a share of all selected, or no limit."""

    groups: tuple[NamedGroup, ...] = ()
    size: int | None = None
    percent: float | None = None

    def length(self, selected: int) -> int:
        length = self.size if self.size is not None else selected
        if self.percent is not None:
            length = math.ceil(min(max(self.percent, 0.0), 100.0) / 100 * selected)
        return selected if length <= 0 or length > selected else length


NO_GROUPS: Final = GroupStrategy()


@dataclass(frozen=True, slots=True)
class Group:
    """One group of the result; several may share a name."""

    index: int
    name: str
    rows: NDArray[np.intp]


def group_strategy(spec: placement.GroupStrategy) -> GroupStrategy:
    """From a Placement's groupStrategy. Raises InvalidObjectError in upstream's words."""
    size, percent = _length(spec.clusters_per_decision_group)
    return GroupStrategy(tuple(map(_named_group, spec.decision_groups)), size, percent)


def _named_group(spec: placement.DecisionGroup) -> NamedGroup:
    wanted = spec.group_cluster_selector
    return NamedGroup(spec.group_name, (label_selector(wanted.label_selector), claim_selector(wanted.claim_selector)))


def _length(given: int | str | None) -> tuple[int | None, float | None]:
    if given is None or given == "":
        return None, None
    if isinstance(given, int):
        return given, None
    if not _PERCENT.fullmatch(given):
        raise InvalidObjectError("", f"{given} invalid type: string is not a percentage")
    return None, float(given[:-1])  # endless when there are very many digits


def grouped(fleet: Fleet, strategy: GroupStrategy, ordered: NDArray[np.intp]) -> tuple[Group, ...]:
    """Put the selected rows, in the order they are to be shown, into groups. None selected: one empty group."""
    length = strategy.length(len(ordered))
    groups: list[Group] = []
    left = ordered
    for named in strategy.groups:
        inside = np.ones(len(left), dtype=np.bool_)
        for selector in named.selectors:
            inside &= fleet.mask(selector).selected[left]
        _append(groups, named.name, left[inside], length)
        left = left[~inside]
    _append(groups, "", left, length)
    return tuple(groups) or (Group(0, "", ordered),)


def _append(groups: list[Group], name: str, rows: NDArray[np.intp], length: int) -> None:
    for start in range(0, len(rows), max(length, 1)):
        groups.append(Group(len(groups), name, rows[start : start + length]))
