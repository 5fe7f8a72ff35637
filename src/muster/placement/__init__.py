"""Placement: filter, score, pick, spread, group. Pure functions over a fleet.

Names are imported when somebody asks for them: explanations that a server made are read and shown without a fleet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import muster.placement.schedule  # noqa: F401 - before the function of that name, which must stay
from muster.lazy import lazy_names

if TYPE_CHECKING:
    from muster.placement.schedule.cycle import Cycle, Decided, decided
    from muster.placement.schedule.pipeline import STANDARD, Profile, why_not
    from muster.placement.schedule.plan import Fault, Plan, plan_of, plan_read, planned
    from muster.placement.schedule.result import Condition, Page, ScheduleResult
    from muster.placement.schedule.sets import Rule, Visibility, rule_of, visibility, visible

__all__ = [
    "STANDARD",
    "Condition",
    "Cycle",
    "Decided",
    "Fault",
    "Page",
    "Plan",
    "Profile",
    "Rule",
    "ScheduleResult",
    "Visibility",
    "decided",
    "plan_of",
    "plan_read",
    "planned",
    "rule_of",
    "schedule",
    "visibility",
    "visible",
    "why_not",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.placement.schedule.cycle": ("Cycle", "Decided", "decided"),
        "muster.placement.schedule.pipeline": ("STANDARD", "Profile", "why_not"),
        "muster.placement.schedule.plan": ("Fault", "Plan", "plan_of", "plan_read", "planned"),
        "muster.placement.schedule.result": ("Condition", "Page", "ScheduleResult"),
        "muster.placement.schedule.sets": ("Rule", "Visibility", "rule_of", "visibility", "visible"),
    },
)


def schedule(cycle: Cycle, profile: Profile | None = None) -> ScheduleResult:
    """Decide where the placement goes. (It is not among the lazy names because a folder is called so.)"""
    from muster.placement.schedule import pipeline

    return pipeline.schedule(cycle, profile or pipeline.STANDARD)
