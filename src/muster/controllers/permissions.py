"""What controllers may do, as roles: no more than they need. The hub grants them at its start.

The garbage collector is a user of its own, because it must be able to delete anything; the other controllers need not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CONTROLLERS: Final = "system:muster:controllers"
COLLECTOR: Final = "system:muster:garbage-collector"
_RBAC: Final = "rbac.authorization.k8s.io"
_OCM: Final = "cluster.open-cluster-management.io"
_READ: Final = ["get", "list", "watch"]


def _on(verbs: list[str], group: str, *resources: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(resources), "verbs": verbs}


RULES: Final[Mapping[str, list[dict[str, Any]]]] = {
    CONTROLLERS: [
        _on(
            _READ,
            _OCM,
            "managedclusters",
            "managedclustersets",
            "managedclustersetbindings",
            "placements",
            "placementdecisions",
            "addonplacementscores",
        ),
        # Taints and availability of clusters; the built-in sets; decisions.
        _on(["patch"], _OCM, "managedclusters"),
        _on(["create", "patch"], _OCM, "managedclustersets"),
        _on(["create", "patch", "delete"], _OCM, "placementdecisions"),
        # A reference that blocks its owner's deletion needs this, where the server checks it.
        _on(["update"], _OCM, "placements/finalizers"),
        _on(
            ["patch"],
            _OCM,
            "managedclusters/status",
            "managedclustersets/status",
            "managedclustersetbindings/status",
            "placements/status",
            "placementdecisions/status",
        ),
        # Labels of agents, and finalizers and status of what says which labels they carry.
        _on([*_READ, "patch"], "agent-install.openshift.io", "agents", "agentclassifications"),
        _on(["patch"], "agent-install.openshift.io", "agentclassifications/status"),
        _on(["create"], "", "events"),
        # The clusters' own leases are read; ours is held.
        _on([*_READ, "create", "update"], "coordination.k8s.io", "leases"),
    ],
    COLLECTOR: [
        _on([*_READ, "patch", "delete"], "*", "*"),
        _on(["create"], "", "events"),
    ],
}


def roles() -> Iterator[dict[str, Any]]:
    """A ClusterRole and a ClusterRoleBinding for each of the users."""
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    for name, rules in RULES.items():
        metadata = {"name": name, "labels": dict(labels)}
        yield {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}
        yield {
            "apiVersion": f"{_RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name, "labels": dict(labels)},
            "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": name}],
        }
