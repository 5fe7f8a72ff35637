"""Who is in which cluster set, what the controllers make of it, and who may change it: by functions alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.controllers.cluster_sets import BUILT_IN, binding_condition, roll_back, set_condition
from muster.controllers.clusters import CLUSTERS, wanted_taints
from muster.controllers.placements import readers
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.runtime.mirror import Stored
from muster.errors import InvalidObjectError
from muster.hub.patches.merge import merge_patched
from muster.selectors.membership import membership, sets_of
from tests.conformance.ocm_admission import proposed
from tests.conformance.ocm_world import World
from tests.conformance.suites import PLAIN, Kind, Suite, Verdict, by, differing, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def classify(case: Mapping[str, Any]) -> Kind:
    """All as recorded, or as the proposal says."""
    if case["kind"] not in ROWS:
        raise ValueError(f"no runner knows the kind {case['kind']!r}")
    return PLAIN


def judge(case: Mapping[str, Any], _: Kind, ours: dict[str, Any]) -> Verdict:
    """Every expected field and no other; of a refusal by the proposal a part of its text."""
    wanted, found = dict(case["expect"]), dict(ours)
    part = wanted.pop("errorContains", None)
    text = found.pop("error", "") if case["kind"].startswith("admission") else ""
    if found.get("error") is False:
        wanted.setdefault("error", False)  # not every file says that there is none
    differences = differing(wanted, found)
    if differences and text:
        differences.append(f"refused: {text}")
    text_ok = None if part is None else part in text
    return Verdict(tuple(differences), text_ok, remarks="" if text_ok is not False else f"{part!r} is not in {text!r}")


def _placement(case: Mapping[str, Any]) -> Any:
    _, result = World(case).converge()
    return {"selected": result.selected, "satisfiedReason": result.conditions["PlacementSatisfied"].reason}


def _membership(case: Mapping[str, Any]) -> Any:
    try:
        if case["kind"] == "sets-of-cluster":
            return {"error": False, "sets": sets_of(case["cluster"], case["clusterSets"])}
        if "clusterSet" in case:
            return {"error": False, "members": _members(case["clusterSet"], case["clusters"])}
        return {"members": {each["metadata"]["name"]: _members(each, case["clusters"]) for each in case["clusterSets"]}}
    except InvalidObjectError:
        return {"error": True}


def _set_status(case: Mapping[str, Any]) -> Any:
    world = PlacementWorld()
    world.fleet.put_many(msgspec.json.encode(each) for each in case["clusters"])
    world.put_set(Stored.of(readers.SETS, case["clusterSet"]))
    ((kind, (status, reason, message)),) = set_condition(world, case["clusterSet"]["metadata"]["name"]).items()
    failed = status == "Unknown"
    shown = {"type": kind, "status": status, "reason": reason, "message": message}
    return {"error": True} if failed else {"error": False, "condition": shown}


def _members(cluster_set: Any, clusters: Any) -> list[str]:
    rule = membership(cluster_set)
    return sorted(str(cluster["metadata"]["name"]) for cluster in clusters if rule.match(cluster))


def _binding_status(case: Mapping[str, Any]) -> Any:
    sets = {each["metadata"]["name"]: each for each in case["clusterSets"]}
    binding = readers.BINDINGS.demanded(case["binding"])
    ((kind, (status, reason, message)),) = binding_condition(binding, sets).items()
    return {"condition": {"type": kind, "status": status, "reason": reason, "message": message}}


def _built_in_sets(case: Mapping[str, Any]) -> Any:
    """The sets that are written, as they are afterwards."""
    updated = []
    for each in case["clusterSets"]:
        patch = roll_back(Stored.of(readers.SETS, each)) if each["metadata"]["name"] in BUILT_IN else None
        if patch is not None:
            updated.append({"name": each["metadata"]["name"], **merge_patched(each, patch)["spec"]})
    return {"updated": updated}


def _taints(case: Mapping[str, Any]) -> Any:
    wanted = wanted_taints(CLUSTERS.demanded(case["cluster"]))
    return {"taints": [[each.key, each.value, each.effect] for each in wanted]}


ROWS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "membership": _membership,
    "sets-of-cluster": _membership,
    "placement": _placement,
    "admission-cluster-label": proposed,
    "admission-set": proposed,
    "clusterset-status": _set_status,
    "binding-status": _binding_status,
    "builtin-sets": _built_in_sets,
    "taint-controller": _taints,
}

SHAPE: Final = {
    **dict.fromkeys(
        keys(
            "id name kind origin source certainty decision note clusters clusterSets clusterSet cluster binding "
            "clusterSetBindings placement operation user rules old new configMap now"
        )
    ),
    "expect": keys("error condition members sets updated taints selected satisfiedReason allowed errorContains"),
}
SETS: Final = Suite(
    cases=list,
    name=lambda case: str(case["id"]),
    classify=classify,
    running=by(lambda case: ROWS[case["kind"]](case)),
    judge=judge,
    shape=SHAPE,
)
