"""Where `muster clusterset` looks: at a live server, asking no more than a question needs, or into files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, TypeVar

from muster.api import RESOURCES
from muster.api.managed_cluster import GROUP
from muster.api.validation import decode_problem, prepare
from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fields import items_of
from muster.cli.inputs.grants import live_policy, policy_of
from muster.cli.inputs.options import with_client
from muster.errors import ApiError, InvalidObjectError
from muster.values.api_paths import by_label
from muster.values.causes import TYPE_INVALID
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muster.cli.inputs.documents import Document
    from muster.client import Client, Discovery
    from muster.hub.auth.rbac.policy import Policy

Result = TypeVar("Result")
_NOT_FOUND = 404


class Inventory(Protocol):
    """Clusters, sets, roles and bindings. What is not there raises InvalidObjectError."""

    async def cluster(self, name: str) -> JsonObject: ...

    async def clusters(self, key: str) -> Sequence[JsonObject]:
        """Those that carry a label with this key; all without a key."""

    async def cluster_sets(self) -> Sequence[JsonObject]: ...

    async def policy(self) -> Policy: ...

    async def groups_of(self, user: str) -> Sequence[str]:
        """The groups of a user, as far as they are known."""


def ask(
    question: Callable[[Inventory], Awaitable[Result]],
    files: list[str] | None,
    context: str | None,
    kubeconfig: str | None,
) -> Result:
    """Answer a question from files, or from the server of the kubeconfig if there are none."""
    if files:
        inventory = _Files([_shaped(document) for document in read_documents(files)])

        async def from_files() -> Result:
            return await question(inventory)

        return asyncio.run(from_files())

    async def from_server(client: Client) -> Result:
        return await question(_Server(client, await client.discover()))

    return with_client(from_server, context, kubeconfig)


class _Files:
    def __init__(self, objects: Sequence[JsonObject]) -> None:
        self._objects = objects

    async def cluster(self, name: str) -> JsonObject:
        return named(self._kind("ManagedCluster"), "cluster", name)

    async def clusters(self, key: str) -> Sequence[JsonObject]:
        del key  # reading them all has been done already
        return self._kind("ManagedCluster")

    async def cluster_sets(self) -> Sequence[JsonObject]:
        return self._kind("ManagedClusterSet")

    async def policy(self) -> Policy:
        return policy_of(self._objects)

    async def groups_of(self, user: str) -> Sequence[str]:
        del user  # files know no users
        return ()

    def _kind(self, kind: str) -> list[JsonObject]:
        return [each for each in self._objects if each["kind"] == kind]


class _Server:
    def __init__(self, client: Client, discovery: Discovery) -> None:
        self._client = client
        self._discovery = discovery

    async def cluster(self, name: str) -> JsonObject:
        served = self._discovery.named(f"managedclusters.{GROUP}")
        try:
            found: JsonObject = (await self._client.request("GET", served.object_path("", name))).json()
        except ApiError as error:
            if error.code == _NOT_FOUND:
                raise InvalidObjectError("", f"there is no cluster {name!r}") from None
            raise
        return found

    async def clusters(self, key: str) -> Sequence[JsonObject]:
        return await self._listed("managedclusters", by_label(key) if key else {})

    async def cluster_sets(self) -> Sequence[JsonObject]:
        return await self._listed("managedclustersets", {})

    async def _listed(self, plural: str, params: dict[str, str]) -> list[JsonObject]:
        served = self._discovery.named(f"{plural}.{GROUP}")
        items: list[JsonObject] = []
        async for page in self._client.pages(served.path(), params=params):
            items += page["items"]
        return items

    async def policy(self) -> Policy:
        return await live_policy(self._client)

    async def groups_of(self, user: str) -> Sequence[str]:
        """Only the asker's own are known to the server."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        info: JsonObject = (await self._client.request("POST", path, body=body)).json()["status"]["userInfo"]
        return items_of(info, "groups") if info.get("username") == user else ()


def _shaped(document: Document) -> JsonObject:
    """The object, if everything in it has the type of its field. Raises InvalidObjectError else.

    What is of the right type and wrong all the same, such as a selector with an unknown operator, is for the answer.
    """
    obj = document.object
    group, _, version_name = obj["apiVersion"].rpartition("/")
    resource = next((each for each in RESOURCES.values() if (each.group, each.kind) == (group, obj["kind"])), None)
    if resource is None:
        return obj  # nobody looks at it
    version = resource.version(version_name)
    if version is None:
        raise InvalidObjectError(document.origin, f"{obj['kind']} has no version {version_name!r}")
    if (problem := decode_problem(resource, version, obj)) is not None:
        raise InvalidObjectError(document.origin, problem)
    if not resource.builtin:
        prepare(resource, version, obj)
        wrong = next((each for each in version.compiled.validate(obj, None) if each.reason == TYPE_INVALID), None)
        if wrong is not None:
            raise InvalidObjectError(document.origin, str(wrong))
    return obj


def named(objects: Sequence[JsonObject], noun: str, name: str) -> JsonObject:
    """The one of that name. Raises InvalidObjectError if there is none."""
    for each in objects:
        if each["metadata"]["name"] == name:
            return each
    raise InvalidObjectError("", f"there is no {noun} {name!r}")
