"""The authorizer of a hub with one administrator: members of system:masters may do everything, others nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.requests import AccessRules, Decision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.requests import Attributes, User

_EVERYTHING = AccessRules(
    resource_rules=({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},),
    non_resource_rules=({"verbs": ["*"], "nonResourceURLs": ["*"]},),
)


class AdministratorsOnlyAuthorizer:
    """Allows system:masters, as every Kubernetes server does before it looks at a role."""

    async def authorize(self, user: User, attributes: Attributes) -> Decision:  # noqa: ARG002 - the protocol's signature
        return Decision(SYSTEM_MASTERS in user.groups)

    async def missing(
        self,
        user: User,
        verb: str,  # noqa: ARG002 - the protocol
        resource: str,  # noqa: ARG002 - the protocol
        names: Sequence[str],
        namespace: str = "",  # noqa: ARG002 - the protocol
    ) -> list[str]:
        return [] if SYSTEM_MASTERS in user.groups else list(names)

    async def rules(self, user: User, namespace: str) -> AccessRules:  # noqa: ARG002
        return _EVERYTHING if SYSTEM_MASTERS in user.groups else AccessRules()
