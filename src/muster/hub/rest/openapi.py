"""OpenAPI: an index and one document per group and version, generated from the registry when first asked for.

kubectl reads them to explain kinds and to see that the server validates fields and knows dry runs; schemathesis reads
them to attack the hub. What can be done at each path is in `openapi_operations`. Older clients get the same in OpenAPI
2, in protobuf or JSON (`openapi_v2`).
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec

from muster import __version__
from muster.hub.rest import openapi_shared as shared
from muster.hub.rest import openapi_v2
from muster.hub.rest.discovery import Document, scaled
from muster.hub.rest.openapi_operations import kind_of, paths_of, schema_name
from muster.values.json import JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.api.resource import Resource, Version
    from muster.hub.rest.subresources import Descriptions

# With a dot where the request has an @, which clients cannot parse as a media type.
V2_CONTENT_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


_FIXED = frozenset({"api", "apis", "version"})


class OpenApi:
    """The OpenAPI documents of the hub."""

    def __init__(
        self,
        resources: Iterable[Resource],
        subresources: Descriptions | None = None,
        earlier: OpenApi | None = None,
    ) -> None:
        """What is the same as in `earlier` documents is taken from there."""
        self._subresources = subresources or {}
        self._kinds: dict[str, list[tuple[Resource, Version]]] = {}
        for resource in resources:
            for version in resource.versions:
                if version.served:
                    base = f"apis/{resource.group}/{version.name}" if resource.group else f"api/{version.name}"
                    self._kinds.setdefault(base, []).append((resource, version))
        self._documents: dict[str, Document] = {}
        if earlier is not None:
            same = {name for name, kinds in self._kinds.items() if earlier.shows(name, kinds)} | _FIXED
            self._documents = {name: found for name, found in earlier.made.items() if name in same}

    @property
    def made(self) -> Mapping[str, Document]:
        """The documents that have been asked for so far."""
        return self._documents

    def shows(self, name: str, kinds: list[tuple[Resource, Version]]) -> bool:
        """Whether these are the kinds of a document; compared by identity."""
        return self._kinds.get(name) == kinds

    @cached_property
    def index(self) -> Document:
        """Where the documents are. Their addresses carry a hash, so that a client may keep what it has."""
        names = [*self._kinds, "api", "apis", "version"]
        paths = {}
        for name in sorted(names):
            digest = self._document(name).etag.strip('"')
            paths[name] = {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"}
        # A real server says so too: it never says what it sends, and leaves that to be guessed.
        return Document(msgspec.json.encode({"paths": paths}) + b"\n", "text/plain; charset=utf-8")

    def find(self, name: str) -> Document | None:
        """The document of a group and version, by its path below /openapi/v3/."""
        if name in self._kinds or name in ("api", "apis", "version"):
            return self._document(name)
        return None

    @cached_property
    def v2(self) -> Document:
        """All kinds in one document of OpenAPI 2, in protobuf."""
        return _kept(openapi_v2.document("Muster", f"v{__version__}", *self._everything()), V2_CONTENT_TYPE)

    @cached_property
    def v2_json(self) -> Document:
        """The same in JSON."""
        found = openapi_v2.plain_document("Muster", f"v{__version__}", *self._everything())
        return _kept(msgspec.json.encode(found) + b"\n", "application/json")

    def _everything(self) -> tuple[JsonObject, JsonObject]:
        """The paths and schemas of all documents."""
        paths: JsonObject = {}
        schemas: JsonObject = {}
        for name in self._kinds:
            content = self._content(name)
            paths |= content["paths"]
            schemas |= content["components"]["schemas"]
        return paths, schemas

    def _document(self, name: str) -> Document:
        found = self._documents.get(name)
        if found is None:
            found = self._documents[name] = _kept(msgspec.json.encode(self._content(name)) + b"\n", "application/json")
        return found

    def _content(self, name: str) -> JsonObject:
        paths: JsonObject = {}
        schemas: JsonObject = {}
        kinds = self._kinds.get(name)
        if kinds is None:
            path = f"/{name}" if name == "version" else f"/{name}/"
            paths[path] = {"get": _fixed_operation(name)}
        for resource, version in kinds or ():
            schemas.update(_schemas(resource, version))
            special = [*self._subresources.get(resource.key, []), *scaled(version)]
            paths.update(paths_of(f"/{name}", resource, version, special))
            for described in special:
                schemas.update(described.schemas)
        schemas.update(shared.SCHEMAS)
        return {
            "openapi": "3.0.0",
            "info": {"title": "Muster", "version": f"v{__version__}"},
            "paths": paths,
            "components": {
                "schemas": dict(sorted(schemas.items())),
                "securitySchemes": {"BearerToken": {"type": "http", "scheme": "bearer"}},
            },
            "security": [{"BearerToken": []}],
        }


def _kept(body: bytes, content_type: str) -> Document:
    """A document that clients may keep until it is another."""
    return Document(body, content_type, f'"{hashlib.sha512(body).hexdigest().upper()}"')


_EITHER: Final = ({"type": "integer"}, {"type": "string"})


def _spelled_out(schema: JsonMapping) -> Schema:
    """A definition's schema for readers that do not know its shorthands: what may be a number or a text says so."""
    told = dict(schema)
    if told.get("x-kubernetes-int-or-string") and not told.keys() & {"anyOf", "allOf"}:
        told["anyOf"] = list(_EITHER)
    if isinstance(parts := told.get("properties"), dict):
        told["properties"] = {name: _spelled_out(part) for name, part in parts.items()}
    for name in ("items", "additionalProperties"):
        if isinstance(part := told.get(name), dict):
            told[name] = _spelled_out(part)
    return told


def _schemas(resource: Resource, version: Version) -> dict[str, Schema]:
    name = schema_name(resource, version, resource.kind)
    schema: Schema = _spelled_out(version.schema) if resource.custom else dict(version.schema)
    properties = {
        "apiVersion": {
            "type": "string",
            "description": "APIVersion defines which version of the schema this object is written in.",
        },
        "kind": {"type": "string", "description": "Kind says what this object is."},
        **schema.get("properties", {}),
        "metadata": {
            "description": "Standard object's metadata: identity, labels and bookkeeping.",
            "default": {},
            "allOf": [shared.ref(f"{shared.META}.ObjectMeta")],
        },
    }
    schema |= {
        "type": "object",
        "properties": properties,
        "x-kubernetes-group-version-kind": [kind_of(resource, version, resource.kind)],
    }
    found = {name: schema}
    if not resource.virtual:
        found[schema_name(resource, version, resource.list_kind)] = {
            "description": f"A list of {resource.kind} objects.",
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": {"type": "string", "description": "The version of this list's schema."},
                "items": {"type": "array", "items": shared.ref(name), "description": "The objects."},
                "kind": {"type": "string", "description": "The kind of this list."},
                "metadata": {
                    "description": "Revision of the list, and how to go on.",
                    "default": {},
                    "allOf": [shared.ref(f"{shared.META}.ListMeta")],
                },
            },
            "x-kubernetes-group-version-kind": [kind_of(resource, version, resource.list_kind)],
        }
    return found


def _fixed_operation(name: str) -> Schema:
    operation = {
        "tags": [name],
        "description": {"api": "get the versions", "apis": "get the groups"}.get(name, "get the version of the hub"),
        "operationId": f"get{name.title()}",
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": {"type": "object"}}}}},
    }
    # Anybody may ask for the version.
    return operation | {"security": []} if name == "version" else operation
