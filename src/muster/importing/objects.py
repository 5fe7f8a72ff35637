"""ManagedClusters of what was found: what is applied, what is written into the status, and what of it is new.

Labels and fields that somebody else has set otherwise are left to them: an import owns what it brought, nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import GROUP, ManagedCluster, NameValue
from muster.api.parts import FieldManager, Node
from muster.api.reading import Reader
from muster.api.registration import JOINED
from muster.importing.found import ACCESS, IMPORTED, MANAGER, SOURCE
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muster.api.managed_cluster import ManagedClusterStatus
    from muster.importing.found import Found, State

API_VERSION: Final = f"{GROUP}/v1"
CLUSTERS: Final = Reader(ManagedCluster)
_SHOWN: Final = 60


class _Managers(Node, frozen=True):
    managed_fields: tuple[FieldManager, ...] = ()


class _Managed(Node, frozen=True):
    metadata: _Managers = _Managers()


_MANAGED: Final = Reader(_Managed)


@dataclass(frozen=True, slots=True)
class Applied:
    """What is applied, and what of the source is not, because somebody else has said otherwise."""

    object: JsonObject
    kept: tuple[str, ...] = ()


def applied(found: Found, present: JsonMapping | None, manager: str = MANAGER) -> Applied:
    """The object to apply: labels, how to get there, address, acceptance."""
    kept: list[str] = []
    labels = {**found.labels, SOURCE: found.source}
    annotations = {ACCESS: found.access} if found.access else {}
    spec: JsonObject = {"hubAcceptsClient": True}
    if found.url.startswith("https://"):
        config = {"url": found.url, **({"caBundle": found.authority} if found.authority else {})}
        spec["managedClusterClientConfigs"] = [config]
    if present is not None:
        ours = _ours(present, manager)
        metadata = present.get("metadata", {})
        labels = _without_others("label", labels, metadata.get("labels"), ours.get("f:labels"), kept)
        annotations = _without_others(
            "annotation", annotations, metadata.get("annotations"), ours.get("f:annotations"), kept
        )
        spec = _without_others("spec", spec, present.get("spec"), ours.get("f:spec"), kept)
    obj = {
        "apiVersion": API_VERSION,
        "kind": "ManagedCluster",
        "metadata": {"name": found.name, "labels": labels, "annotations": annotations},
        "spec": spec,
    }
    return Applied(obj, tuple(kept))


def _ours(present: JsonMapping, manager: str) -> Mapping[str, JsonMapping]:
    """The fields that earlier imports own."""
    for each in _MANAGED.of(present).metadata.managed_fields:
        if each.manager == manager and each.operation == "Apply" and not each.subresource:
            inside = each.fields_v1.get("f:metadata")
            found = {**inside} if isinstance(inside, dict) else {}
            return {**found, "f:spec": each.fields_v1.get("f:spec", {})}
    return {}


def _without_others(what: str, wanted: JsonObject, present: Json, ours: Json, kept: list[str]) -> JsonObject:
    """What is wanted without what others have set to something else."""
    there = present if isinstance(present, dict) else {}
    owned = ours if isinstance(ours, dict) else {}
    found: JsonObject = {}
    for key, value in wanted.items():
        if key in there and there[key] != value and f"f:{key}" not in owned:
            kept.append(f"{what} {key} stays {_shown(there[key])}: somebody else has set it, the source has another")
        else:
            found[key] = value
    return found


def _shown(value: Json) -> str:
    text = value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else "as it is"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def status_change(present: ManagedClusterStatus, state: State) -> JsonObject:
    """The merge patch of the status without its conditions; nothing where everything is so already."""
    patch: JsonObject = {}
    if state.version is not None and state.version != present.version.kubernetes:
        patch["version"] = {"kubernetes": state.version}
    for name, wanted, there in (
        ("capacity", state.capacity, present.capacity),
        ("allocatable", state.allocatable, present.allocatable),
    ):
        if wanted is not None and dict(wanted) != {key: str(value) for key, value in there.items()}:
            patch[name] = {**dict.fromkeys(there.keys() - wanted.keys()), **wanted}
    if state.claims is not None:
        claims = [NameValue(name, value) for name, value in sorted(state.claims.items())]
        if claims != list(present.cluster_claims):
            patch["clusterClaims"] = [{"name": each.name, "value": each.value} for each in claims]
    return patch


# ------------------------------------------------------------------------------------------------- what is new


def differences(before: JsonMapping, after: JsonMapping, state: State) -> Iterator[str]:
    """What writing changes of a cluster that is there, for people: the object as it is, and as the server would have it
    after the apply; then its status."""
    old, new = CLUSTERS.of(before), CLUSTERS.of(after)
    yield from _of_maps("label", old.metadata.labels, new.metadata.labels)
    yield from _of_maps("annotation", old.metadata.annotations, new.metadata.annotations)
    addresses = [", ".join(each.url for each in one.spec.managed_cluster_client_configs) for one in (old, new)]
    if addresses[0] != addresses[1]:
        yield f"address {addresses[0] or 'none'} -> {addresses[1] or 'none'}"
    elif old.spec.managed_cluster_client_configs != new.spec.managed_cluster_client_configs:
        yield "certificates of the address"
    if old.spec.hub_accepts_client != new.spec.hub_accepts_client:
        yield "accepted by the hub" if new.spec.hub_accepts_client else "accepted no more"
    yield from status_differences(old.status, state)


def status_differences(present: ManagedClusterStatus, state: State) -> Iterator[str]:
    if state.version is not None and state.version != present.version.kubernetes:
        yield f"version {present.version.kubernetes or 'unknown'} -> {state.version}"
    for name, wanted, there in (
        ("capacity", state.capacity, present.capacity),
        ("allocatable", state.allocatable, present.allocatable),
    ):
        if wanted is not None:
            yield from _of_maps(name, {key: str(value) for key, value in there.items()}, wanted)
    if state.claims is not None:
        yield from _of_maps("claim", {each.name: each.value for each in present.cluster_claims}, state.claims)


def _of_maps(what: str, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for key in sorted({**before, **after}):
        if before.get(key) == after.get(key):
            continue
        if key not in after:
            yield f"{what} {key} goes"
        elif key not in before:
            yield f"{what} {key}={_shown(after[key])}"
        else:
            yield f"{what} {key} {_shown(before[key])} -> {_shown(after[key])}"


def summary(found: Found) -> str:
    """A new cluster in one line."""
    state = found.state
    parts: list[str] = [state.version] if state.version else []
    capacity = state.capacity or {}
    parts += [f"{capacity[name]} {name}" for name in ("cpu", "memory", "nvidia.com/gpu") if name in capacity]
    if found.labels:
        parts.append(", ".join(f"{key}={value}" for key, value in sorted(found.labels.items())))
    if state.claims:
        parts.append(counted(len(state.claims), "claim"))
    return "; ".join(parts) or "nothing is known of it"


def counted(number: int, what: str) -> str:
    """
    >>> counted(1, "claim"), counted(1200, "cluster")
    ('1 claim', '1,200 clusters')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def why_not(present: JsonMapping, found: Found) -> str:
    """Why a cluster that is there is not to be imported over; nothing if it may be.

    Whoever brought it owns what is known of it: a second source would take away what the first one said.
    """
    cluster = CLUSTERS.of(present)
    before = cluster.metadata.labels.get(SOURCE)
    if before is not None and before != found.source:
        return (
            f"`muster import {before}` has brought it: give this one another name with --name, or take over with "
            f"`kubectl label managedcluster {found.name} {SOURCE}-` first"
        )
    joined = next((each for each in cluster.status.conditions if each.type == JOINED), None)
    if before is None and joined is not None and joined.status == "True" and joined.reason != IMPORTED:
        return "it has joined by an agent of its own, which reports on it: give this one another name with --name"
    return ""


def told_of_same(found: Sequence[Found]) -> list[Found]:
    """The same, with a note on each that is, by what it says of itself, a cluster that came earlier."""
    first: dict[str, str] = {}
    result = []
    for each in found:
        identity = (each.state.claims or {}).get("id.k8s.io", "")
        known = first.setdefault(identity, each.name) if identity and not each.fault else each.name
        note = f"it is the same cluster as {known}: both have the id {identity}"
        result.append(each if known == each.name else replace(each, notes=(*each.notes, note)))
    return result


def named_twice(found: Sequence[Found]) -> list[Found]:
    """The same, with a fault on each that has the name of an earlier one, or none."""
    seen: dict[str, str] = {}
    result = []
    for each in found:
        fault = each.fault
        if not each.name:
            fault = "no name can be made of it: give it one with --name"
        elif each.name in seen:
            fault = f"{seen[each.name]} has the name {each.name} too: give one another with --name"
        seen.setdefault(each.name, each.origin)
        result.append(replace(each, fault=fault))
    return result
