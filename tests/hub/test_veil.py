"""No name of a cluster that the reader may not get is left in an explanation, whoever worded it."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.hub.requests import AccessRules, Attributes, Decision, User
from muster.hub.storage import Key, Put, Store
from muster.hub.veil import CLUSTERS, HIDDEN, Veil
from muster.placement.report import (
    ConditionReport,
    DiffReport,
    FailuresReport,
    Names,
    NearMissReport,
    PlacementReport,
    ReasonReport,
    ReportMetadata,
    ScoresReport,
    StageReport,
)
from tests.builders import a_placement

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def a_report(names: Sequence[str], sentence: str) -> PlacementReport:
    return PlacementReport(
        metadata=ReportMetadata("p1", "apps"),
        dry_run=True,
        fleet=len(names),
        selected=len(names),
        unscheduled=0,
        conditions=(ConditionReport("PlacementSatisfied", "True", "AllDecisionsScheduled", sentence),),
        funnel=(StageReport("Predicate", 2, 1, (ReasonReport(sentence, 1, tuple(names)),)),),
        decisions=(),
        scores=ScoresReport((), 0),
        diff=DiffReport(0, Names(len(names), tuple(names)), Names(0)),
        failures=FailuresReport(0),
        near_misses=tuple(NearMissReport(name, 1, "Pick", sentence) for name in names),
        notes=(sentence,),
    )


def veiled(
    clusters: Sequence[str],
    seen: Sequence[str],
    sentence: str,
    placement: dict[str, Any] | None = None,
    sets: Sequence[str] = (),
) -> PlacementReport:
    async def story() -> PlacementReport:
        async with Store.open(None) as store:
            keys = [Key(CLUSTERS, "", name) for name in clusters] + [Key(BINDINGS, "apps", name) for name in sets]
            await store.commit([Put(key, b'{"metadata":{"resourceVersion":"', b'"}}', 0) for key in keys])
            veil = Veil(store, ByName(frozenset(seen)))
            return await veil.over(DORA, placement or a_placement(), a_report(clusters, sentence))

    return asyncio.run(story())


def test_names_in_sentences_are_replaced_wherever_they_stand() -> None:
    sentence = "AddOnPlacementScores c1/usage expired; the last one taken is c2 with 5, c3.example, c1: c1."
    found = veiled(["c1", "c2", "c3.example"], ["c2"], sentence)
    assert found.notes == (
        f"AddOnPlacementScores {HIDDEN}/usage expired; the last one taken is c2 with 5, {HIDDEN}, {HIDDEN}: {HIDDEN}.",
    )
    assert found.diff.gained == Names(3, ("c2",), 2)
    assert [each.cluster for each in found.near_misses] == ["c2"]
    assert found.hidden == 2


def test_words_that_the_reader_has_anyway_stay() -> None:
    selector = {"labelSelector": {"matchLabels": {"tier": "gold"}}}
    placement = a_placement(predicates=[{"requiredClusterSelector": selector}])
    found = veiled(
        ["gold", "prod", "apps", "c1"], [], "label tier in (gold); no cluster is in prod; c1", placement, ["prod"]
    )
    assert found.notes == (f"label tier in (gold); no cluster is in prod; {HIDDEN}",)
    assert found.diff.gained == Names(4, (), 4)


NAMES = st.from_regex(r"[a-c]{1,2}(-[a-c]|\.[a-c])?", fullmatch=True)
BETWEEN = st.sampled_from([" ", ", ", "/", ": ", "; ", "'", '"', "(", ")", " = ", "\n", "[", "] ", ". "])


@settings(max_examples=25, deadline=None)
@given(
    clusters=st.lists(NAMES, min_size=1, max_size=6, unique=True),
    seen=st.sets(NAMES, max_size=3),
    words=st.lists(st.tuples(NAMES, BETWEEN), max_size=12),
)
def test_no_hidden_name_is_a_word_of_the_answer(
    clusters: list[str], seen: set[str], words: list[tuple[str, str]]
) -> None:
    sentence = "".join(f"{word}{between}" for word, between in words)
    answer = msgspec.json.encode(veiled(clusters, sorted(seen), sentence)).decode()
    left = set(re.findall(r"[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?", answer.replace("\\n", " ")))
    assert left & (set(clusters) - seen) == set()
