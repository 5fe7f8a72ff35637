"""Discovery: which groups, versions and kinds the hub serves, in the legacy and the aggregated form.

Generated once from the registry. kubectl from 1.27 on and newer clients ask for the aggregated form with an Accept
header; older ones walk `/api`, `/apis`, `/apis/GROUP/VERSION`.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from muster.api.resource import part_verbs
from muster.hub.rest.negotiation import clauses_of
from muster.hub.rest.subresources import SCALE
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.api.resource import Resource, Version
    from muster.hub.rest.subresources import Descriptions, SubresourceDescription

_VERSION = re.compile(r"v([0-9]+)(?:(alpha|beta)([0-9]+))?")
_STAGES = {"": 2, "beta": 1, "alpha": 0}
_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"


@dataclass(frozen=True, slots=True)
class Document:
    """A fixed answer with the headers that let clients keep it."""

    body: bytes
    content_type: str = "application/json"
    etag: str = ""


def version_rank(name: str) -> tuple[int, int, int]:
    """Sorts versions best first: v2, v1, v1beta2, v1beta1, v1alpha1."""
    found = _VERSION.fullmatch(name)
    if found is None:
        return (1, 0, 0)
    major, stage, minor = found.groups()
    return (-_STAGES[stage or ""], -int(major), -int(minor or 0))


def scaled(version: Version) -> list[SubresourceDescription]:
    """The scale subresource, if a version has one."""
    return [SCALE] if version.scale is not None else []


def storage_version_hash(resource: Resource) -> str:
    """What tells a client that the stored form of a kind has changed."""
    stored = f"{resource.group}/{resource.storage_version.name}/{resource.kind}"
    return base64.b64encode(hashlib.sha256(stored.encode()).digest()[:8]).decode("ascii")


class Discovery:
    """Every discovery document, by path."""

    def __init__(self, resources: Iterable[Resource], subresources: Descriptions | None = None) -> None:
        self._subresources = subresources or {}
        self._groups: dict[str, dict[str, list[tuple[Resource, Version]]]] = {}
        # Built-in groups come first, as a real server lists them.
        for resource in sorted(resources, key=lambda kind: not kind.builtin):
            for version in resource.versions:
                if version.served:
                    versions = self._groups.setdefault(resource.group, {})
                    versions.setdefault(version.name, []).append((resource, version))
        for group, versions in self._groups.items():
            ordered = sorted(versions, key=version_rank)
            self._groups[group] = {name: sorted(versions[name], key=lambda kind: kind[0].plural) for name in ordered}
        self._legacy = dict(self._legacy_documents())
        self._aggregated = {
            (path, version): self._aggregate(path, version)
            for path in ("/api", "/apis")
            for version in ("v2", "v2beta1")
        }

    @property
    def paths(self) -> list[str]:
        """The paths of the documents."""
        return list(self._legacy)

    def find(self, path: str, accept: str, server: str) -> Document | None:
        """The document of a path in the form the client prefers. `server` is the address the client reached."""
        trimmed = path.rstrip("/")
        if trimmed in ("/api", "/apis"):
            version = _aggregated_version(accept)
            if version:
                return self._aggregated[(trimmed, version)]
            if trimmed == "/api":
                return Document(msgspec.json.encode(_api_versions(server)))
        body = self._legacy.get(trimmed)
        return None if body is None else Document(body)

    def _legacy_documents(self) -> Iterable[tuple[str, bytes]]:
        yield "/api", b""  # depends on the address; answered by `find`
        yield "/apis", _encode({"kind": "APIGroupList", "apiVersion": "v1", "groups": self._api_groups()})
        for group, versions in self._groups.items():
            if group:
                found = {"kind": "APIGroup", "apiVersion": "v1", **self._api_group(group)}
                yield f"/apis/{group}", _encode(found)
            for version, kinds in versions.items():
                listed = _resource_list(group, version, kinds, self._subresources)
                yield _base_path(group, version), _encode(listed)

    def _api_groups(self) -> list[JsonObject]:
        return [self._api_group(group) for group in self._groups if group]

    def _api_group(self, group: str) -> JsonObject:
        versions = [{"groupVersion": f"{group}/{name}", "version": name} for name in self._groups[group]]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}

    def _aggregate(self, path: str, version: str) -> Document:
        groups = [group for group in self._groups if bool(group) == (path == "/apis")]
        content = {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": f"apidiscovery.k8s.io/{version}",
            "metadata": {},
            "items": [self._group_discovery(group) for group in groups],
        }
        body = _encode(content)
        etag = hashlib.sha512(body).hexdigest().upper()
        return Document(body, _AGGREGATED.format(version=version), f'"{etag}"')

    def _group_discovery(self, group: str) -> JsonObject:
        versions = [
            {
                "version": name,
                "resources": [
                    _aggregated_resource(resource, version, self._subresources.get(resource.key, ()))
                    for resource, version in kinds
                ],
                "freshness": "Current",
            }
            for name, kinds in self._groups[group].items()
        ]
        return {"metadata": {"name": group} if group else {}, "versions": versions}


def _encode(content: Json) -> bytes:
    return msgspec.json.encode(content) + b"\n"


def _base_path(group: str, version: str) -> str:
    return f"/apis/{group}/{version}" if group else f"/api/{version}"


def _api_versions(server: str) -> JsonObject:
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": server}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def _resource_list(
    group: str, version: str, kinds: Sequence[tuple[Resource, Version]], subresources: Descriptions
) -> JsonObject:
    resources: list[JsonObject] = []
    for resource, served in kinds:
        entry: JsonObject = {
            "name": resource.plural,
            "singularName": resource.singular,
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(resource.verbs),
        }
        if resource.short_names:
            entry["shortNames"] = list(resource.short_names)
        if resource.categories:
            entry["categories"] = list(resource.categories)
        if not resource.virtual:
            entry["storageVersionHash"] = storage_version_hash(resource)
        resources.append(entry)
        resources += [
            {
                "name": f"{resource.plural}/{part}",
                "singularName": "",
                "namespaced": resource.namespaced,
                "kind": resource.kind,
                "verbs": list(part_verbs(part)),
            }
            for part in served.subresources
        ]
        resources += [
            {
                "name": f"{resource.plural}/{special.name}",
                "singularName": "",
                "namespaced": resource.namespaced,
                "group": special.group,
                "version": special.version,
                "kind": special.kind,
                "verbs": list(special.verbs),
            }
            for special in (*subresources.get(resource.key, ()), *scaled(served))
        ]
    group_version = f"{group}/{version}" if group else version
    named = {"apiVersion": "v1"} if group else {}
    return {"kind": "APIResourceList", **named, "groupVersion": group_version, "resources": resources}


def _aggregated_resource(
    resource: Resource, version: Version, subresources: Iterable[SubresourceDescription] = ()
) -> JsonObject:
    # Built-in kinds leave group and version empty: "those of this entry".
    group, version_name = ("", "") if resource.builtin else (resource.group, version.name)
    kind = {"group": group, "version": version_name, "kind": resource.kind}
    entry: JsonObject = {
        "resource": resource.plural,
        "responseKind": kind,
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    shown = [
        {"subresource": part, "responseKind": kind, "verbs": list(part_verbs(part))} for part in version.subresources
    ]
    for special in (*subresources, *scaled(version)):
        response_kind = {"group": special.group, "version": special.version, "kind": special.kind}
        shown.append({"subresource": special.name, "responseKind": response_kind, "verbs": list(special.verbs)})
    if shown:
        entry["subresources"] = shown
    return entry


def _aggregated_version(accept: str) -> str:
    """The version of the aggregated form that an Accept header prefers to the legacy one; empty for the legacy form."""
    if "APIGroupDiscoveryList" not in accept:
        return ""
    for clause in clauses_of(accept[:8192]):
        if clause.parameters.get("as") == "APIGroupDiscoveryList":
            version = clause.parameters.get("v", "")
            if clause.parameters.get("g") == "apidiscovery.k8s.io" and version in ("v2", "v2beta1"):
                return version
        elif clause.subtype in ("json", "*"):
            return ""
    return ""
