"""How clusters join: the names that Open Cluster Management gives to agents, to those who are yet to become agents, and
to what the hub keeps for a cluster.

Used by the controllers that give agents their rights, by the hub that holds them to these, and by commands. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api.certificate_requests import RequestError, read_request
from muster.api.certificate_rules import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.certificate_requests import Request
    from muster.api.certificate_rules import SigningRequest

#: On everything that the hub keeps for a cluster, with the cluster's name: its namespace, roles, lease and requests.
CLUSTER_LABEL: Final = "open-cluster-management.io/cluster-name"
#: Annotations that an agent gives its cluster when it creates it begin so.
AGENT_ANNOTATIONS: Final = "agent.open-cluster-management.io/"
#: Says of a cluster that it has an agent, whether or not a request of that is still there: `"true"`.
HAS_AGENT: Final = "muster.dev/agent"
#: What keeps a cluster until everything that the hub keeps for it is gone.
FINALIZER: Final = "cluster.open-cluster-management.io/api-resource-cleanup"
#: What keeps placements away from a cluster that has joined and is not ready yet, where that is set.
JOINING_TAINT: Final = "muster.dev/joining"
ACCEPTED: Final = "HubAcceptedManagedCluster"
JOINED: Final = "ManagedClusterJoined"
DELETING: Final = "Deleting"
LEASE: Final = "managed-cluster-lease"
SIGNER: Final = "kubernetes.io/kube-apiserver-client"
#: Whoever may ask to join, by a bootstrap token or by the account that Open Cluster Management makes for it.
BOOTSTRAPPERS: Final = "system:bootstrappers"
JOINERS: Final = f"{BOOTSTRAPPERS}:managedcluster"
JOINING_ACCOUNT: Final = "system:serviceaccount:open-cluster-management:agent-registration-bootstrap"
PREFIX: Final = "system:open-cluster-management:"
ALL_CLUSTERS: Final = f"{PREFIX}managed-clusters"
REGISTER: Final = "register.open-cluster-management.io"

# Namespaces that everybody depends on; a group that all agents are in; roles that all clusters share.
_BUILT_IN: Final = ("default", "managed-clusters", "open-cluster-management", "muster", "registration", "work")
_BUILT_IN_PREFIXES: Final = ("kube-", "open-cluster-management-", "muster-")


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent of a cluster, as its certificate names it."""

    cluster: str
    name: str

    @property
    def user(self) -> str:
        return f"{PREFIX}{self.cluster}:{self.name}"

    @property
    def group(self) -> str:
        return f"{PREFIX}{self.cluster}"


def agent_of(request: Request) -> Agent | None:
    """Whose certificate it would be; None if it names no agent of a cluster, or anything besides.

    The name has to fit exactly: an agent of c1 is no agent of c10, and nobody is in the groups of two clusters.
    """
    if len(request.common_names) != 1 or not request.common_names[0].startswith(PREFIX):
        return None
    cluster, _, name = request.common_names[0].removeprefix(PREFIX).partition(":")
    agent = Agent(cluster, name)
    if not cluster or not name or ":" in name or is_reserved(cluster):
        return None
    return agent if set(request.organizations) - {ALL_CLUSTERS} == {agent.group} else None


def requesting_agent(request: SigningRequest) -> Agent | None:
    """The agent that a CertificateSigningRequest is for; None if it is for anything else, or cannot be read."""
    if request.spec.signer_name != SIGNER:
        return None
    try:
        return agent_of(read_request(decoded(request.spec.request)))
    except (RequestError, ValueError, TypeError):
        return None


def clusters_of(groups: Iterable[str]) -> frozenset[str]:
    """The clusters whose agent somebody in these groups is. Add-ons are in other groups, and are no agents.

    >>> sorted(clusters_of(["system:open-cluster-management:c1", "system:open-cluster-management:managed-clusters"]))
    ['c1']
    """
    named = (each.removeprefix(PREFIX) for each in groups if each.startswith(PREFIX) and each != ALL_CLUSTERS)
    return frozenset(name for name in named if name and ":" not in name)


def is_agent(groups: Iterable[str]) -> bool:
    """Whether somebody in these groups acts for a cluster, whichever that is."""
    return any(each.startswith(PREFIX) for each in groups)


def is_joining(user: str, groups: Iterable[str]) -> bool:
    """Whether somebody may ask to join, and is nobody else yet."""
    return user == JOINING_ACCOUNT or any(each in (JOINERS, BOOTSTRAPPERS) for each in groups)


def is_reserved(cluster: str) -> bool:
    """Whether no agent may join by this name: its namespace, group or role would be one that others depend on.

    >>> [name for name in ("c1", "kube-system", "default", "managed-clusters") if is_reserved(name)]
    ['kube-system', 'default', 'managed-clusters']
    """
    return cluster in _BUILT_IN or cluster.startswith(_BUILT_IN_PREFIXES)
