"""Kinds that come later, and those without which nothing may be decided."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from muster.client.discovery import Discovery, ServedResource
from muster.client.errors import UnreachableError
from muster.controllers.runtime.late_kinds import LateKinds, discovered

if TYPE_CHECKING:
    from muster.client import Client
    from muster.client.reflector import Reflector

PLACEMENTS = ServedResource("g.io", "v1", "placements", "placement", "Placement", True)
SCORES = ServedResource("g.io", "v1", "scores", "score", "Score", True)


class Server:
    """Answers with what it has been told to, one after the other; the last answer stays."""

    def __init__(self, *answers: tuple[ServedResource, ...] | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def discover(self) -> Discovery:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Discovery(answer)

    @property
    def client(self) -> Client:
        return cast("Client", self)


def made(resource: ServedResource) -> Reflector:
    return cast("Reflector", f"a reflector of {resource.plural}")


def test_nothing_is_decided_before_the_server_serves_what_decisions_are_made_of(caplog: Any) -> None:
    server = Server(UnreachableError("https://x", "refused"), (SCORES,), (SCORES,), (SCORES, PLACEMENTS))
    found = asyncio.run(discovered(server.client, ["placements.g.io"]))
    assert found.find("placements.g.io") == PLACEMENTS
    assert server.asked == 4
    told = [each.getMessage() for each in caplog.records if "placements.g.io" in each.getMessage()]
    assert len(told) == 1, "it is said once, not every time"


def test_a_kind_that_is_missing_is_watched_when_it_comes() -> None:
    server = Server(UnreachableError("https://x", "refused"), (PLACEMENTS,), (PLACEMENTS, SCORES))
    late = LateKinds(server.client, pause=0.0)
    now = Discovery((PLACEMENTS,))
    assert late.reflector(now, "placements.g.io", made) == [made(PLACEMENTS)]
    assert late.reflector(now, "scores.g.io", made) == []
    started: list[Reflector] = []
    asyncio.run(late.run(started.append))
    assert started == [made(SCORES)]


def test_nobody_looks_where_nothing_is_missing() -> None:
    server = Server((PLACEMENTS,))
    asyncio.run(LateKinds(server.client).run(lambda _: None))
    assert server.asked == 0
