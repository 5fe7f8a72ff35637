"""One async client over HTTP: requests, discovery, lists in pages, watches. Refusals become errors."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import aiohttp
import aiohttp.connector as aiohttp_connector
import msgspec
from yarl import URL

from muster.client.credentials import Credentials
from muster.client.discovery import Discovery, from_aggregated, from_legacy
from muster.client.errors import UnreachableError, refusal, retry_after
from muster.client.kubeconfig import load_pair
from muster.client.replies import Reply, warnings_in
from muster.values.api_paths import checked, group_path
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from types import TracebackType

    from muster.client.discovery import ServedResource
    from muster.client.fence import Fence
    from muster.client.kubeconfig import Connection

JSON = "application/json"
TABLE = f"{JSON};as=Table;v=v1;g=meta.k8s.io,{JSON}"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
_AGGREGATED = f"{JSON};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,{JSON}"
_PAGE = 500
_PATIENCE = aiohttp.ClientTimeout(total=60, sock_connect=10)
_WHILE_WATCHING = aiohttp.ClientTimeout(total=None, sock_connect=10)
_ATTEMPTS = 4
_LINE = 16 * 1024 * 1024
_UNAUTHORIZED, _UNAVAILABLE = 401, 503
_STATIC = Credentials()


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One line of a watch."""

    type: str
    object: JsonObject


class Client:
    """Speaks to one server. Use it as an async context manager."""

    def __init__(self, connection: Connection, fence: Fence | None = None) -> None:
        """With a fence, what writes is sent only while that is open; LeadershipLostError otherwise."""
        self.connection = connection
        self._server = str(URL(connection.server)).rstrip("/")
        self._fence = fence
        self._session = self._new_session()
        self._retired: aiohttp.ClientSession | None = None
        self._pair: tuple[bytes, bytes] | None = None

    def _new_session(self) -> aiohttp.ClientSession:
        connection = self.connection
        own = {"User-Agent": "muster"}
        if _is_here(URL(connection.server).host or ""):
            own["Accept-Encoding"] = "identity"  # nothing is won by packing what does not leave this machine
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=connection.tls if connection.tls is not None else True, limit=64),
            headers=[*{**own, **connection.headers}.items(), *connection.impersonation],
            read_bufsize=2**20,
            request_class=aiohttp.ClientRequest if self._fence is None else _fenced(self._fence),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()
        if self._retired is not None:
            await self._retired.close()

    def whole(self) -> Client:
        """The client that can do everything there is: this one. (`QuickClient` cannot.)"""
        return self

    async def _credentials(self) -> Credentials:
        """What the connection's user shows now. Raises CredentialsError."""
        renewal = self.connection.renewal
        if renewal is None:
            return _STATIC
        found = await renewal.current()
        if found.pair is not None and found.pair != self._pair:
            await self._show_certificate(found.pair)
        return found

    async def _show_certificate(self, pair: tuple[bytes, bytes]) -> None:
        """Connections that are open keep the certificate they were opened with: new requests get new ones."""
        first, self._pair = self._pair is None, pair
        if first or self.connection.tls is None:
            return  # the one that the connection was made with
        load_pair(self.connection.tls, *pair)
        before, self._retired, self._session = self._retired, self._session, self._new_session()
        if before is not None:
            await before.close()

    async def _may_try_again(self, code: int, used: Credentials) -> bool:
        """Whether a refused request has better credentials now."""
        renewal = self.connection.renewal
        return code == _UNAUTHORIZED and renewal is not None and await renewal.refused(used)

    def _url(self, path: str) -> URL:
        """Where a request goes, sent as it is spelled here: nobody unquotes a name on the way."""
        return URL(self._server + checked(path), encoded=True)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Json = None,
        content_type: str = JSON,
        accept: str = JSON,
        waits_for_others: bool = True,
    ) -> Reply:
        """Send one request. Raises ApiError for a refusal and UnreachableError when no answer comes.

        A server that is too busy and says when to come back is asked again, a few times: it has done nothing yet. Who
        can do without what is not there (503) need not wait for it.
        Anything else is the caller's to repeat, who knows whether doing it twice is right.
        """
        data = None if body is None else msgspec.json.encode(body)
        for attempt in range(_ATTEMPTS):
            credentials = await self._credentials()
            headers = {"Accept": accept, "Content-Type": content_type, **credentials.headers}
            try:
                async with self._session.request(
                    method,
                    self._url(path),
                    params=dict(params or {}),
                    data=data,
                    headers=headers,
                    timeout=_PATIENCE,
                    server_hostname=self.connection.server_name or None,
                    proxy=self.connection.proxy or None,
                ) as response:
                    content = await response.read()
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise UnreachableError(self.connection.server, _cause(error)) from error
            if attempt == 0 and await self._may_try_again(response.status, credentials):
                continue
            pause = retry_after(response.status, response.headers.get("Retry-After", ""))
            in_vain = response.status == _UNAVAILABLE and not waits_for_others
            if pause is None or in_vain or attempt == _ATTEMPTS - 1:
                break
            await asyncio.sleep(pause)
        if response.status >= 400:
            raise refusal(response.status, content)
        return Reply(response.status, content, warnings_in(response.headers.getall("Warning", [])))

    @contextlib.asynccontextmanager
    async def exchange(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = 60.0,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One request as it is given, and its answer as it comes, for who stands between: refusals are answers, a
        redirect is not followed, and nothing is unpacked. `query` is spelled as it is sent. Raises UnreachableError.
        """
        url = self._url(path)
        if query:
            url = URL(f"{url}?{query}", encoded=True)
        timeout = aiohttp.ClientTimeout(total=seconds, sock_connect=10)
        try:
            for attempt in range(2):
                credentials = await self._credentials()
                async with self._session.request(
                    method,
                    url,
                    data=body,
                    headers={**credentials.headers, **(headers or {})},
                    timeout=timeout,
                    server_hostname=self.connection.server_name or None,
                    proxy=self.connection.proxy or None,
                    allow_redirects=False,
                    auto_decompress=False,
                ) as response:
                    if attempt or not await self._may_try_again(response.status, credentials):
                        yield response
                        return
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnreachableError(self.connection.server, _cause(error)) from error

    async def discover(self) -> Discovery:
        """What the server serves: two requests where it can aggregate, else one per group and version."""
        documents = [(await self.request("GET", path, accept=_AGGREGATED)).json() for path in ("/api", "/apis")]
        if all(document.get("kind") == "APIGroupDiscoveryList" for document in documents):
            return from_aggregated(documents)
        core, groups = documents
        paths = [group_path("", version) for version in core.get("versions", [])]
        paths += [
            group_path(*version["groupVersion"].split("/", 1))
            for group in groups.get("groups", [])
            for version in group["versions"]
        ]
        return from_legacy([(await self.request("GET", path)).json() for path in paths])

    async def pages(
        self, path: str, *, params: Mapping[str, str] | None = None, accept: str = JSON
    ) -> AsyncIterator[JsonObject]:
        """A collection, page by page."""
        query = {**(params or {}), "limit": str(_PAGE)}
        while True:
            page = (await self.request("GET", path, params=query, accept=accept)).json()
            yield page
            token = page.get("metadata", {}).get("continue")
            if not token:
                return
            query["continue"] = token

    async def watch(
        self, path: str, *, params: Mapping[str, str] | None = None, accept: str = JSON
    ) -> AsyncIterator[WatchEvent]:
        """Changes as they come, until the server ends the watch."""
        async for line in self.watch_lines(path, params=params, accept=accept):
            yield msgspec.json.decode(line, type=WatchEvent)

    async def watch_lines(
        self, path: str, *, params: Mapping[str, str] | None = None, accept: str = JSON
    ) -> AsyncIterator[bytes]:
        """The same as the JSON lines that the server sends."""
        query = {**(params or {}), "watch": "true"}
        credentials = await self._credentials()
        headers = {"Accept": accept, **credentials.headers}
        try:
            async with self._session.get(
                self._url(path),
                params=query,
                headers=headers,
                timeout=_WHILE_WATCHING,
                server_hostname=self.connection.server_name or None,
                proxy=self.connection.proxy or None,
            ) as response:
                if response.status >= 400:
                    # The next watch has better credentials, if there are any; whoever watches comes again anyway.
                    await self._may_try_again(response.status, credentials)
                    raise refusal(response.status, await response.read())
                async for line in _lines(response.content):
                    yield line
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnreachableError(self.connection.server, _cause(error)) from error

    async def apply(
        self,
        resource: ServedResource,
        obj: JsonMapping,
        namespace: str,
        *,
        manager: str,
        force: bool = False,
        dry_run: bool = False,
        subresource: str = "",
    ) -> Reply:
        """Server-side apply."""
        params = {"fieldManager": manager, "force": str(force).lower(), "fieldValidation": "Strict"}
        if dry_run:
            params["dryRun"] = "All"
        path = resource.object_path(namespace, str(obj["metadata"]["name"]), subresource)
        return await self.request("PATCH", path, params=params, body=obj, content_type=APPLY)


def _fenced(fence: Fence) -> type[aiohttp.ClientRequest]:
    """Requests that ask the fence when they are about to be sent: by then a connection may have been waited for."""

    class FencedRequest(aiohttp.ClientRequest):
        async def send(self, conn: aiohttp_connector.Connection) -> aiohttp.ClientResponse:
            if self.method != "GET":
                fence.check()
            return await super().send(conn)

    return FencedRequest


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of any length: aiohttp's own reader refuses those longer than its buffer."""
    parts: list[bytes] = []
    size = 0
    async for chunk in stream.iter_any():
        head, *rest = chunk.split(b"\n")
        parts.append(head)
        size += len(head)
        for following in rest:
            if line := b"".join(parts):
                yield line
            parts, size = [following], len(following)
        if size > _LINE:
            raise UnreachableError("the server", f"sent a watch event of more than {_LINE} bytes")


def _cause(error: BaseException) -> str:
    if isinstance(error, asyncio.TimeoutError):
        return "it took too long"
    return str(error) or type(error).__name__


def _is_here(host: str) -> bool:
    """Whether a server's host is the machine that we are on."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
