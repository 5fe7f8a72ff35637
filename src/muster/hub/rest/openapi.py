"""OpenAPI: an index and one document per group and version, generated from the registry when first asked for.

kubectl reads them to explain kinds and to see that the server validates fields and knows dry runs; schemathesis reads
them to attack the hub. Older clients get the same in OpenAPI 2, in protobuf or JSON (`openapi_v2`).
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster import __version__
from muster.api.resource import part_verbs
from muster.hub.requests import PatchType
from muster.hub.rest import openapi_shared as shared
from muster.hub.rest import openapi_v2
from muster.hub.rest.discovery import Document, scaled
from muster.values.json import JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.api.resource import Resource, Version
    from muster.hub.rest.subresources import Described, Descriptions

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
            paths.update(_paths(f"/{name}", resource, version, special))
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


def schema_name(resource: Resource, version: Version, kind: str) -> str:
    """`io.open-cluster-management.cluster.v1.ManagedCluster`: the group's domain backwards, version, kind."""
    if not resource.group:
        return f"io.k8s.api.core.{version.name}.{kind}"
    if resource.builtin:
        return f"io.k8s.api.{resource.group.partition('.')[0]}.{version.name}.{kind}"
    return ".".join([*reversed(resource.group.split(".")), version.name, kind])


def _kind_of(resource: Resource, version: Version, kind: str) -> dict[str, str]:
    return {"group": resource.group, "kind": kind, "version": version.name}


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
        "x-kubernetes-group-version-kind": [_kind_of(resource, version, resource.kind)],
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
            "x-kubernetes-group-version-kind": [_kind_of(resource, version, resource.list_kind)],
        }
    return found


def _paths(base: str, resource: Resource, version: Version, special: Iterable[Described]) -> JsonObject:
    operations = _Operations(resource, version)
    verbs = resource.verbs
    scoped = (
        f"{base}/namespaces/{{namespace}}/{resource.plural}" if resource.namespaced else f"{base}/{resource.plural}"
    )
    namespace = [_path_parameter("namespace", "The namespace of the objects.")] if resource.namespaced else []
    collection: JsonObject = {}
    if "list" in verbs:
        collection["get"] = operations.list("Namespaced" if resource.namespaced else "")
    if "create" in verbs:
        collection["post"] = operations.write("create", "POST", "")
    if "deletecollection" in verbs:
        collection["delete"] = operations.delete_collection()
    paths: JsonObject = {scoped: collection | {"parameters": [*namespace, shared.PRETTY]}}
    if resource.namespaced and "list" in verbs:
        everywhere = operations.list("ForAllNamespaces")
        paths[f"{base}/{resource.plural}"] = {"get": everywhere, "parameters": [shared.PRETTY]}
    if "get" in verbs:
        named = [_path_parameter("name", f"The name of the {resource.kind}."), *namespace, shared.PRETTY]
        single: JsonObject = {"get": operations.read("")}
        if "update" in verbs:
            single["put"] = operations.write("replace", "PUT", "")
            single["delete"] = operations.delete()
            single["patch"] = operations.patch("")
        paths[f"{scoped}/{{name}}"] = single | {"parameters": named}
        for part in version.subresources:
            allowed = part_verbs(part)
            read = {"get": operations.read(part.title())} if "get" in allowed else {}
            patch = {"patch": operations.patch(part.title())} if "patch" in allowed else {}
            put = {"put": operations.write("replace", "PUT", part.title())}
            paths[f"{scoped}/{{name}}/{part}"] = {**read, **put, **patch, "parameters": named}
        for described in special:
            paths[f"{scoped}/{{name}}/{described.name}"] = operations.special(described) | {"parameters": named}
    return paths


class _Operations:
    """Makes the operations of one kind."""

    def __init__(self, resource: Resource, version: Version) -> None:
        self._resource = resource
        self._version = version
        self._object = shared.ref(schema_name(resource, version, resource.kind))
        self._kind = _kind_of(resource, version, resource.kind)

    def _operation(self, verb: str, action: str, suffix: str, parameters: Iterable[Schema], **more: Any) -> Schema:
        group = "".join(part.title() for part in self._resource.group.replace("-", ".").split(".")) or "Core"
        version = self._version.name.title()
        responses = more.pop("responses")
        responses["401"] = {"description": "No or unknown credentials.", "content": _content(_STATUS)}
        responses["default"] = {"description": "Refused; the Status says why.", "content": _content(_STATUS)}
        return {
            "tags": [f"{group[0].lower()}{group[1:]}_{self._version.name}"],
            "description": f"{verb} {self._resource.kind}{' status' if suffix == 'Status' else ''}",
            "operationId": f"{verb}{group}{version}{self._resource.kind}{suffix}",
            "parameters": list(parameters),
            **more,
            "responses": responses,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": self._kind,
        }

    def list(self, suffix: str) -> Schema:
        shown = shared.ref(schema_name(self._resource, self._version, self._resource.list_kind))
        return self._operation("list", "list", suffix, shared.LIST, responses=_responses(shown, "200"))

    def read(self, suffix: str) -> Schema:
        version = {
            "name": "resourceVersion",
            "in": "query",
            "description": "Not older than this revision.",
            "schema": {"type": "string", "uniqueItems": True},
        }
        return self._operation("read", "get", suffix, [version], responses=_responses(self._object, "200"))

    def write(self, verb: str, method: str, suffix: str) -> Schema:
        codes = ("200", "201", "202") if method == "POST" else ("200", "201")
        return self._operation(
            verb,
            method.lower(),
            suffix,
            (shared.DRY_RUN, shared.FIELD_MANAGER, shared.FIELD_VALIDATION),
            requestBody={"required": True, "content": _content(self._object)},
            responses=_responses(self._object, *codes),
        )

    def special(self, described: Described) -> Schema:
        """The operations of a subresource that another kind answers."""
        suffix, answer = described.name.title(), _responses(shared.ref(described.schema), "200")
        found: Schema = {}
        if "get" in described.verbs:
            found["get"] = self._operation("read", "get", suffix, described.parameters, responses=dict(answer))
        if "create" in described.verbs:
            found["post"] = self._operation(
                "create",
                "post",
                suffix,
                (*described.parameters, shared.FIELD_VALIDATION),
                requestBody={"required": True, "content": _content(self._object)},
                responses=dict(answer),
            )
        shown = shared.ref(described.schema)
        if "update" in described.verbs:
            found["put"] = self._operation(
                "replace",
                "put",
                suffix,
                (shared.DRY_RUN, shared.FIELD_MANAGER, shared.FIELD_VALIDATION),
                requestBody={"required": True, "content": _content(shown)},
                responses=dict(answer),
            )
        if "patch" in described.verbs:
            kinds = (PatchType.JSON, PatchType.MERGE, PatchType.STRATEGIC)
            body = shared.ref(f"{shared.META}.Patch")
            found["patch"] = self._operation(
                "patch",
                "patch",
                suffix,
                (shared.DRY_RUN, shared.FIELD_MANAGER, shared.FIELD_VALIDATION, shared.FORCE),
                requestBody={"required": True, "content": {kind.value: {"schema": body} for kind in kinds}},
                responses=dict(answer),
            )
        # kubectl chooses how to patch a kind by these: they are not about the kind whose part this is.
        shown_kind = {"group": described.group, "kind": described.kind, "version": described.version}
        for operation in found.values():
            operation["x-kubernetes-group-version-kind"] = shown_kind
        return found

    def patch(self, suffix: str) -> Schema:
        kinds = [kind for kind in PatchType if kind is not PatchType.STRATEGIC or self._resource.builtin]
        body = shared.ref(f"{shared.META}.Patch")
        operations = {"type": "array", "items": {"type": "object"}}
        return self._operation(
            "patch",
            "patch",
            suffix,
            (shared.DRY_RUN, shared.FIELD_MANAGER, shared.FIELD_VALIDATION, shared.FORCE),
            requestBody={
                "required": True,
                "content": {kind.value: {"schema": operations if kind is PatchType.JSON else body} for kind in kinds},
            },
            responses=_responses(self._object, "200", "201"),
        )

    def delete(self) -> Schema:
        options = shared.ref(f"{shared.META}.DeleteOptions")
        return self._operation(
            "delete",
            "delete",
            "",
            shared.DELETE,
            requestBody={"content": _content(options)},
            responses=_responses({"type": "object"}, "200", "202"),
        )

    def delete_collection(self) -> Schema:
        options = shared.ref(f"{shared.META}.DeleteOptions")
        return self._operation(
            "deletecollection",
            "deletecollection",
            "",
            (*shared.DELETE, *shared.LIST[:6]),
            requestBody={"content": _content(options)},
            responses=_responses({"type": "object"}, "200"),
        )


_STATUS = shared.ref(f"{shared.META}.Status")


def _content(schema: Schema) -> Schema:
    return {media_type: {"schema": schema} for media_type in ("application/json", "application/yaml")}


def _responses(schema: Schema, *codes: str) -> Schema:
    return {code: {"description": "OK", "content": _content(schema)} for code in codes}


def _path_parameter(name: str, description: str) -> Schema:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": {"type": "string", "uniqueItems": True},
    }


def _fixed_operation(name: str) -> Schema:
    operation = {
        "tags": [name],
        "description": {"api": "get the versions", "apis": "get the groups"}.get(name, "get the version of the hub"),
        "operationId": f"get{name.title()}",
        "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": {"type": "object"}}}}},
    }
    # Anybody may ask for the version.
    return operation | {"security": []} if name == "version" else operation
