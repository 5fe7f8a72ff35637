"""The scheduler against what OCM's own scheduler decided on the same objects.

A scenario is scheduled until nothing changes, as a controller would: every round sees the decisions of the last one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.cel.charging import charging_of
from muster.cel.environments import environment
from muster.controllers.cluster_sets import BUILT_IN, binding_condition, roll_back, set_condition
from muster.controllers.clusters import CLUSTERS, wanted_taints
from muster.controllers.mirror import Stored
from muster.controllers.placement_mirrors import BINDINGS, SETS
from muster.controllers.placement_world import PlacementWorld
from muster.errors import InvalidObjectError
from muster.fleet import score_of
from muster.hub.patches.merge import merge_patched
from muster.selectors.membership import members, sets_of
from tests.builders import a_time
from tests.conformance.cel.evaluation import evaluated, run_ocm_expressions
from tests.conformance.ocm_admission import PROPOSED, run_admission, run_proposed
from tests.conformance.ocm_debugger import run_debugger
from tests.conformance.ocm_reevaluation import run_reevaluation
from tests.conformance.ocm_running import run_cluster_sets_over_http, run_sequences_over_http
from tests.conformance.ocm_world import World
from tests.conformance.results import CaseResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from muster.placement import ScheduleResult

Object = dict[str, Any]
_DISABLED: Final = "cluster.open-cluster-management.io/experimental-scheduling-disable"


def run_scenarios(data: Any) -> Iterator[CaseResult]:
    for case in data if isinstance(data, list) else data["cases"]:
        world = World(case)
        yield _compare(case["id"], case, world, case["expect"])
        for number, step in enumerate(case.get("steps") or (), start=1):
            if step.get("now"):
                world.now = a_time(step["now"])
            for obj in step.get("apply") or ():
                world.apply(obj)
            for reference in step.get("delete") or ():
                world.delete(reference)
            yield _compare(f"{case['id']} step {number}", case, world, step["expect"])


def _compare(name: str, case: Mapping[str, Any], world: World, expect: Mapping[str, Any]) -> CaseResult:
    metadata = world.placement["metadata"]
    if metadata.get("deletionTimestamp") or (metadata.get("annotations") or {}).get(_DISABLED) == "true":
        return CaseResult(name, apart="left alone by the controller")
    before = list(world.own)
    first, result = world.converge()
    rule, differences = _differences(case, world, before, first, result, expect)
    return CaseResult(name, ok=not differences, detail="; ".join(differences), rule=rule)


def _differences(
    case: Mapping[str, Any],
    world: World,
    before: list[str],
    first: ScheduleResult,
    result: ScheduleResult,
    expect: Mapping[str, Any],
) -> tuple[str | None, list[str]]:
    """What is not as expected, after the rules have said what to expect instead."""
    wanted = dict(expect)
    misconfigured = _condition(expect, "PlacementMisconfigured").get("status") == "True"
    spec = world.placement.get("spec") or {}
    rule = None
    if result.fault is not None and "must evaluate to bool" in result.fault.message:
        selected = expect.get("selected")
        return "an expression must be boolean", [f"upstream selects {selected}"] if selected else []
    if result.fault is not None and not misconfigured:
        # Upstream does not look at a placement's faults until a cluster gets that far.
        stages = [each.get("filteredClusters") for each in expect.get("filterResults") or ()]
        reached = result.available.any() if result.fault.stage == "Predicate" else bool(stages and stages[0])
        return "validation does not wait for a cluster", [f"refused: {result.fault}"] if reached else []
    if misconfigured and result.fault is None:
        text = _condition(expect, "PlacementMisconfigured").get("message", "")
        if "semver" in text or "parseJSON" in text or "scores" in text:
            return "CEL as the specification writes it", []
        return None, [f"upstream refuses it: {text}"]
    if misconfigured:
        rule = "a misconfigured placement keeps its decisions"
        same = [] if world.own == before else [f"decisions changed from {before} to {world.own}"]
        shown = result.conditions
        if shown["PlacementMisconfigured"].status != "True":
            same.append("PlacementMisconfigured is not True")
        if shown["PlacementSatisfied"].status == "True":
            same.append("PlacementSatisfied is True")
        text = _condition(expect, "PlacementMisconfigured").get("message", "")
        if "compilation failed" not in text and text != shown["PlacementMisconfigured"].message:
            same.append(f"message {shown['PlacementMisconfigured'].message!r} instead of {text!r}")
        return rule, same
    if expect.get("syncError", "").startswith("failed to get clusters from ClusterSet"):
        broken = [name for name, _ in result.cycle.visibility.broken]
        told = "ClusterSetsUsable" in result.conditions and broken
        return "one bad cluster set is skipped", [] if told else ["the broken set is not named"]
    if "scores(" in str(spec.get("predicates")) and (expired := _expired(world)):
        wanted_names = [name for name in expect.get("selected") or () if name not in expired]
        fine = result.selected == wanted_names
        return "an expired score is an error in CEL", [] if fine else [f"selected {result.selected}"]
    if "PreferNoSelect" in str(case["clusters"]) and result.selected_by_rank != expect.get("selectedByRank"):
        rule = "PreferNoSelect ranks last"
        disliked = {
            each["metadata"]["name"]
            for each in case["clusters"]
            if any(taint["effect"] == "PreferNoSelect" for taint in each["spec"].get("taints") or ())
        }
        flags = [name in disliked for name in result.selected_by_rank]
        return rule, [] if flags == sorted(flags) else ["a disliked cluster ranks before another"]
    if spec.get("spreadPolicy") and case["origin"] != "proposal":
        counts = [len(result.ranked), expect.get("numberOfSelectedClusters")]
        return "spreadPolicy is honoured", [] if counts[0] == counts[1] else [f"selected {counts}"]
    if spec.get("sortBy") == "Score":
        rule = "sortBy Score is honoured"
        wanted.pop("decisions", None)
    return rule, _plain_differences(first, result, wanted)


def _expired(world: World) -> set[str]:
    """Clusters with a score that is no longer valid."""
    return {
        each["metadata"]["namespace"]
        for each in world.of_kind("AddOnPlacementScore")
        if score_of(each).expired(world.now)
    }


def _plain_differences(first: ScheduleResult, result: ScheduleResult, wanted: Mapping[str, Any]) -> list[str]:
    actual: dict[str, Any] = {
        "selected": result.selected,
        "numberOfSelectedClusters": len(result.ranked),
        "decisions": [
            {
                "name": page.name,
                "groupName": page.group_name,
                "groupIndex": str(page.group_index),
                "clusters": list(page.clusters),
            }
            for page in result.pages()
        ],
        "decisionGroups": msgspec.json.decode(msgspec.json.encode(result.decision_groups())),
        "conditions": {
            kind: msgspec.to_builtins(condition)
            for kind, condition in result.conditions.items()
            if kind in ("PlacementSatisfied", "PlacementMisconfigured")
        },
        "filterResults": _filters(first),
        "prioritizerResults": sorted(
            (
                {
                    "name": each.name,
                    "weight": each.weight,
                    "scores": dict(
                        zip(first.cycle.fleet.names(first.feasible.tolist()), each.scores.tolist(), strict=True)
                    ),
                }
                for each in first.scorers
            ),
            key=lambda each: str(each["name"]),
        ),
        "totalScores": first.total_scores(),
        "selectedByRank": first.selected_by_rank,
        "unscheduled": first.unscheduled,
        "requeueAt": result.requeue_at.strftime("%Y-%m-%dT%H:%M:%SZ") if result.requeue_at else None,
        "selectedPerTopology": None,
        "decisionOrder": [name for page in result.pages() for name in page.clusters],
        "scores": {name: score for name, score in result.total_scores().items() if name in result.selected},
        "groups": [list(result.cycle.fleet.names(group.rows.tolist())) for group in result.groups],
    }
    differences = []
    for field, value in wanted.items():
        if field in ("events", "scheduleStatus", "syncError", "finalSyncError", "selectedPerTopology"):
            continue
        expected = _without_empty(field, value)
        ours = _without_empty(field, actual.get(field))
        if ours != expected:
            differences.append(f"{field}: {ours!r} instead of {expected!r}")
    if "selectedPerTopology" in wanted:
        counts = _per_topology(result, wanted["selectedPerTopology"])
        if counts != wanted["selectedPerTopology"]:
            differences.append(f"selectedPerTopology: {counts} instead of {wanted['selectedPerTopology']}")
    return differences


def _without_empty(field: str, value: Any) -> Any:
    """Upstream leaves scores out of scorers that gave none; ours give zero."""
    if field == "prioritizerResults":
        return [
            each | {"scores": {name: score for name, score in (each.get("scores") or {}).items() if score}}
            for each in value or ()
        ]
    if field == "filterResults":
        return [each | {"filteredClusters": sorted(each.get("filteredClusters") or ())} for each in value or ()]
    return value


def _filters(result: ScheduleResult) -> list[dict[str, Any]]:
    shown, names = [], []
    for stage in result.stages:
        names.append(stage.name)
        rows = stage.passing.nonzero()[0].tolist()
        shown.append({"name": ",".join(names), "filteredClusters": sorted(result.cycle.fleet.names(rows))})
    return shown


def _per_topology(result: ScheduleResult, wanted: Mapping[str, int]) -> dict[str, int]:
    counts = dict.fromkeys(wanted, 0)
    for row in result.ranked.tolist():
        labels = result.cycle.fleet.load(row)["metadata"].get("labels") or {}
        for value in labels.values():
            if value in counts:
                counts[value] += 1
    return counts


def _condition(expect: Mapping[str, Any], kind: str) -> Mapping[str, str]:
    found: Mapping[str, str] = (expect.get("conditions") or {}).get(kind) or {}
    return found


def run_sequences(data: Any) -> Iterator[CaseResult]:
    """By the core alone, and then through a running hub."""
    cases = data if isinstance(data, list) else data["cases"]
    yield from run_scenarios(cases)
    yield from run_sequences_over_http(cases)


def run_cluster_sets(data: Any) -> Iterator[CaseResult]:
    """By functions alone, and then through a running hub."""
    yield from run_memberships(data)
    yield from run_cluster_sets_over_http(data)


def run_memberships(data: Any) -> Iterator[CaseResult]:
    """Who is in which set, what the controllers make of it, and who may change it."""
    for case in data:
        if case["kind"] in ("membership", "sets-of-cluster"):
            actual: Any = _membership(case)
        elif case["kind"] == "placement":
            _, result = World(case).converge()
            actual = {"selected": result.selected}
        elif case["kind"] in CONTROLLER_ROWS:
            actual = CONTROLLER_ROWS[case["kind"]](case)
        elif case["kind"] in PROPOSED:
            yield run_proposed(case)
            continue
        else:
            yield CaseResult(case["id"], ok=False, detail=f"no runner knows the kind {case['kind']!r}")
            continue
        expected = {key: case["expect"].get(key) for key in actual}
        yield CaseResult(case["id"], ok=actual == expected, detail=f"{actual} instead of {expected}")


def _membership(case: Mapping[str, Any]) -> Any:
    try:
        if case["kind"] == "sets-of-cluster":
            return {"error": False, "sets": sets_of(case["cluster"], case["clusterSets"])}
        if "clusterSet" in case:
            return {"error": False, "members": members(case["clusterSet"], case["clusters"])}
        return {"members": {each["metadata"]["name"]: members(each, case["clusters"]) for each in case["clusterSets"]}}
    except InvalidObjectError:
        return {"error": True}


def _set_status(case: Mapping[str, Any]) -> Any:
    world = PlacementWorld()
    world.fleet.put_many(msgspec.json.encode(each) for each in case["clusters"])
    world.put_set(Stored.of(SETS, case["clusterSet"]))
    ((kind, (status, reason, message)),) = set_condition(world, case["clusterSet"]["metadata"]["name"]).items()
    failed = status == "Unknown"
    shown = {"type": kind, "status": status, "reason": reason, "message": message}
    return {"error": True} if failed else {"error": False, "condition": shown}


def _binding_status(case: Mapping[str, Any]) -> Any:
    sets = {each["metadata"]["name"]: each for each in case["clusterSets"]}
    ((kind, (status, reason, message)),) = binding_condition(BINDINGS.demanded(case["binding"]), sets).items()
    return {"condition": {"type": kind, "status": status, "reason": reason, "message": message}}


def _built_in_sets(case: Mapping[str, Any]) -> Any:
    """The sets that are written, as they are afterwards."""
    updated = []
    for each in case["clusterSets"]:
        patch = roll_back(each) if each["metadata"]["name"] in BUILT_IN else None
        if patch is not None:
            updated.append({"name": each["metadata"]["name"], **merge_patched(each, patch)["spec"]})
    return {"updated": updated}


def _taints(case: Mapping[str, Any]) -> Any:
    wanted = wanted_taints(CLUSTERS.demanded(case["cluster"]))
    return {"taints": [[each.key, each.value, each.effect] for each in wanted]}


CONTROLLER_ROWS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "clusterset-status": _set_status,
    "binding-status": _binding_status,
    "builtin-sets": _built_in_sets,
    "taint-controller": _taints,
}


# --- Expressions ----------------------------------------------------------------------------------------------------


def run_cel_library(data: Any) -> Iterator[CaseResult]:
    """sdk-go's own tables of its CEL library: a value, or an error that says a certain thing, or a cost."""
    env = environment("ocm")
    scores = {"test-score": [{"name": "cpu", "value": 3}, {"name": "memory", "value": 4}], "fake-score": []}
    for case in data["cases"]:
        cluster = {**(case.get("cluster") or {"metadata": {"name": "test"}}), "@scores": scores}
        name = f"{case['name']}: {case['expr'][:60]}"
        ours = evaluated(case["expr"], env, {"managedCluster": cluster}, charging_of(env), 1_000_000)
        expect = case["expect"]
        if "cost" in expect:
            same = ours.cost == expect["cost"]
            yield CaseResult(name, detail=f"cost {ours.cost} instead of {expect['cost']}", cost_ok=same)
        elif expect.get("compileErrors") or expect.get("runtimeErrorContains"):
            texts = [*(expect.get("compileErrors") or ()), expect.get("runtimeErrorContains") or ""]
            said = all(text in (ours.error or "") for text in texts)
            detail = f"{ours.error!r} instead of {texts}"
            yield CaseResult(name, ok=ours.error is not None, detail=detail, text_ok=said)
        else:
            yield CaseResult(name, ok=ours.value == expect["value"], detail=f"{ours.error or ours.value!r}")


FILES = {
    "admission.json": run_admission,
    "placement_predicates.json": run_scenarios,
    "placement_cel.json": run_scenarios,
    "placement_taints.json": run_scenarios,
    "placement_prioritizers.json": run_scenarios,
    "placement_number_and_status.json": run_scenarios,
    "placement_groups.json": run_scenarios,
    "placement_clustersets.json": run_scenarios,
    "placement_schedule.json": run_scenarios,
    "placement_sequences.json": run_sequences,
    "spread_and_sort_proposals.json": run_scenarios,
    "clusterset_controllers.json": run_cluster_sets,
    "exclusivekey_proposal.json": run_memberships,
    "reevaluation.json": run_reevaluation,
    "cel_expressions.json": run_ocm_expressions,
    "cel_library_upstream.json": run_cel_library,
    "debugger_http.json": run_debugger,
}
