"""Agents and their classifications, from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fields import text_in
from muster.errors import InvalidObjectError
from muster.importing.hosts import agent_of
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_NAMESPACE: Final = "default"
_KINDS: Final = ("AgentClassification", "Agent")


@dataclass(frozen=True, slots=True)
class HostObjects:
    """What was found. Files say themselves in which namespaces it is."""

    classifications: list[JsonObject]
    agents: list[JsonObject]


def host_objects(files: Sequence[str]) -> HostObjects:
    """Hosts of other kinds count as the Agents that `muster import hosts` makes of them."""
    found = [document.object for document in read_documents(files)]
    classifications, agents = ([obj for obj in found if obj["kind"] == kind] for kind in _KINDS)
    agents += [agent for obj in found if (agent := agent_of(obj)) is not None]
    return HostObjects(classifications, agents)


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
