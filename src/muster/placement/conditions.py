"""The conditions of a Placement: satisfied or not, configured or not, and what else its author should know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.placement.result import Condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.placement.plan import Fault, Plan
    from muster.placement.sets import Visibility

SATISFIED: Final = "PlacementSatisfied"
MISCONFIGURED: Final = "PlacementMisconfigured"
SETS_USABLE: Final = "ClusterSetsUsable"
EVALUATED: Final = "PredicatesEvaluated"


def satisfied(
    plan: Plan, visibility: Visibility, *, available: int, selected: int, unscheduled: int, fault: Fault | None
) -> Condition:
    """The first thing that stands in the way, or that nothing does."""
    if not visibility.bound:
        return _no("NoManagedClusterSetBindings", "No valid ManagedClusterSetBindings found in placement namespace")
    eligible = visibility.eligible_names
    if not eligible:
        wanted = ",".join(plan.cluster_sets)
        return _no("NoIntersection", f"None of ManagedClusterSets [{wanted}] is bound to placement namespace")
    if not available:
        return _no(
            "AllManagedClusterSetsEmpty", f"All ManagedClusterSets [{','.join(eligible)}] have no member ManagedCluster"
        )
    if selected == 0 or fault is not None:
        return _no("NoManagedClusterMatched", "No ManagedCluster matches any of the cluster predicate")
    if unscheduled:
        return _no("NotAllDecisionsScheduled", f"{unscheduled} cluster decisions unscheduled")
    return Condition("True", "AllDecisionsScheduled", "All cluster decisions scheduled")


def configured(fault: Fault | None) -> Condition:
    if fault is None:
        return Condition("False", "Succeedconfigured", "Placement configurations check pass")
    return Condition("True", "Misconfigured", str(fault))


def sets_usable(visibility: Visibility) -> Condition | None:
    """Only there when something is wrong: bound sets that cannot be evaluated are left out and named."""
    if not visibility.broken:
        return None
    faults = "; ".join(f"{name}: {why}" for name, why in visibility.broken)
    return _no("ClusterSetsSkipped", f"left out because they cannot be evaluated: {faults}")


def evaluated(plan: Plan, failing: int, reasons: Sequence[str]) -> Condition | None:
    """Only there when something is wrong: clusters on which an expression failed are not selected, and counted.

    Whoever reads the placement reads this, so it names no cluster and has no values of any: `reasons` are bare.
    """
    if not failing:
        return None
    where = f"`muster explain placement {plan.name} -n {plan.namespace}` shows those clusters that you may read"
    shown = "; ".join(dict.fromkeys(reasons))
    text = f"{failing} clusters are not selected because an expression failed: reasons: {shown}; {where}"
    return _no("EvaluationErrors", text)


def _no(reason: str, message: str) -> Condition:
    return Condition("False", reason, message)
