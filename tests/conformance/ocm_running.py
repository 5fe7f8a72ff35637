"""OCM's sequences and cluster sets through a running hub: real HTTP, roles, admission and every controller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tests.builders import a_time
from tests.conformance.ocm_world import PLACEMENT_LABEL, Object, World
from tests.conformance.results import CaseResult
from tests.controllers.replaying import RefusedError, Replay, heard, replaying

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# --- Placements that change -----------------------------------------------------------------------------------------


def run_sequences_over_http(cases: list[Mapping[str, Any]]) -> Iterator[CaseResult]:
    """The end state after each step must be the one that the core alone arrives at."""
    with replaying() as replay:
        for case in cases:
            try:
                yield from _replayed(case, replay)
            except RefusedError as error:
                apart = "an object that no server takes" if error.reason == "Invalid" else None
                yield CaseResult(f"{case['id']} over HTTP", ok=False, detail=str(error), apart=apart)


def _replayed(recorded: Mapping[str, Any], replay: Replay) -> Iterator[CaseResult]:
    case = _as_written(recorded)
    world = World(case)
    replay.clear()
    replay.advance(world.now)
    for obj in world.objects.values():
        replay.apply(obj)
    replay.settle()  # new clusters are out of reach until their agents have spoken
    replay.apply(world.placement)
    yield _same_end(f"{case['id']} over HTTP", world, replay)
    for number, step in enumerate(case.get("steps") or (), start=1):
        for obj in step.get("apply") or ():
            world.apply(obj)
            replay.apply(obj)
        for reference in step.get("delete") or ():
            world.delete(reference)
            replay.delete(reference["kind"], reference.get("namespace", ""), reference["name"])
        if step.get("now"):
            world.now = a_time(step["now"])
            replay.advance(world.now)
        yield _same_end(f"{case['id']} step {number} over HTTP", world, replay)


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


def _same_end(name: str, world: World, replay: Replay) -> CaseResult:
    try:
        replay.settle()
    except AssertionError as error:
        return CaseResult(name, ok=False, detail=str(error))
    _, result = world.converge()
    pages = {
        page["metadata"]["name"]: tuple(each["clusterName"] for each in (page.get("status") or {}).get("decisions", ()))
        for page in replay.pages()
        if world.is_own(page)
    }
    status = replay.object(world.placement).get("status") or {}
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


# --- Cluster sets ---------------------------------------------------------------------------------------------------

_NAMESPACE: Final = "members"


def run_cluster_sets_over_http(data: list[Mapping[str, Any]]) -> Iterator[CaseResult]:
    """What a set has for members is what a placement that may take from that set alone selects."""
    with replaying() as replay:
        for case in data:
            if case["kind"] not in _ROWS:
                continue
            name = f"{case['id']} over HTTP"
            replay.clear()
            try:
                actual = _ROWS[case["kind"]](case, replay)
            except RefusedError as error:
                actual = {"error": True}
                if not case["expect"].get("error"):
                    yield CaseResult(name, ok=False, detail=f"refused: {error}")
                    continue
            except AssertionError as error:
                yield CaseResult(name, ok=False, detail=str(error))
                continue
            expected = {key: case["expect"].get(key) for key in actual}
            yield CaseResult(name, ok=actual == expected, detail=f"{actual} instead of {expected}")


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
