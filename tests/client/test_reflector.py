"""The copy of a collection is kept true, whatever single objects hold and whatever handlers do."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from muster.client.heads import head_of
from muster.client.reflector import Gathered, Reflector
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from muster.client.reflector import Handler

DEEP = "[" * 5000 + "]" * 5000


def an_object(name: str, revision: int, extra: str = "null") -> str:
    return f'{{"metadata": {{"name": "{name}", "resourceVersion": "{revision}"}}, "spec": {extra}}}'


@dataclass
class Server:
    """Answers one list, then one watch, then nothing more."""

    items: list[str]
    events: list[tuple[str, str]] = field(default_factory=list)
    lists: int = 0

    async def request(self, *_: Any, **__: Any) -> Any:
        self.lists += 1
        body = f'{{"metadata": {{"resourceVersion": "5"}}, "items": [{", ".join(self.items)}]}}'
        return SimpleNamespace(body=body.encode())

    async def watch_lines(self, *_: Any, **__: Any) -> AsyncIterator[bytes]:
        events, self.events = self.events, []
        for kind, obj in events:
            yield f'{{"type": "{kind}", "object": {obj}}}'.encode()
        await asyncio.Event().wait()


class Names:
    """Keeps names, and fails on those it is told to fail on."""

    def __init__(self, failing: Sequence[str] = (), failures: int = 0) -> None:
        self.known: set[str] = set()
        self._failing = failing
        self._failures = failures

    def listing(self, revision: str) -> Gathered:
        assert revision
        return Gathered(self.replace)

    def replace(self, objects: Sequence[bytes], revision: str) -> None:
        assert revision
        if self._failures:
            self._failures -= 1
            raise OverflowError("date value out of range")
        self.known = set()
        for encoded in objects:
            self.put(encoded)

    def put(self, encoded: bytes) -> None:
        name = encoded.decode().split('"name": "')[1].split('"')[0]
        if name in self._failing:
            raise RecursionError(name)
        self.known.add(name)

    def remove(self, encoded: bytes) -> None:
        raise KeyError(encoded)


async def reflected(server: Server | Paged, handler: Handler, revision: str, *others: Handler) -> Reflector:
    resource: Any = SimpleNamespace(path=lambda _: "/x", plural="things")
    client: Any = server
    reflector = Reflector(client, resource, handler, *others)
    task = asyncio.create_task(reflector.run())
    async with asyncio.timeout(10):
        while reflector.revision != revision:
            assert not task.done(), task.exception()
            await asyncio.sleep(0.005)
    task.cancel()
    return reflector


def test_an_object_that_nests_too_deep_keeps_no_other_out() -> None:
    server = Server(
        [an_object("a", 1), an_object("deep", 2, DEEP), an_object("b", 3)],
        [("ADDED", an_object("deeper", 6, DEEP)), ("ADDED", an_object("c", 7))],
    )
    handler = Names()
    asyncio.run(reflected(server, handler, "7"))
    assert (handler.known, server.lists) == ({"a", "deep", "b", "deeper", "c"}, 1)


@pytest.mark.parametrize("deed", ["ADDED", "MODIFIED", "DELETED"])
def test_an_event_that_a_handler_fails_on_is_named_and_the_next_one_comes(
    deed: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server([an_object("a", 1)], [(deed, an_object("bad", 6)), ("ADDED", an_object("c", 7))])
    handler = Names(failing=["bad"])
    asyncio.run(reflected(server, handler, "7"))
    assert (handler.known, server.lists) == ({"a", "c"}, 1)
    assert "things bad could not be taken in" in caplog.text


def test_a_list_that_a_handler_fails_on_is_asked_for_again(caplog: pytest.LogCaptureFixture) -> None:
    handler = Names(failures=2)
    server = Server([json.dumps({"metadata": {"name": "a"}})])
    reflector = asyncio.run(reflected(server, handler, "5"))
    assert (handler.known, server.lists) == ({"a"}, 3)
    assert reflector.synced.is_set()
    assert "OverflowError" in caplog.text


@dataclass
class Paged:
    """A server with pages of one object each; it fails on the page that it is told to fail on, once."""

    names: Sequence[str]
    failing: int = -1
    asked: list[int] = field(default_factory=list)

    async def request(self, *_: Any, params: Mapping[str, str], **__: Any) -> Any:
        number = int(params.get("continue", "0"))
        self.asked.append(number)
        if number == self.failing:
            self.failing = -1
            raise ApiError(410, "Expired", "too old")
        more = f', "continue": "{number + 1}"' if number + 1 < len(self.names) else ""
        item = f'{{"metadata": {{"name": "{self.names[number]}", "resourceVersion": "{number}"}}}}'
        return SimpleNamespace(body=f'{{"metadata": {{"resourceVersion": "5"{more}}}, "items": [{item}]}}'.encode())

    async def watch_lines(self, *_: Any, **__: Any) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""


class Steps:
    """A handler that notes what it is told, and what the server had been asked for by then."""

    def __init__(self, server: Paged) -> None:
        self.told: list[tuple[str, int]] = []
        self._server = server

    def listing(self, revision: str) -> Steps:
        self._note(f"list {revision}")
        return self

    def add(self, objects: Sequence[bytes]) -> None:
        self._note(" ".join(head_of(each).metadata.name for each in objects))

    def finish(self, revision: str) -> None:
        self._note(f"all of {revision}")

    def replace(self, objects: Sequence[bytes], revision: str) -> None:
        raise AssertionError((objects, revision))

    def put(self, encoded: bytes) -> None:
        raise AssertionError(encoded)

    def remove(self, encoded: bytes) -> None:
        raise AssertionError(encoded)

    def _note(self, text: str) -> None:
        self.told.append((text, len(self._server.asked)))


def test_pages_are_taken_in_while_the_next_one_is_asked_for() -> None:
    server = Paged("abc")
    first, second = Steps(server), Steps(server)
    asyncio.run(reflected(server, first, "5", second))
    assert [text for text, _ in first.told] == ["list 5", "a", "b", "c", "all of 5"]
    assert first.told[-1] == second.told[-1] == ("all of 5", 3)
    assert ("a", 2) in second.told  # when the second handler gets a page, the server is making the next one
    assert server.asked == [0, 1, 2]


def test_a_list_that_breaks_off_is_told_anew_and_never_finished() -> None:
    server = Paged("abc", failing=2)
    steps = Steps(server)
    asyncio.run(reflected(server, steps, "5"))
    told = [text for text, _ in steps.told]
    assert told == ["list 5", "a", "b", "list 5", "a", "b", "c", "all of 5"]
