"""The hub's authorizer, on Kubernetes: the API server decides, by SubjectAccessReviews.

Which names roles give a user is read off a mirror of the roles, where we may read them, so that nobody has to ask for
every object there is; each of these names counts only if the API server says so too.
"""

from __future__ import annotations

import itertools
import sys
from typing import TYPE_CHECKING, Final

from muster.access.policy import Policy
from muster.hub import status
from muster.hub.auth.rbac.authorizer import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES
from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.objects import decode
from muster.hub.requests import AccessRules
from muster.hub.storage import Unchanged
from muster.kubernetes.serving.reviews import TooManyReviewsError, attributes_of_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.requests import Attributes, Decision, User
    from muster.kubernetes.serving.mirrored_objects import MirroredObjects
    from muster.kubernetes.serving.reviews import AccessReviews

RBAC: Final = (CLUSTER_ROLES, ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS)
MOST_BY_NAME: Final = 200  # reviews for one resource of one question
NO_NAME: Final = "\0"  # of no object: a role with names in it is not one for all
_CLUSTERS: Final = "managedclusters.cluster.open-cluster-management.io"


class ReviewingAuthorizer:
    """Asks the API server."""

    at_once = sys.maxsize  # all of them, so that it is one number that is refused

    def __init__(self, store: MirroredObjects, reviews: AccessReviews) -> None:
        self.store = store
        self._reviews = reviews
        self._policy: Policy | None = None
        self._moments = itertools.count()

    def read(self) -> tuple[Unchanged, ...]:
        """Another answer every time: nobody knows when the API server would decide otherwise."""
        return (Unchanged(CLUSTER_ROLES, None, None, next(self._moments)),)

    def roles_changed(self) -> None:
        """The mirror of roles has changed; the policy is made anew when somebody asks for it."""
        self._policy = None

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        return await self._reviews.decided(user, attributes)

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> list[str]:
        """One review for all; then, of those that roles name, at most so many by name. Raises 403 with a clear word."""
        wanted = [name for name in names if name]
        if len(wanted) > 1 and not await self._reviews.missing(user, verb, resource, ("",), namespace, most=1):
            return []
        granted = list(names)
        if self.knows_roles and (namespace or len(wanted) > 1):
            granted = [name for name in names if self._is_granted(user, verb, resource, namespace, name)]
        try:
            refused = set(await self._reviews.missing(user, verb, resource, granted, namespace, most=MOST_BY_NAME))
        except TooManyReviewsError as error:
            raise status.StatusError(403, "Forbidden", str(error)) from None
        passed = set(granted) - refused
        return [name for name in names if name not in passed]

    def _is_granted(self, user: User, verb: str, resource: str, namespace: str, name: str) -> bool:
        """Whether roles say so. Where something else than roles decides, that is told less, and never more."""
        if SYSTEM_MASTERS in user.groups:
            return True
        attributes = attributes_of_name(verb, resource, namespace, name or NO_NAME)
        return self.policy.decide(user, attributes) is not None

    async def rules(self, user: User, namespace: str) -> AccessRules:
        """What roles say that the user may do, as far as it is known here. Nobody is let in by that alone."""
        if self.knows_roles:
            return AccessRules(
                tuple(each.to_object() for each in self.policy.rules_for(user, namespace) if each.resources)
            )
        # No roles to be read: of a small fleet every cluster is asked for by name.
        names = [record.key.name for record in self.store.scan(_CLUSTERS)] if self.store.has(_CLUSTERS) else []
        plural, _, group = _CLUSTERS.partition(".")
        rule = {"verbs": ["get"], "apiGroups": [group], "resources": [plural], "resourceNames": names}
        return AccessRules((rule,) if names else (), incomplete=True)

    @property
    def knows_roles(self) -> bool:
        return all(self.store.has(resource) for resource in RBAC)

    @property
    def policy(self) -> Policy:
        """Roles and bindings as they are now. Raises 503 where they cannot be read."""
        if self._policy is None:
            policy = Policy()
            for resource in RBAC:
                for record in self.store.scan(resource):
                    obj = decode(record.value)
                    (policy.put_role if resource in (CLUSTER_ROLES, ROLES) else policy.put_binding)(obj)
            self._policy = policy
        return self._policy
