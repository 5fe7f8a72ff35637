"""The conditions of a Placement: satisfied or not, configured or not, and what else its author should know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.placement.schedule.result import Concluded
from muster.reasons import Code, Reason, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.placement.schedule.plan import Fault, Plan
    from muster.placement.schedule.sets import Visibility
    from muster.reasons import Parameter

SATISFIED: Final = "PlacementSatisfied"
MISCONFIGURED: Final = "PlacementMisconfigured"
SETS_USABLE: Final = "ClusterSetsUsable"
EVALUATED: Final = "PredicatesEvaluated"


def satisfied(
    plan: Plan, visibility: Visibility, *, available: int, selected: int, unscheduled: int, fault: Fault | None
) -> Concluded:
    """The first thing that stands in the way, or that nothing does."""
    if not visibility.bound:
        return _no(Reason(Code.NO_BINDINGS))
    eligible = visibility.eligible_names
    if not eligible:
        return _no(Reason(Code.NO_INTERSECTION, parameters={"sets": plan.cluster_sets}))
    if not available:
        return _no(Reason(Code.ALL_SETS_EMPTY, parameters={"sets": tuple(eligible)}))
    if selected == 0 or fault is not None:
        return _no(Reason(Code.NO_CLUSTER_MATCHED))
    if unscheduled:
        return _no(Reason(Code.NOT_ALL_SCHEDULED, parameters={"unscheduled": unscheduled}))
    return Concluded("True", Reason(Code.ALL_SCHEDULED))


def configured(fault: Fault | None) -> Concluded:
    if fault is None:
        return Concluded("False", Reason(Code.CONFIGURED))
    return Concluded("True", Reason(Code.MISCONFIGURED, parameters={"fault": str(fault)}))


def sets_usable(visibility: Visibility) -> Concluded | None:
    """Only there when something is wrong: bound sets that cannot be evaluated are named, with what that means.

    Their last good members stay. Where these are not known, no cluster joins, and none that is decided goes.
    """
    if not visibility.broken:
        return None
    unknown = set(visibility.unknown)
    parts = tuple(
        Reason(Code.SET_UNUSABLE, Subject(cluster_set=name), {"fault": why, "stays": name not in unknown})
        for name, why in visibility.broken
    )
    return _no(Reason(Code.SETS_SKIPPED if unknown else Code.MEMBERS_KEPT, parts=parts))


def evaluated(plan: Plan, failing: int, reasons: Sequence[Reason]) -> Concluded | None:
    """Only there when something is wrong: clusters on which an expression failed are not selected, and counted.

    Whoever reads the placement reads this, so it names no cluster and has no values of any: `reasons` are bare.
    """
    if not failing:
        return None
    given: dict[str, Parameter] = {"failing": failing, "namespace": plan.namespace, "name": plan.name}
    return _no(Reason(Code.EVALUATION_ERRORS, parameters=given, parts=tuple(dict.fromkeys(reasons))))


def _no(why: Reason) -> Concluded:
    return Concluded("False", why)
