"""What a schedule decided and why, as an answer that travels: the typed JSON of `placements/NAME/explain`.

The controllers' process makes one (`reporting`), the hub takes out what the asker may not see, clients read it.
Clusters are named page by page and counted as a whole, so that a report of any fleet stays small.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

GROUP: Final = "explain.muster.dev"
VERSION: Final = "v1alpha1"
KIND: Final = "PlacementExplanation"
MOST_NAMES: Final = 1000  # clusters on one page
USUAL_NAMES: Final = 100


class _Part(msgspec.Struct, frozen=True, rename="camel"):
    """Every part of a report is written in the manner of Kubernetes and never changed."""


class ReportMetadata(_Part, frozen=True):
    """Which placement, and how to go on. `continue` is empty when every cluster has been shown."""

    name: str
    namespace: str
    resource_version: str = ""  # of the placement that is explained; empty for one that is not saved
    continue_: str = msgspec.field(default="", name="continue")


class Names(_Part, frozen=True):
    """Clusters: how many there are, those of this page, and how many of the page the asker may not get."""

    count: int
    clusters: tuple[str, ...] = ()
    hidden: int = 0


class DecisionReport(_Part, frozen=True):
    """A PlacementDecision as it would be written."""

    name: str
    group_name: str
    group_index: int
    clusters: Names


class ConditionReport(_Part, frozen=True):
    """A condition as it would be in the placement's status."""

    type: str
    status: str
    reason: str
    message: str


class ValueCount(_Part, frozen=True):
    """A value that decided, and how many of the clusters have it."""

    value: str
    count: int


class ReasonReport(_Part, frozen=True):
    """Why a stage removed clusters: the reason, how many, a few of them, and what they have instead.

    `values` is empty for those who may not get all clusters.
    """

    reason: str
    count: int
    examples: tuple[str, ...] = ()
    values: tuple[ValueCount, ...] = ()


class StageReport(_Part, frozen=True):
    """A stage of the funnel: how many clusters came in, how many were left, and why the others went.

    `otherReasons` counts the reasons that are not listed, `otherCount` their clusters.
    """

    name: str
    before: int
    after: int
    reasons: tuple[ReasonReport, ...] = ()
    other_reasons: int = 0
    other_count: int = 0


class ScorerReport(_Part, frozen=True):
    """A scorer, and how much its scores weigh."""

    name: str
    weight: int


class ClusterScores(_Part, frozen=True):
    """What one cluster that passed every filter scored: one number per scorer, in their order, and the sum."""

    cluster: str
    selected: bool
    rank: int
    total: int
    scores: tuple[int, ...] = ()


class ScoresReport(_Part, frozen=True):
    """The clusters that passed every filter, best first."""

    scorers: tuple[ScorerReport, ...]
    count: int
    clusters: tuple[ClusterScores, ...] = ()
    hidden: int = 0


class DiffReport(_Part, frozen=True):
    """What would change against the decisions that stand."""

    present: int
    gained: Names
    lost: Names


class FailureReport(_Part, frozen=True):
    """A cluster on which an expression could not be evaluated, and why."""

    cluster: str
    reason: str


class FailuresReport(_Part, frozen=True):
    """The clusters that are not selected because an expression failed on them, with examples.

    `reasons` says which expressions failed and how, in words that tell nothing of the clusters: everybody sees it.
    """

    count: int
    examples: tuple[FailureReport, ...] = ()
    reasons: tuple[str, ...] = ()


class ObservationReport(_Part, frozen=True):
    """A part of an expression or requirement and what it came to, in CEL's notation; of an error, its text.

    `short` is the same part without what goes without saying, for those who show it below others.
    """

    text: str
    value: str
    short: str = ""
    is_error: bool = False


class CheckReport(_Part, frozen=True):
    """One thing that was looked at for a cluster, where the placement asks for it, and the values that were found."""

    name: str
    passed: bool
    reason: str
    field: str = ""
    observed: tuple[ObservationReport, ...] = ()


class NearMissReport(_Part, frozen=True):
    """A cluster that is not selected and came near: how many conditions it fails, which stage removed it, and why."""

    cluster: str
    failures: int
    stage: str
    reason: str


class ScoreReport(_Part, frozen=True):
    """What one scorer gave a cluster."""

    scorer: str
    weight: int
    score: int


class ClusterReport(_Part, frozen=True):
    """The way of one cluster through the placement. `stage` is the one that removed it, empty when it is selected.

    Scores, total, rank and cut are there for clusters that passed every filter.
    """

    cluster: str
    selected: bool
    stage: str
    summary: str
    checks: tuple[CheckReport, ...] = ()
    scores: tuple[ScoreReport, ...] = ()
    total: int | UnsetType = UNSET
    rank: int | UnsetType = UNSET
    cut: str = ""


class PlacementReport(_Part, frozen=True, kw_only=True):
    """The whole answer. `hidden` counts the clusters that the asker may not get, wherever this page left them out."""

    api_version: str = f"{GROUP}/{VERSION}"
    kind: str = KIND
    metadata: ReportMetadata
    dry_run: bool
    fleet: int
    selected: int
    unscheduled: int
    conditions: tuple[ConditionReport, ...]
    funnel: tuple[StageReport, ...]
    decisions: tuple[DecisionReport, ...]
    scores: ScoresReport
    diff: DiffReport
    failures: FailuresReport
    near_misses: tuple[NearMissReport, ...] = ()
    notes: tuple[str, ...] = ()
    hidden: int = 0
    wanted: int | UnsetType = UNSET  # numberOfClusters, if the placement has it
    cluster: ClusterReport | UnsetType = UNSET


class Window(msgspec.Struct, frozen=True):
    """The page of clusters that is wanted. A continue token is the place of the next cluster."""

    offset: int = 0
    limit: int = USUAL_NAMES
