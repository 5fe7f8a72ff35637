"""JoinReview: what a user may do with cluster sets, what moving a cluster takes, and who may, by roles and bindings.

A user may ask about himself. About others may ask who may create SubjectAccessReviews, which tell the same one by one;
who may join is for those who may list roles and bindings. Sets and clusters are those that the asker may get.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.access.reviewing import exclusive_key, move_review, who_may_join
from muster.access.set_access import move, the_user
from muster.api.fleet_joining import Joiner, JoinReviewStatus, MoveReview, SetAccess
from muster.clustersets.permissions import bind, join
from muster.errors import InvalidObjectError
from muster.hub import status
from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.objects import decode
from muster.hub.redaction import GROUP
from muster.hub.requests import Attributes
from muster.hub.storage import Key
from muster.hub.write_checks import require
from muster.values.causes import invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.access.policy import Policy
    from muster.api.fleet_joining import JoinReviewSpec
    from muster.clustersets.permissions import Permission
    from muster.hub.requests import Authorizer, User
    from muster.hub.storage.reading import StoredObjects
    from muster.values.json import JsonMapping, JsonObject

_SETS: Final = f"managedclustersets.{GROUP}"
_CLUSTERS: Final = f"managedclusters.{GROUP}"
_RBAC: Final = "rbac.authorization.k8s.io"
_ROLES: Final = (f"clusterroles.{_RBAC}", f"clusterrolebindings.{_RBAC}")


class JoinReviews:
    """Answers for users who may create the kind."""

    def __init__(self, store: StoredObjects, authorizer: Authorizer, policy: Callable[[], Policy]) -> None:
        self._store = store
        self._authorizer = authorizer
        self._policy = policy

    async def answer(self, user: User, asked: JoinReviewSpec) -> JoinReviewStatus:
        """Raises 403 and 404."""
        about = user
        if asked.user and (asked.user != user.name or asked.groups):
            attributes = Attributes("create", "authorization.k8s.io", "v1", "subjectaccessreviews")
            await require(self._authorizer, user, attributes)
            about = the_user(asked.user, asked.groups)
        sets = [await self._one_set(user, asked.set)] if asked.set else await self._sets(user)
        who, is_hidden = await self._who(user, sets[0]) if asked.set else ((), False)
        return JoinReviewStatus(
            about.name,
            tuple(self._access(about, each) for each in sets),
            await self._move(user, about, asked.cluster, sets[0]) if asked.cluster else None,
            who,
            is_hidden,
        )

    async def _sets(self, user: User) -> list[JsonObject]:
        records = {record.key.name: record for record in self._store.scan(_SETS)}
        missing = set(await self._authorizer.missing(user, "get", _SETS, sorted(records)))
        return [decode(records[name].value) for name in sorted(records.keys() - missing)]

    async def _one_set(self, user: User, name: str) -> JsonObject:
        await require(self._authorizer, user, Attributes("get", GROUP, "v1beta2", "managedclustersets", name=name))
        return self._stored(_SETS, name)

    def _stored(self, resource: str, name: str) -> JsonObject:
        record = self._store.get(Key(resource, "", name))
        if record is None:
            raise status.not_found(GROUP, resource.partition(".")[0], name)
        return decode(record.value)

    def _access(self, about: User, cluster_set: JsonMapping) -> SetAccess:
        name, key = str(cluster_set["metadata"]["name"]), exclusive_key(cluster_set)
        # Members of a set by label selector are whatever has the labels: who may change these puts clusters in.
        may_join = self._may(about, join(name, "")) if key else self._may_change(about)
        return SetAccess(name, key, may_join, self._may(about, bind(name)))

    def _may(self, about: User, permission: Permission) -> bool:
        return self._allows(
            about,
            Attributes(
                permission.verb, permission.group, "", permission.resource, permission.subresource, "", permission.name
            ),
        )

    def _may_change(self, about: User) -> bool:
        return any(self._allows(about, Attributes(verb, GROUP, "", "managedclusters")) for verb in ("update", "patch"))

    def _allows(self, about: User, attributes: Attributes) -> bool:
        return SYSTEM_MASTERS in about.groups or self._policy().decide(about, attributes) is not None

    async def _move(self, user: User, about: User, cluster: str, wanted: JsonObject) -> MoveReview:
        await require(self._authorizer, user, Attributes("get", GROUP, "v1", "managedclusters", name=cluster))
        # Whether a name in the cluster's labels is that of a set shows in the needs, as when a write is refused.
        every_set = [decode(record.value) for record in self._store.scan(_SETS)]
        try:
            found = move(self._policy(), about, self._stored(_CLUSTERS, cluster), wanted, every_set)
        except InvalidObjectError as error:
            causes = [invalid("spec.set", wanted["metadata"]["name"], f"nobody can tell who is in it: {error}")]
            raise status.invalid("fleet.muster.dev", "JoinReview", "", causes) from None
        return move_review(found)

    async def _who(self, user: User, cluster_set: JsonMapping) -> tuple[tuple[Joiner, ...], bool]:
        for resource in _ROLES:
            if await self._authorizer.missing(user, "list", resource, ("",)):
                return (), True
        return who_may_join(self._policy(), cluster_set), False
