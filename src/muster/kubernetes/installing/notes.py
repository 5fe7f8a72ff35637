"""What whoever installs should know beside the plan: kinds that nobody defines, and controllers of others that would
decide as well. `muster kubernetes install` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.kubernetes.installing.cluster import Cluster, ObjectId
from muster.kubernetes.installing.owners import owner_of
from muster.kubernetes.objects.crds import CRD

if TYPE_CHECKING:
    from muster.kubernetes.installing.plan import Plan
    from muster.kubernetes.settings import HomeSettings

_OCM: Final = "cluster.open-cluster-management.io"
PLACEMENTS: Final = f"placements.{_OCM}"
#: Without these there is nothing to decide.
CORE_KINDS: Final = (
    f"managedclusters.{_OCM}",
    f"managedclustersets.{_OCM}",
    f"managedclustersetbindings.{_OCM}",
    PLACEMENTS,
    f"placementdecisions.{_OCM}",
)


async def notes(cluster: Cluster, plan: Plan, settings: HomeSettings) -> list[str]:
    """In sentences; none where there is nothing to say."""
    found = []
    definition = await cluster.get(ObjectId("apiextensions.k8s.io/v1", CRD, "", PLACEMENTS))
    if settings.mode == "alone" and definition is not None and not owner_of(definition).is_ours:
        found.append(
            f"placements are a kind of {owner_of(definition)}: where its controllers run, both would decide. "
            "--set mode=beside takes only placements that name Muster, --set mode=instead takes the place of its "
            "placement controller"
        )
    planned = {step.id.name for step in plan.steps if step.id.kind == CRD}
    missing = [key for key in CORE_KINDS if key not in planned and not _is_served(cluster, key)]
    if missing:
        found.append(
            f"this server has no {', '.join(missing)}: nothing is decided until somebody defines them. "
            "--crds ours brings them"
        )
    return found


def _is_served(cluster: Cluster, key: str) -> bool:
    resource = RESOURCES[key]
    return cluster.served(resource.api_version(resource.storage_version), resource.kind) is not None
