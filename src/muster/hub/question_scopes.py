"""What of the fleet a question may range over, for the user who asks it: what roles let him get.

`questions` asks before anything is evaluated. Names that roles give are found in the roles, not by asking for every
object there is, and are believed only if the authorizer says so.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol

from muster.api.resolution import GROUP as RESOLUTIONS
from muster.hub import status
from muster.hub.redaction import GROUP
from muster.hub.requests import Attributes, Authorizer
from muster.hub.write_checks import require
from muster.questions.asked import OTHERS, Scope

if TYPE_CHECKING:
    from muster.hub.requests import User
    from muster.hub.storage import Unchanged
    from muster.hub.storage.reading import StoredObjects

_CLUSTERS: Final = f"managedclusters.{GROUP}"
_SETS: Final = f"managedclustersets.{GROUP}"
_PLACEMENTS: Final = f"placements.{GROUP}"
_EXPLAIN: Final = f"placements/explain.{GROUP}"
_NAMESPACES: Final = "namespaces"
_MOST_NAMESPACES: Final = 1000
_MOST_NAMES: Final = 20_000  # that roles list one by one
_MOST_KNOWN: Final = 64  # users whose names are remembered
_ANY: Final = "*"
_Asked = tuple[str, tuple[str, ...], str, str]


class RevisedAuthorizer(Authorizer, Protocol):
    """One that says what its decisions rest on, so that they can be remembered."""

    at_once: int  # names that are confirmed without a pause

    def read(self) -> tuple[Unchanged, ...]: ...


class Scopes:
    """Knows who may get what."""

    def __init__(self, store: StoredObjects, authorizer: RevisedAuthorizer) -> None:
        self._store = store
        self._authorizer = authorizer
        self._known: OrderedDict[_Asked, frozenset[str]] = OrderedDict()  # names, as long as roles stay as they are
        self._known_at: tuple[Unchanged, ...] = ()

    async def of_clusters(self, user: User, namespace: str = "") -> Scope:
        """Clusters that the user may get; those in sets bound to a namespace are counted, if he may ask about it.

        Who may try out placements in a namespace can count the clusters of its sets that way already. Raises 403.
        """
        if namespace:
            await require(
                self._authorizer, user, Attributes("create", GROUP, "v1beta1", "placements", "explain", namespace)
            )
        sets = None if await self._may_get_all(user, _SETS) else await self._names(user, _SETS)
        if await self._may_get_all(user, _CLUSTERS):
            return Scope(everything=True, bound=namespace, sets=sets)
        return Scope(names=await self._names(user, _CLUSTERS), bound=namespace, sets=sets)

    async def of_objects(self, user: User, resource: str, namespace: str) -> Scope:
        """Objects of another resource that the user may get, in one namespace or in all."""
        return await self.of_namespaced(user, OTHERS[resource], namespace)

    async def of_namespaced(self, user: User, key: str, namespace: str) -> Scope:
        """The same for any resource that lives in namespaces, by plural and group."""
        if await self._may_get_all(user, key, namespace):
            return Scope(everything=not namespace, namespaces=frozenset({namespace} - {""}))
        places = [namespace] if namespace else [record.key.name for record in self._store.scan(_NAMESPACES)]
        if len(places) > _MOST_NAMESPACES:
            raise status.bad_request(
                f"there are {len(places)} namespaces, and you may not get {key} in all of them: "
                "name the one you ask about in spec.namespace"
            )
        whole = frozenset([place for place in places if await self._may_get_all(user, key, place)])
        names = [
            f"{place}/{name}" for place in places if place not in whole for name in await self._names(user, key, place)
        ]
        return Scope(names=frozenset(names), namespaces=whole)

    async def of_own_catalogs(self, user: User, namespace: str) -> Scope:
        """Everything for those who could save a resolution there and read what comes of it."""
        key = f"resolutions.{RESOLUTIONS}"
        missing = [await self._authorizer.missing(user, verb, key, ("",), namespace) for verb in ("create", "get")]
        return Scope(everything=not any(missing))

    async def of_explanations(self, user: User) -> Scope:
        """Where the user may explain every placement."""
        key = _EXPLAIN
        if await self._may_get_all(user, key):
            return Scope(everything=True)
        places = [record.key.name for record in self._store.scan(_NAMESPACES)][:_MOST_NAMESPACES]
        return Scope(namespaces=frozenset([place for place in places if await self._may_get_all(user, key, place)]))

    async def of_plans(self, user: User) -> tuple[Scope, bool]:
        """The placements that a plan may tell of, and whether there may be others: those that the user may get, where
        he may try out placements, or explain them if he may get every cluster. Reasons name the sets bound there."""
        verbs = ("create", "get") if await self._may_get_all(user, _CLUSTERS) else ("create",)
        if await self._may_get_all(user, _PLACEMENTS) and await self._may_explain(user, verbs):
            return Scope(everything=True), False
        whole: set[str] = set()
        names: set[str] = set()
        for record in islice(self._store.scan(_NAMESPACES), _MOST_NAMESPACES):
            place = record.key.name
            if not await self._may_explain(user, verbs, place):
                continue
            if await self._may_get_all(user, _PLACEMENTS, place):
                whole.add(place)
            else:
                names |= {f"{place}/{name}" for name in await self._names(user, _PLACEMENTS, place)}
        return Scope(names=frozenset(names), namespaces=frozenset(whole)), True

    async def _may_explain(self, user: User, verbs: tuple[str, ...], namespace: str = "") -> bool:
        """Whether the user has one of the verbs for explanations."""
        missing = [await self._authorizer.missing(user, verb, _EXPLAIN, ("",), namespace) for verb in verbs]
        return not all(missing)

    async def _may_get_all(self, user: User, resource: str, namespace: str = "") -> bool:
        return not await self._authorizer.missing(user, "get", resource, ("",), namespace)

    async def _names(self, user: User, resource: str, namespace: str = "") -> frozenset[str]:
        """The names that the user may get, because roles name them. Raises 400 for more than a question can be about.

        They are found once, until a role or binding changes.
        """
        if (now := self._authorizer.read()) != self._known_at:
            self._known.clear()
            self._known_at = now
        asked = (user.name, user.groups, resource, namespace)
        found = self._known.get(asked)
        if found is None:
            found = await self._found_names(user, resource, namespace)
            if self._authorizer.read() == self._known_at == now:
                self._known[asked] = found
                while len(self._known) > _MOST_KNOWN:
                    self._known.popitem(last=False)
        return found

    async def _found_names(self, user: User, resource: str, namespace: str) -> frozenset[str]:
        plural, _, group = resource.partition(".")
        rules = await self._authorizer.rules(user, namespace)
        named = {
            str(name)
            for rule in rules.resource_rules
            if not {_ANY, "get"}.isdisjoint(rule.get("verbs", ()))
            and not {_ANY, group}.isdisjoint(rule.get("apiGroups", ()))
            and not {_ANY, plural}.isdisjoint(rule.get("resources", ()))
            for name in rule.get("resourceNames", ())
        }
        if len(named) > _MOST_NAMES:
            raise status.bad_request(
                f"your roles name {len(named)} {resource} one by one; a question ranges over {_MOST_NAMES} at most. "
                f"Ask for a role that allows get on {plural} without resourceNames"
            )
        ordered = sorted(named)
        for begin in range(0, len(ordered), self._authorizer.at_once):
            some = ordered[begin : begin + self._authorizer.at_once]
            named -= set(await self._authorizer.missing(user, "get", resource, some, namespace))
            await asyncio.sleep(0)  # others have their turn
        return frozenset(named)
