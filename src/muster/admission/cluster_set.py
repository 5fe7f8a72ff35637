"""ManagedClusterSet: who may create one by which key, and which clusters it may take in.

Deleting a set and changing its other fields needs no more than the permission to do so. A dry run tells which clusters
come and go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.admission.asking import forbidden, missing_permissions
from muster.admission.write import NOTHING, Finding, invalid_object, name_of, refused
from muster.api.managed_cluster import GROUP
from muster.clustersets import pairs
from muster.clustersets.moves import exclusive_membership
from muster.clustersets.new_sets import denying, key_permissions, new_membership, take_in_permissions
from muster.clustersets.permissions import MOST_NAMED
from muster.selectors.membership import DEFAULT_KEY, SETS
from muster.values.causes import invalid
from muster.values.json import JsonObject
from muster.values.names import NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.admission.write import World, Write
    from muster.clustersets.permissions import Permission
    from muster.selectors.membership import ExclusiveMembership

CLUSTERS: Final = f"managedclusters.{GROUP}"
_BATCH: Final = 1000  # clusters that are asked about together


def long_name(write: Write) -> Finding:
    """Warns of a set that can have no members: its name is too long to be the value of a label."""
    new = write.new
    if new is None or write.subresource or write.old is not None or len(name_of(write)) <= NAME_LENGTH:
        return NOTHING
    rule = exclusive_membership(SETS.partly(new))
    if rule is None or rule.key != DEFAULT_KEY:
        return NOTHING  # other keys refuse it
    return Finding(
        warnings=(f"no cluster can be in this set: its name is longer than a label value, {NAME_LENGTH} characters",)
    )


def key_taken(write: Write, denied: tuple[str, ...]) -> Finding:
    """Refuses keys that administrators keep from sets."""
    new = write.new
    if new is None or write.subresource:
        return NOTHING
    rule = _new_membership(new, write.old)
    entry = None if rule is None or rule.key == DEFAULT_KEY else denying(rule.key, denied)
    if rule is None or entry is None:
        return NOTHING
    return invalid_object([invalid("spec.exclusiveKey", rule.key, f"this hub takes no set with the key {entry}")])


def _new_membership(new: JsonObject, old: JsonObject | None) -> ExclusiveMembership | None:
    return new_membership(SETS.partly(new), None if old is None else SETS.partly(old))


async def permitted(write: Write, world: World) -> Finding:
    """A set that begins to have members by an exclusive key needs permission for the key and for each of them."""
    new = write.new
    if write.subresource:
        return NOTHING
    if new is None:
        return await _leaving(write, world) if write.dry_run else NOTHING
    rule = _new_membership(new, write.old)
    if write.old is not None and rule is None:
        return NOTHING
    # 1. The pair of key and name must be one that the administrators have in mind.
    rules = pairs.PairRules.parse(await world.get("configmaps", pairs.NAMESPACE, pairs.NAME))
    problem = rules.refusal_of(SETS.demanded(new, "spec"))
    if problem is not None:
        text = f'managedclustersets.{GROUP} "{name_of(write)}" is forbidden: {problem}'
        return refused(text, 403, "Forbidden")
    if rule is None:
        return NOTHING
    # 2. All permissions at once: for the key, and for every cluster that carries the label already.
    missing = await missing_permissions(world, write.asker, key_permissions(rule))
    missing += await _not_updatable(rule, write, world)
    refusal = forbidden(write.asker, missing)
    if refusal.refusal is not None or not write.dry_run:
        return refusal
    members = await world.labelled(CLUSTERS, rule.key, rule.set_name)
    return Finding(warnings=(await _told(rule, members, "become members", write, world),))


async def _not_updatable(rule: ExclusiveMembership, write: Write, world: World) -> list[Permission]:
    """Permissions to update clusters that the set would take in and the asker does not have."""
    if not await world.missing(write.asker, "update", CLUSTERS, ("",)):
        return []  # whoever may update every cluster need not be asked about each
    clusters = await world.labelled(CLUSTERS, rule.key, rule.set_name)
    missing: list[str] = []
    for start in range(0, len(clusters), _BATCH):
        missing += await world.missing(write.asker, "update", CLUSTERS, clusters[start : start + _BATCH])
    hidden = await _hidden(missing, write, world)
    return take_in_permissions(rule, [name for name in missing if name not in hidden], len(hidden))


async def _hidden(clusters: Sequence[str], write: Write, world: World) -> set[str]:
    """Those that the asker may not get: they are counted, and never named."""
    hidden: set[str] = set()
    for start in range(0, len(clusters), _BATCH):
        hidden.update(await world.missing(write.asker, "get", CLUSTERS, clusters[start : start + _BATCH]))
    return hidden


async def _leaving(write: Write, world: World) -> Finding:
    """Who would leave with the set."""
    rule = None if write.old is None else exclusive_membership(SETS.partly(write.old))
    if rule is None:
        return NOTHING
    members = await world.labelled(CLUSTERS, rule.key, rule.set_name)
    return Finding(warnings=(await _told(rule, members, "are members no longer", write, world),))


async def _told(rule: ExclusiveMembership, members: Sequence[str], happens: str, write: Write, world: World) -> str:
    """How many, and the first of those that the asker may see."""
    hidden = await _hidden(members, write, world)
    named = [name for name in members if name not in hidden][:MOST_NAMED]
    more = len(members) - len(named)
    listed = f": {', '.join(named)}{f' and {more} more' if more else ''}" if named else ""
    return f"clusters labelled {rule.key}={rule.set_name} {happens}: {len(members)}{listed}"
