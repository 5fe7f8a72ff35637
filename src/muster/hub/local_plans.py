"""A Plan that an observer in a command's own process answers: the hub's merging, over what the user may read himself.

Whoever makes an asker hands it over (`muster.questions.asking`): questions know nothing of hubs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.client.rights import review
from muster.hub.plan_objects import ServedPlanObjects
from muster.hub.plans import Plans
from muster.hub.requests import AccessRules, Decision, User
from muster.questions.asked import GUARDS, LOCAL_SECONDS, OTHERS, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.api.fleet_plan import PlanSpec, PlanStatus
    from muster.client import Client
    from muster.hub.requests import Attributes
    from muster.questions.asked import Question
    from muster.questions.local_fleet import LocalFleet

_MOST_PERMISSIONS: Final = 200  # each is a request
_ALL: Final = Scope(everything=True, sets=None)


async def planned_locally(spec: PlanSpec, fleet: LocalFleet) -> PlanStatus:
    """What writing would change, in a fleet that has been read. Raises ApiError and Refusal."""

    async def ask(question: Question) -> msgspec.Raw:
        return msgspec.Raw(await fleet.observer.answer(msgspec.json.encode(question)))

    hidden = fleet.unread.keys() - {*OTHERS, *GUARDS}  # of which no plan tells anything
    scopes = _Whatever(restricted=bool(hidden))
    plans = Plans(ServedPlanObjects(fleet.client), _OwnRights(fleet.client), scopes, LOCAL_SECONDS, _MOST_PERMISSIONS)
    return await plans.answer(User(""), spec, ask)


class _Whatever:
    """Whatever has been read may be told to whoever has read it."""

    def __init__(self, *, restricted: bool) -> None:
        self._restricted = restricted

    async def of_plans(self, user: User) -> tuple[Scope, bool]:  # noqa: ARG002 - the protocol
        return _ALL, self._restricted

    async def of_clusters(self, user: User) -> Scope:  # noqa: ARG002 - the protocol
        return _ALL


class _OwnRights:
    """What the client's own user may do. Objects are read with his rights: what he may not get does not come."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def authorize(self, user: User, attributes: Attributes) -> Decision:  # noqa: ARG002 - the protocol
        asked = {
            "group": attributes.group,
            "resource": attributes.resource,
            "subresource": attributes.subresource,
            "verb": attributes.verb,
            "namespace": attributes.namespace,
            "name": attributes.name,
        }
        return Decision((await review(self._client, asked)).allowed)

    async def missing(
        self,
        user: User,  # noqa: ARG002 - the protocol
        verb: str,
        resource: str,
        names: Sequence[str],
        namespace: str = "",
    ) -> list[str]:
        """Of all objects of a kind; of single ones it turns out when they are read."""
        plural, _, group = resource.partition(".")
        asked = {"group": group, "resource": plural, "verb": verb, "namespace": namespace}
        return [each for each in names if not each and not (await review(self._client, asked)).allowed]

    async def rules(self, user: User, namespace: str) -> AccessRules:  # noqa: ARG002 - the protocol
        """Nobody has asked: of the rules of others nothing is told here."""
        return AccessRules(incomplete=True)
