"""Explanations in the terms of the core, whoever made them: asked page by page, put together for whoever shows them.

`muster explain` shows these. A server, an observer in this process or one over files is asked; clusters that the asker
may not get are counted: each stands as `(hidden)` among the selected ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.fleet_explanations import PlacementExplanationSpec
from muster.api.fleet_outlooks import (
    MOST_NAMES,
    MOST_PLACEMENTS,
    ClusterExplanationSpec,
    ClusterExplanationStatus,
    SetExplanationSpec,
    SetExplanationStatus,
)
from muster.client.asking import Answer
from muster.errors import ApiError
from muster.placement.explain.explained import (
    ClusterVerdicts,
    PlacementExplanation,
    PlacementVerdict,
    RankedCluster,
    ReasonCount,
    ScorerScore,
    SetExplanation,
    SetMembership,
    ValueCount,
)
from muster.placement.explain.report import PlacementReport
from muster.reasons import HIDDEN, Code, Reason, Subject, sentence
from muster.values.api_paths import object_path
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.client.asking import Asker, Requests
    from muster.placement.explain.explained import ClusterExplanation

_MOST_PAGES: Final = 1000
_MOST_RANKED: Final = 10
_NOT_FOUND: Final = 404
_CLOSED: Final = (403, _NOT_FOUND, 405)


class Explainer:
    """Asks for explanations. `warn` hears what is to be said beside them, each sentence once."""

    def __init__(self, asker: Asker, warn: Callable[[str], None]) -> None:
        self._asker = asker
        self._warn = warn
        self._said: set[str] = set()

    async def placement(self, asked: PlacementExplanationSpec) -> PlacementExplanation | ClusterExplanation:
        """A placement as a whole, or the way of the cluster that is asked about. Raises ApiError."""
        if asked.cluster:
            report = await self._report(msgspec.structs.replace(asked, limit=1))
            return report.cluster or _placement([report])
        pages = [await self._report(msgspec.structs.replace(asked, limit=MOST_NAMES))]
        named = _named(pages[0])  # of pages after the first one, nothing else is wanted
        while (token := pages[-1].metadata.continue_) and named < pages[0].selected and len(pages) < _MOST_PAGES:
            pages.append(await self._report(msgspec.structs.replace(asked, limit=MOST_NAMES, continue_=token)))
            named += _named(pages[-1])
        return _placement(pages)

    async def _report(self, asked: PlacementExplanationSpec) -> PlacementReport:
        answer = await self._asker.ask("PlacementExplanation", asked)
        report = answer.read(PlacementReport)
        self._tell((*answer.notes, *report.notes))
        return report

    async def cluster(self, name: str) -> ClusterVerdicts:
        """One cluster in all sets and placements. Raises ApiError."""
        sets: tuple[SetMembership, ...] = ()
        found: list[tuple[bool, int, PlacementVerdict]] = []
        offset = 0
        while True:
            asked = ClusterExplanationSpec(name, offset=offset, limit=MOST_PLACEMENTS)
            answer = await self._asker.ask("ClusterExplanation", asked)
            self._tell(answer.notes)
            page = answer.read(ClusterExplanationStatus)
            sets = tuple(SetMembership(e.name, e.member, _why(e.why), e.namespaces, e.reason) for e in page.sets)
            for each in page.placements:
                place = f"{each.namespace}/{each.name}"
                verdict = PlacementVerdict(place, each.selected, each.stage, _why(each.why), each.reason)
                found.append((not each.selected, -each.passed, verdict))
            offset += MOST_PLACEMENTS
            if offset >= page.placements_in_all:
                break
        found.sort(key=lambda each: (each[0], each[1], each[2].placement))
        ordered = sorted(sets, key=lambda each: (not each.member, each.name))
        return ClusterVerdicts(name, tuple(ordered), tuple(verdict for _, _, verdict in found))

    async def cluster_set(self, name: str) -> SetExplanation:
        """One set: its members, and why the others are none. Raises ApiError."""
        names: list[str] = []
        while True:
            answer = await self._asker.ask("SetExplanation", SetExplanationSpec(name, len(names), MOST_NAMES))
            self._tell(answer.notes)
            page = answer.read(SetExplanationStatus)
            names += page.clusters
            if not page.clusters or len(names) >= page.members:
                break
        if page.fault:
            why = Reason(Code.SET_UNUSABLE, Subject(cluster_set=name), {"fault": page.fault})
            return SetExplanation(name, "", (), (), page.namespaces, page.placements, fault=sentence(why))
        others = tuple(
            ReasonCount(
                _why(each.why),
                each.count,
                each.examples,
                tuple(ValueCount(str(value.value), value.count) for value in each.values),
                each.reason,
            )
            for each in page.others
        )
        return SetExplanation(name, page.rule, tuple(names), others, page.namespaces, page.placements)

    def _tell(self, sentences: tuple[str, ...]) -> None:
        for each in sentences:
            if each not in self._said:
                self._said.add(each)
                self._warn(each)


async def by_subresource(client: Requests, spec: msgspec.Struct | JsonMapping) -> Answer | None:
    """The answer of `placements/NAME/explain`, which hubs had before they took questions, and which roles may allow
    where they do not allow the question. None when that is not to be had either. Raises ApiError."""
    asked = spec if isinstance(spec, PlacementExplanationSpec) else msgspec.convert(spec, PlacementExplanationSpec)
    name, namespace = asked.name, asked.namespace
    if asked.placement is not None:
        metadata = asked.placement.get("metadata", {})
        name, namespace = metadata.get("name", "unsaved"), metadata.get("namespace", "")
    given = {"cluster": asked.cluster, "limit": str(max(asked.limit, 1)), "continue": asked.continue_}
    params = {key: value for key, value in given.items() if value}
    path = object_path("cluster.open-cluster-management.io", "v1beta1", "placements", namespace, name, "explain")
    typed = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement"}
    body = None if asked.placement is None else {**typed, **asked.placement}
    try:
        reply = await client.request("GET" if body is None else "POST", path, params=params, body=body)
    except ApiError as error:
        # Of something else than the subresource it is an answer: of the namespace or cluster that is asked about.
        if error.code not in _CLOSED or error.kind not in ("", "placements"):
            raise
        # A server without the subresource says of the placement that it is not there.
        if error.code == _NOT_FOUND and error.name and body is None and not await _exists(client, namespace, name):
            raise
        return None
    return Answer(msgspec.Raw(reply.body), reply.warnings)


async def _exists(client: Requests, namespace: str, name: str) -> bool:
    path = object_path("cluster.open-cluster-management.io", "v1beta1", "placements", namespace, name)
    try:
        await client.request("GET", path)
    except ApiError:
        return False
    return True


def _why(value: JsonMapping) -> Reason:
    return msgspec.convert(value, Reason)


def _named(page: PlacementReport) -> int:
    """How many decided clusters are on a page, those among them that the asker may not get."""
    return sum(len(each.clusters.clusters) + each.clusters.hidden for each in page.decisions)


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
