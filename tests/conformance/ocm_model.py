"""What a placement comes to, said once more in plain words over plain objects: the statements that rules rest on.

Written from the API's documentation and docs/differences.md, not from our scheduler. It knows tolerations, spreading,
paging and what is wrong with a spec; it does not score. Selectors are read by `muster.values.labels` and expressions
compiled by `muster.cel`, which have recorded cases of their own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from muster.cel.checking.checker import check
from muster.cel.checking.unification import displayed
from muster.cel.environments import environment
from muster.cel.syntax.parser import parse
from muster.errors import InvalidExpressionError
from muster.values.labels import InvalidSelectorError, from_label_selector
from tests.builders import a_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Object = dict[str, Any]
PAGE = 100  # clusters in one PlacementDecision


# --- Taints -----------------------------------------------------------------------------------------------------------


def is_tolerated(taint: Mapping[str, Any], tolerations: Sequence[Mapping[str, Any]], now: str) -> bool:
    """Whether some toleration is for this taint and has not come to its end."""
    for each in tolerations:
        if each.get("effect") and each["effect"] != taint["effect"]:
            continue
        if each.get("key") and each["key"] != taint["key"]:
            continue
        operator = each.get("operator") or "Equal"
        if operator not in ("Exists", "Equal"):
            continue
        if operator == "Equal" and (each.get("value") or "") != (taint.get("value") or ""):
            continue
        seconds = each.get("tolerationSeconds")
        if seconds is None:
            return True
        added = taint.get("timeAdded")
        if added and (a_time(now) - a_time(added)).total_seconds() < seconds:
            return True
    return False


def disliked(clusters: Sequence[Object], spec: Mapping[str, Any], now: str) -> set[str]:
    """Clusters with a PreferNoSelect taint that nothing tolerates."""
    tolerations = spec.get("tolerations") or ()
    return {
        each["metadata"]["name"]
        for each in clusters
        for taint in (each.get("spec") or {}).get("taints") or ()
        if taint["effect"] == "PreferNoSelect" and not is_tolerated(taint, tolerations, now)
    }


# --- Spreading --------------------------------------------------------------------------------------------------------


def topology(cluster: Object, constraint: Mapping[str, Any]) -> str | None:
    key = constraint["topologyKey"]
    if (constraint.get("topologyKeyType") or "Label") == "Label":
        labels: Mapping[str, str] = cluster["metadata"].get("labels") or {}
        return labels.get(key)
    claims = (cluster.get("status") or {}).get("clusterClaims") or ()
    return next((each["value"] for each in claims if each["name"] == key), None)


def spread(ranked: Sequence[Object], constraints: Sequence[Mapping[str, Any]], number: int) -> list[str]:
    """One after the other, each from the topology with the fewest so far, outer constraints first; then by rank."""
    required = [each for each in constraints if each.get("whenUnsatisfiable") == "DoNotSchedule"]
    waiting = [each for each in ranked if all(topology(each, constraint) is not None for constraint in required)]

    def place(cluster: Object, level: int) -> tuple[str | None, ...]:
        return tuple(topology(cluster, constraint) for constraint in constraints[: level + 1])

    levels = range(len(constraints))
    counts: dict[tuple[str | None, ...], int] = {place(each, level): 0 for each in waiting for level in levels}

    def is_even_enough(cluster: Object) -> bool:
        for level in levels:
            if constraints[level] in required:
                own = place(cluster, level)
                least = min(
                    count for other, count in counts.items() if len(other) == len(own) and other[:-1] == own[:-1]
                )
                if counts[own] + 1 - least > (constraints[level].get("maxSkew") or 1):
                    return False
        return True

    taken: list[str] = []
    while len(taken) < number:
        fitting = [each for each in waiting if is_even_enough(each)]
        if not fitting:
            break
        best = min(fitting, key=lambda each: [counts[place(each, level)] for level in levels])
        waiting.remove(best)
        for level in levels:
            counts[place(best, level)] += 1
        taken.append(best["metadata"]["name"])
    return taken


# --- Decisions --------------------------------------------------------------------------------------------------------


def matches(selector: Mapping[str, Any], cluster: Object) -> bool:
    """A clusterSelector without expressions: labels and claims."""
    claims = {each["name"]: each["value"] for each in (cluster.get("status") or {}).get("clusterClaims") or ()}
    labels = cluster["metadata"].get("labels") or {}
    return all(
        from_label_selector(selector.get(kind) or {}).matches(values)
        for kind, values in (("labelSelector", labels), ("claimSelector", claims))
    )


def grouped(
    order: Sequence[str], clusters: Mapping[str, Object], spec: Mapping[str, Any]
) -> list[tuple[str, list[str]]]:
    """The clusters of each group in their order: groups by selector first, then the others by size."""
    strategy = (spec.get("decisionStrategy") or {}).get("groupStrategy") or {}
    size = strategy.get("clustersPerDecisionGroup")
    if isinstance(size, str):
        size = math.ceil(len(order) * int(size.removesuffix("%")) / 100)
    left = list(order)
    groups: list[tuple[str, list[str]]] = []
    for each in strategy.get("decisionGroups") or ():
        selector = each.get("groupClusterSelector") or {}
        own = [name for name in left if matches(selector, clusters[name])]
        left = [name for name in left if name not in own]
        groups += [(each["groupName"], part) for part in _parts(own, size)]
    if left or not groups:
        groups += [("", part) for part in _parts(left, size) or [[]]]
    return groups


def _parts(names: list[str], size: int | None) -> list[list[str]]:
    step = size or max(len(names), 1)
    return [names[start : start + step] for start in range(0, len(names), step)]


def decisions(name: str, groups: Sequence[tuple[str, list[str]]]) -> dict[str, Any]:
    """PlacementDecisions and the groups of a placement's status."""
    pages: list[Object] = []
    shown: list[Object] = []
    for index, (group, members) in enumerate(groups):
        names = []
        for part in _parts(members, PAGE) or [[]]:
            names.append(f"{name}-decision-{len(pages) + 1}")
            pages.append({"name": names[-1], "groupName": group, "groupIndex": str(index), "clusters": part})
        shown.append(
            {
                "decisionGroupIndex": index,
                "decisionGroupName": group,
                "decisions": names,
                "clusterCount": len(members),
            }
        )
    return {"decisions": pages, "decisionGroups": shown}


# --- Faults -----------------------------------------------------------------------------------------------------------

BAD_TOLERATIONS: tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...] = (
    (
        lambda each: not each.get("key") and each.get("operator") != "Exists",
        "If the key is empty, operator must be Exists.",
    ),
    (
        lambda each: each.get("operator") == "Exists" and bool(each.get("value")),
        "If the operator is Exists, the value should be empty.",
    ),
)


def expressions(spec: Mapping[str, Any]) -> list[str]:
    return [text for each in _selectors(spec) for text in (each.get("celSelector") or {}).get("celExpressions") or ()]


def _selectors(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each.get("requiredClusterSelector") or {} for each in spec.get("predicates") or ()]


def compile_fault(text: str) -> str | None:
    """What the specification has a Placement say of an expression that does not compile, or cannot give a boolean."""
    env = environment("muster")
    try:
        checked = check(parse(text, env), env)
    except InvalidExpressionError as error:
        return f"failed to compile CEL expression '{text}': {error}"
    shown = displayed(checked.result_type)
    if shown in ("bool", "dyn", "any"):
        return None
    return f"failed to compile CEL expression '{text}': must evaluate to bool, not {shown}"


def is_not_boolean(text: str) -> bool:
    return ": must evaluate to bool, not " in (compile_fault(text) or "").removeprefix(f"failed to compile '{text}'")


def selector_fault(selector: Mapping[str, Any]) -> str | None:
    try:
        from_label_selector(selector)
    except InvalidSelectorError as error:
        return str(error)
    return None


def predicate_fault(spec: Mapping[str, Any]) -> str | None:
    """The message of the first predicate that cannot be used, as the condition shows it."""
    for each in _selectors(spec):
        for kind in ("labelSelector", "claimSelector"):
            if fault := selector_fault(each.get(kind) or {}):
                return f"Predicate:{fault}"
        for text in (each.get("celSelector") or {}).get("celExpressions") or ():
            if fault := compile_fault(text):
                return fault
    return None


def toleration_fault(spec: Mapping[str, Any]) -> str | None:
    for each in spec.get("tolerations") or ():
        for is_bad, text in BAD_TOLERATIONS:
            if is_bad(each):
                return f"TaintToleration:{text}"
    return None


SELECTOR_TYPES = ("", "ExclusiveClusterSetLabel", "LegacyClusterSetLabel", "LabelSelector")


def broken_sets(sets: Sequence[Object]) -> list[str]:
    """Names of sets that cannot be evaluated."""
    found = []
    for each in sets:
        selector = (each.get("spec") or {}).get("clusterSelector") or {}
        kind = selector.get("selectorType") or ""
        if kind not in SELECTOR_TYPES or (
            kind == "LabelSelector" and selector_fault(selector.get("labelSelector") or {}) is not None
        ):
            found.append(each["metadata"]["name"])
    return sorted(found)
