"""Approves the certificates that agents ask for when theirs end: each for itself, while its cluster is accepted.

The first certificate of an agent is approved by people. From then on an agent that is who it says, and whom a role
allows to renew certificates of its cluster, gets the next one. Nobody gets one for somebody else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.certificate_rules import SigningRequest
from muster.api.certificate_signing_request import GROUP as CERTIFICATES
from muster.api.managed_cluster import GROUP, ManagedCluster
from muster.api.reading import Reader
from muster.api.registration import CLUSTER_LABEL, REGISTER, requesting_agent
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.values.api_paths import collection_path, object_path
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from muster.api.registration import Agent
    from muster.client import Client
    from muster.controllers.registration.keeping import Keeper
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.values.json import JsonObject

_LATER: Final = 60.0  # seconds until a request that cannot be approved is looked at again
_PATH: Final = (CERTIFICATES, "v1", "certificatesigningrequests", "")
_REVIEWS: Final = ("authorization.k8s.io", "v1", "subjectaccessreviews")
_APPROVED: Final[JsonObject] = {
    "type": "Approved",
    "status": "True",
    "reason": "AutoApprovedByHubCSRApprovingController",
    "message": "Auto approving Managed cluster agent certificate after SubjectAccessReview.",
}
_REQUESTS: Final = Reader(SigningRequest)
_CLUSTERS: Final = Reader(ManagedCluster)


def renewing_agent(request: SigningRequest) -> Agent | None:
    """The agent that asks for itself; None when nobody does, or when somebody has answered already."""
    agent = requesting_agent(request)
    if agent is None or request.status.conditions or request.status.certificate:
        return None
    if request.metadata.labels.get(CLUSTER_LABEL) != agent.cluster or request.spec.username != agent.user:
        return None
    return agent if agent.group in request.spec.groups else None


class Renewals:
    """Works on the names of requests."""

    def __init__(self, keeper: Keeper, client: Client, metrics: ControllerMetrics) -> None:
        self._keeper = keeper
        self._client = client
        self._metrics = metrics
        self.queue: WorkQueue[str] = WorkQueue()

    async def run(self) -> None:
        await work("renewal", self.queue, self._approve, self._metrics)

    async def _approve(self, name: str) -> None:
        plain = await self._keeper.get(object_path(*_PATH, name))
        if plain is None:
            return
        request = _REQUESTS.of(plain)
        agent = renewing_agent(request)
        if agent is None:
            return
        if not await self._is_accepted(agent.cluster) or not await self._may_renew(request, agent):
            self.queue.add_after(name, _LATER)  # until it is accepted again, or the request is deleted
            return
        # With the revision that was looked at: whoever answers meanwhile is first.
        body = {**plain, "status": {**object_at(plain, "status"), "conditions": [_APPROVED]}}
        await self._client.request("PUT", object_path(*_PATH, name, "approval"), body=body)

    async def _is_accepted(self, cluster: str) -> bool:
        found = await self._keeper.get(object_path(GROUP, "v1", "managedclusters", "", cluster))
        known = _CLUSTERS.of(found or {})
        return known.spec.hub_accepts_client and not known.metadata.is_going

    async def _may_renew(self, request: SigningRequest, agent: Agent) -> bool:
        spec = request.spec
        attributes = {
            "group": REGISTER,
            "resource": "managedclusters",
            "subresource": "clientcertificates",
            "verb": "renew",
            "name": agent.cluster,
        }
        asked = {
            "user": spec.username,
            "uid": spec.uid,
            "groups": list(spec.groups),
            "extra": {key: list(values) for key, values in spec.extra.items()},
            "resourceAttributes": attributes,
        }
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": asked}
        reply = await self._client.request("POST", collection_path(*_REVIEWS), body=review)
        return object_at(reply.json(), "status").get("allowed") is True
