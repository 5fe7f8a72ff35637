"""A Kubernetes server as an installation sees it: objects by identity, read, tried, applied and removed.

What a server refuses is a value here (`Refusal`): a plan shows it beside everything else. It does not know what is
installed, or in which order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.errors import ApiError, InvalidObjectError
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from muster.client import Client, Discovery, ServedResource

MANAGER: Final = "muster-install"
_MANAGERS: Final = re.compile(r'conflicts? with "([^"]+)"')
_MERGE: Final = "application/merge-patch+json"
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409


@dataclass(frozen=True, slots=True, order=True)
class ObjectId:
    """Which object: what must be known to find it on a server."""

    api_version: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {where}{self.name}"

    @property
    def line(self) -> str:
        """As an inventory keeps it."""
        return " ".join((self.api_version, self.kind, self.namespace or "-", self.name))


def id_of(obj: JsonMapping) -> ObjectId:
    metadata: JsonMapping = obj["metadata"]
    return ObjectId(obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), metadata["name"])


def id_from(line: str) -> ObjectId | None:
    """What a line of an inventory names; None for a line that names nothing."""
    parts = line.split(" ")
    if len(parts) != 4 or not all(parts):
        return None
    api_version, kind, namespace, name = parts
    return ObjectId(api_version, kind, "" if namespace == "-" else namespace, name)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something cannot be done: the server's words."""

    code: int
    words: str

    @property
    def is_conflict(self) -> bool:
        return self.code == _CONFLICT

    @property
    def managers(self) -> frozenset[str]:
        """With whom there is a conflict: a refused apply names each before its fields."""
        return frozenset(_MANAGERS.findall(self.words)) if self.is_conflict else frozenset()


class Cluster:
    """One server."""

    def __init__(self, client: Client, discovery: Discovery) -> None:
        self.client = client
        self._discovery = discovery

    async def look_again(self) -> None:
        """New definitions bring new kinds."""
        self._discovery = await self.client.discover()

    def served(self, api_version: str, kind: str) -> ServedResource | None:
        try:
            return self._discovery.of_kind(api_version, kind)
        except InvalidObjectError:
            return None

    async def get(self, which: ObjectId) -> JsonObject | None:
        """The object; None where it is not, or its kind is not served. Raises ApiError for other refusals."""
        resource = self.served(which.api_version, which.kind)
        if resource is None:
            return None
        try:
            reply = await self.client.request("GET", resource.object_path(which.namespace, which.name))
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise
        found: JsonObject = reply.json()
        return found

    async def count(self, api_version: str, kind: str) -> int:
        """How many objects of a kind there are."""
        resource = self.served(api_version, kind)
        if resource is None:
            return 0
        page: JsonObject = (await self.client.request("GET", resource.path(), params={"limit": "1"})).json()
        more: int = page["metadata"].get("remainingItemCount", 0)
        return len(page["items"]) + more

    async def apply(self, obj: JsonObject, *, force: bool, dry_run: bool = False) -> JsonObject | Refusal:
        """Server-side apply under our name; what came of it."""
        which = id_of(obj)
        resource = self.served(which.api_version, which.kind)
        if resource is None:
            return Refusal(_NOT_FOUND, f"the server has no kind {which.kind} in {which.api_version}")
        try:
            reply = await self.client.apply(
                resource, obj, which.namespace, manager=MANAGER, force=force, dry_run=dry_run
            )
        except ApiError as error:
            refusal = Refusal(error.code, error.message)
            # Not with ourselves: what we have written by other means than apply counts as another manager's.
            if refusal.managers == {MANAGER} and not force:
                return await self.apply(obj, force=True, dry_run=dry_run)
            return refusal
        found: JsonObject = reply.json()
        return found

    async def release_conversion(self, which: ObjectId) -> Refusal | None:
        """Take the webhook from a definition. Server-side apply cannot: whoever put the certificate there owns a part
        of it, and without the rest that part is refused."""
        resource = self.served(which.api_version, which.kind)
        path = "" if resource is None else resource.object_path("", which.name)
        body: JsonObject = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
        try:
            await self.client.request("PATCH", path, params={"fieldManager": MANAGER}, body=body, content_type=_MERGE)
        except ApiError as error:
            return Refusal(error.code, error.message)
        return None

    async def delete(self, which: ObjectId) -> Refusal | None:
        """What is gone already is no refusal."""
        resource = self.served(which.api_version, which.kind)
        if resource is None:
            return None
        try:
            params = {"propagationPolicy": "Background"}
            await self.client.request("DELETE", resource.object_path(which.namespace, which.name), params=params)
        except ApiError as error:
            return None if error.code == _NOT_FOUND else Refusal(error.code, error.message)
        return None

    async def version(self) -> str:
        """What the server says it is."""
        told: JsonObject = (await self.client.request("GET", "/version")).json()
        return str(told.get("gitVersion", ""))
