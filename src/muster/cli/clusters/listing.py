"""Clusters in rows, with those who ask to be one; and what keeps a cluster that is being deleted. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import ManagedCluster
from muster.api.reading import Reader
from muster.api.registration import DELETING, JOINED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.parts import Condition
    from muster.cli.clusters.accepting import Asking
    from muster.values.json import JsonMapping

_CLUSTERS: Final = Reader(ManagedCluster)
_AVAILABLE: Final = "ManagedClusterConditionAvailable"


def rows_of(clusters: Iterable[JsonMapping], askings: Iterable[Asking]) -> list[dict[str, str]]:
    """By name. Who asks to be a cluster that nobody has created yet has a row as well."""
    waiting: dict[str, list[str]] = {}
    for each in askings:
        if each.waits:
            waiting.setdefault(each.cluster, []).append(f"{each.agent} ({each.requester})")
    rows = {}
    for plain in clusters:
        cluster = _CLUSTERS.of(plain)
        name, conditions = cluster.metadata.name, cluster.status.conditions
        rows[name] = {
            "name": name,
            "accepted": str(cluster.spec.hub_accepts_client).lower(),
            "joined": _status(conditions, JOINED),
            "available": _status(conditions, _AVAILABLE),
            "asking": ", ".join(sorted(waiting.pop(name, []))) or "-",
        }
    for name, agents in waiting.items():
        rows[name] = {"name": name, "accepted": "-", "joined": "-", "available": "-", "asking": ", ".join(agents)}
    return [rows[name] for name in sorted(rows)]


def _status(conditions: Iterable[Condition], kind: str) -> str:
    return next((each.status for each in conditions if each.type == kind), "-")


def why_it_stays(plain: JsonMapping) -> str:
    """What keeps it, in the words of who clears it away; else what has to be cleared away."""
    cluster = _CLUSTERS.of(plain)
    said = next((each.message for each in cluster.status.conditions if each.type == DELETING), "")
    kept = ", ".join(cluster.metadata.finalizers)
    return said or (f"kept by {kept}" if kept else "nothing keeps it")
