"""What of the fleet a question may range over, for the user who asks it: what roles let him get.

`questions` asks before anything is evaluated. Names that roles give are found in the roles, not by asking for every
object there is, and are believed only if the authorizer says so.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from muster.hub import status
from muster.hub.redaction import GROUP
from muster.hub.requests import Attributes
from muster.hub.write_checks import require
from muster.questions.asked import OTHERS, Scope

if TYPE_CHECKING:
    from muster.hub.requests import Authorizer, User
    from muster.hub.storage import Store

_CLUSTERS: Final = f"managedclusters.{GROUP}"
_SETS: Final = f"managedclustersets.{GROUP}"
_PLACEMENTS: Final = f"placements.{GROUP}"
_EXPLAIN: Final = f"placements/explain.{GROUP}"
_NAMESPACES: Final = "namespaces"
_MOST_NAMESPACES: Final = 1000
_ANY: Final = "*"


class Scopes:
    """Knows who may get what."""

    def __init__(self, store: Store, authorizer: Authorizer) -> None:
        self._store = store
        self._authorizer = authorizer

    async def of_clusters(self, user: User, namespace: str = "") -> Scope:
        """Clusters that the user may get; those in sets bound to a namespace are counted, if he may ask about it.

        Who may try out placements in a namespace can count the clusters of its sets that way already. Raises 403.
        """
        if namespace:
            await require(
                self._authorizer, user, Attributes("create", GROUP, "v1beta1", "placements", "explain", namespace)
            )
        sets = None if await self._may_get_all(user, _SETS) else frozenset(await self._names(user, _SETS))
        if await self._may_get_all(user, _CLUSTERS):
            return Scope(everything=True, bound=namespace, sets=sets)
        return Scope(names=frozenset(await self._names(user, _CLUSTERS)), bound=namespace, sets=sets)

    async def of_objects(self, user: User, resource: str, namespace: str) -> Scope:
        """Objects of another resource that the user may get, in one namespace or in all."""
        key = OTHERS[resource]
        if await self._may_get_all(user, key, namespace):
            return Scope(everything=not namespace, namespaces=frozenset({namespace} - {""}))
        places = [namespace] if namespace else [record.key.name for record in self._store.scan(_NAMESPACES)]
        if len(places) > _MOST_NAMESPACES:
            raise status.bad_request(
                f"there are {len(places)} namespaces, and you may not get {resource} in all of them: "
                "name the one you ask about in spec.namespace"
            )
        whole = frozenset([place for place in places if await self._may_get_all(user, key, place)])
        names = [
            f"{place}/{name}" for place in places if place not in whole for name in await self._names(user, key, place)
        ]
        return Scope(names=frozenset(names), namespaces=whole)

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

    async def _names(self, user: User, resource: str, namespace: str = "") -> set[str]:
        """The names that the user may get, because roles name them."""
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
        return named - set(await self._authorizer.missing(user, "get", resource, sorted(named), namespace))
