"""What a schedule decided and why, as an answer that travels: the typed JSON of `placements/NAME/explain`.

The controllers' process makes one (`reporting`), the hub takes out what the asker may not see, clients read it.
Clusters are named page by page and counted as a whole, so that a report of any fleet stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import UNSET, UnsetType

# msgspec reads annotations at run time.
from muster.placement.explain.explained import ClusterExplanation, FunnelStage, NearMiss, Part, WordedPart
from muster.reasons import Reason, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUP: Final = "explain.muster.dev"
VERSION: Final = "v1alpha1"
KIND: Final = "PlacementExplanation"
LONGEST_TEXT: Final = 1000  # characters of one sentence or value; expressions can be long
MOST_NAMES: Final = 1000  # clusters on one page
USUAL_NAMES: Final = 100


class ReportMetadata(Part, frozen=True):
    """Which placement, and how to go on. `continue` is empty when every cluster has been shown."""

    name: str
    namespace: str
    resource_version: str = ""  # of the placement that is explained; empty for one that is not saved
    continue_: str = msgspec.field(default="", name="continue")


class Names(Part, frozen=True):
    """Clusters: how many there are, those of this page, and how many of the page the asker may not get."""

    count: int
    clusters: tuple[str, ...] = ()
    hidden: int = 0


class DecisionReport(Part, frozen=True):
    """A PlacementDecision as it would be written."""

    name: str
    group_name: str
    group_index: int
    clusters: Names


class ConditionReport(WordedPart, frozen=True):
    """A condition as it would be in the placement's status. Its reason is the code of why."""

    type: str
    status: str
    reason: str
    why: Reason
    message: str = ""

    def sentences(self) -> Iterator[tuple[str, Reason | None]]:
        yield "message", self.why


class ScorerReport(Part, frozen=True):
    """A scorer, and how much its scores weigh."""

    name: str
    weight: int


class ClusterScores(Part, frozen=True):
    """What one cluster that passed every filter scored: one number per scorer, in their order, and the sum."""

    cluster: str
    selected: bool
    rank: int
    total: int
    scores: tuple[int, ...] = ()


class ScoresReport(Part, frozen=True):
    """The clusters that passed every filter, best first."""

    scorers: tuple[ScorerReport, ...]
    count: int
    clusters: tuple[ClusterScores, ...] = ()
    hidden: int = 0


class DiffReport(Part, frozen=True):
    """What would change against the decisions that stand."""

    present: int
    gained: Names
    lost: Names


class FailureReport(WordedPart, frozen=True):
    """A cluster on which an expression could not be evaluated, and why."""

    cluster: str
    why: Reason
    reason: str = ""


class FailuresReport(Part, frozen=True):
    """The clusters that are not selected because an expression failed on them, with examples.

    `reasons` says which expressions failed and how, in words that tell nothing of the clusters: everybody sees it.
    `why` has the same as values.
    """

    count: int
    examples: tuple[FailureReport, ...] = ()
    reasons: tuple[str, ...] = ()
    why: tuple[Reason, ...] = ()


class Note(WordedPart, frozen=True):
    """What else there is to say."""

    why: Reason
    reason: str = ""


class PlacementReport(Part, frozen=True, kw_only=True):
    """The whole answer. `hidden` counts the clusters that the asker may not get, wherever this page left them out."""

    api_version: str = f"{GROUP}/{VERSION}"
    kind: str = KIND
    metadata: ReportMetadata
    dry_run: bool
    fleet: int
    selected: int
    unscheduled: int
    conditions: tuple[ConditionReport, ...]
    funnel: tuple[FunnelStage, ...]
    decisions: tuple[DecisionReport, ...]
    scores: ScoresReport
    diff: DiffReport
    failures: FailuresReport
    near_misses: tuple[NearMiss, ...] = ()
    notes: tuple[str, ...] = ()
    remarks: tuple[Note, ...] = ()
    hidden: int = 0
    wanted: int | UnsetType = UNSET  # numberOfClusters, if the placement has it
    cluster: ClusterExplanation | UnsetType = UNSET


class Window(msgspec.Struct, frozen=True):
    """The page of clusters that is wanted. A continue token is the place of the next cluster."""

    offset: int = 0
    limit: int = USUAL_NAMES


def with_remarks(report: PlacementReport, remarks: tuple[Note, ...]) -> PlacementReport:
    """The report with these remarks; notes have their sentences."""
    return msgspec.structs.replace(report, remarks=remarks, notes=tuple(each.reason for each in remarks))


def told(why: Reason) -> str:
    """The sentence of a reason as a report has it."""
    return shortened(sentence(why))


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
