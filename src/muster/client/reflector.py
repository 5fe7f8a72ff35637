"""Keeps a copy of a collection true: list once, then watch; list again when the server has forgotten too much.

Objects are handed on as the bytes that the server sent, and page by page: the server makes the next page while handlers
take in this one. A connection that breaks is taken up again where it broke, with growing pauses; only a revision that
the server no longer knows costs a new list.

Nothing that one object holds ends it: handlers contain what they cannot read, and what they let through nevertheless is
logged with the object's name, and the next one comes.
"""

from __future__ import annotations

import asyncio
import logging
import random
from contextlib import aclosing
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import msgspec

from muster.client.client import JSON
from muster.client.errors import UnreachableError
from muster.client.heads import elements, head_of, members
from muster.errors import ApiError
from muster.values.api_paths import by_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from muster.client.client import Client
    from muster.client.discovery import ServedResource

_LOGGER = logging.getLogger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_PAGE = 500
_WATCH_SECONDS = 290  # a little less than what servers allow, so that it is we who end it
_GONE = 410
_SHORT = 1.0  # seconds: a watch that ends sooner without an event is a failure


class Listing(Protocol):
    """A list that a handler is being told."""

    def add(self, objects: Sequence[bytes]) -> None:
        """These are there."""

    def finish(self, revision: str) -> None:
        """That is all there is now, in this revision of the collection. A list that breaks off is never finished."""


class Handler(Protocol):
    """Whoever keeps the copy. All calls come from one task. An object that cannot be read must not keep out others."""

    def listing(self, revision: str) -> Listing:
        """A list of the collection begins, in this revision."""

    def replace(self, objects: Sequence[bytes], revision: str) -> None:
        """The same of a list that is at hand."""

    def put(self, encoded: bytes) -> str | None:
        """An object is new or changed. Its revision, where the handler knows it anyway: then nobody looks again."""

    def remove(self, encoded: bytes) -> str | None:
        """An object is gone; this was its last state. The same of its revision."""


class Gathered:
    """A list for a handler that takes it as a whole."""

    def __init__(self, replace: Callable[[Sequence[bytes], str], None]) -> None:
        self._replace = replace
        self._objects: list[bytes] = []

    def add(self, objects: Sequence[bytes]) -> None:
        self._objects += objects

    def finish(self, revision: str) -> None:
        self._replace(self._objects, revision)


class _ListMeta(msgspec.Struct):
    resourceVersion: str = ""  # noqa: N815 - the wire's names
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] | None  # a server may say nothing where there is nothing


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Status(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


_PAGES = msgspec.json.Decoder(_Page)
_EVENTS = msgspec.json.Decoder(_Event)
_METADATA = msgspec.json.Decoder(_ListMeta)
_STATUSES = msgspec.json.Decoder(_Status)


class Reflector:
    """One collection, and who listens. `run` ends only when it is cancelled; `synced` is set after the first list."""

    def __init__(
        self,
        client: Client,
        resource: ServedResource,
        *handlers: Handler,
        accept: tuple[str, str] = (JSON, JSON),
        one: tuple[str, str] | None = None,
        labels: str = "",
        namespace: str = "",
        since: str = "",
    ) -> None:
        """`accept` are the media types of lists and of watches, for those who need only metadata.

        `one` is the namespace and name of the only object wanted; permission for that object is enough. `labels`
        is a selector: other objects are never sent. `namespace` is where to look, if not everywhere. `since` is the
        revision of a list that the handlers have been told already.
        """
        self._client = client
        self._accept_list, self._accept_watch = accept
        self._path = resource.path(one[0] if one else namespace)
        self._narrowed = by_name(one[1]) if one else {}
        self._narrowed |= {"labelSelector": labels} if labels else {}
        self.kind = resource.plural
        self._handlers = handlers
        self._revision = since
        self._told = 0  # events of this watch
        self.synced = asyncio.Event()
        if since:
            self.synced.set()

    @property
    def revision(self) -> str:
        """Up to where the handler has been told."""
        return self._revision

    async def run(self) -> None:
        failures = 0
        while True:
            self._told = 0
            started = asyncio.get_running_loop().time()
            try:
                if not self._revision:
                    await self._list()
                    self.synced.set()
                await self._watch()
                lasted = asyncio.get_running_loop().time() - started
                if self._told or lasted > _SHORT:
                    failures = 0
                    continue
                trouble = "the server ends it at once"
            except (ApiError, UnreachableError) as error:
                trouble = str(error)
                if isinstance(error, ApiError) and error.code == _GONE:
                    self._revision = ""  # only a new list helps
                if self._told:
                    failures = 0
            except Exception as error:
                # A server that sends something else, or a bug of ours. Either way the others must go on.
                trouble = f"{type(error).__name__}: {error}"
                if not isinstance(error, msgspec.MsgspecError):
                    _LOGGER.exception("watching %s failed unexpectedly", self.kind)
                self._revision = ""
            pause = min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE)
            failures += 1
            _LOGGER.warning("watching %s: %s; again in %.1f s", self.kind, trouble, pause)
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - so that not all come back at once

    async def _list(self) -> None:
        lists: list[Listing] = []
        revision = ""
        async with aclosing(_pages(self._client, self._path, self._narrowed, self._accept_list)) as pages:
            async for objects, revision in pages:
                lists = lists or [handler.listing(revision) for handler in self._handlers]
                for each in lists:
                    each.add(objects)
                    await asyncio.sleep(0)  # others go on, among them who asks for the next page
        for each in lists:
            each.finish(revision)
        self._revision = revision

    async def _watch(self) -> None:
        params = {
            "resourceVersion": self._revision,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(_WATCH_SECONDS),
            **self._narrowed,
        }
        async for line in self._client.watch_lines(self._path, params=params, accept=self._accept_watch):
            event = _event_of(line)
            self._told += event.type != "ERROR"
            if event.type == "ERROR":
                status = _STATUSES.decode(event.object)
                raise ApiError(status.code, status.reason, status.message)
            encoded = bytes(event.object)
            revision = self._tell(event.type, encoded) or head_of(encoded).metadata.resourceVersion
            self._revision = revision or self._revision

    def _tell(self, kind: str, encoded: bytes) -> str | None:
        """Tell all handlers; the revision, if one of them says it."""
        revision: str | None = None
        for handler in self._handlers:
            try:
                if kind in ("ADDED", "MODIFIED"):
                    revision = handler.put(encoded) or revision
                elif kind == "DELETED":
                    revision = handler.remove(encoded) or revision
            except Exception:
                # What handlers do not contain is a bug of ours. The events after this one must not wait for it.
                _LOGGER.exception("%s %s could not be taken in", self.kind, head_of(encoded))
        return revision


async def listed(
    client: Client, path: str, params: Mapping[str, str] = MappingProxyType({}), accept: str = JSON
) -> tuple[list[bytes], str]:
    """All objects of a collection as the server has them, and its revision. Raises ApiError."""
    objects: list[bytes] = []
    revision = ""
    async with aclosing(_pages(client, path, params, accept)) as pages:
        async for page, revision in pages:  # noqa: B007 - that of the last page counts
            objects += page
    return objects, revision


async def _pages(
    client: Client, path: str, params: Mapping[str, str], accept: str
) -> AsyncGenerator[tuple[list[bytes], str], None]:
    """The objects of each page, and the revision of the list. The next page is asked for before one is told."""
    wanted = {"limit": str(_PAGE), **params}
    asked = asyncio.create_task(client.request("GET", path, params=wanted, accept=accept))
    try:
        while True:
            page = _page_of((await asked).body)
            if page.metadata.continue_:
                following = {**wanted, "continue": page.metadata.continue_}
                asked = asyncio.create_task(client.request("GET", path, params=following, accept=accept))
            yield [bytes(item) for item in page.items or ()], page.metadata.resourceVersion
            if not page.metadata.continue_:
                return
    finally:
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)


def _page_of(body: bytes) -> _Page:
    try:
        return _PAGES.decode(body)
    except RecursionError:  # one of them nests very deep: the others are to be had nevertheless
        found = members(body.strip())
        items = [msgspec.Raw(item) for item in elements(found.get("items", b""))]
        return _Page(_METADATA.decode(found.get("metadata", b"{}")), items)


def _event_of(line: bytes) -> _Event:
    try:
        return _EVENTS.decode(line)
    except RecursionError:
        found = members(line.strip())
        return _Event(msgspec.json.decode(found.get("type", b'""'), type=str), msgspec.Raw(found.get("object", b"{}")))
