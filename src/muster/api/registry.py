"""Every kind the hub serves, by resource key. The one list that discovery, storage, OpenAPI and the CLI read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.access_reviews import REVIEWS
from muster.api.addon_placement_score import ADDON_PLACEMENT_SCORE
from muster.api.agent import AGENT
from muster.api.agent_classification import AGENT_CLASSIFICATION
from muster.api.certificate_signing_request import CERTIFICATE_SIGNING_REQUEST
from muster.api.cluster import CLUSTER
from muster.api.cluster_profile import CLUSTER_PROFILE
from muster.api.cluster_request import CLUSTER_REQUEST
from muster.api.config_map import CONFIG_MAP
from muster.api.crds import CUSTOM_RESOURCE_DEFINITION
from muster.api.event import EVENT, GROUP_EVENT
from muster.api.fleet_questions import QUESTIONS
from muster.api.lease import LEASE
from muster.api.managed_cluster import MANAGED_CLUSTER
from muster.api.managed_cluster_set import MANAGED_CLUSTER_SET
from muster.api.managed_cluster_set_binding import MANAGED_CLUSTER_SET_BINDING
from muster.api.multicluster_placement_decision import MULTICLUSTER_PLACEMENT_DECISION
from muster.api.namespace import NAMESPACE
from muster.api.placement import PLACEMENT
from muster.api.placement_decision import PLACEMENT_DECISION
from muster.api.placement_guard_record import PLACEMENT_GUARD_RECORD
from muster.api.placement_history import PLACEMENT_HISTORY
from muster.api.rbac import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING
from muster.api.resolution import RESOLUTION
from muster.api.secret import SECRET
from muster.api.service import SERVICE
from muster.api.service_account import SERVICE_ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.api.resource import Resource, Version

RESOURCES: Final[Mapping[str, Resource]] = {
    resource.key: resource
    for resource in (
        MANAGED_CLUSTER,
        MANAGED_CLUSTER_SET,
        MANAGED_CLUSTER_SET_BINDING,
        PLACEMENT,
        PLACEMENT_DECISION,
        PLACEMENT_HISTORY,
        PLACEMENT_GUARD_RECORD,
        ADDON_PLACEMENT_SCORE,
        CLUSTER_PROFILE,
        MULTICLUSTER_PLACEMENT_DECISION,
        AGENT,
        AGENT_CLASSIFICATION,
        CLUSTER,
        CLUSTER_REQUEST,
        RESOLUTION,
        NAMESPACE,
        CONFIG_MAP,
        SECRET,
        SERVICE_ACCOUNT,
        SERVICE,
        EVENT,
        GROUP_EVENT,
        LEASE,
        CERTIFICATE_SIGNING_REQUEST,
        CLUSTER_ROLE,
        CLUSTER_ROLE_BINDING,
        ROLE,
        ROLE_BINDING,
        *REVIEWS,
        *QUESTIONS,
        CUSTOM_RESOURCE_DEFINITION,
    )
}


def find(group: str, version: str, plural: str) -> tuple[Resource, Version] | None:
    """The resource and its served version that a URL names."""
    resource = RESOURCES.get(f"{plural}.{group}" if group else plural)
    if resource is None:
        return None
    served = resource.version(version)
    return None if served is None else (resource, served)
