"""Short questions to the server of a kubeconfig, for completions: with the standard library, within a moment.

Whatever goes wrong is no answer: whoever pressed Tab did not ask about it. Commands use `muster.client` instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode, urlsplit

import msgspec

from muster.client.discovery import Discovery, from_aggregated
from muster.errors import MusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.client.kubeconfig import Connection
    from muster.values.json import Json, JsonObject

_MOMENT: Final = 2.0  # seconds for everything
_TO_CONNECT: Final = 0.5  # seconds; a server that is there takes a hundredth of that
_PAGE: Final = 1000
_NAMES_ONLY: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Server:
    """The server of a kubeconfig, until the moment is over."""

    def __init__(self, connection: Connection, until: float) -> None:
        self.namespace = connection.namespace
        self._connection = connection
        self._until = until
        self._http = self._opened()

    def kinds(self) -> Discovery:
        """What it serves."""
        return from_aggregated([self._get("/api", _AGGREGATED), self._get("/apis", _AGGREGATED)])

    def metadata(self, path: str) -> Iterator[JsonObject]:
        """The metadata of objects, as many as there is time for."""
        query = {"limit": str(_PAGE)}
        while True:
            page = self._get(f"{path}?{urlencode(query)}", _NAMES_ONLY)
            yield from (item["metadata"] for item in page["items"])
            following = page["metadata"].get("continue", "")
            if not following:
                return
            query["continue"] = following

    def _get(self, path: str, accept: str) -> Json:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if self._http.sock is None:
            self._http.connect()
        self._http.sock.settimeout(left)
        self._http.putrequest("GET", urlsplit(self._connection.server).path.rstrip("/") + path)
        headers = [("Accept", accept), *self._connection.headers.items(), *self._connection.impersonation]
        for name, value in headers:
            self._http.putheader(name, value)
        self._http.endheaders()
        reply = self._http.getresponse()
        body = reply.read()
        if reply.status != 200:
            raise HTTPException(reply.reason)
        return msgspec.json.decode(body)

    def _opened(self) -> HTTPConnection:
        place = urlsplit(self._connection.server)
        host = place.hostname or ""
        if self._connection.tls is not None:
            return HTTPSConnection(host, place.port, context=self._connection.tls, timeout=_TO_CONNECT)
        return HTTPConnection(host, place.port, timeout=_TO_CONNECT)


@contextlib.contextmanager
def asking(context: str | None, kubeconfig: str | None) -> Iterator[Server | None]:
    """The server that a command would speak to; None if there is none. Whatever fails inside ends it quietly."""
    from muster.client.kubeconfig import load_connection

    until = time.monotonic() + _MOMENT
    server = None
    with contextlib.suppress(MusterError, OSError, TimeoutError):
        connection = asyncio.run(asyncio.wait_for(load_connection(context, kubeconfig), _MOMENT))
        server = Server(connection, until)
    with contextlib.suppress(MusterError, OSError, TimeoutError, HTTPException, KeyError, msgspec.MsgspecError):
        yield server
