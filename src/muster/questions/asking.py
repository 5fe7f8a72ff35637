"""Whom to ask about the fleet, whatever server there is: one `Asker` for commands and one for programs that stay.

    async with Client(connection) as client:                 # a command: asks a few questions and ends
        answer = await commanding(client).ask("SetExplanation", {"name": "prod-clusters"})

    async with staying(client) as asker:                     # `muster console`, `muster shadow --watch`
        answer = await asker.ask("FleetEvaluation", {"expression": "…", "rows": {"limit": 50}})
        status = await evaluate_fleet(asker, FleetEvaluationSpec(expression="…"))     # the same, as structs

An asker has one method, `ask(kind, spec) -> Answer`; `muster.client.asking` says what it promises. Both askers ask the
server first. Where it does not know the kinds (404), does not let this user ask (403 for the kind itself) or has nobody
who answers (503), an observer in this process answers: it lists with the user's own rights, and watches if it stays.
Those who stay wait for a server that starts: nobody lists a hundred thousand clusters for that moment.
Both answer with the same functions over the same world, and so the same. What could not be read is in
`Answer.notes`; `Answer.home` says who answered.

That a server does not know the kinds is remembered; after a few minutes it is asked again, for those who stay while it
is upgraded. The observer is made when it is first needed, and once.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Final

import msgspec

from muster.client.asking import Answer, Asker, ServerAsker, is_unanswered
from muster.errors import ApiError
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from muster.client import Client
    from muster.client.asking import Requests
    from muster.questions.local import Planner

__all__ = ["Answer", "Asker", "ChosenAsker", "ServerAsker", "commanding", "staying"]

_AGAIN: Final = 300.0  # seconds after which a server that did not know the kinds is asked again
_UNAVAILABLE: Final = 503


class ChosenAsker:
    """Asks the server, and the observer where no server answers. `local` makes the observer's asker."""

    def __init__(
        self, server: Asker, local: Callable[[], Awaitable[Asker]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._server = server
        self._make_local = local
        self._clock = clock
        self._local: Asker | None = None
        self._making = asyncio.Lock()
        self._unknown: dict[str, float] = {}  # kinds that the server did not answer, and until when

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        if self._clock() >= self._unknown.get(kind, 0.0):
            try:
                return await self._server.ask(kind, spec)
            except ApiError as error:
                if not is_unanswered(error, kind):
                    raise
                return await self._by_observer(kind, spec, error)
        return await (await self._observer()).ask(kind, spec)

    async def _by_observer(self, kind: str, spec: msgspec.Struct | JsonMapping, error: ApiError) -> Answer:
        if error.code != _UNAVAILABLE:
            if error.kind != "placements":  # that is a matter of one namespace, and not of the kind
                self._unknown[kind] = self._clock() + _AGAIN
            return await (await self._observer()).ask(kind, spec)
        answer = await (await self._observer()).ask(kind, spec)
        why = f"answered from lists, because the server does not answer questions now: {error}"
        return msgspec.structs.replace(answer, notes=(why, *answer.notes))

    async def _observer(self) -> Asker:
        async with self._making:
            if self._local is None:
                self._local = await self._make_local()
            return self._local


class _Server:
    """A server, of whatever age. One that does not take the question may still explain placements as it always did."""

    def __init__(self, client: Requests) -> None:
        self._client = client
        self._server = ServerAsker(client)

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        try:
            return await self._server.ask(kind, spec)
        except ApiError as error:
            if kind != "PlacementExplanation" or error.code == _UNAVAILABLE or not is_unanswered(error, kind):
                raise
            from muster.client.explanations import by_subresource

            answer = await by_subresource(self._client, spec)
            if answer is None:
                raise
            return answer


def commanding(client: Requests, planner: Planner | None = None) -> Asker:
    """For commands: an observer, if one is needed, lists what a question needs, once, and watches nothing.

    Without a `planner` (`muster.hub.local_plans`) it answers no Plan.
    """

    async def local() -> Asker:
        from muster.questions.local import LocalAsker, utc_now
        from muster.questions.local_fleet import LocalFleet
        from muster.questions.local_previews import ResolvedHere

        fleet = LocalFleet(client.whole(), utc_now)
        fleet.observer.previews.pool = ResolvedHere()
        return LocalAsker(fleet, planner=planner)

    return ChosenAsker(_Server(client), local)


@contextlib.asynccontextmanager
async def staying(client: Client, planner: Planner | None = None) -> AsyncIterator[Asker]:
    """For programs that stay: an observer, if one is needed, lists and watches everything until the block ends.

    Without a `planner` it answers no Plan. That the server starts is an ApiError (503): ask again later.
    """
    async with contextlib.AsyncExitStack() as stack:
        server = _StartingServer(client)

        async def local() -> Asker:
            from muster.questions.local import watching

            if server.starting is not None:
                raise server.starting
            return await stack.enter_async_context(watching(client, planner=planner))

        yield ChosenAsker(server, local)


class _StartingServer(_Server):
    """Remembers whether the server is one that will answer in a moment."""

    starting: ApiError | None = None

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        self.starting = None
        try:
            return await super().ask(kind, spec)
        except ApiError as error:
            self.starting = error if error.code == _UNAVAILABLE else None
            raise
