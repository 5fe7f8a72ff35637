"""Why decisions moved: causes among changes, and how a cluster turned."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from muster.api.managed_cluster import ManagedCluster
from muster.api.placement_history import (
    CHANGED,
    CREATED,
    DELETED,
    SCORE_EXPIRED,
    TOLERATION_EXPIRED,
    Cause,
    FieldChange,
    Flip,
)
from muster.api.reading import Reader
from muster.placement import plan_of, visibility
from muster.placement.explain.causes import (
    Change,
    ClusterSituation,
    Ref,
    StageVerdict,
    causes_of,
    expired_toleration,
    flip_of,
    reads_of,
    stage_verdict,
    unnamed,
)
from muster.reasons import Code, sentence
from muster.selectors.cel import cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SEEN = visibility("apps", (), [a_binding("gold")], [a_set("gold", {"tier": "gold"})])


def wanting(cloud: str, **spec: Any) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {"cloud": cloud}}}
    return a_placement("p1", predicates=[{"requiredClusterSelector": selector}], **spec)


def point(placement: dict[str, Any], cluster: dict[str, Any] | None, now: datetime = NOW) -> ClusterSituation:
    return ClusterSituation(plan_of(placement, cel_compiler()), SEEN, now, cluster)


def gold(cloud: str, *taints: dict[str, Any]) -> dict[str, Any]:
    return a_cluster("a", {"tier": "gold", "cloud": cloud}, taints=taints)


def told(found: StageVerdict) -> tuple[str, str, str]:
    return found.stage, sentence(found.why), found.why.code


def test_a_cluster_stands_where_the_first_stage_keeps_it_out() -> None:
    placement = wanting("Amazon")
    assert told(stage_verdict(point(placement, None), own=False)) == (
        "Cluster",
        "there is no such cluster",
        Code.NO_SUCH_CLUSTER,
    )
    assert stage_verdict(point(placement, a_cluster("a")), own=False).stage == "ClusterSets"
    assert told(stage_verdict(point(placement, gold("Azure")), own=False)) == (
        "Predicate",
        "predicate 1: label cloud is 'Azure'; wanted cloud=Amazon",
        Code.NO_PREDICATE_HOLDS,
    )
    assert told(stage_verdict(point(placement, gold("Amazon", a_taint("gpu"))), own=False)) == (
        "TaintToleration",
        "taint gpu:NoSelect is not tolerated",
        Code.TAINT_NOT_TOLERATED,
    )
    assert told(stage_verdict(point(placement, gold("Amazon")), own=False)) == ("", "fits", Code.FITS)


def test_a_taint_for_newcomers_lets_stay_who_is_decided() -> None:
    cluster = gold("Amazon", a_taint("full", "NoSelectIfNew"))
    assert stage_verdict(point(wanting("Amazon"), cluster), own=True).stage == ""
    assert stage_verdict(point(wanting("Amazon"), cluster), own=False).stage == "TaintToleration"


def test_a_misconfigured_placement_keeps_everybody_out() -> None:
    assert stage_verdict(point(wanting("Amazon", numberOfClusters=-1), gold("Amazon")), own=False).stage == "Placement"


def test_a_flip_names_the_stage_that_turned() -> None:
    placement = wanting("Amazon")
    why = "predicate 1: label cloud is 'Azure'; wanted cloud=Amazon"
    fits, fails = point(placement, gold("Amazon")), point(placement, gold("Azure"))
    assert flip_of("a", fits, fails, gained=False) == Flip("a", "Predicate", "fits", why, "Fits", "NoPredicateHolds")
    assert flip_of("a", fails, fits, gained=True) == Flip("a", "Predicate", why, "fits", "NoPredicateHolds", "Fits")
    assert flip_of("a", fits, fits, gained=False) == Flip(
        "a", "Pick", "picked", "fits, not picked", "Picked", "FitsNotPicked"
    )


def a_change(old: Any, new: Any, name: str = "a", kind: str = "ManagedCluster", namespace: str = "") -> Change:
    return Change(Ref(kind, namespace, name), old, new)


def reads() -> Any:
    return reads_of(plan_of(wanting("Amazon"), cel_compiler()), SEEN)


def test_changes_of_clusters_that_moved_and_of_the_placement_are_causes_and_others_are_not() -> None:
    moved = a_change(gold("Amazon"), gold("Azure"))
    beside = a_change(gold("Amazon"), gold("Azure"), "z")
    edited = a_change(wanting("Amazon"), wanting("Azure"), "p1", "Placement", "apps")
    field = "spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels.cloud"
    assert causes_of([beside, moved, edited], {"a"}, reads()) == (
        [
            Cause("Placement", "apps", "p1", CHANGED, (FieldChange(field, '"Amazon"', '"Azure"'),)),
            Cause("ManagedCluster", "", "a", CHANGED, (FieldChange("metadata.labels.cloud", '"Amazon"', '"Azure"'),)),
        ],
        2,
    )
    causes, _ = causes_of([beside], {"a"}, reads())
    assert [cause.name for cause in causes] == ["z"]
    assert [str(cause) for cause in unnamed(causes, {"a"})] == ["ManagedCluster changed (not one of those that moved)"]


def test_what_was_taken_back_and_what_nobody_reads_is_no_cause() -> None:
    same = a_change(gold("Amazon"), gold("Amazon") | {"status": {"noise": 1}})
    gone = a_change(None, None)
    assert causes_of([same, gone], {"a"}, reads())[0] == []


def test_objects_that_come_and_go_are_causes() -> None:
    came, went = a_change(None, gold("Amazon")), a_change(gold("Amazon"), None)
    assert [cause.deed for change in (came, went) for cause in causes_of([change], {"a"}, reads())[0]] == [
        CREATED,
        DELETED,
    ]


def test_scores_are_compared_by_the_names_of_their_items() -> None:
    old, new = a_score("a", {"x": 1, "y": 2}), a_score("a", {"y": 2, "x": 5}, valid_until="2026-01-01T00:00:00Z")
    (cause,), _ = causes_of([a_change(old, new, "usage", "AddOnPlacementScore", "a")], {"a"}, ())
    assert cause.fields == (
        FieldChange("status.scores[name=x].value", "1", "5"),
        FieldChange("status.validUntil", "", '"2026-01-01T00:00:00Z"'),
    )
    expired = Change(Ref("AddOnPlacementScore", "a", "usage"), new, new, expired=True)
    assert causes_of([expired], {"a"}, ())[0] == [
        Cause("AddOnPlacementScore", "a", "usage", SCORE_EXPIRED, note="2026-01-01T00:00:00Z")
    ]


def test_a_toleration_that_has_ended_is_a_cause_and_one_that_never_was_is_not() -> None:
    taint = a_taint("slow", added="2026-01-01T00:00:00Z")
    toleration = {"key": "slow", "operator": "Exists", "tolerationSeconds": 60}
    plan = plan_of(wanting("Amazon", tolerations=[toleration]), cel_compiler())
    cluster = Reader(ManagedCluster).demanded(gold("Amazon", taint))
    assert expired_toleration(cluster, plan, NOW + timedelta(seconds=59)) is None
    found = expired_toleration(cluster, plan, NOW + timedelta(seconds=60))
    assert found == Cause(
        "ManagedCluster",
        "",
        "a",
        TOLERATION_EXPIRED,
        note="taint slow:NoSelect, tolerated for 60 s, until 2026-01-01T00:01:00Z",
    )
    assert expired_toleration(cluster, plan_of(wanting("Amazon"), cel_compiler()), NOW) is None


def test_a_cause_reads_like_a_sentence() -> None:
    field = FieldChange("metadata.labels.cloud", '"Amazon"', "")
    assert str(Cause("ManagedCluster", "", "a", CHANGED, (field,), manager="alice")) == (
        'ManagedCluster a changed: metadata.labels.cloud: "Amazon" → (none), by alice'
    )
    assert str(Cause("AddOnPlacementScore", "a", "usage", SCORE_EXPIRED, note="2026")) == (
        "AddOnPlacementScore a/usage expired (2026)"
    )


def test_what_was_before_may_not_be_known() -> None:
    assert str(Flip("c1", "Predicate", "fits", "label a is missing")) == "Predicate: fits → label a is missing"
    assert str(Flip("c1", "", "not known", "fits")) == "not known → fits"
