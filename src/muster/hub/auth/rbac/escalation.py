"""Nobody grants more than they have: the check on every write of a role or a binding.

An admission plugin of the hub. Whoever writes a role must hold each of its rules or the verb `escalate`; whoever
writes a binding must hold what the role holds or the verb `bind` on it. Gathering roles by their labels needs
everything. The refusals are those of a real server; the write commits only if no role or binding has changed since.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from muster.access.grants import RoleKey
from muster.access.policy import GROUP, aggregate_text, missing_role_text
from muster.access.rules import (
    ALL,
    Rule,
    TooManyPartsError,
    compacted,
    quoted_list,
    rules_of,
    uncovered,
)
from muster.api.metadata import name_of
from muster.api.rbac import read_binding, read_role
from muster.hub import status
from muster.hub.auth.rbac.authorizer import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.heavy_work import HEAVY, HeavyWork
from muster.hub.requests import Admitted, Attributes
from muster.values.json import JsonMapping, JsonObject
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.rbac import Role
    from muster.hub.auth.rbac.authorizer import RbacAuthorizer
    from muster.hub.requests import AdmissionRequest

_FULL_AUTHORITY = (Rule((ALL,), (ALL,), (ALL,)), Rule((ALL,), urls=(ALL,)))
# What the garbage collector writes on objects that it deletes later.
_COLLECTOR_FIELDS = ("ownerReferences", "finalizers", "selfLink", "managedFields")


class EscalationGuard:
    """Refuses roles and bindings that would give more than their writer has."""

    kinds = frozenset({CLUSTER_ROLES, ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS})

    def __init__(self, authorizer: RbacAuthorizer, heavy_work: HeavyWork | None = None) -> None:
        self._authorizer = authorizer
        self._heavy = heavy_work or HeavyWork()

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        """Changes nothing; it is asked here because a real server asks before it validates."""
        resource = request.target.resource.key
        if resource not in self.kinds or request.new is None or SYSTEM_MASTERS in request.user.groups:
            return Admitted()
        if request.old is not None and _only_for_collector(request.old, request.new):
            return Admitted()
        # What the decision rests on is named before it is made: comparing takes a while, and roles may change.
        read = self._authorizer.read()
        if resource in (CLUSTER_ROLES, ROLES):
            await self._check_role(request, request.new)
        else:
            await self._check_binding(request, request.new)
        return Admitted(read=read)

    async def validate(self, request: AdmissionRequest) -> Admitted:  # noqa: ARG002 - the protocol's signature
        return Admitted()

    async def _check_role(self, request: AdmissionRequest, role: JsonMapping) -> None:
        target = request.target
        escalate = Attributes(
            "escalate", GROUP, "*", target.resource.plural, namespace=target.namespace, name=target.name
        )
        if (await self._authorizer.authorize(request.user, escalate)).allowed:
            return
        given = read_role(role)
        await self._confirm(request, rules_of(given))
        if _is_aggregated(given) or (request.old is not None and _is_aggregated(read_role(request.old))):
            owned = self._authorizer.policy.rules_for(request.user, "")
            if uncovered(owned, _FULL_AUTHORITY):
                raise _refused(request, "must have cluster-admin privileges to use the aggregationRule")

    async def _check_binding(self, request: AdmissionRequest, binding: JsonMapping) -> None:
        reference = read_binding(binding).role_ref
        kind, name = reference.kind, reference.name
        namespace = request.target.namespace
        if kind not in ("ClusterRole", "Role") or (kind == "Role" and not namespace):
            return  # validation refuses it
        plural = "clusterroles" if kind == "ClusterRole" else "roles"
        bind = Attributes("bind", reference.api_group, "*", plural, namespace=namespace, name=name)
        if (await self._authorizer.authorize(request.user, bind)).allowed:
            return
        role = RoleKey("" if kind == "ClusterRole" else namespace, name)
        rules = self._authorizer.policy.role_rules(role)
        if rules is None:
            raise status.not_found(GROUP, plural, name)
        await self._confirm(request, rules)

    async def _confirm(self, request: AdmissionRequest, rules: Iterable[Rule]) -> None:
        user, namespace = request.user, request.target.namespace
        policy = self._authorizer.policy
        try:
            comparing = partial(uncovered, policy.rules_for(user, namespace), rules)
            missing = await self._heavy.done(user.name, HEAVY, comparing)
        except TooManyPartsError:
            raise _refused(request, "the rules name too many combinations to compare with what the user has") from None
        if not missing:
            return
        lines = sorted({str(rule) for rule in compacted(missing)})
        sentence = (
            f"user {go_quote(user.name)} (groups={quoted_list(user.groups)}) is attempting to grant RBAC permissions "
            "not currently held:\n" + status.listed(lines, "\n")
        )
        dangling = [missing_role_text(role, plural=True) for role in policy.missing_roles(user, namespace)]
        if dangling:
            sentence += f"; resolution errors: [{aggregate_text(dangling)}]"
        raise _refused(request, sentence)


def _refused(request: AdmissionRequest, sentence: str) -> status.StatusError:
    name = name_of(request.new)
    return status.refused(GROUP, request.target.resource.plural, name or request.target.name, sentence)


def _is_aggregated(role: Role) -> bool:
    return role.aggregation_rule is not None and bool(role.aggregation_rule.cluster_role_selectors)


def _only_for_collector(old: JsonMapping, new: JsonMapping) -> bool:
    """Whether the write changes nothing but what the garbage collector needs."""

    def rest(obj: JsonMapping) -> JsonObject:
        metadata = {key: value for key, value in obj["metadata"].items() if key not in _COLLECTOR_FIELDS}
        return {**obj, "metadata": metadata}

    return rest(old) == rest(new)
