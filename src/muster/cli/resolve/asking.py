"""Asking a server to resolve, or doing the same here over what it has: a Resolution, and the ConfigMaps it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fields import items_of, number_in, part_of, text_in
from muster.cli.inputs.options import with_client
from muster.cli.inputs.questions import answered
from muster.errors import ApiError, InvalidObjectError
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from muster.api.fleet_resolution import ResolutionPreviewSpec, ResolutionPreviewStatus
    from muster.client import Client
    from muster.controllers.resolutions.jobs import CatalogInput
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
        where = self._where("")
        found = self._asked(self._spec(where, name, None))
        if found is not None:
            return found
        return self._here(self._got(where, "resolution.muster.dev", "resolutions", name), where)

    def unsaved(self, resolution: JsonObject) -> ResolutionPreviewStatus:
        """One that need not be saved. With all catalogs written in it, no server is needed."""
        catalogs = items_of(part_of(resolution, "spec"), "catalogs")
        if catalogs and all("inline" in each for each in catalogs):
            return self._here(resolution, "")
        where = self._where(text_in(part_of(resolution, "metadata"), "namespace"))
        found = self._asked(self._spec(where, "", resolution))
        return self._here(resolution, where) if found is None else found

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

    def _asked(self, spec: ResolutionPreviewSpec) -> ResolutionPreviewStatus | None:
        from muster.api.fleet_resolution import RESOLUTION_PREVIEW
        from muster.client.questions import preview_resolution

        return answered(RESOLUTION_PREVIEW, lambda client: preview_resolution(client, spec), *self._server)

    # ------------------------------------------------------------------------------------------------------- ourselves

    def _here(self, resolution: JsonObject, namespace: str) -> ResolutionPreviewStatus:
        """What the server's worker would do, with what it has."""
        from muster.controllers.resolutions.jobs import Job, PreviewOptions
        from muster.controllers.resolutions.worker import CatalogCache, preview_of

        spec = part_of(resolution, "spec")
        catalogs = items_of(spec, "catalogs")
        if not catalogs:
            raise InvalidObjectError("--catalog", "say where to choose from: the server does not resolve with its own")
        inputs = [self._input(each, namespace) for each in catalogs]
        options = PreviewOptions(_MOST_SECONDS, self._lock, self._locked, self._explain)
        return preview_of(Job(msgspec.Raw(msgspec.json.encode(spec)), inputs, options), options, CatalogCache())

    def _input(self, catalog: JsonMapping, namespace: str) -> CatalogInput:
        from muster.controllers.resolutions.jobs import CatalogInput

        name, priority = text_in(catalog, "name"), number_in(catalog, "priority")
        if "inline" in catalog:
            return CatalogInput(name, priority, inline=True)
        map_name = text_in(part_of(catalog, "configMap"), "name")
        if not map_name:
            text = "it is the server's own, and the server does not resolve for you"
            return CatalogInput(name, priority, missing=text)
        try:
            found = self._got(namespace, "", "configmaps", map_name)
        except InvalidObjectError as error:
            return CatalogInput(name, priority, missing=str(error))
        texts, binaries = dict(part_of(found, "data")), dict(part_of(found, "binaryData"))
        wanted = items_of(part_of(catalog, "configMap"), "keys") or [*texts, *binaries]
        if absent := [key for key in wanted if key not in texts and key not in binaries]:
            text = f"ConfigMap {map_name} has no value {', '.join(sorted(absent))}"
            return CatalogInput(name, priority, missing=text)
        return CatalogInput(
            name,
            priority,
            texts={key: texts[key] for key in wanted if key in texts},
            binaries={key: binaries[key] for key in wanted if key in binaries},
        )

    def _got(self, namespace: str, group: str, plural: str, name: str) -> JsonObject:
        from muster.values.api_paths import object_path

        path = object_path(group, "v1alpha1" if group else "v1", plural, namespace, name)

        async def get(client: Client) -> JsonObject:
            found: JsonObject = msgspec.json.decode((await client.request("GET", path)).body)
            return found

        try:
            return with_client(get, *self._server)
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            raise InvalidObjectError("", str(error)) from None
