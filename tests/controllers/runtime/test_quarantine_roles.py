"""The quarantine is kept also by those who may update its ConfigMap and not patch it."""

from __future__ import annotations

import asyncio
from typing import Any

from muster.controllers.runtime.quarantine import CONFIG_MAP, Entry, Quarantine, QuarantineKeeper
from muster.errors import ApiError
from muster.supervision import Subject
from tests.kubernetes.fakes import FakeServer

COLLECTION = "/api/v1/namespaces/home/configmaps"
PATH = f"{COLLECTION}/{CONFIG_MAP}"


class NoPatches(FakeServer):
    async def request(self, method: str, path: str, *, body: Any = None, **more: Any) -> Any:
        if method == "PATCH":
            raise ApiError(403, "Forbidden", "cannot patch")
        return await super().request(method, path, body=body, **more)


def test_entries_are_added_and_released_by_updates() -> None:
    server, quarantine = NoPatches(), Quarantine("home")
    keeper = QuarantineKeeper(quarantine, server.client, PATH, COLLECTION)
    first = Entry(Subject("Placement", "apps", "p1", "u1", 1), "it hung", number=1)
    second = Entry(Subject("Placement", "apps", "p2", "u2", 1), "it hung", number=2)
    for entry in (first, second):
        quarantine.set_aside(entry)
        asyncio.run(keeper.record())
    assert set(server.objects[PATH]["data"]) == {first.key, second.key}
    assert quarantine.unwritten() == []
    asyncio.run(keeper.release([first]))
    assert set(server.objects[PATH]["data"]) == {second.key}
    assert [method for method, _, _ in server.written] == ["POST", "PUT", "PUT"]
