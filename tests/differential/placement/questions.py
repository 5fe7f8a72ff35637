"""The objects of a world as a question to OCM's controller, in the words that it understands.

Where a documented rule says that we read something else than upstream does, the question says to upstream in its own
words what we read. Which rules those are is seen in the objects alone, before anybody is asked.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

from tests.builders import a_time
from tests.conformance.ocm_world import PLACEMENT_LABEL
from tests.differential.placement.fleets import a_set
from tests.differential.placement.placements import SPECIFICATION

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from tests.conformance.ocm_world import World
    from tests.differential.placement.fleets import Object

AS_SPECIFIED: Final = "CEL as the specification writes it"
EXPIRED: Final = "an expired score is an error in CEL"
BAD_SET: Final = "one bad cluster set is skipped"
LONG: Final = "a toleration of centuries lasts"
HELD: Final = "differential.example/held"
_MOST_SECONDS: Final = (2**63 - 1) // 10**9
_EVERYTHING: Final = [{"operator": "Exists"}]
_FIELDS: Final = {
    "clusters": "ManagedCluster",
    "clusterSets": "ManagedClusterSet",
    "clusterSetBindings": "ManagedClusterSetBinding",
    "addOnPlacementScores": "AddOnPlacementScore",
    "placementDecisions": "PlacementDecision",
}


def question(world: World) -> tuple[dict[str, Any], list[str]]:
    """The question, and the rules by which it is not word by word what our own scheduler gets."""
    asked: dict[str, Any] = {field: world.of_kind(kind) for field, kind in _FIELDS.items()}
    asked |= {"placement": copy.deepcopy(world.placement), "now": world.now.strftime("%Y-%m-%dT%H:%M:%SZ")}
    rules = []
    if _in_shipped_words(asked["placement"]):
        rules.append(AS_SPECIFIED)
    if "scores(" in str(asked["placement"]["spec"].get("predicates")):
        valid = [each for each in asked["addOnPlacementScores"] if not expired(each, world.now)]
        if len(valid) < len(asked["addOnPlacementScores"]):
            rules.append(EXPIRED)
            asked["addOnPlacementScores"] = valid
    if _for_ever(asked["placement"]):
        rules.append(LONG)
    if bad_sets(world):
        rules.append(BAD_SET)
        _hold(asked, bad_sets(world), world.own)
    return asked, rules


def expired(score: Object, now: datetime) -> bool:
    until = score["status"].get("validUntil")
    return until is not None and now > a_time(until)


def bad_sets(world: World) -> set[str]:
    """Sets that the placement may choose from and whose selector nobody can evaluate."""
    bound = {
        each["metadata"]["name"]
        for each in world.of_kind("ManagedClusterSetBinding")
        if each["metadata"]["namespace"] == world.placement["metadata"]["namespace"]
    }
    wanted = world.placement["spec"].get("clusterSets") or bound
    bad = {
        each["metadata"]["name"]
        for each in world.of_kind("ManagedClusterSet")
        if "Near" in str(each["spec"].get("clusterSelector"))
    }
    return bad & bound & set(wanted)


def _hold(asked: dict[str, Any], bad: set[str], own: Sequence[str]) -> None:
    """Nobody joins by a bad set and nobody that is decided goes: a set of exactly those that are decided."""
    holding = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {HELD: "yes"}}}
    asked["clusterSets"] = [
        a_set(each["metadata"]["name"], holding) if each["metadata"]["name"] in bad else each
        for each in asked["clusterSets"]
    ]
    asked["clusters"] = copy.deepcopy(asked["clusters"])
    for each in asked["clusters"]:
        if each["metadata"]["name"] in own:
            each["metadata"].setdefault("labels", {})[HELD] = "yes"


def _in_shipped_words(placement: Object) -> bool:
    """Whether an expression had to be written as upstream ships it."""
    changed = False
    for predicate in placement["spec"].get("predicates") or ():
        selector = predicate["requiredClusterSelector"].get("celSelector") or {}
        written = selector.get("celExpressions") or []
        selector["celExpressions"] = [SPECIFICATION.get(each, each) for each in written]
        changed = changed or selector["celExpressions"] != written
    return changed


def _for_ever(placement: Object) -> bool:
    """Whether a toleration had to be made endless, because upstream counts in nanoseconds and 64 bits."""
    long = [
        each for each in placement["spec"].get("tolerations") or () if each.get("tolerationSeconds", 0) > _MOST_SECONDS
    ]
    for each in long:
        del each["tolerationSeconds"]
    return bool(long)


# --- Other questions about the same world ---------------------------------------------------------------------------


def disliking(asked: dict[str, Any]) -> dict[str, Any]:
    """Which clusters have a PreferNoSelect taint that is not tolerated: those that NoSelect in its place keeps out."""
    probe = copy.deepcopy(asked)
    for each in probe["clusters"]:
        taints = each["spec"].get("taints") or ()
        each["spec"]["taints"] = [taint | {"effect": "NoSelect"} for taint in taints if _mild(taint)]
    spec = probe["placement"]["spec"]
    kept = [each for each in spec.get("tolerations") or () if not each.get("effect") or _mild(each)]
    spec["tolerations"] = [each | ({"effect": "NoSelect"} if each.get("effect") else {}) for each in kept]
    return probe


def _mild(taint: Object) -> bool:
    return bool(taint.get("effect") == "PreferNoSelect")


def grouping(asked: dict[str, Any], names: Sequence[str], *, in_order: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """How exactly these clusters are grouped; in this order if their names may stand for it. With what they are then
    called."""
    called = {name: f"n{place:05}" if in_order else name for place, name in enumerate(names)}
    probe = copy.deepcopy(asked)
    probe["clusters"] = [each for each in probe["clusters"] if each["metadata"]["name"] in called]
    for each in probe["clusters"]:
        each["metadata"]["name"] = called[each["metadata"]["name"]]
    probe["placementDecisions"] = []
    spec = probe["placement"]["spec"]
    for field in ("predicates", "numberOfClusters", "spreadPolicy", "sortBy"):
        spec.pop(field, None)
    spec |= {"tolerations": _EVERYTHING, "prioritizerPolicy": {"mode": "Exact"}}
    return probe, {short: name for name, short in called.items()}


def checking(asked: dict[str, Any], *, tolerations: bool) -> dict[str, Any]:
    """What upstream says of the placement's predicates, or of its tolerations, when a cluster gets that far."""
    probe = copy.deepcopy(asked)
    name = "probe"
    probe["clusters"] = [{"metadata": {"name": name, "labels": {HELD: "yes"}}, "spec": {"hubAcceptsClient": True}}]
    probe["clusterSets"] = [
        a_set(name, {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {HELD: "yes"}}})
    ]
    namespace = probe["placement"]["metadata"]["namespace"]
    probe["clusterSetBindings"] = [{"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterSet": name}}]
    spec = probe["placement"]["spec"]
    spec.pop("clusterSets", None)
    spec.pop("predicates" if tolerations else "tolerations", None)
    return probe


def own_pages(world: World) -> list[tuple[str, str, str]]:
    return [
        key
        for key, each in world.objects.items()
        if key[0] == "PlacementDecision"
        and key[1] == world.placement["metadata"]["namespace"]
        and each["metadata"]["labels"][PLACEMENT_LABEL] == world.placement["metadata"]["name"]
    ]
