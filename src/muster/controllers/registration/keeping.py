"""Makes objects on the server what they should be: created when missing, put right when different, deleted when told.

Used by the registration controller. A write names the state it was decided from; somebody else's in between is a
conflict, and the work is done again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.errors import ApiError
from muster.values.api_paths import collection_path, object_path
from muster.values.json_members import object_at, text_at

if TYPE_CHECKING:
    from muster.client import Client
    from muster.values.json import Json, JsonMapping, JsonObject

_NOT_FOUND: Final = 404
_EXISTS: Final = 409
_PLURALS: Final = {
    "Namespace": "namespaces",
    "ClusterRole": "clusterroles",
    "ClusterRoleBinding": "clusterrolebindings",
    "RoleBinding": "rolebindings",
    "Lease": "leases",
    "CustomResourceDefinition": "customresourcedefinitions",
}


class Keeper:
    """Speaks to one server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def found(self, wanted: JsonMapping) -> JsonObject | None:
        """The object as the server has it."""
        return await self.get(_path(wanted))

    async def get(self, path: str) -> JsonObject | None:
        try:
            answer: JsonObject = (await self._client.request("GET", path)).json()
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            return None
        return answer

    async def create(self, wanted: JsonMapping) -> None:
        """Somebody else may have done so meanwhile."""
        group, version, plural, namespace = _place(wanted)
        try:
            await self._client.request("POST", collection_path(group, version, plural, namespace), body=dict(wanted))
        except ApiError as error:
            if error.code != _EXISTS:
                raise

    async def ensure(self, wanted: JsonMapping) -> None:
        """Make it so. What somebody has added to labels and annotations stays."""
        present = await self.found(wanted)
        if present is None:
            await self.create(wanted)
            return
        labels = {**object_at(present, "metadata", "labels"), **object_at(wanted, "metadata", "labels")}
        content = {name: value for name, value in wanted.items() if name not in ("apiVersion", "kind", "metadata")}
        same = all(present.get(name) == value for name, value in content.items())
        if same and labels == object_at(present, "metadata", "labels"):
            return
        if present.get("roleRef") != wanted.get("roleRef"):  # it never changes: another one has to be made
            await self.delete(wanted)
            await self.create(wanted)
            return
        body: JsonObject = {**present, **content, "metadata": {**object_at(present, "metadata"), "labels": labels}}
        await self._client.request("PUT", _path(wanted), body=body)

    async def delete(self, wanted: JsonMapping) -> None:
        """Delete it if it is there."""
        present = await self.found(wanted)
        if present is not None:
            await self.delete_at(_path(wanted), text_at(present, "metadata", "resourceVersion"))

    async def delete_at(self, path: str, revision: str) -> None:
        body: Json = {"preconditions": {"resourceVersion": revision}}
        try:
            await self._client.request("DELETE", path, body=body)
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise


def _place(obj: JsonMapping) -> tuple[str, str, str, str]:
    group, _, version = obj["apiVersion"].rpartition("/")
    return group, version, _PLURALS[obj["kind"]], obj["metadata"].get("namespace", "")


def _path(obj: JsonMapping) -> str:
    return object_path(*_place(obj), obj["metadata"]["name"])
