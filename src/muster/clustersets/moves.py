"""Which exclusive sets a cluster enters and leaves when its labels change, and what that needs.

A set with the exclusive key K and the name N has the clusters labelled K=N. So a label that is gained or lost names the
only set that it can be about: nobody needs to look at the other sets. Called by admission and by commands. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.clustersets.permissions import Permission, join
from muster.errors import InvalidObjectError
from muster.selectors.membership import DEFAULT_KEY, ExclusiveMembership, membership_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.reading import Reading


class Move(msgspec.Struct, frozen=True, gc=False):
    """A cluster gains or loses the label `key=set_name`; it may or may not be that there is such a set."""

    key: str
    set_name: str
    enters: bool

    @property
    def is_by_default_key(self) -> bool:
        return self.key == DEFAULT_KEY


def possible_moves(old: Mapping[str, str], new: Mapping[str, str]) -> list[Move]:
    """Every label lost and gained between two states, those of the default key first, what is left before what is
    entered."""
    if old == new:
        return []
    changed = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    changed.sort(key=lambda key: (key != DEFAULT_KEY, key))
    return [
        Move(key, value, enters)
        for key in changed
        for value, enters in ((old.get(key), False), (new.get(key), True))
        if value
    ]


def moves_between_sets(moves: Iterable[Move], sets: Mapping[str, Reading[ManagedClusterSet]]) -> list[Move]:
    """Those moves that are into or out of a set. `sets` holds the existing sets by name.

    The default key is guarded whether or not the set exists, as Open Cluster Management does it.
    """
    return [move for move in moves if move.is_by_default_key or is_exclusive(sets.get(move.set_name), move.key)]


def is_exclusive(cluster_set: Reading[ManagedClusterSet] | None, key: str) -> bool:
    """Whether there is such a set and it has its members by this key."""
    if cluster_set is None:
        return False
    rule = exclusive_membership(cluster_set)
    return rule is not None and rule.key == key


def exclusive_membership(cluster_set: Reading[ManagedClusterSet]) -> ExclusiveMembership | None:
    """The key and value by which a set has its members; None for a set by label selector, or one that has none."""
    try:
        rule = membership_of(cluster_set.demanded("spec"))
    except InvalidObjectError:
        return None
    return rule if isinstance(rule, ExclusiveMembership) else None


def join_permissions(moves: Iterable[Move]) -> list[Permission]:
    """One permission for each set that is entered or left."""
    permissions: dict[str, Permission] = {}
    for move in moves:
        verb = "enters" if move.enters else "leaves"
        reason = f"the cluster {verb} the set {move.set_name}: label {move.key}={move.set_name}"
        permissions.setdefault(move.set_name, join(move.set_name, reason))
    return list(permissions.values())
