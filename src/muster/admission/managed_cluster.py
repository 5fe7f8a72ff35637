"""ManagedCluster: who may accept it and move it between cluster sets; its addresses; the times of its taints.

As the webhooks of Open Cluster Management have it, with exclusive keys other than the default one besides.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from muster.admission.asking import forbidden, missing_permissions
from muster.admission.write import CREATE, NOTHING, Finding, name_of, refused, spec_of
from muster.api.managed_cluster import GROUP
from muster.clustersets.moves import join_permissions, moves_between_sets, possible_moves
from muster.clustersets.permissions import accept
from muster.selectors.labels import labels_of
from muster.selectors.membership import DEFAULT_KEY, DEFAULT_SET
from muster.values.json import JsonMapping, JsonObject
from muster.values.names import dns_label_problems
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.admission.write import World, Write
    from muster.clustersets.moves import Move

SETS: Final = f"managedclustersets.{GROUP}"
_IDENTITY: Final = ("key", "value", "effect")
_MOST_NAMED: Final = 100  # taints or addresses in one refusal
_MOST_LOOKED_UP: Final = 50  # sets; from so many labels on, one look at all of them is quicker


# --- Filled in ----------------------------------------------------------------------------------------------------


def taint_times(write: Write) -> Finding:
    """New and changed taints get the present time, others keep theirs. Nobody else sets it."""
    new = write.new
    if new is None or write.subresource:
        return NOTHING
    taints = spec_of(new).get("taints")
    if not taints or not isinstance(taints, list) or not all(isinstance(taint, dict) for taint in taints):
        return NOTHING  # none, or none that validation will let pass
    now = write.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    known = {_identity(taint): taint.get("timeAdded") for taint in reversed(spec_of(write.old).get("taints") or ())}
    timed, forged = [], []
    for taint in taints:
        given = taint.get("timeAdded")
        stored = known.get(_identity(taint))
        if write.operation != CREATE and given is not None and given != stored:
            forged.append(str(taint.get("key")))
        timed.append({**taint, "timeAdded": stored or now})
    if forged:
        return refused(f'It is not allowed to set TimeAdded of Taint "{",".join(forged[:_MOST_NAMED])}".')
    if timed == taints:
        return NOTHING
    return Finding({**new, "spec": {**spec_of(new), "taints": timed}})


def _identity(taint: JsonMapping) -> tuple[str, ...]:
    return tuple(str(taint.get(name) or "") for name in _IDENTITY)


def default_set(write: Write) -> Finding:
    """A cluster that names no set by the default key is in the set `default`."""
    metadata = (write.new or {}).get("metadata")
    if write.new is None or write.subresource or not isinstance(metadata, dict) or "deletionTimestamp" in metadata:
        return NOTHING  # a cluster that goes away must get rid of its finalizers, whoever removes them
    labels = metadata.get("labels") or {}
    if not isinstance(labels, dict) or labels.get(DEFAULT_KEY):
        return NOTHING
    return Finding({**write.new, "metadata": {**metadata, "labels": {**labels, DEFAULT_KEY: DEFAULT_SET}}})


# --- Refused ------------------------------------------------------------------------------------------------------


def client_configs(write: Write) -> Finding:
    """Addresses are HTTPS; the name of a cluster that has some can be that of its namespace."""
    new = write.new
    configs = spec_of(new).get("managedClusterClientConfigs")
    if new is None or write.subresource or not configs:
        return NOTHING
    problems = []
    wrong_name = dns_label_problems(name_of(write))
    if wrong_name:
        problems.append(f"metadata.name format is not correct: {','.join(wrong_name)}")
    urls = [str(each.get("url") or "") for each in configs]
    problems += [f"url {go_quote(url)} is invalid in client configs" for url in urls if not _is_https(url)]
    return refused("\n".join(problems[:_MOST_NAMED])) if problems else NOTHING


def _is_https(url: str) -> bool:
    try:
        return urlsplit(url).scheme == "https"
    except ValueError:
        return False


async def permitted(write: Write, world: World) -> Finding:
    """Accepting needs a permission, and so does every exclusive set that is entered or left. Any path counts: what
    matters is the label before and after."""
    new = write.new
    if new is None:
        return NOTHING
    moves = possible_moves(labels_of(write.old or {}), labels_of(new))
    accepted = bool(spec_of(new).get("hubAcceptsClient")) and not spec_of(write.old).get("hubAcceptsClient")
    if not moves and not accepted:
        return NOTHING  # almost every write: heartbeats, claims, conditions
    needed = []
    name = name_of(write)
    if accepted:
        namespace = await world.get("namespaces", "", name)
        if namespace is not None and (namespace.get("status") or {}).get("phase") == "Terminating":
            text = f'managedclusters/accept.{GROUP} "{name}" is forbidden: cluster namespace "{name}" is terminating'
            return refused(text, 403, "Forbidden")
        needed.append(accept(name))
    needed += join_permissions(moves_between_sets(moves, await _sets_named(moves, world)))
    return forbidden(write.asker, await missing_permissions(world, write.asker, needed))


async def _sets_named(moves: Sequence[Move], world: World) -> Mapping[str, JsonObject | None]:
    """The sets that could be meant. Those of the default key need not exist, so nobody looks."""
    names = {move.set_name for move in moves if not move.is_by_default_key}
    if len(names) > _MOST_LOOKED_UP:
        return {each["metadata"]["name"]: each for each in await world.list(SETS)}
    return {name: await world.get(SETS, "", name) for name in sorted(names)}
