"""Objects with boring defaults, so that a test states only what it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.placement.schedule.plan import PLACEMENTS
from muster.values.times import Fault, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from muster.api.placement import PlacementSpec

GROUP = "cluster.open-cluster-management.io"


def a_time(text: str) -> datetime:
    """A moment that is known to be one."""
    moment = parse_time(text)
    assert not isinstance(moment, Fault), moment
    return moment


def a_cluster(
    name: str = "c1",
    labels: Mapping[str, str] | None = None,
    claims: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, Any]] = (),
    **status: Any,
) -> dict[str, Any]:
    cluster: dict[str, Any] = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {"hubAcceptsClient": True},
        "status": {"clusterClaims": [{"name": key, "value": value} for key, value in (claims or {}).items()], **status},
    }
    if taints:
        cluster["spec"]["taints"] = [dict(taint) for taint in taints]
    return cluster


def a_taint(key: str, effect: str = "NoSelect", value: str = "", added: str | None = None) -> dict[str, Any]:
    taint = {"key": key, "value": value, "effect": effect}
    return taint | {"timeAdded": added} if added else taint


def a_placement(name: str = "p1", namespace: str = "apps", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def a_placement_spec(**spec: Any) -> PlacementSpec:
    """The spec of such a placement, read."""
    return PLACEMENTS.partly(a_placement(**spec)).obj.spec


def a_set(name: str = "global", labels: Mapping[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    """A set of everything, or of clusters with these labels, unless `spec` says otherwise."""
    selector = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": dict(labels)} if labels else {}}
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ManagedClusterSet",
        "metadata": {"name": name},
        "spec": spec or {"clusterSelector": selector},
    }


def a_binding(name: str = "global", namespace: str = "apps") -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"clusterSet": name},
    }


def a_score(
    cluster: str, values: Mapping[str, int], name: str = "usage", valid_until: str | None = None
) -> dict[str, Any]:
    status: dict[str, Any] = {"scores": [{"name": key, "value": value} for key, value in values.items()]}
    if valid_until:
        status["validUntil"] = valid_until
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "AddOnPlacementScore",
        "metadata": {"name": name, "namespace": cluster},
        "status": status,
    }
