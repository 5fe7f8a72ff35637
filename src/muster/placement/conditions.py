"""The conditions of a Placement: satisfied or not, configured or not, and what else its author should know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.placement.result import Condition
from muster.values.messages import condition_message, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.placement.plan import Fault, Plan
    from muster.placement.sets import Visibility

SATISFIED: Final = "PlacementSatisfied"
MISCONFIGURED: Final = "PlacementMisconfigured"
SETS_USABLE: Final = "ClusterSetsUsable"
EVALUATED: Final = "PredicatesEvaluated"
_REASONS_ROOM: Final = 16_384  # bytes


def satisfied(
    plan: Plan, visibility: Visibility, *, available: int, selected: int, unscheduled: int, fault: Fault | None
) -> Condition:
    """The first thing that stands in the way, or that nothing does."""
    if not visibility.bound:
        return _no("NoManagedClusterSetBindings", "No valid ManagedClusterSetBindings found in placement namespace")
    eligible = visibility.eligible_names
    if not eligible:
        wanted = listed(plan.cluster_sets, ",")
        return _no("NoIntersection", f"None of ManagedClusterSets [{wanted}] is bound to placement namespace")
    if not available:
        return _no(
            "AllManagedClusterSetsEmpty",
            f"All ManagedClusterSets [{listed(eligible, ',')}] have no member ManagedCluster",
        )
    if selected == 0 or fault is not None:
        return _no("NoManagedClusterMatched", "No ManagedCluster matches any of the cluster predicate")
    if unscheduled:
        return _no("NotAllDecisionsScheduled", f"{unscheduled} cluster decisions unscheduled")
    return Condition("True", "AllDecisionsScheduled", "All cluster decisions scheduled")


def configured(fault: Fault | None) -> Condition:
    if fault is None:
        return Condition("False", "Succeedconfigured", "Placement configurations check pass")
    return Condition("True", "Misconfigured", condition_message(str(fault)))


def sets_usable(visibility: Visibility) -> Condition | None:
    """Only there when something is wrong: bound sets that cannot be evaluated are named, with what that means.

    Their last good members stay. Where these are not known, no cluster joins, and none that is decided goes.
    """
    if not visibility.broken:
        return None
    unknown = set(visibility.unknown)
    skipped = [f"{name}: {why}" for name, why in visibility.broken if name in unknown]
    kept = [f"{name}: {why}" for name, why in visibility.broken if name not in unknown]
    parts = []
    if skipped:
        parts.append(f"left out because they cannot be evaluated: {listed(skipped, '; ')}")
        parts.append("no cluster joins by them, and clusters that are decided already stay")
    if kept:
        parts.append(f"kept with their last good members because they cannot be evaluated: {listed(kept, '; ')}")
    return _no("ClusterSetsSkipped" if skipped else "LastGoodMembersKept", "; ".join(parts))


def evaluated(plan: Plan, failing: int, reasons: Sequence[str]) -> Condition | None:
    """Only there when something is wrong: clusters on which an expression failed are not selected, and counted.

    Whoever reads the placement reads this, so it names no cluster and has no values of any: `reasons` are bare.
    """
    if not failing:
        return None
    where = f"`muster explain placement {plan.name} -n {plan.namespace}` shows those clusters that you may read"
    shown = listed(list(dict.fromkeys(reasons)), "; ", room=_REASONS_ROOM)
    text = f"{failing} clusters are not selected because an expression failed: reasons: {shown}; {where}"
    return _no("EvaluationErrors", text)


def _no(reason: str, message: str) -> Condition:
    return Condition("False", reason, message)
