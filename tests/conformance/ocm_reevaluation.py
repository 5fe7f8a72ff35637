"""Which placements an event wakes, against whom OCM's handlers enqueue: by the world alone, and in a running hub."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from muster.controllers.placement_world import Key, PlacementWorld
from muster.controllers.preview import put, remove
from muster.selectors.membership import sets_of
from tests.conformance.ocm_world import Object, key_of
from tests.conformance.results import CaseResult
from tests.controllers.replaying import Replay, replaying

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
_NO_VALUES: Final[tuple[Any, dict[str, Any]]] = (None, {})
_UNREAD: Final = "a change that nobody reads wakes nobody"
_SCORES: Final = "scores in expressions wake their readers"
_KNOWN: Final = "what is known already wakes nobody"


def run_reevaluation(data: Any) -> Iterator[CaseResult]:
    """An event comes in; who is woken must be who upstream enqueues, or fewer by rule."""
    for case in data:
        yield _judged(case["id"], case, _woken_in_the_world(case))
    with replaying() as replay:
        for case in data:
            name = f"{case['id']} over HTTP"
            try:
                yield _judged(name, case, _woken_in_a_hub(case, replay))
            except AssertionError as error:
                yield CaseResult(name, ok=False, detail=str(error))


def _judged(name: str, case: Mapping[str, Any], woken: list[str]) -> CaseResult:
    expected = sorted(case["expect"]["enqueued"])
    missing, extra = sorted(set(expected) - set(woken)), sorted(set(woken) - set(expected))
    rule = _why_fewer(case, missing) if missing else _why_more(case, extra) if extra else None
    ok = not (missing or extra) or (rule is not None and not (missing and extra))
    return CaseResult(name, ok=ok, rule=rule, detail=f"woken {woken} instead of {expected}")


# --- In the world alone ---------------------------------------------------------------------------------------------


def _woken_in_the_world(case: Mapping[str, Any]) -> list[str]:
    world = PlacementWorld()
    for obj in _before(case):
        put(world, obj)
    for key in world.placements:
        world.decide(key, _NOW)
    told = _event(world, case["event"], case["object"])
    return sorted(f"{key.namespace}/{key.name}" for key in told if isinstance(key, Key))


def _before(case: Mapping[str, Any]) -> list[Object]:
    """What is there when the event comes."""
    changed = case.get("oldObject") or (case["object"] if case["event"].endswith("-deleted") else None)
    return [*case["objects"], *([changed] if changed else [])]


def _event(world: PlacementWorld, event: str, obj: Object) -> Collection[Any]:
    return remove(world, obj) if event.endswith("-deleted") else put(world, obj)


# --- In a running hub -----------------------------------------------------------------------------------------------


def _woken_in_a_hub(case: Mapping[str, Any], replay: Replay) -> list[str]:
    replay.clear()
    for obj in _before(case):
        replay.apply(obj)
    replay.settle()
    woken: set[Key] = set()
    queue = replay.manager.placements.queue
    add = queue.add

    def listening(key: Key) -> None:
        woken.add(key)
        add(key)

    queue.add = listening  # type: ignore[method-assign]  # listens to the real queue while the event is on its way
    try:
        obj = case["object"]
        if case["event"].endswith("-deleted"):
            replay.delete(*key_of(obj))
        else:
            replay.apply(obj)
        replay.settle()
    finally:
        queue.add = add  # type: ignore[method-assign]  # as it was
    return sorted(f"{key.namespace}/{key.name}" for key in woken)


# --- Rules ----------------------------------------------------------------------------------------------------------


def _why_fewer(case: Mapping[str, Any], missing: list[str]) -> str | None:
    """The rule under which placements that upstream enqueues need not be looked at."""
    if case["event"] == "cluster-updated":
        return _UNREAD if all(_sees_no_change(case, name) for name in missing) else None
    if case["event"].startswith("score"):
        return _UNREAD if not any(_reads_the_score(case, name) for name in missing) else None
    present = [each for each in case["objects"] if key_of(each) == key_of(case["object"])]
    return _KNOWN if present and present[0].get("spec") == case["object"].get("spec") else None


def _why_more(case: Mapping[str, Any], extra: list[str]) -> str | None:
    """The rule under which placements that upstream forgets are looked at."""
    if not case["event"].startswith("score"):
        return None
    readers = [name for name in extra if "scores(" in str((_placement(case, name).get("spec") or {}).get("predicates"))]
    return _SCORES if readers == extra else None


def _reads_the_score(case: Mapping[str, Any], name: str) -> bool:
    """Whether a placement would find another value than before, on a cluster that it can see."""
    score = case["object"]
    cluster = [
        each for each in case["objects"] if key_of(each) == ("ManagedCluster", "", score["metadata"]["namespace"])
    ]
    if not cluster or not sets_of(cluster[0], _eligible(case, name)):
        return False
    before = next((_values(each) for each in case["objects"] if key_of(each) == key_of(score)), _NO_VALUES)
    after = _NO_VALUES if case["event"].endswith("-deleted") else _values(score)
    if before == after:
        return False
    spec = _placement(case, name).get("spec") or {}
    if "scores(" in str(spec.get("predicates")):
        return True
    wanted = [
        (each.get("scoreCoordinate") or {}).get("addOn") or {}
        for each in (spec.get("prioritizerPolicy") or {}).get("configurations") or ()
    ]
    read = {str(each.get("scoreName")) for each in wanted if each.get("resourceName") == score["metadata"]["name"]}
    return any((before[0], before[1].get(each)) != (after[0], after[1].get(each)) for each in read) and (
        any(each in before[1] or each in after[1] for each in read)
    )


def _values(score: Object) -> tuple[Any, dict[str, Any]]:
    """Until when a score is valid, and its values by name."""
    status = score.get("status") or {}
    return status.get("validUntil"), {each["name"]: each["value"] for each in status.get("scores") or ()}


def _placement(case: Mapping[str, Any], name: str) -> Object:
    namespace, _, own_name = name.partition("/")
    found: Object = next(each for each in case["objects"] if key_of(each) == ("Placement", namespace, own_name))
    return found


def _eligible(case: Mapping[str, Any], name: str) -> list[Object]:
    """The sets that a placement may take from."""
    namespace = name.partition("/")[0]
    bound = {
        each["metadata"]["name"]
        for each in case["objects"]
        if each["kind"] == "ManagedClusterSetBinding" and each["metadata"]["namespace"] == namespace
    }
    wanted = bound & set((_placement(case, name).get("spec") or {}).get("clusterSets") or bound)
    return [
        each for each in case["objects"] if each["kind"] == "ManagedClusterSet" and each["metadata"]["name"] in wanted
    ]


def _sees_no_change(case: Mapping[str, Any], name: str) -> bool:
    """Whether a placement that reads labels only through its sets sees the cluster in the same of them."""
    spec = _placement(case, name).get("spec") or {}
    if spec.get("predicates") or spec.get("prioritizerPolicy"):
        return False
    sets = _eligible(case, name)
    before, after = sets_of(case["oldObject"], sets), sets_of(case["object"], sets)
    taints = [(each.get("spec") or {}).get("taints") for each in (case["oldObject"], case["object"])]
    return bool(before) == bool(after) and taints[0] == taints[1]
