"""Where `muster clusterset` looks: at a live server, asking no more than a question needs, or into files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol, TypeVar

from muster.api import RESOURCES
from muster.api.managed_cluster import GROUP
from muster.api.validation import decode_problem, prepare
from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.grants import policy_of
from muster.cli.inputs.options import with_client
from muster.errors import ApiError, InvalidObjectError
from muster.values.api_paths import by_label
from muster.values.causes import TYPE_INVALID
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muster.access.policy import Policy
    from muster.cli.inputs.documents import Document
    from muster.client import Client, Discovery

Result = TypeVar("Result")
_NOT_FOUND = 404


class Inventory(Protocol):
    """Clusters and sets. What is not there raises InvalidObjectError."""

    async def cluster(self, name: str) -> JsonObject: ...

    async def clusters(self, key: str) -> Sequence[JsonObject]:
        """Those that carry a label with this key; all without a key."""

    async def cluster_sets(self) -> Sequence[JsonObject]: ...


def ask(
    question: Callable[[Inventory], Awaitable[Result]],
    files: list[str] | None,
    context: str | None,
    kubeconfig: str | None,
) -> Result:
    """Answer a question from files, or from the server of the kubeconfig if there are none."""
    if files:
        return ask_files(question, files)

    async def from_server(client: Client) -> Result:
        return await question(_Server(client, await client.discover()))

    return with_client(from_server, context, kubeconfig)


def ask_files(question: Callable[[FileInventory], Awaitable[Result]], files: list[str]) -> Result:
    """Answer a question from files, which may be about roles and bindings too."""
    inventory = FileInventory([_shaped(document) for document in read_documents(files)])

    async def answered() -> Result:
        return await question(inventory)

    return asyncio.run(answered())


class FileInventory:
    """Clusters, sets, roles and bindings of files."""

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
