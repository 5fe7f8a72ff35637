"""Laws of explanations: the stage that is named is the one in the way, values are the object's own, counts add up."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from muster.cel.environments import environment
from muster.cel.program import compile_program
from muster.cel.traversals import value_text
from muster.errors import EvaluationError
from muster.placement.explain.explanation import ClusterExplanation, explain_cluster, explain_placement
from muster.placement.schedule.plan import PLACEMENTS
from muster.selection import Snapshot
from muster.selectors.cel import typed_view
from muster.selectors.cel_reasons import conjuncts, shortened
from muster.selectors.paths import SCORES
from muster.values.quoting import go_quote
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint

if TYPE_CHECKING:
    from muster.placement.schedule.result import ScheduleResult

NOW = datetime(2026, 1, 1, tzinfo=UTC)
EVERYWHERE = [a_set("everywhere"), a_binding("everywhere")]
EXPRESSIONS = [
    "managedCluster.metadata.labels['env'] == 'prod'",
    "has(managedCluster.metadata.labels.env) && managedCluster.metadata.labels.env.matches('^p')",
    "managedCluster.metadata.?labels[?'tier'].orValue('') in ['gold', 'silver'] && managedCluster.metadata.name != 'a'",
    "managedCluster.status.clusterClaims.exists(c, c.name == 'region' && c.value.startsWith('e'))",
    "managedCluster.scores('usage').exists(s, s.name == 'cpu' && s.value > 3)",
    "!has(managedCluster.metadata.labels.env) || managedCluster.metadata.labels.tier == 'gold'",
    "managedCluster.metadata.labels.env == 'prod' ? true : managedCluster.metadata.labels.tier == 'gold'",
]
CONDITIONS = {
    shortened(part): part
    for text in EXPRESSIONS
    for part in (*conjuncts(compile_program(text, environment("muster"))), text)
}
ENVS, TIERS = st.sampled_from(["prod", "dev"]), st.sampled_from(["gold", "silver", "bronze"])
LABELS = st.fixed_dictionaries({}, optional={"env": ENVS, "tier": TIERS})
MEMBERSHIP = st.sampled_from([{"in": "yes"}, {"in": "yes"}, {"in": "yes"}, {}])
TAINTS = st.lists(
    st.builds(
        a_taint,
        st.sampled_from(["gpu", "maintenance"]),
        st.sampled_from(["NoSelect", "NoSelectIfNew", "PreferNoSelect"]),
        added=st.sampled_from(["2025-12-31T23:00:00Z", "2025-01-01T00:00:00Z"]),
    ),
    max_size=2,
)
CLUSTERS = st.fixed_dictionaries(
    {
        "labels": st.tuples(LABELS, MEMBERSHIP).map(lambda both: both[0] | both[1]),
        "claims": st.fixed_dictionaries({}, optional={"region": st.sampled_from(["eu", "us"])}),
        "taints": TAINTS,
        "allocatable": st.fixed_dictionaries({}, optional={"cpu": st.sampled_from(["1", "16", "500m"])}),
    }
)
FLEETS = st.dictionaries(st.sampled_from("abcdefgh"), CLUSTERS, min_size=2, max_size=8)
SELECTORS = st.one_of(
    st.sampled_from(EXPRESSIONS).map(lambda text: {"celSelector": {"celExpressions": [text]}}),
    LABELS.map(lambda wanted: {"labelSelector": {"matchLabels": wanted}}),
    st.just({"claimSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}}),
    st.lists(st.sampled_from(EXPRESSIONS), min_size=1, max_size=2).map(
        lambda texts: {"celSelector": {"celExpressions": texts}}
    ),
)
TOLERATIONS = st.lists(
    st.fixed_dictionaries(
        {"key": st.sampled_from(["gpu", "maintenance"]), "operator": st.just("Exists")},
        optional={"tolerationSeconds": st.just(7200)},
    ),
    max_size=1,
)
SPREADS = st.sampled_from(["DoNotSchedule", "ScheduleAnyway"]).map(
    lambda reaction: {
        "spreadConstraints": [
            {"topologyKey": "env", "topologyKeyType": "Label", "maxSkew": 1, "whenUnsatisfiable": reaction}
        ]
    }
)
CPU = {"scoreCoordinate": {"type": "BuiltIn", "builtIn": "ResourceAllocatableCPU"}, "weight": 2}
SPECS = st.fixed_dictionaries(
    {
        "predicates": st.lists(SELECTORS.map(lambda each: {"requiredClusterSelector": each}), min_size=1, max_size=2)
        | st.just([]),
        "tolerations": TOLERATIONS,
        "prioritizerPolicy": st.sampled_from([{"mode": "Exact", "configurations": [CPU]}, {}]),
    },
    optional={"numberOfClusters": st.integers(0, 4), "spreadPolicy": SPREADS},
)


def snapshot(fleet: dict[str, Any], *more: dict[str, Any]) -> Snapshot:
    clusters = [
        a_cluster(
            name, made["labels"], made["claims"], made["taints"], allocatable=made["allocatable"], capacity={"cpu": "1"}
        )
        for name, made in fleet.items()
    ]
    scores = [a_score(name, {"cpu": place}) for place, name in enumerate(sorted(fleet)) if place % 2]
    return Snapshot([a_set("s", {"in": "yes"}), a_binding("s"), *clusters, *scores, *more], NOW)


def way_of(fleet: Snapshot, name: str, spec: dict[str, Any]) -> ClusterExplanation:
    return explain_cluster(fleet.schedule(PLACEMENTS.partly(a_placement(**spec))), name, fleet.profile, fleet.rules)


def without(stage: str, fleet: dict[str, Any], spec: dict[str, Any]) -> tuple[Snapshot, dict[str, Any]]:
    """The same placement on the same fleet, as if the stage did not exist."""
    match stage:
        case "ClusterSets":
            return snapshot(fleet, *EVERYWHERE), spec
        case "Predicate":
            return snapshot(fleet), {**spec, "predicates": []}
        case "TaintToleration":
            return snapshot(fleet), {**spec, "tolerations": [{"operator": "Exists"}]}
        case _:
            return snapshot(fleet), {**spec, "numberOfClusters": None, "spreadPolicy": {}}


STAGES = ("ClusterSets", "Predicate", "TaintToleration", "Pick")


@settings(max_examples=40)
@given(fleet=FLEETS, spec=SPECS)
def test_the_stage_that_is_named_is_the_one_whose_removal_lets_the_cluster_pass_to_the_next(
    fleet: dict[str, Any], spec: dict[str, Any]
) -> None:
    present = snapshot(fleet)
    for name in fleet:
        way = way_of(present, name, spec)
        assert way.selected is (way.stage == "")
        if way.selected:
            continue
        removed = way_of(*_for(name, without(way.stage, fleet, spec)))
        later = ("", *STAGES[STAGES.index(way.stage) + 1 :])
        assert removed.stage in later
        for other in STAGES:
            # Who is ahead of a cluster that fits depends on all stages; whether it fits, on its own.
            if other != way.stage and way.stage != "Pick":
                assert way_of(*_for(name, without(other, fleet, spec))).stage == way.stage


def _for(name: str, changed: tuple[Snapshot, dict[str, Any]]) -> tuple[Snapshot, str, dict[str, Any]]:
    return changed[0], name, changed[1]


@settings(max_examples=80)
@given(fleet=FLEETS, spec=SPECS)
def test_counts_add_up_to_the_fleet_and_agree_with_every_cluster(fleet: dict[str, Any], spec: dict[str, Any]) -> None:
    present = snapshot(fleet)
    result = present.schedule(PLACEMENTS.partly(a_placement(**spec)))
    whole = explain_placement(result, present.profile, near=8)
    ways = {name: explain_cluster(result, name, present.profile) for name in fleet}
    assert [stage.name for stage in whole.funnel] == list(STAGES)
    assert whole.funnel[0].before == whole.clusters == len(fleet)
    assert [stage.before for stage in whole.funnel[1:]] == [stage.after for stage in whole.funnel[:-1]]
    assert whole.funnel[-1].after == len(whole.selected)
    removed = Counter(way.stage for way in ways.values() if way.stage)
    assert {stage.name: stage.before - stage.after for stage in whole.funnel} == {
        name: removed[name] for name in STAGES
    }
    for stage in whole.funnel:
        assert sum(reason.count for reason in stage.reasons) == stage.before - stage.after
        assert {ways[name].stage for reason in stage.reasons for name in reason.examples} <= {stage.name}
        for reason in stage.reasons:
            assert sum(each.count for each in reason.values) in (0, reason.count)
    for reason in whole.funnel[1].reasons:
        for name in reason.examples:
            for number, said in re.findall(r"predicate (\d+): (.*?)(?=; predicate \d|$)", reason.reason):
                assert not _holds(said, f"predicate {number}", ways[name], present)
    misses = whole.near_misses
    assert {miss.cluster for miss in misses} == set(fleet) - set(whole.selected)
    assert [(miss.stage, miss.failures > 0) for miss in misses] == [
        (ways[miss.cluster].stage, ways[miss.cluster].stage != "Pick") for miss in misses
    ]
    assert [miss.failures for miss in misses] == sorted(miss.failures for miss in misses)


def _holds(said: str, predicate: str, way: ClusterExplanation, fleet: Snapshot) -> bool:
    """Whether the condition that a reason names holds for a cluster after all."""
    requirement = said.removesuffix(" does not hold")
    found = [check.passed for check in way.checks if (check.name, check.reason) == (predicate, requirement)]
    if found:
        return all(found)
    quoted = re.match(r"'(.*)' (is false|failed)", said)
    assert quoted is not None, said
    row = fleet.fleet.row(way.cluster)
    assert row is not None
    view = {**typed_view(fleet.fleet.load(row)), SCORES: fleet.fleet.scores.items_of(way.cluster)}
    value, _ = compile_program(CONDITIONS[quoted[1]], environment("muster")).run({"managedCluster": view}, 1_000_000)
    assert (quoted[2] == "failed") is isinstance(value, EvaluationError)
    return value is True


@settings(max_examples=40)
@given(fleet=FLEETS, spec=SPECS)
def test_the_values_that_are_printed_are_those_of_the_object(fleet: dict[str, Any], spec: dict[str, Any]) -> None:
    present = snapshot(fleet)
    result = present.schedule(PLACEMENTS.partly(a_placement(**spec)))
    for name in fleet:
        way = explain_cluster(result, name, present.profile)
        row = present.fleet.row(name)
        assert row is not None
        cluster = present.fleet.load(row)
        view = {**typed_view(cluster), SCORES: present.fleet.scores.items_of(name)}
        for check in way.checks:
            for seen in check.observed:
                assert (seen.value, seen.is_error) == _looked_up(seen.text, cluster, view)
        assert _total(way) == way.total
        assert way.rank == _rank(result, name)


def _looked_up(text: str, cluster: dict[str, Any], view: dict[str, Any]) -> tuple[str, bool]:
    """The value of a text of an explanation, found by other means than the explanation's."""
    claims = {claim["name"]: claim["value"] for claim in cluster["status"]["clusterClaims"]}
    by_name = re.fullmatch(r'managedCluster\.status\.clusterClaims\[name="(\w+)"\](?:\.value)?', text)
    plain = re.fullmatch(r'(labels|claims)\["(\w+)"\]', text)
    if by_name or plain:
        key = by_name[1] if by_name else plain[2] if plain else ""
        values = cluster["metadata"]["labels"] if plain and plain[1] == "labels" else claims
        return (go_quote(values[key]) if key in values else "missing"), False
    value, _ = compile_program(text, environment("muster")).run({"managedCluster": view}, 1_000_000)
    return (str(value), True) if isinstance(value, EvaluationError) else (value_text(value), False)


def _total(way: ClusterExplanation) -> int | None:
    return None if way.rank is None else sum(each.weight * each.score for each in way.scores)


def _rank(result: ScheduleResult, name: str) -> int | None:
    """The place among all that fit: disliked ones last, then by score, then by name."""
    disliked = result.cycle.taint_verdicts.disliked
    row_of = result.cycle.fleet.row
    totals = result.total_scores()
    order = sorted(totals, key=lambda each: (bool(disliked[row_of(each) or 0]), -totals[each], each))
    return order.index(name) + 1 if name in totals else None
