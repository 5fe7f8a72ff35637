"""Clusters that are accepted into the fleet: `managedclusters/accept`."""

from __future__ import annotations

from muster.api.managed_cluster import GROUP
from muster.clustersets.permissions import accept
from muster.kubernetes.policies.expressions import allowed, hole, refusal
from muster.kubernetes.policies.policy import Matched, Validation, permission_policy
from muster.values.json import JsonObject


def accepting() -> list[JsonObject]:
    """Who turns hubAcceptsClient on. Turning it off needs no more than the permission to update."""
    name = "object.metadata.name"
    permission = accept(hole(name))
    accepted = f"{_accepted('object')} && !(oldObject != null && {_accepted('oldObject')})"
    return permission_policy(
        "muster-accept",
        Matched({GROUP: ("managedclusters",)}, conditions={"becomes-accepted": accepted}),
        Validation(allowed(permission, name), permission.refusal, refusal(permission)),
    )


def _accepted(cluster: str) -> str:
    return f"has({cluster}.spec) && has({cluster}.spec.hubAcceptsClient) && {cluster}.spec.hubAcceptsClient"
