"""JoinReview without a hub: what a user may do with cluster sets, decided by the server's own access reviews.

`local` hands questions over. About himself a user may always ask; about others the server says who may. Who may join is
for who may list cluster roles and their bindings. The answer has the same parts as the hub's, by the same functions.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from muster.access.attributes import SYSTEM_MASTERS
from muster.access.policy import Policy
from muster.access.reviewing import exclusive_key, move_review, who_may_join
from muster.access.set_access import Need, master_need, planned_move, the_user
from muster.api.fleet_joining import JoinReviewStatus, SetAccess
from muster.api.managed_cluster import GROUP
from muster.client.rights import Verdict, review, who_am_i
from muster.clustersets.permissions import bind, join
from muster.errors import ApiError, InvalidObjectError
from muster.questions.asked import CLUSTERS, SETS, served
from muster.values.api_paths import collection_path
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from muster.access.attributes import User
    from muster.api.fleet_joining import Joiner, JoinReviewSpec, MoveReview
    from muster.client import Client
    from muster.clustersets.permissions import Permission
    from muster.questions.local_fleet import LocalFleet

_MOST_SETS: Final = 200  # that are asked about one by one
_AT_ONCE: Final = 16
_GRANTED: Final = "RBAC: allowed by "
_RBAC: Final = "rbac.authorization.k8s.io"
_FORBIDDEN, _INVALID = 403, 422


async def join_reviewed(asked: JoinReviewSpec, fleet: LocalFleet) -> JoinReviewStatus:
    """The whole answer, from sets that have been read. Raises ApiError."""
    me = await who_am_i(fleet.client)
    if asked.user and (asked.user != me.username or asked.groups):
        about = _Rights(fleet.client, the_user(asked.user, asked.groups), is_self=False)
    else:
        about = _Rights(fleet.client, the_user(me.username, me.groups), is_self=True)
    known = {name: fleet.world.sets[name].plain() for name in sorted(fleet.world.sets)}
    if asked.set and asked.set not in known:
        known[asked.set] = await _one(fleet.client, SETS, asked.set)
    wanted = [known[asked.set]] if asked.set else list(known.values())
    if len(wanted) > _MOST_SETS:
        text = f"there are {len(wanted)} cluster sets, and this server is asked about each: name one in spec.set"
        raise ApiError(400, "BadRequest", text)
    who, is_hidden = await _who(fleet.client, wanted[0]) if asked.set else ((), False)
    return JoinReviewStatus(
        about.user.name,
        tuple(await asyncio.gather(*(_access(about, each) for each in wanted))),
        await _move(about, asked, wanted[0], list(known.values())) if asked.cluster else None,
        who,
        is_hidden,
    )


class _Rights:
    """What one user may do, as the server says."""

    def __init__(self, client: Client, user: User, *, is_self: bool) -> None:
        self.client = client
        self.user = user
        self._is_self = is_self
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def may(self, verb: str, resource: str, subresource: str = "", name: str = "") -> Verdict:
        attributes = {"group": GROUP, "resource": resource, "subresource": subresource, "verb": verb, "name": name}
        async with self._turns:
            if self._is_self:
                return await review(self.client, attributes)
            return await review(self.client, attributes, self.user.name, self.user.groups)

    async def has(self, permission: Permission) -> Verdict:
        return await self.may(permission.verb, permission.resource, permission.subresource, permission.name)

    async def need(self, any_of: tuple[Permission, ...]) -> Need:
        """Permissions of which any one will do, and by what the user has some of them."""
        if SYSTEM_MASTERS in self.user.groups:
            return master_need(any_of)
        found = {each.verb: await self.has(each) for each in any_of}
        return Need(any_of, {verb: _binding(each) for verb, each in found.items() if each.allowed})


def _binding(verdict: Verdict) -> str:
    """What allows it, as far as the server tells."""
    return verdict.reason.removeprefix(_GRANTED) or "the server's word"


async def _access(about: _Rights, cluster_set: JsonMapping) -> SetAccess:
    name, key = str(cluster_set["metadata"]["name"]), exclusive_key(cluster_set)
    if key:
        may_join = (await about.has(join(name, ""))).allowed
    else:
        # Members of a set by label selector are whatever has the labels: who may change these puts clusters in.
        may_join = (await about.may("update", CLUSTERS)).allowed or (await about.may("patch", CLUSTERS)).allowed
    return SetAccess(name, key, may_join, (await about.has(bind(name))).allowed)


async def _move(about: _Rights, asked: JoinReviewSpec, wanted: JsonObject, sets: list[JsonObject]) -> MoveReview:
    cluster = await _one(about.client, CLUSTERS, asked.cluster)
    try:
        planned = planned_move(cluster, wanted, sets)
    except InvalidObjectError as error:
        text = f'JoinReview.fleet.muster.dev "" is invalid: spec.set: nobody can tell who is in it: {error}'
        raise ApiError(_INVALID, "Invalid", text) from None
    needs = [await about.need(each) for each in planned.needs]
    return move_review(planned.answer(about.user.name, tuple(needs)))


async def _who(client: Client, cluster_set: JsonMapping) -> tuple[tuple[Joiner, ...], bool]:
    policy = Policy()
    try:
        for kind in ("ClusterRole", "ClusterRoleBinding"):
            put = policy.put_role if kind == "ClusterRole" else policy.put_binding
            async for page in client.pages(collection_path(_RBAC, "v1", f"{kind.lower()}s")):
                for each in page["items"]:
                    put({"kind": kind, **each})
    except ApiError as error:
        if error.code != _FORBIDDEN:
            raise
        return (), True
    return who_may_join(policy, cluster_set), False


async def _one(client: Client, resource: str, name: str) -> JsonObject:
    found: JsonObject = (await client.request("GET", served(resource).object_path("", name))).json()
    return found
