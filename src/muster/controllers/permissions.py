"""What controllers may do, as roles: no more than they need. The hub grants them at its start.

The garbage collector is a user of its own, because it must be able to delete anything; so is the registrar, which gives
rights to agents of clusters and approves their certificates. The other controllers need not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.api.certificate_signing_request import GROUP as CERTIFICATES
from muster.api.registration import LEASE as CLUSTER_LEASE
from muster.api.registration import SIGNER
from muster.clustersets.pairs import NAME as PAIRS
from muster.controllers.registration.objects import ADDONS, SHARED_RULES, WORKS, own_rules
from muster.controllers.runtime.quarantine import CONFIG_MAP as QUARANTINE
from muster.importing.found import SECRET as CREDENTIALS
from muster.importing.hosts import OTHER_KINDS
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


CONTROLLERS: Final = "system:muster:controllers"
COLLECTOR: Final = "system:muster:garbage-collector"
REGISTRAR: Final = "system:muster:registrar"
#: The role that the hub keeps for the collector: the kinds that somebody has defined, by name.
CUSTOM_KINDS: Final = f"{COLLECTOR}:custom-kinds"
LEASE: Final = "muster-controllers"  # whoever holds it leads
SYNC: Final = "muster-sync"  # whoever holds it looks at imported clusters; the ConfigMap with its rules
COLLECTING: Final = ("get", "list", "watch", "patch", "delete")
_RBAC: Final = "rbac.authorization.k8s.io"
_OCM: Final = "cluster.open-cluster-management.io"
_READ: Final = ["get", "list", "watch"]


def _on(verbs: list[str], group: str, *resources: str) -> JsonObject:
    return {"apiGroups": [group], "resources": list(resources), "verbs": verbs}


def _on_everything(verbs: list[str]) -> Iterator[JsonObject]:
    """Every kind that can have owners, by name: no subresources, and nothing that is yet to come."""
    kinds = [each for each in RESOURCES.values() if "delete" in each.verbs and each.home.key != "events"]
    for group in sorted({each.group for each in kinds}):
        yield _on(verbs, group, *sorted(each.plural for each in kinds if each.group == group))


#: What leading takes, in the namespace of the lease: the lease, which nobody can create by name, and what is set aside
#: because its evaluation killed or hung the controllers. The Kubernetes home grants these there and nowhere else.
LEADING: Final[list[JsonObject]] = [
    _on(["create"], "coordination.k8s.io", "leases"),
    _on(["get", "update"], "coordination.k8s.io", "leases") | {"resourceNames": [LEASE]},
    _on(["create", "get", "patch"], "", "configmaps") | {"resourceNames": [QUARANTINE]},
]

RULES: Final[Mapping[str, list[JsonObject]]] = {
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
        # Beside ManagedClusters, what questions about the fleet may be about.
        _on(_READ, "multicluster.x-k8s.io", "clusterprofiles"),
        _on(_READ, "clusters.openmcp.cloud", "clusters", "clusterrequests"),
        # Taints and availability of clusters, in the set "default" if in no other; the built-in sets, with the clusters
        # that they take in when they are created or put right; decisions.
        _on(["patch", "update"], _OCM, "managedclusters"),
        {**_on(["create"], _OCM, "managedclustersets/join"), "resourceNames": ["default"]},
        _on(["create", "patch"], _OCM, "managedclustersets"),
        _on(["create", "patch", "delete"], _OCM, "placementdecisions"),
        # The same decisions for consumers that know SIG-Multicluster's API, where that is set.
        _on(["get", "list", "create", "patch", "delete"], "multicluster.x-k8s.io", "placementdecisions"),
        # What moved the decisions of each placement. One that takes over the history of a placement of the same name
        # changes its owner, which needs the permission to delete it.
        _on(["get", "list", "create", "update", "delete"], "placement.muster.dev", "placementhistories"),
        # What the guards of each placement remember, in the same way; who answers questions follows it.
        _on([*_READ, "create", "update", "delete"], "placement.muster.dev", "placementguardrecords"),
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
        # The same for hosts that others report, where somebody has defined these kinds.
        *(_on([*_READ, "patch"], each.group, each.plural) for each in OTHER_KINDS.values()),
        # Resolutions, and the ConfigMaps with their catalogs: those with the label for it are listed, no others.
        _on(_READ, "resolution.muster.dev", "resolutions"),
        _on(["patch"], "resolution.muster.dev", "resolutions/status"),
        _on(["list", "watch"], "", "configmaps"),
        _on(["create"], "", "events"),
        # Which exclusive keys go with which set names. A role for one namespace could not be made before that exists.
        _on(["list", "watch"], "", "configmaps") | {"resourceNames": [PAIRS]},
        # The clusters' own leases are read; ours is held.
        _on(_READ, "coordination.k8s.io", "leases"),
        *LEADING,
    ],
    # Whoever gives rights must have them: those of agents come first, the deeds of the registrar itself after them.
    REGISTRAR: [
        *SHARED_RULES["registration"],
        *SHARED_RULES["work"],
        *own_rules("", accepted=True),
        _on(["list", "patch"], _OCM, "managedclusters"),
        {**_on(["create"], _OCM, "managedclustersets/join"), "resourceNames": ["default"]},
        _on(["update"], CERTIFICATES, "certificatesigningrequests/approval"),
        _on(["approve"], CERTIFICATES, "signers") | {"resourceNames": [SIGNER]},
        _on(["create"], "authorization.k8s.io", "subjectaccessreviews"),
        _on(["get", "create"], "", "namespaces"),
        _on(["get", "create", "update", "delete"], _RBAC, "clusterroles", "clusterrolebindings", "rolebindings"),
        _on(["create"], "coordination.k8s.io", "leases"),
        _on(["delete"], "coordination.k8s.io", "leases") | {"resourceNames": [CLUSTER_LEASE]},
        _on(["delete"], ADDONS, "managedclusteraddons"),
        _on(["delete"], WORKS, "manifestworks"),
        _on(["get", "create"], "apiextensions.k8s.io", "customresourcedefinitions"),
    ],
    COLLECTOR: [
        *_on_everything(list(COLLECTING)),
        _on(["create"], "", "events"),
    ],
}

#: What looking at imported clusters takes (`muster sync --watch`): a process of its own, which reads their credentials.
SYNCING: Final[list[JsonObject]] = [
    _on(_READ, _OCM, "managedclusters"),
    _on(["patch"], _OCM, "managedclusters/status"),
    _on(["get"], "", "secrets") | {"resourceNames": [CREDENTIALS]},
    _on(["get"], "multicluster.x-k8s.io", "clusterprofiles"),
    _on(["create"], "coordination.k8s.io", "leases"),
    _on(["get", "patch"], "coordination.k8s.io", "leases") | {"resourceNames": [CLUSTER_LEASE]},
]
#: And in the namespace of its lease and of its rules.
SYNC_LEADING: Final[list[JsonObject]] = [
    _on(["create"], "coordination.k8s.io", "leases"),
    _on(["get", "update"], "coordination.k8s.io", "leases") | {"resourceNames": [SYNC]},
    _on(["list", "watch"], "", "configmaps") | {"resourceNames": [SYNC]},
]

REGISTRATION: Final = "muster-registration"  # whoever holds it lets clusters in, where that is a process of its own
#: What that takes: what the registrar does, and to see who asks and what became of clusters.
REGISTERING: Final[list[JsonObject]] = [
    *RULES[REGISTRAR],
    _on(["watch"], _OCM, "managedclusters"),
    _on(["create"], "", "events"),
]

#: By a setting: clusters for tools that know that API only, in namespaces that a set of theirs is bound to.
PROFILING: Final = f"{CONTROLLERS}:profiles"
PROFILING_RULES: Final[list[JsonObject]] = [
    _on(["create", "patch", "delete"], "multicluster.x-k8s.io", "clusterprofiles"),
    _on(["patch"], "multicluster.x-k8s.io", "clusterprofiles/status"),
]


def roles() -> Iterator[JsonObject]:
    """A ClusterRole and a ClusterRoleBinding for each of the users."""
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    for name, rules in RULES.items():
        metadata = {"name": name, "labels": dict(labels)}
        yield {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": rules}
        yield _binding(name, name, labels)
    for name, user, own in ((CUSTOM_KINDS, COLLECTOR, []), (PROFILING, CONTROLLERS, PROFILING_RULES)):
        metadata = {"name": name, "labels": dict(labels)}
        yield {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": metadata, "rules": own}
        yield _binding(name, user, labels)


def _binding(role: str, user: str, labels: Mapping[str, str]) -> JsonObject:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": role, "labels": dict(labels)},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
    }


def custom_rules(kinds: Iterable[tuple[str, str]]) -> list[JsonObject]:
    """What the collector may do with custom kinds, given as groups and plurals."""
    groups: dict[str, list[str]] = {}
    for group, plural in kinds:
        groups.setdefault(group, []).append(plural)
    return [_on(list(COLLECTING), group, *sorted(groups[group])) for group in sorted(groups)]
