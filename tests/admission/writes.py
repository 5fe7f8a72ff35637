"""Writes for tests, and a world that has nothing in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from muster.admission import Asker, Write

if TYPE_CHECKING:
    from collections.abc import Sequence

Object = dict[str, Any]
OCM = "cluster.open-cluster-management.io"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW_TEXT = "2026-01-02T03:04:05Z"


def a_write(plural: str, new: Object | None, old: Object | None = None, group: str = OCM, **more: Any) -> Write:
    operation = "CREATE" if old is None else "DELETE" if new is None else "UPDATE"
    some = new or old or {}
    metadata = some.get("metadata", {})
    return Write(
        operation,
        f"{plural}.{group}",
        some.get("apiVersion", "").rpartition("/")[2],
        metadata.get("namespace", ""),
        metadata.get("name", ""),
        more.get("subresource", ""),
        Asker("alice"),
        old,
        new,
        False,
        NOW,
    )


class Nothing:
    """A world where nothing exists and everything is allowed."""

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        return None

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[Object]:
        return ()

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        return ()

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        return ()
