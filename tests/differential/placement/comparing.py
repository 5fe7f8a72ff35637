"""One case through both schedulers, look by look, and what differs.

Both see the same objects at every look: the decisions that upstream wrote at the last one. What we expect is what
upstream answered, or what a documented rule says instead, checked field by field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from tests.builders import a_time
from tests.conformance.ocm_world import World
from tests.differential.lockstep import Outcome, answer_of
from tests.differential.placement import fleets, questions
from tests.differential.placement.placements import NOT_BOOLEAN
from tests.differential.placement.spreading import spread_out

if TYPE_CHECKING:
    from collections.abc import Generator

    from muster.placement import ScheduleResult
    from tests.differential.lockstep import Asking

KEEPS: Final = "a misconfigured placement keeps its decisions"
NO_WAITING: Final = "validation does not wait for a cluster"
BOOLEAN: Final = "an expression must be boolean"
LAST: Final = "PreferNoSelect ranks last"
SPREAD: Final = "spreadPolicy is honoured"
BY_SCORE: Final = "sortBy Score is honoured"
_LOOKS: Final = 3
_COMPILING: Final = "compilation failed: "


def compared(case: dict[str, Any]) -> Asking:
    """Yields questions for the peer, takes its answers."""
    world, outcome = World(case), Outcome()
    yield from _looks(world, outcome, "")
    for number, step in enumerate(case.get("steps") or (), start=1):
        if outcome.differences:
            break
        if step.get("now"):
            world.now = a_time(step["now"])
        for each in step.get("apply") or ():
            world.apply(each)
        for reference in step.get("delete") or ():
            world.delete(reference)
        yield from _looks(world, outcome, f" after step {number}")
    return outcome


def _looks(world: World, outcome: Outcome, when: str) -> Generator[dict[str, Any], Any, None]:
    for _ in range(_LOOKS):
        before = sorted(world.own)
        asked, rules = questions.question(world)
        theirs = answer_of((yield asked))
        ours = world.schedule_once()
        found = yield from _differences(world, asked, theirs, ours, rules)
        outcome.rules.update(rules)
        outcome.differences += [f"{each}{when}" for each in found]
        _adopt(world, theirs)
        if outcome.differences or sorted(world.own) == before:
            return


def _adopt(world: World, theirs: dict[str, Any]) -> None:
    """What upstream wrote is what both find at the next look."""
    for key in questions.own_pages(world):
        del world.objects[key]
    metadata = world.placement["metadata"]
    for page in theirs["decisions"] or ():
        group = (page["groupName"], page["groupIndex"])
        world.apply(fleets.a_page(page["name"], metadata["namespace"], metadata["name"], page["clusters"], group))
    world.own = [name for page in theirs["decisions"] or () for name in page["clusters"]]


def _differences(
    world: World, asked: dict[str, Any], theirs: dict[str, Any], ours: ScheduleResult, rules: list[str]
) -> Generator[dict[str, Any], Any, list[str]]:
    if theirs["syncError"] and not theirs["conditions"]:
        return [f"syncError: {theirs['syncError']}"]
    misconfigured = theirs["conditions"]["PlacementMisconfigured"]
    found = []
    if questions.BAD_SET in rules and "ClusterSetsUsable" not in ours.conditions:
        found.append("conditions: ClusterSetsUsable is missing")
    refused = misconfigured["status"] == "True"
    if ours.fault is not None and not (refused and _reached(theirs, ours)):
        return found + (yield from _refused(asked, theirs, ours, rules))
    if refused:
        rules.append(KEEPS)
        if _not_boolean(ours):  # the first fault of a placement is told, and upstream does not see this one
            rules.append(BOOLEAN)
        return found + _kept(theirs, ours, theirs)
    expected = _expected(theirs)
    yield from _by_rules(world, asked, theirs, expected, rules)
    actual = _actual(ours)
    # Upstream looks at the decisions from before the look, and at the time that the question says.
    if sorted(world.own) != sorted(expected["ranked"]) or questions.LONG in rules:
        del expected["requeueAt"], actual["requeueAt"]
    return found + [
        f"{name}: {actual[name]} instead of {wanted}" for name, wanted in expected.items() if actual[name] != wanted
    ]


def _kept(theirs: dict[str, Any], ours: ScheduleResult, refusing: dict[str, Any]) -> list[str]:
    """The placement is refused in the words in which upstream refuses it (in `refusing`), and nothing is decided."""
    wanted = refusing["conditions"]["PlacementMisconfigured"]["message"]
    if ours.fault is None:
        return [f"fault: none instead of {wanted}"]
    found = []
    shown = ours.conditions["PlacementMisconfigured"]
    said, _, text = wanted.partition(_COMPILING)
    # The message of a broken expression is the specification's, around the compiler's words.
    same = text in shown.message if text and said == "Predicate:" else wanted == shown.message
    same = same or _not_boolean(ours)
    if not same:
        found.append(f"message: {shown.message!r} instead of {wanted!r}")
    if (shown.status, shown.reason) != ("True", "Misconfigured"):
        found.append(f"conditions: PlacementMisconfigured is {shown.status}, {shown.reason}")
    satisfied, reason = ours.conditions["PlacementSatisfied"], theirs["conditions"]["PlacementSatisfied"]["reason"]
    if reason in ("AllDecisionsScheduled", "NotAllDecisionsScheduled"):
        reason = "NoManagedClusterMatched"  # it cannot be satisfied while it is misconfigured
    if (satisfied.status, satisfied.reason) != ("False", reason):
        found.append(f"conditions: PlacementSatisfied is {satisfied.status}, {satisfied.reason} instead of {reason}")
    if ours.groups:
        found.append(f"decisions: {ours.groups} are not left alone")
    return found


def _not_boolean(ours: ScheduleResult) -> bool:
    """We refuse an expression for its type, in these words."""
    fault = str(ours.fault)
    return "must evaluate to bool" in fault and any(f"'{text}'" in fault for text in NOT_BOOLEAN)


def _reached(theirs: dict[str, Any], ours: ScheduleResult) -> bool:
    """Whether a cluster gets as far as the stage in which we find the fault, so that upstream looks for it too."""
    assert ours.fault is not None
    if ours.fault.stage == "Predicate":
        return bool(ours.available.any())
    stages = [each["filteredClusters"] for each in theirs["filterResults"] or ()]
    return ours.fault.stage != "TaintToleration" or bool(stages and stages[0])


def _refused(
    asked: dict[str, Any], theirs: dict[str, Any], ours: ScheduleResult, rules: list[str]
) -> Generator[dict[str, Any], Any, list[str]]:
    """We refuse the placement for something that upstream has not looked at: by a rule, or not rightly."""
    assert ours.fault is not None
    message = str(ours.fault)
    if any(f"'{text}'" in message for text in NOT_BOOLEAN):
        rules.append(BOOLEAN)
        return [] if "must evaluate to bool" in message else [f"message: {message!r}"]
    rules.append(NO_WAITING)
    if ours.fault.stage not in ("Predicate", "TaintToleration"):
        return [f"fault: {message!r}, which upstream takes"]
    probe = questions.checking(asked, tolerations=ours.fault.stage == "TaintToleration")
    answer = answer_of((yield probe))
    if answer["conditions"]["PlacementMisconfigured"]["status"] != "True":
        return [f"fault: {message!r}, which upstream takes"]
    return _kept(theirs, ours, answer)


def _expected(theirs: dict[str, Any]) -> dict[str, Any]:
    return {
        "filters": {each["name"]: sorted(each["filteredClusters"]) for each in theirs["filterResults"]},
        "scores": sorted(
            (each["name"], each["weight"], sorted((name, one) for name, one in (each["scores"] or {}).items() if one))
            for each in theirs["prioritizerResults"]
        ),
        "totals": theirs["totalScores"],
        "ranked": theirs["selectedByRank"],
        "unscheduled": theirs["unscheduled"],
        "pages": _pages(theirs),
        "groups": theirs["decisionGroups"],
        "number": theirs["numberOfSelectedClusters"],
        "conditions": {name: theirs["conditions"][name] for name in ("PlacementSatisfied", "PlacementMisconfigured")},
        "requeueAt": theirs["requeueAt"],
    }


def _pages(theirs: dict[str, Any]) -> list[Any]:
    """With their groups as the placement's status has them: upstream brings the labels of a page up to date only at
    the look after the one that changed its clusters."""
    groups = {name: each for each in theirs["decisionGroups"] or () for name in each["decisions"]}
    pages = sorted(theirs["decisions"] or (), key=lambda each: int(each["name"].rpartition("-")[2]))
    return [
        [each["name"], group["decisionGroupName"], str(group["decisionGroupIndex"]), each["clusters"]]
        for each in pages
        if (group := groups[each["name"]])
    ]


def _actual(ours: ScheduleResult) -> dict[str, Any]:
    names = ours.cycle.fleet.names
    stages: dict[str, list[str]] = {}
    so_far: list[str] = []
    for stage in ours.stages:
        so_far.append(stage.name)
        stages[",".join(so_far)] = sorted(names(stage.passing.nonzero()[0].tolist()))
    feasible = names(ours.feasible.tolist())
    return {
        "filters": stages,
        "scores": sorted(
            (
                each.name,
                each.weight,
                sorted((name, one) for name, one in zip(feasible, each.scores.tolist(), strict=True) if one),
            )
            for each in ours.scorers
        ),
        "totals": ours.total_scores(),
        "ranked": ours.selected_by_rank,
        "unscheduled": ours.unscheduled,
        "pages": [[page.name, page.group_name, str(page.group_index), list(page.clusters)] for page in ours.pages()],
        "groups": msgspec.json.decode(msgspec.json.encode(ours.decision_groups())),
        "number": len(ours.ranked),
        "conditions": {
            name: {"status": each.status, "reason": each.reason, "message": each.message}
            for name, each in ours.conditions.items()
            if name in ("PlacementSatisfied", "PlacementMisconfigured")
        },
        "requeueAt": ours.requeue_at.strftime("%Y-%m-%dT%H:%M:%SZ") if ours.requeue_at else None,
    }


# --- What a rule expects in place of upstream's answer --------------------------------------------------------------


def _by_rules(
    world: World, asked: dict[str, Any], theirs: dict[str, Any], expected: dict[str, Any], rules: list[str]
) -> Generator[dict[str, Any], Any, None]:
    spec = world.placement["spec"]
    feasible = list(expected["totals"])
    number = spec.get("numberOfClusters", len(feasible))
    mild = "PreferNoSelect" in str(asked["clusters"])
    terms = (spec.get("spreadPolicy") or {}).get("spreadConstraints") or ()
    if not mild and not terms and spec.get("sortBy") != "Score":
        return
    # 1. Who ranks where.
    disliked: set[str] = set()
    if mild:
        left = answer_of((yield questions.disliking(asked)))["filterResults"][-1]["filteredClusters"]
        disliked = set(feasible) - set(left)
    order = sorted(feasible, key=lambda name: (name in disliked, -expected["totals"][name], name))
    ranked = order[:number]
    if ranked != expected["ranked"]:
        rules.append(LAST)
    if terms:
        rules.append(SPREAD)
        clusters = {each["metadata"]["name"]: each for each in asked["clusters"]}
        ranked = spread_out([clusters[name] for name in order], terms, min(number, len(order)))
    wanted = spec.get("numberOfClusters", len(feasible))
    expected |= {"ranked": ranked, "number": len(ranked), "unscheduled": wanted - len(ranked)}
    # 2. How these are grouped, and in which order they are shown.
    by_score = spec.get("sortBy") == "Score"
    if by_score:
        rules.append(BY_SCORE)
    probe, names = questions.grouping(asked, ranked, in_order=by_score)
    answer = answer_of((yield probe))
    expected["pages"] = [[*page[:3], [names[each] for each in page[3]]] for page in _pages(answer)]
    expected["groups"] = answer["decisionGroups"]
    # 3. What follows for the condition.
    conditions = dict(expected["conditions"])
    if conditions["PlacementSatisfied"]["reason"] in ("AllDecisionsScheduled", "NotAllDecisionsScheduled"):
        conditions["PlacementSatisfied"] = _satisfied(len(ranked), wanted - len(ranked))
        expected["conditions"] = conditions


def _satisfied(selected: int, missing: int) -> dict[str, str]:
    if not selected:
        text = "No ManagedCluster matches any of the cluster predicate"
        return {"status": "False", "reason": "NoManagedClusterMatched", "message": text}
    if missing:
        text = f"{missing} cluster decisions unscheduled"
        return {"status": "False", "reason": "NotAllDecisionsScheduled", "message": text}
    return {"status": "True", "reason": "AllDecisionsScheduled", "message": "All cluster decisions scheduled"}
