"""Who asks to join, and letting them in: the same requests that `clusteradm accept` sends.

Used by `muster clusters`. A request counts if it is for an agent of the cluster, by exactly the names that an agent
has, and if it was made by somebody who may ask to join; whoever has joined already renews without being asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api.certificate_rules import read_signing_request
from muster.api.certificate_signing_request import APPROVED, DENIED
from muster.api.certificate_signing_request import GROUP as CERTIFICATES
from muster.api.managed_cluster import GROUP
from muster.api.registration import CLUSTER_LABEL, HAS_AGENT, is_joining, requesting_agent
from muster.errors import InvalidObjectError
from muster.values.api_paths import collection_path, object_path
from muster.values.json_members import list_at, object_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.client import Client
    from muster.values.json import JsonObject

CLUSTERS: Final = (GROUP, "v1", "managedclusters")
_REQUESTS: Final = (CERTIFICATES, "v1", "certificatesigningrequests")
_MANAGER: Final = {"fieldManager": "muster-clusters"}
_MERGE: Final = "application/merge-patch+json"


@dataclass(frozen=True, slots=True)
class Asking:
    """An agent that asks for its first certificate, and what became of it."""

    cluster: str
    agent: str
    request: str
    requester: str
    since: str
    approved: bool
    denied: bool
    plain: JsonObject

    @property
    def waits(self) -> bool:
        return not self.approved and not self.denied


async def askings(client: Client, cluster: str = "") -> list[Asking]:
    """The first requests of agents, of one cluster or of all."""
    selector = f"{CLUSTER_LABEL}={cluster}" if cluster else CLUSTER_LABEL
    found: list[Asking] = []
    async for page in client.pages(collection_path(*_REQUESTS), params={"labelSelector": selector}):
        found += [each for item in page["items"] if (each := asking_of(item)) is not None]
    return found


def asking_of(item: JsonObject) -> Asking | None:
    request = read_signing_request(item)
    agent = requesting_agent(request)
    if agent is None or request.metadata.labels.get(CLUSTER_LABEL) != agent.cluster:
        return None
    if not is_joining(request.spec.username, request.spec.groups):
        return None
    return Asking(
        agent.cluster,
        agent.name,
        request.metadata.name,
        request.spec.username,
        request.metadata.creation_timestamp or "",
        bool(request.status.of(APPROVED)),
        bool(request.status.of(DENIED)),
        item,
    )


def chosen(cluster: str, asked: Sequence[Asking], agent: str) -> list[Asking]:
    """Those that are to be let in. Raises InvalidObjectError if several agents ask and nobody says which is meant."""
    wanted = [each for each in asked if not each.denied and agent in ("", each.agent)]
    names = sorted({each.agent for each in wanted if each.waits})
    if len(names) > 1:
        told = ", ".join(f"{each.agent} (by {each.requester}, {each.request})" for each in wanted if each.waits)
        raise InvalidObjectError(
            "", f"several agents ask to be cluster {cluster}: {told}. Say which one it is with --agent"
        )
    return wanted


async def let_in(client: Client, cluster: str, wanted: Sequence[Asking]) -> list[str]:
    """Approve the requests and accept the cluster; the names of the requests that were approved now."""
    approved = []
    for each in wanted:
        if not each.waits:
            continue
        verdict = {
            "type": APPROVED,
            "status": "True",
            "reason": "MusterClustersAccept",
            "message": "Approved by `muster clusters accept`.",
        }
        status = {
            **object_at(each.plain, "status"),
            "conditions": [*list_at(each.plain, "status", "conditions"), verdict],
        }
        path = object_path(*_REQUESTS, "", each.request, "approval")
        await client.request("PUT", path, params=_MANAGER, body={**each.plain, "status": status})
        approved.append(each.request)
    body = {"metadata": {"annotations": {HAS_AGENT: "true"}}, "spec": {"hubAcceptsClient": True}}
    path = object_path(*CLUSTERS, "", cluster)
    await client.request("PATCH", path, params=_MANAGER, body=body, content_type=_MERGE)
    return approved
