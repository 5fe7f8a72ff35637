"""Placement: filter, score, pick, spread, group. Pure functions over a fleet."""

from muster.placement.cycle import Cycle, Decided, decided
from muster.placement.pipeline import STANDARD, Profile, schedule, why_not
from muster.placement.plan import Fault, Plan, plan_of, planned
from muster.placement.result import Condition, Page, ScheduleResult
from muster.placement.sets import Rule, Visibility, rule_of, visibility, visible

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
    "planned",
    "rule_of",
    "schedule",
    "visibility",
    "visible",
    "why_not",
]
