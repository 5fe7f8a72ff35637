"""From a definition to a kind: the Resource that routing, discovery, OpenAPI, tables and the machinery work with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.codec import decode, encode
from muster.api.jsonpath import compile_path
from muster.api.resource import PrinterColumn, Resource, Scale, Version
from muster.api.table import CREATION_DESCRIPTION
from muster.errors import InvalidObjectError
from muster.hub.custom.objects import CustomChecks
from muster.hub.rest.discovery import version_rank
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.api.resource import Object

Definition = JsonObject

_AGE: Final = PrinterColumn("Age", "date", ".metadata.creationTimestamp", CREATION_DESCRIPTION)


def custom_kind(definition: Definition) -> Resource:
    """The kind of a definition whose names are accepted."""
    spec, names = definition["spec"], definition["status"]["acceptedNames"]
    group = spec["group"]
    versions = tuple(_version(version, spec, names["kind"]) for version in spec["versions"])
    # As long as nobody has changed the definition, whatever is stored was written by it as it is.
    original = definition["metadata"].get("generation", 1) == 1
    return Resource(
        group=group,
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular", ""),
        list_kind=names.get("listKind", ""),
        namespaced=spec["scope"] == "Namespaced",
        versions=versions,
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        custom=True,
        stored_as_shown=original,
        terminating="deletionTimestamp" in definition["metadata"],
        convert=None if original and len(versions) == 1 else _conversion(group, versions),
    )


def _version(version: JsonObject, spec: JsonObject, kind: str) -> Version:
    schema = version["schema"]["openAPIV3Schema"]
    subresources = version.get("subresources") or {}
    scale = _scale(subresources.get("scale"))
    status = subresources.get("status") is not None
    columns = tuple(_columns(version.get("additionalPrinterColumns") or ()))
    return Version(
        name=version["name"],
        schema=schema,
        columns=columns if version.get("additionalPrinterColumns") else (_AGE,),
        status=status,
        selectable_fields=tuple(each["jsonPath"] for each in version.get("selectableFields") or ()),
        storage=version["storage"],
        served=version["served"],
        deprecated=_deprecation(version, spec, kind) if version.get("deprecated") else "",
        scale=scale,
        checks=CustomChecks(schema, scale, status=status),
    )


def _scale(scale: JsonObject | None) -> Scale | None:
    if scale is None:
        return None
    return Scale(scale["specReplicasPath"], scale["statusReplicasPath"], scale.get("labelSelectorPath") or "")


def _columns(columns: Sequence[JsonObject]) -> Iterator[PrinterColumn]:
    """The columns up to the first whose path cannot be read: a server shows no more of them either."""
    for column in columns:
        path = column["jsonPath"]
        try:
            compile_path(path)
        except InvalidObjectError:
            return
        yield PrinterColumn(
            column["name"],
            column["type"],
            path,
            column.get("description", ""),
            column.get("format", ""),
            column.get("priority", 0),
        )


def _deprecation(version: JsonObject, spec: JsonObject, kind: str) -> str:
    if version.get("deprecationWarning") is not None:
        return str(version["deprecationWarning"])
    text = f"{spec['group']}/{version['name']} {kind} is deprecated"
    rank = version_rank(version["name"])
    better = [
        each["name"]
        for each in spec["versions"]
        if each["served"] and not each.get("deprecated") and version_rank(each["name"]) < rank
    ]
    if not better:
        return text
    return f"{text}; use {spec['group']}/{min(better, key=version_rank)} {kind}"


def _conversion(group: str, versions: tuple[Version, ...]) -> Callable[[Object, str], Object]:
    """Conversion None: the apiVersion changes, and what the other version does not know is lost.

    An object that was stored by an earlier state of the definition is pruned and defaulted by today's schema of the
    version that it was stored in, when it is read.
    """
    by_name = {version.name: version for version in versions}

    def convert(obj: Object, name: str) -> Object:
        source = by_name.get(str(obj.get("apiVersion", "")).rpartition("/")[2])
        target = by_name[name]
        if source is not None:
            source.compiled.prepare(obj)
        if source is target:
            return obj
        # A copy: what is lost in the other version is not lost in this one.
        found = decode(encode(obj)) | {"apiVersion": f"{group}/{name}"}
        target.compiled.prune(found)
        return found

    return convert
