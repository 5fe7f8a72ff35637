"""An API server as far as serving needs one: objects by path, reviews by a function. In the process, without HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from muster.client.replies import Reply
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from muster.client import Client
    from muster.values.json import JsonObject

REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class FakeServer:
    """`may` is asked with user, verb, resource and name; the resource as `plural/subresource.group`."""

    def __init__(
        self,
        objects: Mapping[str, JsonObject] | None = None,
        may: Callable[[str, str, str, str], bool] = lambda *_: False,
    ) -> None:
        self.objects: dict[str, JsonObject] = dict(objects or {})
        self.lists: dict[str, list[JsonObject]] = {}
        self.may = may
        self.asked: list[tuple[str, str, str, str]] = []
        self.reviews: list[JsonObject] = []
        self.written: list[tuple[str, str, JsonObject]] = []
        self.fails: ApiError | None = None

    @property
    def client(self) -> Client:
        return cast("Client", self)

    async def request(self, method: str, path: str, *, body: Any = None, **_: Any) -> Reply:
        if self.fails is not None:
            raise self.fails
        if path == REVIEWS:
            return self._review(body)
        if method == "GET":
            if path not in self.objects:
                raise ApiError(404, "NotFound", f"{path} not found")
            return _reply(self.objects[path])
        self.written.append((method, path, body))
        if method == "POST":
            path = f"{path}/{body['metadata']['name']}"
            if path in self.objects:
                raise ApiError(409, "AlreadyExists", f"{path} exists")
        present = self.objects.get(path, {})
        stated = body.get("metadata", {}).get("resourceVersion")
        if stated and stated != present.get("metadata", {}).get("resourceVersion"):
            raise ApiError(409, "Conflict", "another version")
        version = str(int(present.get("metadata", {}).get("resourceVersion", "0")) + 1)
        whole = {**present, **body} if method == "PATCH" else dict(body)
        whole["metadata"] = {**present.get("metadata", {}), **body.get("metadata", {}), "resourceVersion": version}
        self.objects[path] = whole
        return _reply(whole)

    async def pages(self, path: str, *, params: Mapping[str, str] | None = None, **_: Any) -> AsyncIterator[JsonObject]:
        key, _sign, value = (params or {}).get("labelSelector", "").partition("=")
        named = (params or {}).get("fieldSelector", "").removeprefix("metadata.name=")
        found = self.lists.get(path, [])
        if named:
            found = [each for each in found if each["metadata"]["name"] == named]
        kept = [each for each in found if not key or each["metadata"].get("labels", {}).get(key) == value]
        yield {"items": kept or None, "metadata": {}}

    def _review(self, body: JsonObject) -> Reply:
        spec = body["spec"]
        self.reviews.append(spec)
        wanted = spec.get("resourceAttributes", {})
        resource = wanted.get("resource", "") + (f"/{wanted['subresource']}" if wanted.get("subresource") else "")
        address = f"{resource}.{wanted['group']}" if wanted.get("group") else resource
        question = (spec["user"], wanted.get("verb", ""), address, wanted.get("name", ""))
        self.asked.append(question)
        return _reply({**body, "status": {"allowed": self.may(*question)}})


def _reply(content: JsonObject) -> Reply:
    return Reply(200, msgspec.json.encode(content), ())
