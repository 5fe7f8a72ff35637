"""What the hub keeps for a cluster that has joined: objects under the names that Open Cluster Management gives them.

Pure. The rules are upstream's, with two differences: an agent renews certificates of its own cluster only, and roles
name nothing that no agent of ours asks for.
"""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import GROUP
from muster.api.registration import CLUSTER_LABEL, LEASE, PREFIX, REGISTER
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from datetime import datetime

RBAC: Final = "rbac.authorization.k8s.io"
ADDONS: Final = "addon.open-cluster-management.io"
WORKS: Final = "work.open-cluster-management.io"
_ROLE: Final = "open-cluster-management:managedcluster:"
#: The parts of a cluster's namespace that agents work in, each with a role that all clusters share.
PARTS: Final = ("registration", "work")


def _on(verbs: str, group: str, *resources: str) -> JsonObject:
    return {"apiGroups": [group], "resources": list(resources), "verbs": verbs.split()}


#: Which rules agents have in the namespace of their own cluster, by part.
SHARED_RULES: Final[dict[str, list[JsonObject]]] = {
    "registration": [
        _on("get list watch update", "coordination.k8s.io", "leases"),
        _on("get list watch", ADDONS, "managedclusteraddons"),
        _on("patch update", ADDONS, "managedclusteraddons/status"),
        _on("create", "events.k8s.io", "events"),
    ],
    "work": [
        _on("create patch update", "", "events"),
        _on("create patch update", "events.k8s.io", "events"),
        _on("get list watch update patch", WORKS, "manifestworks"),
        _on("patch update", WORKS, "manifestworks/status"),
    ],
}


def own_rules(cluster: str, *, accepted: bool) -> list[JsonObject]:
    """Which rules agents have outside of namespaces. Of a cluster that is not accepted, they may see that it is not.

    Without a cluster: what it takes to give those rules for any of them.
    """
    own = {"resourceNames": [cluster]} if cluster else {}
    if not accepted:
        return [_on("get list watch", GROUP, "managedclusters") | own]
    return [
        _on("create get list watch", "certificates.k8s.io", "certificatesigningrequests"),
        _on("renew", REGISTER, "managedclusters/clientcertificates") | own,
        _on("get list update watch", GROUP, "managedclusters") | own,
        _on("patch update", GROUP, "managedclusters/status") | own,
    ]


def namespace(cluster: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": _metadata(cluster)}


def shared_role(part: str) -> JsonObject:
    return _role(f"{_ROLE}{part}", "", SHARED_RULES[part])


def own_role(cluster: str, *, accepted: bool) -> JsonObject:
    return _role(f"{_ROLE}{cluster}", cluster, own_rules(cluster, accepted=accepted))


def own_binding(cluster: str) -> JsonObject:
    name = f"{_ROLE}{cluster}"
    return _bound("ClusterRoleBinding", name, name, cluster)


def part_binding(cluster: str, part: str) -> JsonObject:
    found = _bound("RoleBinding", f"{_ROLE}{cluster}:{part}", f"{_ROLE}{part}", cluster)
    return {**found, "metadata": {**found["metadata"], "namespace": cluster}}


def lease(cluster: str, now: datetime | None = None) -> JsonObject:
    """Which the agent renews from now on."""
    metadata = {**_metadata(cluster), "name": LEASE, "namespace": cluster}
    found: JsonObject = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata}
    if now is not None:
        renewed = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        found["spec"] = {"holderIdentity": LEASE, "renewTime": renewed}
    return found


def addon_definition() -> JsonObject:
    """The kind of add-ons, which every agent watches and none can do without. Open Cluster Management's own definition
    says more about it and can take the place of this one."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"managedclusteraddons.{ADDONS}"},
        "spec": {
            "group": ADDONS,
            "names": {
                "plural": "managedclusteraddons",
                "singular": "managedclusteraddon",
                "kind": "ManagedClusterAddOn",
                "listKind": "ManagedClusterAddOnList",
                "shortNames": ["mca", "mcas"],
            },
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _metadata(cluster: str) -> JsonObject:
    return {"name": cluster, "labels": {CLUSTER_LABEL: cluster}}


def _role(name: str, cluster: str, rules: list[JsonObject]) -> JsonObject:
    metadata = {**_metadata(cluster), "name": name}
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}


def _bound(kind: str, name: str, role: str, cluster: str) -> JsonObject:
    groups = (f"{PREFIX}{cluster}",)
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": {**_metadata(cluster), "name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": RBAC, "kind": "Group", "name": group} for group in groups],
    }
