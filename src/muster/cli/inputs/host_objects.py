"""Agents and their classifications: from files, or those of one namespace of a live server, or of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fields import text_in
from muster.cli.inputs.options import with_client
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.client import Client

_GROUP: Final = "agent-install.openshift.io"
DEFAULT_NAMESPACE: Final = "default"
_KINDS: Final = ("AgentClassification", "Agent")


@dataclass(frozen=True, slots=True)
class HostObjects:
    """What was found, and the namespace that is meant where none is given; empty for files, which say it themselves."""

    classifications: list[JsonObject]
    agents: list[JsonObject]
    namespace: str

    @property
    def is_live(self) -> bool:
        return bool(self.namespace)


def host_objects(
    files: Sequence[str] | None,
    context: str | None,
    kubeconfig: str | None,
    namespace: str | None = None,
    *,
    everywhere: bool = False,
) -> HostObjects:
    """From files, or from the server: in one namespace, else in the context's, else everywhere."""
    if files:
        from muster.importing.hosts import agent_of

        found = [document.object for document in read_documents(files)]
        classifications, agents = ([obj for obj in found if obj["kind"] == kind] for kind in _KINDS)
        agents += [agent for obj in found if (agent := agent_of(obj)) is not None]
        return HostObjects(classifications, agents, namespace="")

    async def live(client: Client) -> HostObjects:
        discovery = await client.discover()
        meant = namespace or client.connection.namespace
        lists = []
        for kind in _KINDS:
            resource = discovery.named(f"{kind.lower()}s.{_GROUP}")
            path = resource.path("" if everywhere else meant)
            lists.append([{"kind": kind, **item} async for page in client.pages(path) for item in page["items"]])
        classifications, agents = lists
        return HostObjects(classifications, agents, namespace=meant)

    return with_client(live, context, kubeconfig)


def namespace_of(obj: JsonObject) -> str:
    return text_in(obj["metadata"], "namespace")


def placed(obj: JsonObject, namespace: str) -> JsonObject:
    """The object in a namespace, whether it said one or not."""
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


def one_named(objects: Sequence[JsonObject], kind: str, name: str, namespace: str) -> JsonObject:
    """The object that is meant. Without a namespace any of that name, if there is just one."""
    found = [
        obj
        for obj in objects
        if obj["metadata"]["name"] == name and (not namespace or namespace_of(obj) in ("", namespace))
    ]
    if not found:
        where = f" in namespace {namespace}" if namespace else ""
        raise InvalidObjectError("", f"there is no {kind} {name!r}{where}")
    if len(found) > 1:
        places = ", ".join(sorted(namespace_of(obj) or "no namespace" for obj in found))
        raise InvalidObjectError("", f"there are several of the name {name!r}, in {places}: choose with -n")
    return found[0]
