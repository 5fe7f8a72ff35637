"""ManagedCluster: who may accept it and move it between cluster sets; its addresses; the times of its taints.

As the webhooks of Open Cluster Management have it, with exclusive keys other than the default one besides.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

from muster.admission.asking import forbidden, missing_permissions
from muster.admission.write import CREATE, NOTHING, Finding, name_of, refused, spec_of
from muster.api.managed_cluster import GROUP, ManagedClusterSpec
from muster.api.namespace import Namespace
from muster.api.parts import Node, ObjectMeta
from muster.api.reading import Reader
from muster.api.registration import JOINING_TAINT
from muster.clustersets.moves import join_permissions, moves_between_sets, possible_moves
from muster.clustersets.permissions import accept
from muster.selectors import membership
from muster.selectors.labels import labels_of
from muster.selectors.membership import DEFAULT_KEY, DEFAULT_SET
from muster.values.json import JsonObject
from muster.values.names import dns_label_problems
from muster.values.quoting import go_quote
from muster.values.urls import InvalidUrlError, parse_request_uri, parse_url

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.admission.write import World, Write
    from muster.api.managed_cluster import Taint
    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.reading import Reading
    from muster.clustersets.moves import Move

SETS: Final = f"managedclustersets.{GROUP}"
_MOST_NAMED: Final = 100  # taints or addresses in one refusal
_MOST_LOOKED_UP: Final = 50  # sets; from so many labels on, one look at all of them is quicker


class _Cluster(Node, frozen=True):
    """A cluster without its status, which nobody judges and which is the most of it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ManagedClusterSpec = ManagedClusterSpec()


_CLUSTERS: Final = Reader(_Cluster)
_NO_CLUSTER: Final = _Cluster()
_NAMESPACES: Final = Reader(Namespace)


# --- Filled in ----------------------------------------------------------------------------------------------------


def joining_taint(write: Write) -> Finding:
    """A new cluster begins with a taint that keeps placements away; whoever looks after clusters takes it off when the
    cluster is ready. Where that is set."""
    new = write.new
    if new is None or write.operation != CREATE or write.subresource:
        return NOTHING
    found = _CLUSTERS.partly(new)
    taints = spec_of(new).get("taints", [])
    if found.fault_in("spec") is not None or not isinstance(taints, list):
        return NOTHING  # validation will not let it pass
    if any(each.key == JOINING_TAINT for each in found.obj.spec.taints):
        return NOTHING
    tainted = [*taints, {"key": JOINING_TAINT, "effect": "NoSelect"}]
    return Finding({**new, "spec": {**spec_of(new), "taints": tainted}})


def taint_times(write: Write) -> Finding:
    """New and changed taints get the present time, others keep theirs. Nobody else sets it."""
    new = write.new
    if new is None or write.subresource:
        return NOTHING
    found = _CLUSTERS.partly(new)
    taints, written = found.obj.spec.taints, spec_of(new).get("taints")
    if not taints or not isinstance(written, list) or found.fault_in("spec") is not None or None in written:
        return NOTHING  # none, or none that validation will let pass
    now = write.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    known = {_identity(taint): taint.time_added for taint in reversed(_judged(write.old).spec.taints)}
    timed, forged = [], []
    for taint, plain in zip(taints, written, strict=True):
        stored = known.get(_identity(taint))
        # One that was stored without a time, while nobody filled it in, gets the present one from whoever says so.
        untimed = stored is None and _identity(taint) in known
        is_said = write.operation != CREATE and taint.time_added is not None
        if is_said and taint.time_added != stored and not untimed:
            forged.append(taint.key)
        timed.append({**plain, "timeAdded": stored or now})
    if forged:
        return refused(f'It is not allowed to set TimeAdded of Taint "{",".join(forged[:_MOST_NAMED])}".')
    if timed == written:
        return NOTHING
    return Finding({**new, "spec": {**spec_of(new), "taints": timed}})


def _identity(taint: Taint) -> tuple[str, str, str]:
    return taint.key, taint.value, taint.effect


def default_set(write: Write) -> Finding:
    """A cluster that names no set by the default key is in the set `default`."""
    new = write.new
    if new is None or write.subresource or not isinstance(new.get("metadata"), dict):
        return NOTHING
    found = _CLUSTERS.partly(new)
    metadata = found.obj.metadata
    if metadata.is_going:
        return NOTHING  # a cluster that goes away must get rid of its finalizers, whoever removes them
    if found.fault_in("metadata.labels") is not None or metadata.labels.get(DEFAULT_KEY):
        return NOTHING
    labels = {**metadata.labels, DEFAULT_KEY: DEFAULT_SET}
    return Finding({**new, "metadata": {**new["metadata"], "labels": labels}})


# --- Refused ------------------------------------------------------------------------------------------------------


def client_configs(write: Write) -> Finding:
    """Addresses are HTTPS; the name of a cluster that has some can be that of its namespace."""
    configs = _judged(write.new).spec.managed_cluster_client_configs
    if write.subresource or not configs:
        return NOTHING
    problems = []
    wrong_name = dns_label_problems(name_of(write))
    if wrong_name:
        problems.append(f"metadata.name format is not correct: {','.join(wrong_name)}")
    urls = [each.url for each in configs]
    problems += [f"url {go_quote(url)} is invalid in client configs" for url in urls if not _is_https(url)]
    return refused("\n".join(problems[:_MOST_NAMED])) if problems else NOTHING


def _is_https(url: str) -> bool:
    try:
        parse_request_uri(url)  # as the rule in our CustomResourceDefinition reads it
        return parse_url(url).scheme == "https"
    except InvalidUrlError:
        return False


async def namespace_stays(write: Write, world: World) -> Finding:
    """A cluster is not accepted while the namespace of its name goes away."""
    if write.new is None or write.subresource:
        return NOTHING
    if not _judged(write.new).spec.hub_accepts_client or _judged(write.old).spec.hub_accepts_client:
        return NOTHING
    name = name_of(write)
    namespace = await world.get("namespaces", "", name)
    if namespace is None or _NAMESPACES.of(namespace).status.phase != "Terminating":
        return NOTHING
    text = f'managedclusters/accept.{GROUP} "{name}" is forbidden: cluster namespace "{name}" is terminating'
    return refused(text, 403, "Forbidden")


async def permitted(write: Write, world: World) -> Finding:
    """Accepting needs a permission, and so does every exclusive set that is entered or left. Any path counts: what
    matters is the label before and after."""
    new = write.new
    if new is None:
        return NOTHING
    if write.old is not None and spec_of(new) == spec_of(write.old) and labels_of(new) == labels_of(write.old):
        return NOTHING  # almost every write: heartbeats, claims, conditions
    before, after = _judged(write.old), _judged(new)
    moves = possible_moves(before.metadata.labels, after.metadata.labels)
    accepted = after.spec.hub_accepts_client and not before.spec.hub_accepts_client
    if not moves and not accepted:
        return NOTHING
    needed = [accept(name_of(write))] if accepted else []
    needed += join_permissions(moves_between_sets(moves, await _sets_named(moves, world)))
    return forbidden(write.asker, await missing_permissions(world, write.asker, needed))


async def _sets_named(moves: Sequence[Move], world: World) -> Mapping[str, Reading[ManagedClusterSet]]:
    """The sets that could be meant. Those of the default key need not exist, so nobody looks."""
    names = {move.set_name for move in moves if not move.is_by_default_key}
    if len(names) > _MOST_LOOKED_UP:
        found = await world.list(SETS)
    else:
        looked_up = [await world.get(SETS, "", name) for name in sorted(names)]
        found = [each for each in looked_up if each is not None]
    sets = [membership.SETS.partly(each) for each in found]
    return {each.obj.metadata.name: each for each in sets}


def _judged(cluster: JsonObject | None) -> _Cluster:
    return _NO_CLUSTER if cluster is None else _CLUSTERS.of(cluster)
