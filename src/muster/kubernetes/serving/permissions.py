"""What serving needs to be allowed beside what the controllers are, as rules of a ClusterRole. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.kubernetes.objects.common import RBAC, READ, rule
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.settings import HomeSettings

_ROLES: Final = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")


def serving_rules(settings: HomeSettings) -> Iterator[JsonObject]:
    """The rules, for what the settings switch on."""
    if not settings.needs_serving:
        return
    yield rule(("create",), "authorization.k8s.io", "subjectaccessreviews")
    if settings.webhooks:
        yield rule(("get",), "", "namespaces")
    if settings.questions:
        yield rule(READ, "", "namespaces")
        yield rule(READ, RBAC, *_ROLES)
