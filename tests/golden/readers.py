"""Answers as a user sees them who may get some clusters: the hub's own redaction over a store that has the objects."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from muster.hub.redaction import CLUSTERS, Redaction
from muster.hub.requests import AccessRules, Attributes, Decision
from muster.hub.storage import Key, Put, Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from muster.hub.requests import User
    from muster.placement.explain.report import PlacementReport

_BINDINGS = "managedclustersetbindings.cluster.open-cluster-management.io"


class ByName:
    """Lets the user get these clusters and do nothing else. With all of them, everything may be read."""

    def __init__(self, seen: frozenset[str], *, everything: bool) -> None:
        self._seen = seen
        self._everything = everything

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        return Decision(self._everything or (attributes.verb == "get" and attributes.name in self._seen))

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> list[str]:
        return [name for name in names if not (self._everything or (verb == "get" and name in self._seen))]

    async def rules(self, user: User, namespace: str) -> AccessRules:
        return AccessRules()


class Reading:
    """One reader, and what is stored."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction

    @staticmethod
    @contextlib.asynccontextmanager
    async def of(objects: Sequence[dict[str, Any]], seen: Sequence[str]) -> AsyncIterator[Reading]:
        names = [each["metadata"]["name"] for each in objects if each["kind"] == "ManagedCluster"]
        keys = [Key(CLUSTERS, "", name) for name in names]
        bindings = [each["metadata"] for each in objects if each["kind"] == "ManagedClusterSetBinding"]
        keys += [Key(_BINDINGS, each["namespace"], each["name"]) for each in bindings]
        async with Store.open(None) as store:
            await store.commit([Put(key, b'{"metadata":{"resourceVersion":"', b'"}}', 0) for key in keys])
            yield Reading(Redaction(store, ByName(frozenset(seen), everything=set(names) <= set(seen))))

    async def shown(self, user: User, placement: dict[str, Any], report: PlacementReport) -> PlacementReport:
        return await self._redaction.over(user, placement, report)
