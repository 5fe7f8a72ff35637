"""Which placements an event wakes, against whom OCM's handlers enqueue: by the world alone, and in a running hub."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from muster.controllers.placements.keys import Key
from muster.controllers.placements.preview import put, remove
from muster.controllers.placements.world import PlacementWorld
from muster.selectors.membership import sets_of
from tests.conformance.cel.calls import calls
from tests.conformance.ocm_model import expressions
from tests.conformance.ocm_world import Object, key_of
from tests.conformance.suites import PLAIN, Kind, Rule, Suite, Verdict, by, keys
from tests.controllers.replaying import Replay, replaying

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
UNREAD: Final = "a change that nobody reads wakes nobody"
SCORES: Final = "scores in expressions wake their readers"
KNOWN: Final = "what is known already wakes nobody"


# --- Who is to be woken -----------------------------------------------------------------------------------------------


def intended(case: Mapping[str, Any]) -> list[str]:
    """Whom upstream enqueues, without those for whom nothing has changed, and with readers that upstream forgets."""
    if is_known(case):
        return []
    found = set(case["expect"]["enqueued"])
    names = {f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in _placements(case)}
    if case["event"] == "cluster-updated":
        found = {name for name in found if sees_a_change(case, name)}
    elif case["event"].startswith("score"):
        found = {name for name in found if reads_the_score(case, name)}
        found |= {name for name in names if _in_expressions(case, name) and reads_the_score(case, name)}
    return sorted(found)


def classify(case: Mapping[str, Any]) -> Kind:
    """The rule that accounts for the difference between whom upstream enqueues and whom we wake."""
    recorded, ours = set(case["expect"]["enqueued"]), set(intended(case))
    if recorded == ours:
        return PLAIN
    if is_known(case):
        return Rule(KNOWN)
    return Rule(SCORES) if ours - recorded else Rule(UNREAD)


def judge(case: Mapping[str, Any], _: Kind, woken: list[str]) -> Verdict:
    wanted = intended(case)
    return Verdict(() if woken == wanted else (f"woken {woken} instead of {wanted}",))


@contextmanager
def _in_a_hub() -> Iterator[Callable[[Mapping[str, Any]], list[str]]]:
    with replaying() as replay:
        yield lambda case: _woken_in_a_hub(case, replay)


_SHAPE: Final = {
    **dict.fromkeys(keys("id name event source objects object oldObject note")),
    "expect": keys("enqueued"),
}
IN_THE_WORLD: Final = Suite(
    cases=list,
    name=lambda case: str(case["id"]),
    classify=classify,
    running=by(lambda case: _woken_in_the_world(case)),
    judge=judge,
    shape=_SHAPE,
)
IN_A_HUB: Final = replace(IN_THE_WORLD, name=lambda case: f"{case['id']} over HTTP", running=_in_a_hub)


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


# --- What a placement reads -------------------------------------------------------------------------------------------


def is_known(case: Mapping[str, Any]) -> bool:
    """Whether the event brings an object as it is known already."""
    if case["event"].endswith("-deleted"):
        return False
    before = case.get("oldObject") or next(
        (each for each in case["objects"] if key_of(each) == key_of(case["object"])), None
    )
    if before is None:
        return False
    return all(before.get(name) == case["object"].get(name) for name in ("metadata", "spec", "status"))


def reads_the_score(case: Mapping[str, Any], name: str) -> bool:
    """Whether a placement would find another value than before, on a cluster that it can see."""
    score = case["object"]
    cluster = [
        each for each in case["objects"] if key_of(each) == ("ManagedCluster", "", score["metadata"]["namespace"])
    ]
    if not cluster or not sets_of(cluster[0], _eligible(case, name)):
        return False
    before = next((_values(each) for each in case["objects"] if key_of(each) == key_of(score)), None)
    after = None if case["event"].endswith("-deleted") else _values(score)
    if before == after:
        return False
    if _in_expressions(case, name):
        return True
    spec = _placement(case, name).get("spec") or {}
    wanted = [
        (each.get("scoreCoordinate") or {}).get("addOn") or {}
        for each in (spec.get("prioritizerPolicy") or {}).get("configurations") or ()
    ]
    read = {str(each.get("scoreName")) for each in wanted if each.get("resourceName") == score["metadata"]["name"]}
    if before is None or after is None:
        return bool(read)  # a score that is missing is told apart from one without the value
    return any((before[0], before[1].get(each)) != (after[0], after[1].get(each)) for each in read)


def _in_expressions(case: Mapping[str, Any], name: str) -> bool:
    """Whether an expression of the placement reads this score, or one whose name it works out."""
    spec = _placement(case, name).get("spec") or {}
    read = [each.arguments for text in expressions(spec) for each in calls(text) if each.name == "scores"]
    own = case["object"]["metadata"]["name"]
    return any(not each or each[-1][:1] not in "'\"" or each[-1][1:-1] == own for each in read)


def _values(score: Object) -> tuple[Any, dict[str, Any]]:
    """Until when a score is valid, and its values by name."""
    status = score.get("status") or {}
    return status.get("validUntil"), {each["name"]: each["value"] for each in status.get("scores") or ()}


def _placements(case: Mapping[str, Any]) -> list[Object]:
    return [each for each in case["objects"] if each["kind"] == "Placement"]


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


def sees_a_change(case: Mapping[str, Any], name: str) -> bool:
    """Whether a cluster comes or goes for a placement, or changes in something that the placement reads."""
    old, new = case["oldObject"], case["object"]
    sets = _eligible(case, name)
    was, is_member = bool(sets_of(old, sets)), bool(sets_of(new, sets))
    if was != is_member:
        return True
    return is_member and any(_read(old, path) != _read(new, path) for path in _paths(case, name))


def _claims(listed: Any) -> dict[str, Any]:
    return {each["name"]: each["value"] for each in listed or ()}


def _read(cluster: Object, path: tuple[str, ...]) -> Any:
    value: Any = cluster
    for step in path:
        value = _claims(value) if step == "@claim" else (value or {}).get(step)
    return value


def _paths(case: Mapping[str, Any], name: str) -> list[tuple[str, ...]]:
    """Taints, what selectors name, the figures that prioritizers compare; all that an expression's words could mean."""
    spec = _placement(case, name).get("spec") or {}
    found: list[tuple[str, ...]] = [("spec", "taints"), ("metadata", "deletionTimestamp")]
    for each in spec.get("predicates") or ():
        selector = each.get("requiredClusterSelector") or {}
        for kind, place in (
            ("labelSelector", ("metadata", "labels")),
            ("claimSelector", ("status", "clusterClaims", "@claim")),
        ):
            named = selector.get(kind) or {}
            wanted = [*(named.get("matchLabels") or ()), *(e["key"] for e in named.get("matchExpressions") or ())]
            found += [(*place, key) for key in wanted]
    for text in expressions(spec):
        found += [path for path in _leaves(case["oldObject"], case["object"]) if _mentions(text, path)]
    configurations = (spec.get("prioritizerPolicy") or {}).get("configurations") or ()
    if any("ResourceAllocatable" in str(each.get("scoreCoordinate")) for each in configurations):
        found += [("status", "allocatable"), ("status", "capacity")]
    return found


def _leaves(*clusters: Object) -> set[tuple[str, ...]]:
    """The paths of what a cluster says, claims by their names."""
    found: set[tuple[str, ...]] = set()
    for cluster in clusters:
        pending: list[tuple[tuple[str, ...], Any]] = [
            ((part,), cluster.get(part)) for part in ("metadata", "spec", "status")
        ]
        while pending:
            path, value = pending.pop()
            if isinstance(value, dict):
                pending += [((*path, key), item) for key, item in value.items()]
            elif path[-1] == "clusterClaims":
                found |= {(*path, "@claim", each["name"]) for each in value or ()}
            else:
                found.add(path)
    return found


def _mentions(expression: str, path: tuple[str, ...]) -> bool:
    """Whether an expression has the last word of a path, as a name or as a text."""
    return re.search(rf"(?<![\w-]){re.escape(path[-1])}(?![\w-])", expression) is not None
