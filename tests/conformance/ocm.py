"""The scheduler against what OCM's own scheduler decided on the same objects.

A scenario is scheduled until nothing changes, as a controller would: every round sees the decisions of the last one.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.cel.charging import charging_of
from muster.cel.environments import environment
from muster.controllers.cluster_sets import BUILT_IN, binding_condition, roll_back, set_condition
from muster.controllers.clusters import wanted_taints
from muster.controllers.placement_world import Key, PlacementWorld
from muster.fleet import Fleet, score_of
from muster.fleet.scores import parse_time
from muster.placement import Cycle, ScheduleResult, decided, plan_of, schedule, visibility
from muster.selectors.cel import cel_compiler
from muster.selectors.membership import members, sets_of
from tests.conformance.cel.evaluation import evaluated, run_ocm_expressions
from tests.conformance.results import CaseResult
from tests.controllers.replaying import Replay, replaying

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from datetime import datetime

Object = dict[str, Any]
PLACEMENT_LABEL: Final = "cluster.open-cluster-management.io/placement"
_ROUNDS: Final = 6
_DISABLED: Final = "cluster.open-cluster-management.io/experimental-scheduling-disable"


class World:
    """The objects of a scenario, and the placement's decisions as they stand."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.now: datetime = parse_time(case.get("now") or "2026-01-01T00:00:00Z")
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.placement: Object = case["placement"]
        self.pages: dict[str, tuple[str, ...]] = {}
        for field in ("clusters", "clusterSets", "clusterSetBindings", "addOnPlacementScores", "placementDecisions"):
            for obj in case.get(field) or ():
                self.apply(obj)
        self.own = [
            decision["clusterName"]
            for obj in self.of_kind("PlacementDecision")
            if self._is_own(obj)
            for decision in (obj.get("status") or {}).get("decisions") or ()
        ]

    def _is_own(self, obj: Object) -> bool:
        metadata, own = obj["metadata"], self.placement["metadata"]
        return bool(
            metadata.get("namespace") == own.get("namespace")
            and (metadata.get("labels") or {}).get(PLACEMENT_LABEL) == own["name"]
        )

    def apply(self, obj: Object) -> None:
        if obj["kind"] == "Placement":
            self.placement = obj
        else:
            self.objects[_key(obj)] = obj

    def delete(self, reference: Mapping[str, str]) -> None:
        key = (reference["kind"], reference.get("namespace", ""), reference["name"])
        self.objects.pop(key, None)
        if reference["kind"] == "PlacementDecision":
            gone = self.pages.get(reference["name"], ())
            self.own = [name for name in self.own if name not in gone]

    def of_kind(self, kind: str) -> list[Object]:
        return [obj for key, obj in self.objects.items() if key[0] == kind]

    def foreign(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for obj in self.of_kind("PlacementDecision"):
            if not self._is_own(obj):
                for decision in (obj.get("status") or {}).get("decisions") or ():
                    counts[decision["clusterName"]] = counts.get(decision["clusterName"], 0) + 1
        return counts

    def schedule_once(self) -> ScheduleResult:
        fleet = Fleet()
        for obj in self.of_kind("AddOnPlacementScore"):
            fleet.put_score(obj["metadata"]["namespace"], obj["metadata"]["name"], score_of(obj))
        fleet.advance(self.now)
        fleet.put_many(msgspec.json.encode(obj) for obj in self.of_kind("ManagedCluster"))
        plan = plan_of(self.placement, cel_compiler(fleet.scores))
        seen = visibility(
            plan.namespace,
            plan.cluster_sets,
            self.of_kind("ManagedClusterSetBinding"),
            self.of_kind("ManagedClusterSet"),
        )
        return schedule(Cycle(plan, fleet, seen, self.now, decided(fleet, self.own, self.foreign())))

    def converge(self) -> tuple[ScheduleResult, ScheduleResult]:
        """The first result, and the one after which nothing changes."""
        first = result = self.schedule_once()
        for _ in range(_ROUNDS):
            if result.fault is not None or self.own == result.selected:
                break
            self.own = result.selected
            self.pages = {page.name: page.clusters for page in result.pages()}
            result = self.schedule_once()
        return first, result


def _key(obj: Object) -> tuple[str, str, str]:
    return (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


def run_scenarios(data: Any) -> Iterator[CaseResult]:
    for case in data if isinstance(data, list) else data["cases"]:
        world = World(case)
        yield _compare(case["id"], case, world, case["expect"])
        for number, step in enumerate(case.get("steps") or (), start=1):
            if step.get("now"):
                world.now = parse_time(step["now"])
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
        "decisionGroups": result.decision_groups(),
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


def run_memberships(data: Any) -> Iterator[CaseResult]:
    """Who is in which set, and what the controllers make of it. What admission does waits for its own runner."""
    for case in data:
        if case["kind"] == "membership" and "clusterSet" in case:
            actual: Any = {"error": False, "members": members(case["clusterSet"], case["clusters"])}
        elif case["kind"] == "membership":
            found = {each["metadata"]["name"]: members(each, case["clusters"]) for each in case["clusterSets"]}
            actual = {"members": found}
        elif case["kind"] == "sets-of-cluster":
            actual = {"error": False, "sets": sets_of(case["cluster"], case["clusterSets"])}
        elif case["kind"] == "placement":
            _, result = World(case).converge()
            actual = {"selected": result.selected}
        elif case["kind"] in CONTROLLER_ROWS:
            actual = CONTROLLER_ROWS[case["kind"]](case)
        else:
            yield CaseResult(case["id"], apart="needs the admission rules of cluster sets")
            continue
        expected = {key: case["expect"].get(key) for key in actual}
        yield CaseResult(case["id"], ok=actual == expected, detail=f"{actual} instead of {expected}")


def _set_status(case: Mapping[str, Any]) -> Any:
    world = PlacementWorld()
    world.fleet.put_many(msgspec.json.encode(each) for each in case["clusters"])
    world.put_set(case["clusterSet"])
    ((kind, (status, reason, message)),) = set_condition(world, case["clusterSet"]["metadata"]["name"]).items()
    failed = status == "Unknown"
    shown = {"type": kind, "status": status, "reason": reason, "message": message}
    return {"error": True} if failed else {"error": False, "condition": shown}


def _binding_status(case: Mapping[str, Any]) -> Any:
    sets = {each["metadata"]["name"]: each for each in case["clusterSets"]}
    ((kind, (status, reason, message)),) = binding_condition(case["binding"], sets).items()
    return {"condition": {"type": kind, "status": status, "reason": reason, "message": message}}


def _built_in_sets(case: Mapping[str, Any]) -> Any:
    """The sets that are written, as they are afterwards."""
    updated = []
    for each in case["clusterSets"]:
        patch = roll_back(each) if each["metadata"]["name"] in BUILT_IN else None
        if patch is not None:
            spec = {**each["spec"], "clusterSelector": _without_nulls(patch["spec"]["clusterSelector"])}
            updated.append({"name": each["metadata"]["name"], **spec})
    return {"updated": updated}


def _without_nulls(merged: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in merged.items() if value is not None}


def _taints(case: Mapping[str, Any]) -> Any:
    return {
        "taints": [[each["key"], each.get("value") or "", each["effect"]] for each in wanted_taints(case["cluster"])]
    }


CONTROLLER_ROWS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "clusterset-status": _set_status,
    "binding-status": _binding_status,
    "builtin-sets": _built_in_sets,
    "taint-controller": _taints,
}


# --- The same over HTTP ---------------------------------------------------------------------------------------------


def run_sequences(data: Any) -> Iterator[CaseResult]:
    """Sequences by the core alone, and then through a running hub, whose end state after each step must be the same."""
    cases = data if isinstance(data, list) else data["cases"]
    yield from run_scenarios(cases)
    with replaying() as replay:
        for case in cases:
            yield from _replayed(case, replay)


def _replayed(case: Mapping[str, Any], replay: Replay) -> Iterator[CaseResult]:
    world = World(case)
    replay.clear()
    replay.advance(world.now)
    for obj in (*world.objects.values(), world.placement):
        replay.apply(obj)
    yield _same_end(f"{case['id']} over HTTP", world, replay)
    for number, step in enumerate(case.get("steps") or (), start=1):
        for obj in step.get("apply") or ():
            world.apply(obj)
            replay.apply(obj)
        for reference in step.get("delete") or ():
            world.delete(reference)
            replay.delete(reference["kind"], reference.get("namespace", ""), reference["name"])
        if step.get("now"):
            world.now = parse_time(step["now"])
            replay.advance(world.now)
        yield _same_end(f"{case['id']} step {number} over HTTP", world, replay)


def _same_end(name: str, world: World, replay: Replay) -> CaseResult:
    try:
        replay.settle()
    except AssertionError as error:
        return CaseResult(name, ok=False, detail=str(error))
    _, result = world.converge()
    pages = {
        page["metadata"]["name"]: tuple(each["clusterName"] for each in (page.get("status") or {}).get("decisions", ()))
        for page in replay.pages()
        if page["metadata"].get("labels", {}).get(PLACEMENT_LABEL) == world.placement["metadata"]["name"]
    }
    status = replay.placement(world.placement).get("status") or {}
    found: Any = {
        each["type"]: (each["status"], each["reason"], each["message"]) for each in status.get("conditions") or ()
    }
    wanted: Any = {kind: (each.status, each.reason, each.message) for kind, each in result.conditions.items()}
    selected = sorted(cluster for clusters in pages.values() for cluster in clusters)
    differences = [] if found == wanted else [f"conditions {found} instead of {wanted}"]
    if result.fault is not None:
        expected_pages = None
    else:
        expected_pages = {page.name: page.clusters for page in result.pages()}
        if status.get("numberOfSelectedClusters") != len(result.ranked):
            differences.append(f"numberOfSelectedClusters is {status.get('numberOfSelectedClusters')}")
    if expected_pages is not None and pages != expected_pages:
        differences.append(f"pages {pages} instead of {expected_pages}")
    if selected != sorted(world.own):
        differences.append(f"selected {selected} instead of {sorted(world.own)}")
    return CaseResult(name, ok=not differences, detail="; ".join(differences))


# --- Who is woken by an event ---------------------------------------------------------------------------------------

_PUT: Final[Mapping[str, str]] = {
    "ManagedClusterSet": "put_set",
    "ManagedClusterSetBinding": "put_binding",
    "Placement": "put_placement",
    "AddOnPlacementScore": "put_score",
    "PlacementDecision": "put_decision",
}
_UNREAD: Final = "a change that nobody reads wakes nobody"
_SCORES: Final = "scores in expressions wake their readers"
_KNOWN: Final = "what is known already wakes nobody"


def run_reevaluation(data: Any) -> Iterator[CaseResult]:
    """An event goes into the world; who comes out must be who upstream enqueues, or fewer by rule."""
    for case in data:
        world = PlacementWorld()
        for obj in case["objects"]:
            _put(world, obj)
        if case.get("oldObject"):
            _put(world, case["oldObject"])
        if case["event"] == "cluster-deleted":
            _put(world, case["object"])
        for key in world.placements:
            deque(world.steps(key), maxlen=0)
        told = _event(world, case["event"], case["object"])
        woken = sorted(f"{key.namespace}/{key.name}" for key in told if isinstance(key, Key))
        expected = sorted(case["expect"]["enqueued"])
        missing, extra = sorted(set(expected) - set(woken)), sorted(set(woken) - set(expected))
        rule = _why_fewer(case, missing) if missing else _why_more(case, extra) if extra else None
        ok = not (missing or extra) or (rule is not None and not (missing and extra))
        yield CaseResult(case["id"], ok=ok, rule=rule, detail=f"woken {woken} instead of {expected}")


def _put(world: PlacementWorld, obj: Object) -> Collection[Any]:
    if obj["kind"] == "ManagedCluster":
        return world.put_cluster(msgspec.json.encode(obj))
    told: Collection[Any] = getattr(world, _PUT[obj["kind"]])(obj)
    return told


def _event(world: PlacementWorld, event: str, obj: Object) -> Collection[Any]:
    if event.endswith("-deleted"):
        if obj["kind"] == "ManagedCluster":
            return world.remove_cluster(obj["metadata"]["name"])
        if obj["kind"] == "ManagedClusterSet":
            return world.remove_set(obj["metadata"]["name"])
        remove = _PUT[obj["kind"]].replace("put", "remove")
        told: Collection[Any] = getattr(world, remove)(obj)
        return told
    return _put(world, obj)


def _why_fewer(case: Mapping[str, Any], missing: list[str]) -> str | None:
    """The rule under which placements that upstream enqueues need not be looked at."""
    if case["event"] == "cluster-updated":
        return _UNREAD if all(_sees_no_change(case, name) for name in missing) else None
    present = [each for each in case["objects"] if _key(each) == _key(case["object"])]
    if present and present[0].get("spec") == case["object"].get("spec"):
        return _KNOWN
    if case["event"] == "score-changed":
        # A cluster that the placement cannot see, or a score without items where there was none.
        return _UNREAD
    return None


def _why_more(case: Mapping[str, Any], extra: list[str]) -> str | None:
    """The rule under which placements that upstream forgets are looked at."""
    readers = {
        f"{_key(each)[1]}/{_key(each)[2]}"
        for each in case["objects"]
        if each["kind"] == "Placement" and "scores(" in str((each.get("spec") or {}).get("predicates"))
    }
    return _SCORES if case["event"].startswith("score") and readers.issuperset(extra) else None


def _sees_no_change(case: Mapping[str, Any], name: str) -> bool:
    """Whether a placement that reads labels only through its sets sees the cluster in the same of them."""
    namespace, _, own_name = name.partition("/")
    placement = next(each for each in case["objects"] if _key(each) == ("Placement", namespace, own_name))
    spec = placement.get("spec") or {}
    if spec.get("predicates") or spec.get("prioritizerPolicy"):
        return False
    bound = {
        each["metadata"]["name"]
        for each in case["objects"]
        if each["kind"] == "ManagedClusterSetBinding" and each["metadata"]["namespace"] == namespace
    }
    eligible = bound & set(spec.get("clusterSets") or bound)
    sets = [
        each for each in case["objects"] if each["kind"] == "ManagedClusterSet" and each["metadata"]["name"] in eligible
    ]
    before, after = sets_of(case["oldObject"], sets), sets_of(case["object"], sets)
    taints = [(each.get("spec") or {}).get("taints") for each in (case["oldObject"], case["object"])]
    return bool(before) == bool(after) and taints[0] == taints[1]


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
    "clusterset_controllers.json": run_memberships,
    "exclusivekey_proposal.json": run_memberships,
    "reevaluation.json": run_reevaluation,
    "cel_expressions.json": run_ocm_expressions,
    "cel_library_upstream.json": run_cel_library,
}
PENDING = {
    "admission.json": "the admission rules of cluster sets",
    "debugger_http.json": "the dry run over HTTP",
}
