"""When a set begins to have members by an exclusive key, and what that needs besides the permission to write the set.

A set that is created takes in every cluster that carries its label already, and so does one that stops selecting by
label selector. Called by admission. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.clustersets.moves import exclusive_membership
from muster.clustersets.permissions import Permission, take_in, take_in_hidden, use_key
from muster.selectors.membership import DEFAULT_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.reading import Reading
    from muster.selectors.membership import ExclusiveMembership


def new_membership(
    new: Reading[ManagedClusterSet], old: Reading[ManagedClusterSet] | None
) -> ExclusiveMembership | None:
    """The membership that this write brings into force; None if the set had it before, or is not exclusive."""
    rule = exclusive_membership(new)
    if rule is None or (old is not None and exclusive_membership(old) == rule):
        return None
    return rule


def key_permissions(rule: ExclusiveMembership) -> list[Permission]:
    """What the key needs. The default key is everybody's."""
    return [] if rule.key == DEFAULT_KEY else [use_key(rule.key)]


def denying(key: str, denied: Iterable[str]) -> str | None:
    """The first entry that keeps sets from having this key: the key itself, or its domain with a slash behind it.

    `kubernetes.io/` stands for all keys of that domain and of those below it.
    """
    domain = key.rpartition("/")[0]
    for entry in denied:
        if entry == key or (entry.endswith("/") and f".{domain}/".endswith(f".{entry}")):
            return entry
    return None


def take_in_permissions(rule: ExclusiveMembership, clusters: Iterable[str], hidden: int = 0) -> list[Permission]:
    """What the clusters need that the set has from its first moment on; so many more are not to be named."""
    named = [take_in(cluster, rule.key, rule.set_name) for cluster in clusters]
    return [*named, take_in_hidden(hidden, rule.key, rule.set_name)] if hidden else named
