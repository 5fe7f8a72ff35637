"""What serving needs to be allowed beside what the controllers are, as rules of a ClusterRole. Pure.

The manifests grant them. What carries certificates is granted there by name; the Secret and the lease in our namespace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import GROUP as OCM
from muster.clustersets.pairs import NAME as PAIRS
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.settings import HomeSettings

_READ: Final = ["get", "list", "watch"]
_RBAC: Final = "rbac.authorization.k8s.io"


def serving_rules(settings: HomeSettings) -> Iterator[JsonObject]:
    """The rules, for what the settings switch on."""
    if not settings.needs_serving:
        return
    # Whoever asks is asked for: his permissions are the API server's to know.
    yield _on(["create"], "authorization.k8s.io", "subjectaccessreviews")
    if settings.has_webhooks:
        # A cluster is not accepted while its namespace goes; sets that exist; pairs of keys and names.
        yield _on(["get"], "", "namespaces")
        yield _on(["get", "list"], OCM, "managedclusters", "managedclustersets")
        yield _on(["list"], "", "configmaps") | {"resourceNames": [PAIRS]}
    if settings.has_questions:
        yield _on(_READ, "", "namespaces")
        yield _on(_READ, OCM, "managedclusters", "managedclustersets", "managedclustersetbindings", "placements")
        # Which names roles give a user; every one of them is confirmed by a review.
        yield _on(_READ, _RBAC, "clusterroles", "clusterrolebindings", "roles", "rolebindings")


def _on(verbs: list[str], group: str, *resources: str) -> JsonObject:
    return {"apiGroups": [group], "resources": list(resources), "verbs": list(verbs)}
