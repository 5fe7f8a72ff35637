"""Which requests are forwarded to the API server. Everything else is refused here, whatever the user may do there.

A page that was tricked can ask for no more than the console shows: no secrets, no tokens, no deletion, no pods.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_READ: Final = frozenset({"GET"})
_WRITE: Final = frozenset({"GET", "POST", "PUT", "PATCH"})
_ASK: Final = frozenset({"POST"})
_OCM: Final = "cluster.open-cluster-management.io"

#: Group, resource (with a subresource after a slash), methods.
FORWARDED: Final = {
    ("", "namespaces"): _READ,
    (_OCM, "managedclusters"): _WRITE,
    (_OCM, "managedclustersets"): _WRITE,
    (_OCM, "managedclustersetbindings"): _WRITE,
    (_OCM, "placements"): _WRITE,
    (_OCM, "placementdecisions"): _READ,
    (_OCM, "addonplacementscores"): _READ,
    ("placement.muster.dev", "placementhistories"): _READ,
    ("placement.muster.dev", "placementguardrecords"): _READ,
    ("agent-install.openshift.io", "agents"): _READ,
    ("agent-install.openshift.io", "agentclassifications"): _WRITE,
    ("resolution.muster.dev", "resolutions"): _WRITE,
    ("authentication.k8s.io", "selfsubjectreviews"): _ASK,
    ("authorization.k8s.io", "selfsubjectaccessreviews"): _ASK,
}
QUESTIONS: Final = "fleet.muster.dev"
_FIXED: Final = frozenset({"/version", "/apis", f"/apis/{QUESTIONS}/v1alpha1"})
_SEGMENT: Final = r"[^/]+"
_RESOURCE: Final = re.compile(
    rf"/(?:api/v1|apis/(?P<group>[a-z0-9.-]+)/v[0-9]+(?:(?:alpha|beta)[0-9]+)?)"
    rf"(?:/namespaces/(?P<namespace>{_SEGMENT})(?=/))?/(?P<plural>[a-z]+)(?:/(?P<name>{_SEGMENT}))?"
)


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A request that may be forwarded. `question` is the plural of the question that it is, if it is one."""

    question: str = ""


def forwarded(method: str, path: str) -> Forwarded | None:
    """Whether the request is one of those that pages need. The path is as it was sent, without the query."""
    if path in _FIXED:
        return Forwarded() if method == "GET" else None
    found = _RESOURCE.fullmatch(path)
    if found is None:
        return None
    group, plural = found["group"] or "", found["plural"]
    if group == QUESTIONS:
        is_asked = method == "POST" and found["name"] is None and found["namespace"] is None
        return Forwarded(plural) if is_asked else None
    return Forwarded() if method in FORWARDED.get((group, plural), frozenset()) else None
