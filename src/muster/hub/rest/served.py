"""What depends on which kinds there are: routes, discovery and OpenAPI, made anew when kinds have come or gone.

Each is made when it is first asked for after a change. `application` asks for every request; that nothing has changed
costs one comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.hub.rest.discovery import Discovery
from muster.hub.rest.openapi import OpenApi
from muster.hub.rest.routes import Routes

if TYPE_CHECKING:
    from muster.hub.custom.live import Kinds
    from muster.hub.rest.subresources import Descriptions


class ServedDocuments:
    """The documents and routes of the kinds there are now."""

    def __init__(self, kinds: Kinds, subresources: Descriptions) -> None:
        self._kinds = kinds
        self._subresources = subresources
        self._seen = -1
        self._routes: Routes | None = None
        self._discovery: Discovery | None = None
        self._openapi: OpenApi | None = None
        self._last_openapi: OpenApi | None = None

    def _refresh(self) -> None:
        if self._seen != self._kinds.changes:
            self._seen = self._kinds.changes
            self._last_openapi = self._openapi or self._last_openapi
            self._routes = self._discovery = self._openapi = None

    @property
    def routes(self) -> Routes:
        self._refresh()
        if self._routes is None:
            self._routes = Routes(self._kinds.values())
        return self._routes

    @property
    def discovery(self) -> Discovery:
        self._refresh()
        if self._discovery is None:
            self._discovery = Discovery(self._kinds.values(), self._subresources)
        return self._discovery

    @property
    def openapi(self) -> OpenApi:
        self._refresh()
        if self._openapi is None:
            self._openapi = OpenApi(self._kinds.values(), self._subresources, self._last_openapi)
        return self._openapi
