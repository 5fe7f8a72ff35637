"""`muster import hosts`: hardware that metal3 or NFD have found becomes Agents, which classifications label."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.errors import ApiError, InvalidObjectError
from muster.importing.found import MANAGER
from muster.importing.hosts import OTHER_KINDS, agent_of
from muster.importing.objects import counted
from muster.values.api_paths import object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.client import Client
    from muster.values.json import JsonObject

_AGENTS: Final = ("agent-install.openshift.io", "v1beta1", "agents")
_APPLY: Final = "application/apply-patch+yaml"
_NOT_FOUND: Final = 404
_FORBIDDEN: Final = 403


@dataclass(frozen=True, slots=True)
class PlannedHost:
    """One host, and what is to be done: create, change, or nothing because it is the same."""

    agent: JsonObject
    deed: str


async def listed(client: Client, namespace: str) -> tuple[list[JsonObject], list[str]]:
    """The hosts of a server as Agents, and which kinds it does not have or does not show."""
    discovery = await client.discover()
    found: list[JsonObject] = []
    unread: list[str] = []
    for each in OTHER_KINDS.values():
        resource = discovery.find(each.resource)
        if resource is None:
            unread.append(f"the server has no {each.resource}")
            continue
        try:
            pages = client.pages(resource.path(namespace))
            found += [{"kind": each.kind, **item} async for page in pages for item in page["items"]]
        except ApiError as error:
            unread.append(f"{each.resource}: {error}")
    return agents(found), unread


def agents(objects: Sequence[JsonObject]) -> list[JsonObject]:
    """Those of the objects that are hosts."""
    return [agent for each in objects if (agent := agent_of(each)) is not None]


async def planned(client: Client, wanted: Sequence[JsonObject], namespace: str) -> list[PlannedHost]:
    """What writing would do. Raises InvalidObjectError where a namespace is missing: nobody is surprised half-way."""
    hosts = [placed(each, namespace) for each in wanted]
    for where in sorted({str(each["metadata"]["namespace"]) for each in hosts}):
        await _require_namespace(client, where)
    return [await _planned(client, each) for each in hosts]


async def _require_namespace(client: Client, name: str) -> None:
    try:
        await client.request("GET", object_path("", "v1", "namespaces", "", name))
    except ApiError as error:
        if error.code == _NOT_FOUND:
            text = f"the hub has no namespace {name}: `kubectl create namespace {name}`, or --into names another"
            raise InvalidObjectError("", text) from error
        if error.code != _FORBIDDEN:  # who may not see namespaces may write hosts into one
            raise


def placed(agent: JsonObject, namespace: str) -> JsonObject:
    where = namespace or str(agent["metadata"].get("namespace", "default"))
    return {**agent, "metadata": {**agent["metadata"], "namespace": where}}


async def _planned(client: Client, agent: JsonObject) -> PlannedHost:
    try:
        present: JsonObject = (await client.request("GET", _path(agent))).json()
    except ApiError as error:
        if error.code != _NOT_FOUND:
            raise
        return PlannedHost(agent, "create")
    status = present.get("status")
    there = status.get("inventory") if isinstance(status, dict) else None
    wanted = msgspec.json.decode(msgspec.json.encode(agent["status"]["inventory"]))
    return PlannedHost(agent, "same" if there == wanted else "change")


async def write(client: Client, plans: Sequence[PlannedHost], advance: Callable[[], None]) -> None:
    for each in plans:
        body = {key: value for key, value in each.agent.items() if key != "status"}
        params = {"fieldManager": MANAGER, "force": "true"}
        await client.request("PATCH", _path(each.agent), params=params, body=body, content_type=_APPLY)
        report = {**body, "metadata": _place(each.agent), "status": each.agent["status"]}
        await client.request("PATCH", _path(each.agent, "status"), params=params, body=report, content_type=_APPLY)
        advance()


def print_plan(plans: Sequence[PlannedHost], unread: Sequence[str]) -> None:
    for each in plans:
        metadata, inventory = each.agent["metadata"], each.agent["status"]["inventory"]
        cpu = inventory.get("cpu", {})
        told = [f"{cpu['count']} cpu"] if "count" in cpu else []
        told += [counted(len(inventory["disks"]), "disk")] if inventory.get("disks") else []
        sys.stdout.write(
            f"{each.deed} {metadata['namespace']}/{metadata['name']}: {', '.join(told) or 'features only'}\n"
        )
    sys.stdout.writelines(f"not read: {text}\n" for text in unread)
    counts = {deed: sum(each.deed == deed for each in plans) for deed in ("create", "change", "same")}
    told = [f"{count} {'the same' if deed == 'same' else f'to {deed}'}" for deed, count in counts.items() if count]
    sys.stdout.write(f"{counted(len(plans), 'host')}: {', '.join(told) or 'nothing to do'}\n")


def _path(agent: JsonObject, subresource: str = "") -> str:
    metadata = agent["metadata"]
    return object_path(*_AGENTS, str(metadata["namespace"]), str(metadata["name"]), subresource)


def _place(agent: JsonObject) -> JsonObject:
    return {key: agent["metadata"][key] for key in ("name", "namespace")}
