"""OCM's sequences and cluster sets through a running hub: real HTTP, roles, admission and every controller."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.api.registry import RESOURCES
from muster.api.validation import prepare, validate_object
from tests.builders import a_time
from tests.conformance import ocm_sets
from tests.conformance.ocm_checks import Check, checks
from tests.conformance.ocm_scenarios import SHAPE
from tests.conformance.ocm_world import PLACEMENT_LABEL, Object, World
from tests.conformance.suites import PLAIN, Apart, Suite, Verdict, differing
from tests.controllers.replaying import RefusedError, Replay, heard, replaying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.conformance.suites import Kind

# --- Placements that change -----------------------------------------------------------------------------------------


@contextmanager
def _replaying() -> Iterator[Callable[[Check], dict[str, Any]]]:
    with replaying() as replay:
        yield _Story(replay).told


class _Story:
    """A hub that goes through a scenario step by step. After a step that failed there is nothing to go on from."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._at: Check | None = None
        self._world: World | None = None

    def told(self, check: Check) -> dict[str, Any]:
        before, self._at = self._at, None
        if check.number == 0:
            self._begin(check)
        elif before == Check(check.scenario, check.number - 1):
            self._go_on(_as_written(check.scenario)["steps"][check.number - 1])
        else:
            raise AssertionError("the step before this one failed")
        assert self._world is not None
        found = _end(self._world, self._replay)
        self._at = check
        return found

    def _begin(self, check: Check) -> None:
        replay = self._replay
        world = self._world = World(_as_written(check.scenario))
        replay.clear()
        replay.advance(world.now)
        for obj in world.objects.values():
            replay.apply(obj)
        replay.settle()  # new clusters are out of reach until their agents have spoken
        replay.apply(world.placement)

    def _go_on(self, step: Mapping[str, Any]) -> None:
        world, replay = self._world, self._replay
        assert world is not None
        for obj in step.get("apply") or ():
            world.apply(obj)
            replay.apply(obj)
        for reference in step.get("delete") or ():
            world.delete(reference)
            replay.delete(reference["kind"], reference.get("namespace", ""), reference["name"])
        if step.get("now"):
            world.now = a_time(step["now"])
            replay.advance(world.now)


def _over_http(check: Check) -> Kind:
    """Objects that the schemas of the kinds refuse come to no scheduler over HTTP."""
    refused = [obj for obj in _objects(_as_written(check.scenario)) if is_refused(obj)]
    return Apart("an object that no server takes") if refused else PLAIN


def is_refused(obj: Object) -> bool:
    resource = next(each for each in RESOURCES.values() if each.kind == obj["kind"])
    version = resource.version(obj["apiVersion"].rpartition("/")[2]) or resource.storage_version
    prepared = copy.deepcopy(obj)
    for field in ("uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"):
        prepared["metadata"].pop(field, None)
    prepare(resource, version, prepared)
    return bool(validate_object(resource, version, prepared))


def _judge_end(_: Check, __: Kind, ours: dict[str, Any]) -> Verdict:
    """What the core alone arrives at, which has its own suite, is what the hub must have stored."""
    return Verdict(tuple(differing(ours["core"], ours["hub"])))


def _as_written(recorded: Mapping[str, Any]) -> Any:
    """A case with names that an API server takes, clusters that are heard of, and taints with a time."""
    text = msgspec.json.encode(recorded).decode()
    for name in {name for obj in _objects(recorded) if (name := obj["metadata"]["name"]) != name.lower()}:
        text = text.replace(f'"{name}"', f'"{name.lower()}"')
    case = msgspec.json.decode(text)
    for obj in _objects(case):
        if obj["kind"] == "ManagedCluster":
            obj["status"] = heard(obj)
            for taint in (obj.get("spec") or {}).get("taints") or ():
                taint["timeAdded"] = taint.get("timeAdded") or case.get("now") or "2026-01-01T00:00:00Z"
    return case


def _objects(case: Mapping[str, Any]) -> list[Object]:
    fields = ("clusters", "clusterSets", "clusterSetBindings", "addOnPlacementScores", "placementDecisions")
    steps = [obj for step in case.get("steps") or () for obj in step.get("apply") or ()]
    return [case["placement"], *(obj for field in fields for obj in case.get(field) or ()), *steps]


def _end(world: World, replay: Replay) -> dict[str, Any]:
    """Where the hub has come to, and where the core comes to with the same objects."""
    replay.settle()
    _, result = world.converge()
    pages = {
        page["metadata"]["name"]: tuple(each["clusterName"] for each in (page.get("status") or {}).get("decisions", ()))
        for page in replay.pages()
        if world.is_own(page)
    }
    status = replay.object(world.placement).get("status") or {}
    hub: dict[str, Any] = {
        "conditions": {
            each["type"]: (each["status"], each["reason"], each["message"]) for each in status.get("conditions") or ()
        },
        "selected": sorted(cluster for clusters in pages.values() for cluster in clusters),
    }
    core: dict[str, Any] = {
        "conditions": {kind: (each.status, each.reason, each.message) for kind, each in result.conditions.items()},
        "selected": sorted(world.own),
    }
    if result.fault is None:  # with a fault, nothing is written but conditions
        hub |= {"pages": pages, "numberOfSelectedClusters": status.get("numberOfSelectedClusters")}
        hub["decisionGroups"] = status.get("decisionGroups")
        core |= {"pages": {page.name: page.clusters for page in result.pages()}}
        groups = msgspec.json.decode(msgspec.json.encode(result.decision_groups()))
        core |= {"numberOfSelectedClusters": len(result.ranked), "decisionGroups": groups}
    return {"core": core, "hub": hub}


SEQUENCES_OVER_HTTP: Final = Suite(
    cases=checks,
    name=lambda check: f"{check.name} over HTTP",
    classify=_over_http,
    running=_replaying,
    judge=_judge_end,
    shape=SHAPE,
    raw=lambda check: check.scenario,
)


# --- Cluster sets ---------------------------------------------------------------------------------------------------

_NAMESPACE: Final = "members"


@contextmanager
def _rows() -> Iterator[Callable[[Mapping[str, Any]], Any]]:
    with replaying() as replay:

        def run(case: Mapping[str, Any]) -> Any:
            replay.clear()
            try:
                return _ROWS[case["kind"]](case, replay)
            except RefusedError as error:
                return {"error": True, "refused": str(error)}

        yield run


def _judge_rows(case: Mapping[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    if case["expect"].get("error"):
        ours = {name: value for name, value in ours.items() if name != "refused"}
    return ocm_sets.judge(case, kind, ours)


def _membership(case: Mapping[str, Any], replay: Replay) -> Any:
    sets = [case["clusterSet"]] if "clusterSet" in case else case["clusterSets"]
    found = _selected(sets, case["clusters"], replay)
    if "clusterSet" in case:
        return {"error": False, "members": found[case["clusterSet"]["metadata"]["name"]]}
    return {"members": found}


def _sets_of_cluster(case: Mapping[str, Any], replay: Replay) -> Any:
    found = _selected(case["clusterSets"], [case["cluster"]], replay)
    return {"error": False, "sets": sorted(name for name, selected in found.items() if selected)}


def _selected(sets: list[Object], clusters: list[Object], replay: Replay) -> dict[str, list[str]]:
    """The clusters of each set, as far as placements are concerned."""
    for obj in (*sets, *clusters):
        replay.apply(obj)
    names = [each["metadata"]["name"] for each in sets]
    for name in names:
        replay.apply(_in_namespace("ManagedClusterSetBinding", "v1beta2", name, {"clusterSet": name}))
        replay.apply(_in_namespace("Placement", "v1beta1", name, {"clusterSets": [name.lower()]}))
    replay.settle()
    found: dict[str, list[str]] = {name: [] for name in names}
    for page in replay.pages():
        owner = page["metadata"]["labels"][PLACEMENT_LABEL]
        name = next(each for each in names if each.lower() == owner)
        found[name] += [each["clusterName"] for each in (page.get("status") or {}).get("decisions") or ()]
    spelt = {each["metadata"]["name"].lower(): each["metadata"]["name"] for each in clusters}
    return {name: sorted(spelt[each] for each in members) for name, members in found.items()}


def _in_namespace(kind: str, version: str, name: str, spec: Mapping[str, Any]) -> Object:
    return {
        "apiVersion": f"cluster.open-cluster-management.io/{version}",
        "kind": kind,
        "metadata": {"name": name, "namespace": _NAMESPACE},
        "spec": dict(spec),
    }


def _set_status(case: Mapping[str, Any], replay: Replay) -> Any:
    for obj in (case["clusterSet"], *case["clusters"]):
        replay.apply(obj)
    replay.settle()
    shown = _condition(replay.object(case["clusterSet"]), "ClusterSetEmpty")
    failed = shown is not None and shown["status"] == "Unknown"
    return {"error": True} if failed else {"error": False, "condition": shown}


def _binding_status(case: Mapping[str, Any], replay: Replay) -> Any:
    for obj in (*case["clusterSets"], case["binding"]):
        replay.apply(obj)
    replay.settle()
    return {"condition": _condition(replay.object(case["binding"]), "Bound")}


def _built_in_sets(case: Mapping[str, Any], replay: Replay) -> Any:
    """The sets that are not left as they were written, as they are afterwards."""
    for obj in case["clusterSets"]:
        replay.apply(obj)
    replay.settle()
    after = [replay.object(each) for each in case["clusterSets"]]
    return {
        "updated": [
            {"name": now["metadata"]["name"], **now["spec"]}
            for written, now in zip(case["clusterSets"], after, strict=True)
            if now["spec"]["clusterSelector"] != written["spec"].get("clusterSelector")
        ]
    }


def _taints(case: Mapping[str, Any], replay: Replay) -> Any:
    replay.apply(case["cluster"], heard=False)
    replay.settle()
    taints = (replay.object(case["cluster"]).get("spec") or {}).get("taints") or ()
    return {"taints": [[each["key"], each.get("value") or "", each["effect"]] for each in taints]}


def _condition(obj: Object, kind: str) -> dict[str, str] | None:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    found = next((each for each in conditions if each["type"] == kind), None)
    return found and {name: found.get(name, "") for name in ("type", "status", "reason", "message")}


_ROWS: Final[Mapping[str, Callable[[Mapping[str, Any], Replay], Any]]] = {
    "membership": _membership,
    "sets-of-cluster": _sets_of_cluster,
    "clusterset-status": _set_status,
    "binding-status": _binding_status,
    "builtin-sets": _built_in_sets,
    "taint-controller": _taints,
}

SETS_OVER_HTTP: Final = Suite(
    cases=lambda data: [case for case in data if not isinstance(case, dict) or case.get("kind") in _ROWS],
    name=lambda case: f"{case['id']} over HTTP",
    classify=ocm_sets.classify,
    running=_rows,
    judge=_judge_rows,
    shape=ocm_sets.SHAPE,
)
