"""Asks a Muster hub why a placement selects what it does: for those who may not list the clusters themselves.

The hub answers `placements/NAME/explain` with what the asker may see; other Kubernetes servers do not know it. The
result is of the types that explanations computed here have, so that whoever shows one can show the other. Clusters that
the asker may not get are counted: each stands as `(hidden)` among the selected ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.errors import ApiError
from muster.placement.explain.explained import PlacementExplanation, RankedCluster
from muster.placement.explain.ranking import ScorerScore
from muster.placement.explain.report import MOST_NAMES, PlacementReport
from muster.reasons import HIDDEN, Code
from muster.values.api_paths import object_path
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.client.client import Client
    from muster.placement.explain.explained import ClusterExplanation

_NOT_OURS: Final = 502  # of another version, or something in between
_MOST_PAGES: Final = 1000
_MOST_RANKED: Final = 10


async def explained(
    client: Client, namespace: str, name: str, cluster: str = "", placement: JsonMapping | None = None
) -> PlacementExplanation | ClusterExplanation:
    """A placement as a whole, or the way of one cluster; one that need not be saved, if it is given.

    Raises ApiError: 404 too when the server is no hub.
    """
    if cluster:
        report = await report_of(client, namespace, name, {"cluster": cluster, "limit": "1"}, placement)
        return report.cluster or _placement([report])
    pages = [await report_of(client, namespace, name, {"limit": str(MOST_NAMES)}, placement)]
    while (token := pages[-1].metadata.continue_) and len(pages) < _MOST_PAGES:
        wanted = {"limit": str(MOST_NAMES), "continue": token}
        pages.append(await report_of(client, namespace, name, wanted, placement))
    return _placement(pages)


async def report_of(
    client: Client,
    namespace: str,
    name: str,
    params: Mapping[str, str],
    placement: JsonMapping | None = None,
) -> PlacementReport:
    """One answer of the hub as it is; with a placement that need not be saved, a dry run of it. Raises ApiError."""
    path = object_path("cluster.open-cluster-management.io", "v1beta1", "placements", namespace, name, "explain")
    method = "GET" if placement is None else "POST"
    reply = await client.request(method, path, params=params, body=placement)
    try:
        return msgspec.json.decode(reply.body, type=PlacementReport)
    except msgspec.ValidationError as error:
        raise ApiError(_NOT_OURS, "", f"the server explains in another way than this client knows: {error}") from None


def _placement(pages: list[PlacementReport]) -> PlacementExplanation:
    first = pages[0]
    names = [name for page in pages for each in page.decisions for name in each.clusters.clusters]
    # What is not named is counted all the same.
    selected = (*sorted(names), *[HIDDEN] * (first.selected - len(names)))
    scorers = first.scores.scorers
    ranked = [
        RankedCluster(
            each.cluster,
            each.rank,
            each.total,
            tuple(ScorerScore(s.name, s.weight, score) for s, score in zip(scorers, each.scores, strict=True)),
        )
        for each in first.scores.clusters
        if each.selected
    ]
    faults = [each.message for each in first.conditions if each.why.code == Code.MISCONFIGURED]
    return PlacementExplanation(
        first.metadata.namespace,
        first.metadata.name,
        clusters=first.fleet,
        wanted=first.wanted if isinstance(first.wanted, int) else None,
        fitting=first.scores.count,
        selected=selected,
        funnel=first.funnel,
        near_misses=first.near_misses,
        ranked=tuple(ranked[:_MOST_RANKED]),
        fault=faults[0] if faults else "",
    )
