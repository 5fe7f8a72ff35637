"""Which cluster sets a placement may choose from, and which clusters they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.selectors import Verdict
from muster.selectors.membership import SETS, membership_of
from muster.values.faults import Fault
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.fleet import Fleet
    from muster.selectors.membership import Membership

_BINDINGS: Final = Reader(ManagedClusterSetBinding)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is known of who is in a set: the rule that holds, and what is wrong with the set as it is now.

    A set that is misconfigured keeps its last good rule. Where none is known, `membership` is None: nobody can tell who
    is in it.
    """

    membership: Membership | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Visibility:
    """The sets bound to a placement's namespace: all, those it may choose from, those that cannot be evaluated.

    A set that cannot be evaluated is in `broken`; it is also in `eligible` when its last good rule is known.
    """

    bound: tuple[str, ...]
    eligible: tuple[tuple[str, Membership], ...]  # sorted by name
    broken: tuple[tuple[str, str], ...] = ()  # name and why
    within: NDArray[np.bool_] | None = None  # rows, if it is as if there were no others

    @property
    def eligible_names(self) -> list[str]:
        return sorted({name for name, _ in self.eligible} | {name for name, _ in self.broken})

    @property
    def unknown(self) -> list[str]:
        """Sets of which nobody can tell who is in them."""
        known = {name for name, _ in self.eligible}
        return [name for name, _ in self.broken if name not in known]

    def available(self, fleet: Fleet, own: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Members of any eligible set, without clusters on their way out.

        As long as nobody can tell who is in one of the sets, clusters that are decided already (`own`) count as
        members: a mistake in a set removes nothing.
        """
        mask = np.zeros(fleet.capacity, dtype=np.bool_)
        for _, rule in self.eligible:
            fleet.mask(rule).widen(mask)
        if own is not None and self.unknown:
            mask |= own
        if self.within is not None:
            mask &= self.within
        mask &= fleet.present
        return mask

    def has(self, fleet: Fleet, row: int, own: NDArray[np.bool_]) -> bool:
        """Whether the cluster in a row is available. No other cluster is evaluated for that."""
        if not fleet.present[row] or (self.within is not None and not self.within[row]):
            return False
        if own[row] and self.unknown:
            return True
        return any(fleet.verdict(rule, row) is Verdict.YES for _, rule in self.eligible)


def rule_of(cluster_set: ManagedClusterSet, before: Rule | None = None, unread: Fault | None = None) -> Rule:
    """The rule of a set. One that cannot be evaluated goes on with the rule that it had before, if it had one.

    `unread` is what of its spec could not be read, if anything: whoever stored it has other checks than ours.
    """
    fault = f"spec cannot be read ({unread})"
    if unread is None:
        try:
            return Rule(membership_of(cluster_set))
        except InvalidObjectError as error:
            fault = str(error)
    return Rule(before.membership if before is not None else None, fault)


def visibility(
    namespace: str,
    wanted: Iterable[str],
    bindings: Iterable[JsonMapping],
    cluster_sets: Iterable[JsonMapping],
) -> Visibility:
    """From the objects themselves, as people write them, for those who keep no rules."""
    return visible(wanted, bound_in(namespace, bindings_read(bindings)), rules_read(cluster_sets))


def rules_read(cluster_sets: Iterable[JsonMapping]) -> dict[str, Rule]:
    """The rules of sets as people write them, by name."""
    found = (SETS.fitted(each) for each in cluster_sets)
    read = [each for each in found if not isinstance(each, Fault)]
    return {each.obj.metadata.name: rule_of(each.obj, unread=each.fault_in("spec")) for each in read}


def bindings_read(bindings: Iterable[JsonMapping]) -> list[ManagedClusterSetBinding]:
    """Bindings as people write them."""
    found = (_BINDINGS.fitted(each) for each in bindings)
    return [each.obj for each in found if not isinstance(each, Fault)]


def bound_in(namespace: str, bindings: Iterable[ManagedClusterSetBinding]) -> list[str]:
    """The sets that bindings of a namespace name."""
    return [each.metadata.name for each in bindings if each.metadata.namespace == namespace]


def visible(wanted: Iterable[str], names: Iterable[str], sets: Mapping[str, Rule]) -> Visibility:
    """The sets that bindings of a namespace name, if they exist, cut down to the wanted ones if any are named."""
    bound = sorted({name for name in names if name in sets})
    asked = set(wanted)
    eligible: list[tuple[str, Membership]] = []
    broken: list[tuple[str, str]] = []
    for name in bound:
        if asked and name not in asked:
            continue
        rule = sets[name]
        if rule.membership is not None:
            eligible.append((name, rule.membership))
        if rule.fault:
            broken.append((name, rule.fault))
    return Visibility(tuple(bound), tuple(eligible), tuple(broken))
