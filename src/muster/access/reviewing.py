"""The parts of a JoinReview's answer, from roles and from what moving a cluster takes. Pure.

For the hub, which decides by its own roles, and for observers, which ask a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.access.set_access import changers, joiners
from muster.api.fleet_joining import Joiner, MoveReview, NeedReview
from muster.clustersets.permissions import role_rules
from muster.errors import InvalidObjectError
from muster.selectors.membership import ExclusiveMembership, membership
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from muster.access.policy import Policy
    from muster.access.set_access import MoveAnswer


def exclusive_key(cluster_set: JsonMapping) -> str:
    """The key of an exclusive set; empty for others, and for those that cannot be used."""
    try:
        rule = membership(cluster_set)
    except InvalidObjectError:
        return ""
    return rule.key if isinstance(rule, ExclusiveMembership) else ""


def who_may_join(policy: Policy, cluster_set: JsonMapping) -> tuple[Joiner, ...]:
    """Everybody whom roles let put clusters into a set and take them out."""
    name = str(cluster_set["metadata"]["name"])
    rows = joiners(policy, name) if exclusive_key(cluster_set) else changers(policy)
    return tuple(Joiner(**row) for row in rows)


def move_review(found: MoveAnswer) -> MoveReview:
    """What moving a cluster takes, as the answer has it."""
    needs = tuple(
        NeedReview(tuple(str(each) for each in need.any_of), need.any_of[0].reason, need.is_met, dict(need.granted))
        for need in found.needs
    )
    return MoveReview(
        found.allowed,
        "into" if found.enters else "out of",
        found.change,
        found.note,
        needs,
        tuple(role_rules(found.missing)),
    )
