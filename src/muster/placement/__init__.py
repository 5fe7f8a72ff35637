"""Placement: filter, score, pick, spread, group. Pure functions over a fleet."""

from muster.placement.schedule.cycle import Cycle, Decided, decided
from muster.placement.schedule.pipeline import STANDARD, Profile, schedule, why_not
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
