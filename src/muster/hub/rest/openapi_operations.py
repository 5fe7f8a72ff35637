"""The operations of a kind as OpenAPI describes them: at which paths, with which parameters, bodies and answers.

Called by `openapi` for every kind and version that is served. Knows no documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.api.resource import part_verbs
from muster.hub.requests import PatchType
from muster.hub.rest import openapi_shared as shared
from muster.values.json import JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.resource import Resource, Version
    from muster.hub.rest.subresources import SubresourceDescription


def schema_name(resource: Resource, version: Version, kind: str) -> str:
    """`io.open-cluster-management.cluster.v1.ManagedCluster`: the group's domain backwards, version, kind."""
    if not resource.group:
        return f"io.k8s.api.core.{version.name}.{kind}"
    if resource.builtin:
        return f"io.k8s.api.{resource.group.partition('.')[0]}.{version.name}.{kind}"
    return ".".join([*reversed(resource.group.split(".")), version.name, kind])


def kind_of(resource: Resource, version: Version, kind: str) -> dict[str, str]:
    return {"group": resource.group, "kind": kind, "version": version.name}


def paths_of(base: str, resource: Resource, version: Version, special: Iterable[SubresourceDescription]) -> JsonObject:
    """The paths of a kind in a version, with its operations at each."""
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
        self._kind = kind_of(resource, version, resource.kind)

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

    def special(self, described: SubresourceDescription) -> Schema:
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
