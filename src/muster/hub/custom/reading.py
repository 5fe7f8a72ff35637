"""Definitions as they are read: schemas cleaned, names and status completed, as a Kubernetes server keeps them.

`Resource.normalize` and `Resource.complete` of CustomResourceDefinition, and the checks of its one version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.api.custom_resource_definition import HTTPS, read_definition
from muster.api.resource import Verdict
from muster.hub.custom import definition
from muster.hub.custom.schema_props import WrongTypeError, clean
from muster.values.json import JsonObject
from muster.values.json_members import list_at, object_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.resource import Object
    from muster.api.schema import CompiledSchema
    from muster.values.causes import Cause


def normalized(obj: Object) -> list[str]:
    """Clean and complete a definition, in place. Returns the paths of unknown fields in its schemas."""
    unknown: list[str] = []
    for version, path in _versions(obj):
        schema = version.get("schema")
        if isinstance(schema, dict) and isinstance(schema.get("openAPIV3Schema"), dict):
            schema["openAPIV3Schema"], found = clean(schema["openAPIV3Schema"], f"{path}.schema.openAPIV3Schema")
            unknown += found
    spec = obj.get("spec")
    if isinstance(spec, dict):
        _complete_spec(spec)
    status = obj.get("status")
    obj["status"] = _status(status if isinstance(status, dict) else {})
    return unknown


def _versions(obj: Object) -> Iterator[tuple[JsonObject, str]]:
    spec = obj.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    for index, version in enumerate(versions if isinstance(versions, list) else ()):
        if isinstance(version, dict):
            yield version, f"spec.versions[{index}]"


def _complete_spec(spec: JsonObject) -> None:
    names = spec.get("names")
    if isinstance(names, dict):
        kind = text_at(names, "kind")
        if not names.get("singular") and kind:
            names["singular"] = kind.lower()
        if not names.get("listKind") and kind:
            names["listKind"] = f"{kind}List"
        for name in ("shortNames", "categories"):
            if names.get(name) == []:
                del names[name]
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    service = object_at(spec, "conversion", "webhook", "clientConfig").get("service")
    if isinstance(service, dict):
        service.setdefault("port", HTTPS)
    if spec.get("preserveUnknownFields") is False:
        del spec["preserveUnknownFields"]
    for version in list_at(spec, "versions"):
        for name in ("additionalPrinterColumns", "selectableFields"):
            if version.get(name) == []:
                del version[name]
        version.setdefault("served", False)
        version.setdefault("storage", False)
        if version.get("deprecated") is False:
            del version["deprecated"]


def _status(status: JsonObject) -> JsonObject:
    """A status as Go writes it: what is empty is there."""
    names = {"plural": "", "kind": "", **object_at(status, "acceptedNames")}
    lists = {name: given if (given := list_at(status, name)) else None for name in ("conditions", "storedVersions")}
    return {**status, "acceptedNames": names, **lists}


def completed(obj: Object, _: Object | None) -> None:
    """What the server adds in nobody's name: the version in which objects are stored is one of those they may be in."""
    status = _status(object_at(obj, "status"))
    stored = list(status["storedVersions"] or ())
    for version, _path in _versions(obj):
        if version.get("storage"):
            if version.get("name") and version["name"] not in stored:
                stored.append(version["name"])
            break
    obj["status"] = {**status, "storedVersions": stored or None}


def decoding_problem(obj: Object) -> str | None:
    """Why the schemas of a definition cannot even be decoded."""
    try:
        for version, _ in _versions(obj):
            schema = version.get("schema")
            if isinstance(schema, dict) and schema.get("openAPIV3Schema") is not None:
                clean(schema["openAPIV3Schema"], "spec.versions.schema.openAPIV3Schema", "CustomResourceDefinition")
    except WrongTypeError as error:
        return str(error)
    return None


@dataclass(frozen=True, slots=True)
class DefinitionChecks:
    """What is checked of CustomResourceDefinitions beyond their types."""

    compiled: CompiledSchema
    heavy: bool = True

    def warm(self) -> None:
        self.compiled.warm()

    def embedded_problem(self, obj: Object) -> str | None:
        return decoding_problem(obj)

    def causes(self, obj: Object, old: Object | None, subresource: str, _: Sequence[Cause]) -> Verdict:
        given = read_definition(obj)
        if subresource == "status":
            return Verdict(tuple(definition.status_causes(given.status)))
        if old is not None and obj.get("spec") == old.get("spec"):
            return Verdict(tuple(definition.stored_version_causes(given)))  # it was judged when it was written
        causes = definition.definition_causes(obj, old)
        misnaming = definition.misnaming(given) if old is None else None
        first = [] if misnaming is None else [misnaming]
        known = set(definition.unknown_formats(old)) if old is not None else set()
        formats = [each for each in definition.unknown_formats(obj) if each not in known]
        warnings = [f'unrecognized format "{each}"' for each in formats]
        if definition.wants_webhook(given):
            warnings.append("spec.conversion: the hub asks no webhook: objects are converted as with strategy None")
        return Verdict((*first, *causes), tuple(warnings))
