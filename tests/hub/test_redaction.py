"""What a reader may not see is taken out of an explanation: names, values, and whatever else has such a name in it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from muster.hub.redaction import CLUSTERS, Redaction
from muster.hub.requests import AccessRules, Attributes, Decision, User
from muster.hub.storage import Key, Put, Store
from muster.placement.explain.explained import FunnelStage, NearMiss, ReasonCount, ValueCount
from muster.placement.explain.report import (
    ConditionReport,
    DiffReport,
    FailuresReport,
    Names,
    Note,
    PlacementReport,
    ReportMetadata,
    ScoresReport,
)
from muster.reasons import HIDDEN, Code, Reason, Subject
from tests.builders import a_placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.reasons import Parameter

DORA = User("dora")
BINDINGS = "managedclustersetbindings.cluster.open-cluster-management.io"


class ByName:
    """Lets the user get these clusters and do nothing else."""

    def __init__(self, seen: frozenset[str]) -> None:
        self._seen = seen

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        return Decision(attributes.verb == "get" and attributes.name in self._seen)

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> list[str]:
        assert (verb, resource) == ("get", CLUSTERS)
        return [name for name in names if name not in self._seen]

    async def rules(self, user: User, namespace: str) -> AccessRules:
        return AccessRules()


def behind(other: str) -> Reason:
    given = {"taken": 1, "fitting": 3, "score": 5}
    return Reason(Code.BELOW_THE_CUT, parameters={**given}, clusters={"other": other})


def labelled(cluster: str, actual: str) -> Reason:
    given = {"noun": "label", "key": "tier", "expected": "tier=gold"}
    subject = Subject(cluster=cluster, requirement="tier=gold")
    return Reason(Code.REQUIREMENT_FAILS, subject, {**given}, {"actual": actual})


def unusable(fault: str) -> Reason:
    return Reason(Code.SET_UNUSABLE, Subject(cluster_set="prod"), {"fault": fault})


def a_report(names: Sequence[str], *whys: Reason) -> PlacementReport:
    notes = tuple(Note(why) for why in whys)
    return PlacementReport(
        metadata=ReportMetadata("p1", "apps"),
        dry_run=True,
        fleet=len(names),
        selected=len(names),
        unscheduled=0,
        conditions=tuple(ConditionReport("PlacementSatisfied", "True", str(why.code), why) for why in whys),
        funnel=(
            FunnelStage(
                "Predicate",
                2,
                1,
                tuple(ReasonCount(why, 1, tuple(names), (ValueCount("silver", 1),)) for why in whys),
            ),
        ),
        decisions=(),
        scores=ScoresReport((), 0),
        diff=DiffReport(0, Names(len(names), tuple(names)), Names(0)),
        failures=FailuresReport(0),
        near_misses=tuple(NearMiss(name, 1, "Pick", labelled(name, "silver")) for name in names),
        notes=tuple(each.reason for each in notes),
        remarks=notes,
    )


def shown(
    clusters: Sequence[str],
    seen: Sequence[str],
    *whys: Reason,
    placement: dict[str, Any] | None = None,
    sets: Sequence[str] = (),
) -> PlacementReport:
    async def story() -> PlacementReport:
        async with Store.open(None) as store:
            keys = [Key(CLUSTERS, "", name) for name in clusters] + [Key(BINDINGS, "apps", name) for name in sets]
            await store.commit([Put(key, b'{"metadata":{"resourceVersion":"', b'"}}', 0) for key in keys])
            redaction = Redaction(store, ByName(frozenset(seen)))
            return await redaction.over(DORA, placement or a_placement(), a_report(clusters, *whys))

    return asyncio.run(story())


def test_names_of_hidden_clusters_go_and_are_counted() -> None:
    found = shown(["c1", "c2", "c3.example"], ["c2"], behind("c1"), behind("c2"))
    assert found.notes == (
        f"below the cut: 1 of 3 that fit are taken (all are wanted); the last one taken is {HIDDEN} with 5",
        "below the cut: 1 of 3 that fit are taken (all are wanted); the last one taken is c2 with 5",
    )
    assert found.remarks[0].why.clusters == {}
    assert found.conditions[0].message == found.notes[0]
    assert found.diff.gained == Names(3, ("c2",), 2)
    assert [each.cluster for each in found.near_misses] == ["c2"]
    assert found.hidden == 2


def test_what_a_cluster_holds_is_told_to_those_who_may_get_it() -> None:
    found = shown(["c1", "c2"], ["c2"], labelled("c1", "silver"), labelled("c2", "silver"), labelled("", "silver"))
    assert found.notes == (
        "label tier=gold does not hold",
        "label tier is 'silver'; wanted tier=gold",
        "label tier=gold does not hold",  # of nobody in particular: for those who may get all
    )
    assert found.near_misses[0].reason == "label tier is 'silver'; wanted tier=gold"
    assert [each.values for stage in found.funnel for each in stage.reasons] == [(), (), ()]


def test_a_value_that_names_a_hidden_cluster_is_hidden_whoever_holds_it() -> None:
    found = shown(["c1", "c2"], ["c2"], labelled("c2", "c1"), labelled("c2", "peer_c1, x"), unusable("bad: 'c1'"))
    assert found.notes == (
        "label tier=gold does not hold",
        "label tier=gold does not hold",
        f"cannot be evaluated: {HIDDEN}",
    )
    assert b"c1" not in msgspec.json.encode(found)


def test_words_of_ours_are_no_names_whatever_clusters_are_called() -> None:
    given: dict[str, Parameter] = {"taken": 1, "fitting": 3, "score": 5, "tie": "name"}
    tied = Reason(Code.BELOW_THE_CUT, parameters=given, clusters={"other": "c1"})
    failed = Reason(
        Code.EXPRESSION_FAILED, Subject(expression="x"), {"error": "NoSuchKey"}, {"message": "no such key: z"}
    )
    found = shown(["name", "label", "ey", "c1"], [], tied, labelled("", "x"), failed)
    assert found.notes == (
        f"below the cut: 1 of 3 that fit are taken (all are wanted); the last one taken is {HIDDEN} with 5; "
        "equal scores go by name",
        "label tier=gold does not hold",
        "'x' failed: no such key",
    )


def test_words_that_the_reader_has_anyway_stay() -> None:
    selector = {"labelSelector": {"matchLabels": {"tier": "gold"}}}
    placement = a_placement(predicates=[{"requiredClusterSelector": selector}])
    names = ["gold", "prod", "apps", "c1"]
    why = Reason(Code.IN_NO_SET, parameters={"sets": ("prod", "c1")})
    found = shown(names, [], labelled("", "x"), why, placement=placement, sets=["prod"])
    assert found.notes == ("label tier=gold does not hold", f"in none of the cluster sets prod, {HIDDEN}")
    assert found.diff.gained == Names(4, (), 4)


def test_who_may_get_every_cluster_sees_everything() -> None:
    names = ["c1", "c2"]
    assert shown(names, ["c1", "c2", ""], labelled("c1", "c2")) == a_report(names, labelled("c1", "c2"))
