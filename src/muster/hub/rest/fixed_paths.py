"""What is served at fixed paths: health and version for anybody; discovery, OpenAPI, metrics and an index of paths.

`application` asks here for whatever is no verb on a resource. All but health and version needs a role for the path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.api.crds import GROUP as DEFINITIONS
from muster.hub import status
from muster.hub.auth.authentication import path_attributes
from muster.hub.rest import health
from muster.hub.rest import query as queries
from muster.hub.rest.answers import NOT_FOUND, Reply
from muster.hub.rest.metrics import CONTENT_TYPE, Metrics
from muster.hub.write_checks import require
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from muster.hub.requests import Authorizer, User
    from muster.hub.rest.discovery import Document
    from muster.hub.rest.identity import Identity
    from muster.hub.rest.query import Query
    from muster.hub.rest.served import ServedDocuments

    Scope = MutableMapping[str, Json]
    Headers = dict[bytes, bytes]

_PUBLIC = (b"cache-control", b"public")
_FOREVER = (b"cache-control", b"public, immutable")
# The part of a real server that serves these says in its own way what is not there.
_DEFINITIONS = f"/apis/{DEFINITIONS}/"


class FixedPaths:
    """Replies to requests that are about no resource."""

    def __init__(
        self,
        documents: ServedDocuments,
        identity: Identity,
        metrics: Metrics,
        authorizer: Authorizer,
        checks: Mapping[str, Callable[[], str | None]],
        is_stopping: Callable[[], bool],
    ) -> None:
        self._documents = documents
        self._identity = identity
        self._metrics = metrics
        self._authorizer = authorizer
        self._checks = {"ping": lambda: None, **checks}
        self._is_stopping = is_stopping
        self._version = Reply(200, msgspec.json.format(msgspec.json.encode(health.version()), indent=2))

    def without_credentials(self, scope: Scope) -> Reply | None:
        """The answer at the paths that are open to anybody; None at all others."""
        path: str = scope["path"]
        if path.startswith(("/api/", "/apis/")):
            return None
        if path.rstrip("/") == "/version":
            return self._version
        if path.startswith(health.PATHS):
            query = queries.parse_query(scope["query_string"])
            checks = dict(self._checks)
            if path.startswith("/readyz"):
                checks["shutdown"] = lambda: "the hub is stopping" if self._is_stopping() else None
            return health.health_reply(path, checks, query) or NOT_FOUND
        return None

    async def answer(self, scope: Scope, headers: Headers, user: User) -> Reply:
        """The answer for users whom a role gives the path. Raises 403."""
        path: str = scope["path"]
        await require(self._authorizer, user, path_attributes(scope["method"], path))
        if scope["method"] not in ("GET", "HEAD"):
            return NOT_FOUND
        if path == "/metrics":
            return Reply(200, await self._metrics.render(), CONTENT_TYPE)
        if path == "/":
            return Reply(200, msgspec.json.encode({"paths": self._paths()}))
        if path == "/openapi/v2":
            return self._openapi_v2(headers)
        if path.startswith("/openapi/v3"):
            return self._openapi_v3(path, headers, queries.parse_query(scope["query_string"]))
        accept = headers.get(b"accept", b"").decode("latin-1")
        address = _address(scope, headers)
        found = self._identity.find(path, accept, address)
        if found is not None:
            return found
        document = self._documents.discovery.find(path, accept, address)
        if document is None and path.startswith(_DEFINITIONS):
            raise status.StatusError(404, "NotFound", "the server could not find the requested resource", {})
        return NOT_FOUND if document is None else _document_reply(document, headers)

    def _paths(self) -> list[str]:
        names = [*self._documents.discovery.paths, *health.PATHS, "/metrics", "/openapi/v2", "/openapi/v3", "/version"]
        return sorted(names)

    def _openapi_v2(self, headers: Headers) -> Reply:
        """OpenAPI 2, in protobuf for those who ask for it."""
        openapi = self._documents.openapi
        in_protobuf = b"protobuf" in headers.get(b"accept", b"")
        return _document_reply(openapi.v2 if in_protobuf else openapi.v2_json, headers)

    def _openapi_v3(self, path: str, headers: Headers, query: Query) -> Reply:
        name = path.removeprefix("/openapi/v3").strip("/")
        if not name:
            return _document_reply(self._documents.openapi.index, headers)
        document = self._documents.openapi.find(name)
        if document is None:
            return Reply(404, b"", b"")
        current = document.etag.strip('"')
        wanted = queries.text(query, "hash")
        if wanted and wanted != current:
            # An address with an old hash leads to the current one.
            location = f"/openapi/v3/{name}?hash={current}".encode()
            return Reply(301, b"", headers=((b"location", location),))
        return _document_reply(document, headers, cache=_FOREVER if wanted else None)


def _document_reply(document: Document, headers: Headers, cache: tuple[bytes, bytes] | None = None) -> Reply:
    """A document that the client may already have."""
    if not document.etag:
        return Reply(200, document.body, document.content_type.encode())
    if cache is None:
        cache = _PUBLIC if "as=" in document.content_type else (b"cache-control", b"no-cache, private")
    extra = ((b"etag", document.etag.encode()), (b"vary", b"Accept"))
    if headers.get(b"if-none-match", b"").decode("latin-1") == document.etag:
        return Reply(304, b"", document.content_type.encode(), extra, cache)
    return Reply(200, document.body, document.content_type.encode(), extra, cache)


def _address(scope: Scope, headers: Headers) -> str:
    host = headers.get(b"host", b"").decode("latin-1")
    if host:
        return host
    server = scope.get("server")
    return "127.0.0.1:0" if server is None else f"{server[0]}:{server[1]}"
