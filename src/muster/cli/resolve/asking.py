"""Asking a server to resolve, or doing the same here where a Resolution has all that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.cli.inputs.askers import warn
from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fields import items_of, number_in, part_of, text_in
from muster.cli.inputs.options import with_client
from muster.errors import ApiError, InvalidObjectError
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.fleet_resolution import ResolutionPreviewSpec, ResolutionPreviewStatus
    from muster.client import Client
    from muster.resolution.telling.lock import Lock

_NOT_FOUND: Final = 404
_MOST_SECONDS: Final = 120.0


def given_resolution(name: str) -> JsonObject:
    """The Resolution of a file. Raises InvalidObjectError if there is none, or several."""
    found = [each.object for each in read_documents([name]) if each.object["kind"] == "Resolution"]
    if len(found) != 1:
        raise InvalidObjectError(name, f"one Resolution was expected; there are {len(found)}")
    return found[0]


class Server:
    """A server, and what is wanted of its answer beside the plan."""

    def __init__(
        self,
        namespace: str | None,
        context: str | None,
        kubeconfig: str | None,
        lock: Lock | None,
        *,
        locked: bool,
        explain: str,
    ) -> None:
        self._namespace = namespace
        self._server = (context, kubeconfig)
        self._lock = None if lock is None else lock.to_json()
        self._locked = locked
        self._explain = explain

    def saved(self, name: str) -> ResolutionPreviewStatus:
        """A resolution that the server has."""
        return self._asked(self._spec(self._where(""), name, None))

    def unsaved(self, resolution: JsonObject) -> ResolutionPreviewStatus:
        """One that need not be saved. With all catalogs written in it, no server is needed."""
        catalogs = items_of(part_of(resolution, "spec"), "catalogs")
        if catalogs and all("inline" in each for each in catalogs):
            return self._here(part_of(resolution, "spec"), catalogs)
        where = self._where(text_in(part_of(resolution, "metadata"), "namespace"))
        return self._asked(self._spec(where, "", resolution))

    def _spec(self, namespace: str, name: str, resolution: JsonObject | None) -> ResolutionPreviewSpec:
        from muster.api.fleet_resolution import ResolutionPreviewSpec

        return ResolutionPreviewSpec(namespace, name, resolution, self._lock, self._locked, self._explain)

    def _where(self, own: str) -> str:
        from muster.client import KubeconfigError

        async def meant(client: Client) -> str:
            return client.connection.namespace

        try:
            return self._namespace or own or with_client(meant, *self._server)
        except KubeconfigError as error:
            told = f"say where to choose from: --catalog FILE or directory, or a server that has catalogs ({error})"
            raise InvalidObjectError("--catalog", told) from error

    def _asked(self, spec: ResolutionPreviewSpec) -> ResolutionPreviewStatus:
        from muster.api.fleet_resolution import RESOLUTION_PREVIEW, ResolutionPreviewStatus

        async def ask(client: Client) -> ResolutionPreviewStatus:
            from muster.questions.asking import commanding

            answer = await commanding(client).ask(RESOLUTION_PREVIEW.kind, spec)
            for note in answer.notes:
                warn(note)
            return answer.read(ResolutionPreviewStatus)

        try:
            return with_client(ask, *self._server)
        except ApiError as error:
            if error.code != _NOT_FOUND or not error.name:
                raise
            raise InvalidObjectError("", str(error)) from None

    def _here(self, spec: JsonMapping, catalogs: Iterable[JsonObject]) -> ResolutionPreviewStatus:
        """What the server's worker would do, where everything is written in the resolution."""
        from muster.controllers.resolutions.jobs import CatalogInput, Job, PreviewOptions
        from muster.controllers.resolutions.worker import CatalogCache, preview_of

        inputs = [CatalogInput(text_in(each, "name"), number_in(each, "priority"), inline=True) for each in catalogs]
        options = PreviewOptions(_MOST_SECONDS, self._lock, self._locked, self._explain)
        return preview_of(Job(msgspec.Raw(msgspec.json.encode(spec)), inputs, options), options, CatalogCache())
