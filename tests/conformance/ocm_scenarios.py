"""Scenarios of the scheduler: what is wanted of each check, what we do, and whether that is the same.

Where a rule says something else than the record, `wanted` states all of it: from recorded numbers where upstream has
them, and else from a twin, the same check in words that upstream understands too (decision 197).
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any, Final

from muster.cel.costs.charging import charging_of
from muster.cel.environments import environment
from muster.controllers.placements.keys import Key
from muster.controllers.placements.readers import PLACEMENTS
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.runtime.mirror import Stored
from muster.selectors.cel import typed_view
from tests.builders import a_time
from tests.conformance import ocm_model as model
from tests.conformance.cel.evaluation import evaluated
from tests.conformance.ocm_checks import (
    AT_ONCE,
    BAD_SET,
    BAD_SET_ERROR,
    BOOLEAN,
    EXPIRED,
    KEPT,
    LAST,
    SORTED,
    SPELT,
    SPREAD,
    Check,
    checks,
    classify,
    expired_readings,
    is_spelt_as_specified,
    waiting_fault,
)
from tests.conformance.ocm_outcomes import shown
from tests.conformance.ocm_world import Object, World, key_of
from tests.conformance.suites import Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_NO_MATCH: Final = {
    "status": "False",
    "reason": "NoManagedClusterMatched",
    "message": "No ManagedCluster matches any of the cluster predicate",
}
_REFUSED: Final = "compilation failed: "
# Of the record, these are not compared: events are the controllers' and not the schedule's; the last error of a
# synchronisation is that of the first.
_NOT_COMPARED: Final = ("events", "finalSyncError")


# --- What is wanted ---------------------------------------------------------------------------------------------------


def wanted(check: Check, kind: Kind) -> dict[str, Any]:
    """Every field that is to be compared."""
    recorded = {name: value for name, value in check.expect.items() if name not in _NOT_COMPARED}
    if recorded.get("conditions"):
        recorded["conditions"] = dict(recorded["conditions"])
    if isinstance(kind, Rule):
        return _WANTED[kind.name](check, recorded)
    return recorded


def _untouched(check: Check, message: str, recorded: dict[str, Any]) -> dict[str, Any]:
    """A fault: the conditions say so, nothing is decided anew and what was decided stays."""
    satisfied = dict(recorded["conditions"]["PlacementSatisfied"])
    if satisfied["status"] == "True":
        satisfied = dict(_NO_MATCH)
    stage = "Predicate" if message.startswith("failed to compile") else message.partition(":")[0]
    words = message if message.startswith("failed to compile") else message.partition(":")[2]
    return {
        "selected": decided_before(check),
        "decisions": [],
        "decisionGroups": [],
        "numberOfSelectedClusters": 0,
        "filterResults": [],
        "prioritizerResults": [],
        "totalScores": {},
        "selectedByRank": [],
        "unscheduled": 0,
        "conditions": {
            "PlacementMisconfigured": {"status": "True", "reason": "Misconfigured", "message": message},
            "PlacementSatisfied": satisfied,
        },
        "scheduleStatus": {"code": "Misconfigured", "plugin": stage, "message": words},
        "syncError": words,
    }


def _kept(check: Check, recorded: dict[str, Any]) -> dict[str, Any]:
    """Upstream's message, in the specification's form where an expression does not compile."""
    message = recorded["conditions"]["PlacementMisconfigured"]["message"]
    _, is_compiling, errors = message.partition(_REFUSED)
    if is_compiling:
        texts = [text for text in model.expressions(check.spec) if model.compile_fault(text)]
        lines = [line.removeprefix(" | ") for line in errors.splitlines() if line.startswith(" | ")]
        # The one that upstream quotes; what it refuses for a form that we take is not in our errors.
        broken = next((text for text in texts if not lines or lines[0] in text.splitlines()), texts[0])
        if is_spelt_as_specified(broken):
            errors = (model.compile_fault(broken) or "").partition("': ")[2]
        message = f"failed to compile CEL expression '{broken}': {errors}"
    return _untouched(check, message, recorded)


def _at_once(check: Check, recorded: dict[str, Any]) -> dict[str, Any]:
    return _untouched(check, waiting_fault(check) or "", recorded)


def _boolean(check: Check, recorded: dict[str, Any]) -> dict[str, Any]:
    return _untouched(check, model.predicate_fault(check.spec) or "", recorded)


def _ranked_anew(check: Check, recorded: dict[str, Any]) -> dict[str, Any]:
    """By the recorded totals: disliked clusters last, then by score, then by name; spread, if that is asked for."""
    totals: Mapping[str, int] = recorded.get("totalScores") or {}
    clusters = {each["metadata"]["name"]: each for each in check.of_kind("ManagedCluster")}
    avoided = model.disliked(list(clusters.values()), check.spec, check.now)
    order = sorted(totals, key=lambda name: (name in avoided, -totals[name], name))
    number = check.spec.get("numberOfClusters")
    room = len(order) if number is None else number
    constraints = (check.spec.get("spreadPolicy") or {}).get("spreadConstraints") or ()
    taken = model.spread([clusters[name] for name in order], constraints, room) if constraints else order[:room]
    missing = max(room - len(taken), 0)
    shown = taken if check.spec.get("sortBy") == "Score" else sorted(taken)
    groups = model.grouped(shown, clusters, check.spec)
    found = recorded | model.decisions(check.placement["metadata"]["name"], groups)
    if missing and taken:
        found["conditions"]["PlacementSatisfied"] = {
            "status": "False",
            "reason": "NotAllDecisionsScheduled",
            "message": f"{missing} cluster decisions unscheduled",
        }
    return found | {
        "selected": sorted(taken),
        "selectedByRank": taken,
        "numberOfSelectedClusters": len(taken),
        "unscheduled": missing,
    }


def _skipping(check: Check, recorded: dict[str, Any]) -> dict[str, Any]:
    """As if the broken sets had those for members that are decided already, and the condition names them."""
    objects = check.objects
    bound = {
        each["spec"]["clusterSet"]
        for each in check.of_kind("ManagedClusterSetBinding")
        if each["metadata"]["namespace"] == check.placement["metadata"]["namespace"]
    }
    sets = [each for each in check.of_kind("ManagedClusterSet") if each["metadata"]["name"] in bound]
    allowed = check.spec.get("clusterSets")
    broken = [name for name in model.broken_sets(sets) if not allowed or name in allowed]
    decided = set(decided_before(check))
    for key, each in list(objects.items()):
        if key[0] == "ManagedClusterSet" and key[2] in broken:
            selector = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"twin/decided": "yes"}}}
            objects[key] = each | {"spec": (each.get("spec") or {}) | {"clusterSelector": selector}}
        if key[0] == "ManagedCluster" and key[2] in decided:
            objects[key] = _with_label(each, "twin/decided")
    upstream = BAD_SET_ERROR.fullmatch(recorded["syncError"])
    assert upstream is not None
    why = {upstream[1]: upstream[2]}
    found = _twin(check, objects)
    found["setsUsable"] = {
        "status": "False",
        "reason": "ClusterSetsSkipped",
        "names": broken,
        "why": {name: why[name] for name in broken if name in why},
    }
    return found


def _spelt(check: Check, _: dict[str, Any]) -> dict[str, Any]:
    """As if the clusters on which the expressions are true carried a label that is asked for instead."""
    objects = check.objects
    spec = copy.deepcopy(dict(check.spec))
    env = environment("muster")
    for number, predicate in enumerate(spec.get("predicates") or ()):
        selector = predicate.get("requiredClusterSelector") or {}
        texts = (selector.pop("celSelector", None) or {}).get("celExpressions") or ()
        label = f"twin/predicate-{number}"
        expression = {"key": label, "operator": "Exists"}
        wanted_labels = selector.setdefault("labelSelector", {})
        wanted_labels["matchExpressions"] = [*(wanted_labels.get("matchExpressions") or ()), expression]
        for cluster in check.of_kind("ManagedCluster"):
            seen = {**typed_view(cluster), "@scores": _valid_scores(check, cluster)}
            results = [evaluated(text, env, {"managedCluster": seen}, charging_of(env), 1_000_000) for text in texts]
            if all(each.value is True for each in results):
                objects[key_of(cluster)] = _with_label(objects[key_of(cluster)], label)
    objects[key_of(check.placement)] = check.placement | {"spec": spec}
    found = _twin(check, objects)
    for name, value in (check.scenario.get("expectSeed") or {}).items():
        found[name] = value  # what the specification's text promises
    return found


def _unexpired(check: Check, recorded: dict[str, Any]) -> dict[str, Any]:
    """As if the scores whose time is over had gone."""
    gone = {key_of(each) for each in expired_readings(check)}
    return _twin(check, {key: each for key, each in check.objects.items() if key not in gone})


def _valid_scores(check: Check, cluster: Object) -> dict[str, Any]:
    return {
        each["metadata"]["name"]: (each.get("status") or {}).get("scores") or []
        for each in check.of_kind("AddOnPlacementScore")
        if each["metadata"]["namespace"] == cluster["metadata"]["name"]
        and not ((until := (each.get("status") or {}).get("validUntil")) and a_time(until) < a_time(check.now))
    }


def _with_label(cluster: Object, label: str) -> Object:
    metadata = cluster["metadata"]
    return cluster | {"metadata": metadata | {"labels": {**(metadata.get("labels") or {}), label: "yes"}}}


def _twin(check: Check, objects: Mapping[tuple[str, str, str], Object]) -> dict[str, Any]:
    """What comes of other objects, with what was decided before."""
    world = World({"now": check.now, "placement": objects[key_of(check.placement)]})
    for key, each in objects.items():
        if key[0] != "Placement":
            world.apply(each)
    world.own = decided_before(check)
    first, result = world.converge()
    found = shown(first, result, world)
    del found["topologies"]  # of labels, and the twin has more of them
    return found


_WANTED: Final[Mapping[str, Callable[[Check, dict[str, Any]], dict[str, Any]]]] = {
    KEPT: _kept,
    AT_ONCE: _at_once,
    SPELT: _spelt,
    BOOLEAN: _boolean,
    EXPIRED: _unexpired,
    BAD_SET: _skipping,
    LAST: _ranked_anew,
    SPREAD: _ranked_anew,
    SORTED: _ranked_anew,
}


def decided_before(check: Check) -> list[str]:
    """The clusters that are decided when a check begins, by what was wanted of the check before it."""
    if check.number == 0:
        return World(check.scenario).own
    previous = Check(check.scenario, check.number - 1)
    last = wanted(previous, classify(previous))
    gone = {each["name"] for each in check.steps[-1].get("delete") or () if each["kind"] == "PlacementDecision"}
    lost = {name for page in last.get("decisions") or () if page["name"] in gone for name in page["clusters"]}
    return [name for name in last["selected"] if name not in lost]


# --- What we do -------------------------------------------------------------------------------------------------------


def run(check: Check) -> dict[str, Any]:
    """The scenario from its beginning, scheduled after every step until nothing changes."""
    world = World(check.scenario)
    if check.is_left_alone:
        return _left_alone(check, world)
    first, result = world.converge()
    for step in check.steps:
        if step.get("now"):
            world.now = a_time(step["now"])
        for obj in step.get("apply") or ():
            world.apply(obj)
        for reference in step.get("delete") or ():
            world.delete(reference)
        first, result = world.converge()
    return shown(first, result, world)


def _left_alone(check: Check, world: World) -> dict[str, Any]:
    """What the controllers' world makes of a placement that is not to be touched."""
    controllers = PlacementWorld()
    controllers.put_placement(Stored.of(PLACEMENTS, check.placement))
    key = Key(check.placement["metadata"]["namespace"], check.placement["metadata"]["name"])
    if controllers.decide(key, world.now) is not None:
        return {"decided": True}
    return {
        "selected": world.own,
        "numberOfSelectedClusters": 0,
        "conditions": {},
        "decisions": [],
        "decisionGroups": None,
    }


# --- Judging ----------------------------------------------------------------------------------------------------------

_ABSENT: Final[Mapping[str, Any]] = {"requeueAt": None, "setsUsable": None, "syncError": "", "selectedByRank": []}


def judge(check: Check, kind: Kind, ours: dict[str, Any]) -> Verdict:
    """Field by field. What the record leaves out when there is nothing (a time, an error) must not be there."""
    expected = wanted(check, kind)
    differences = []
    if "decided" in ours:
        return Verdict(("a placement that is to be left alone is scheduled",))
    if "conditions" in expected:
        expected = {**_ABSENT, **expected} if not check.is_left_alone else expected
    for field, value in expected.items():
        if field == "selectedPerTopology":
            found: Any = {name: sum(name in each for each in ours["topologies"]) for name in value}
        elif field == "setsUsable" and value is not None:
            found, value = _about_sets(ours.get(field), value)
        elif field == "prioritizerResults":
            found, value = _comparable_scores(ours[field], value or [])
        elif field == "filterResults":
            found, value = (
                ours[field],
                [each | {"filteredClusters": sorted(each.get("filteredClusters") or ())} for each in value or ()],
            )
        else:
            found = ours.get(field)
        if found != value:
            differences.append(f"{field}: {found!r} instead of {value!r}")
    return Verdict(tuple(differences))


def _about_sets(found: Any, wanted_sets: dict[str, Any]) -> tuple[Any, Any]:
    """The message names each set with its reason; upstream's words for the one that it stopped at are in it."""
    message = (found or {}).get("message", "")
    begin, end = (
        "left out because they cannot be evaluated: ",
        "; no cluster joins by them, and clusters that are decided already stay",
    )
    is_whole = message.startswith(begin) and message.endswith(end)
    parts = message.removeprefix(begin).removesuffix(end)
    named = [each for each in wanted_sets["names"] if re.search(rf"(?:^|; ){re.escape(each)}: ", parts)]
    said = {
        name: text
        if re.search(rf"(?:^|; ){re.escape(name)}: (?:[\w.\[\]]+: )?{re.escape(text)}(?:; |$)", parts)
        else None
        for name, text in wanted_sets["why"].items()
    }
    ours = {"status": (found or {}).get("status"), "reason": (found or {}).get("reason"), "names": named, "why": said}
    return {**ours, "whole": is_whole}, {**wanted_sets, "whole": True}


def _comparable_scores(ours: list[Any], recorded: list[Any]) -> tuple[Any, Any]:
    """Upstream leaves out a cluster for which a scorer has nothing to say; ours gives it zero."""
    by_name = {each["name"]: each.get("scores") or {} for each in recorded}
    found = [
        each
        | {
            "scores": {
                name: score for name, score in each["scores"].items() if score or name in by_name.get(each["name"], {})
            }
        }
        for each in ours
    ]
    return found, [each | {"scores": each.get("scores") or {}} for each in recorded]


EXPECTED: Final = keys(
    "selected numberOfSelectedClusters conditions decisions decisionGroups filterResults prioritizerResults totalScores"
    " selectedByRank unscheduled events scheduleStatus syncError finalSyncError requeueAt selectedPerTopology"
    " decisionOrder scores groups"
)
SHAPE: Final[Mapping[str, Any]] = {
    **dict.fromkeys(
        keys(
            "id name origin source tags now clusters clusterSets clusterSetBindings addOnPlacementScores "
            "placementDecisions placement note seedConflict"
        )
    ),
    "expect": EXPECTED,
    "expectSeed": EXPECTED,
    "steps": {"now": None, "apply": None, "delete": None, "expect": EXPECTED, "note": None, "name": None},
}
SCENARIOS: Final = Suite(
    cases=checks,
    name=lambda check: check.name,
    classify=classify,
    running=by(run),
    judge=judge,
    shape=SHAPE,
    raw=lambda check: check.scenario,
)
