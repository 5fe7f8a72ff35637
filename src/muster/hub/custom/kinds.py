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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.api.custom_resource_definition import (
        Definition,
        DefinitionColumn,
        DefinitionScale,
        DefinitionSpec,
        DefinitionVersion,
    )
    from muster.api.resource import Object

_AGE: Final = PrinterColumn("Age", "date", ".metadata.creationTimestamp", CREATION_DESCRIPTION)


def custom_kind(definition: Definition) -> Resource:
    """The kind of a definition whose names are accepted."""
    spec, names, metadata = definition.spec, definition.status.accepted_names, definition.metadata
    versions = tuple(_version(version, spec, names.kind) for version in spec.versions)
    # As long as nobody has changed the definition, whatever is stored was written by it as it is.
    original = metadata.generation <= 1
    return Resource(
        group=spec.group,
        kind=names.kind,
        plural=names.plural,
        singular=names.singular,
        list_kind=names.list_kind,
        namespaced=spec.scope == "Namespaced",
        versions=versions,
        short_names=names.short_names,
        categories=names.categories,
        custom=True,
        stored_as_shown=original,
        terminating=metadata.is_going,
        convert=None if original and len(versions) == 1 else _conversion(spec.group, versions),
    )


def _version(version: DefinitionVersion, spec: DefinitionSpec, kind: str) -> Version:
    schema, scale = version.schema.openapi, _scale(version.subresources.scale)
    columns = tuple(_columns(version.additional_printer_columns))
    return Version(
        name=version.name,
        schema=schema,
        columns=columns if version.additional_printer_columns else (_AGE,),
        status=version.has_status,
        selectable_fields=tuple(each.json_path for each in version.selectable_fields),
        storage=version.storage,
        served=version.served,
        deprecated=_deprecation(version, spec, kind) if version.deprecated else "",
        scale=scale,
        checks=CustomChecks(schema, scale, status=version.has_status),
    )


def _scale(scale: DefinitionScale | None) -> Scale | None:
    if scale is None:
        return None
    return Scale(scale.spec_replicas_path, scale.status_replicas_path, scale.label_selector_path)


def _columns(columns: Sequence[DefinitionColumn]) -> Iterator[PrinterColumn]:
    """The columns up to the first whose path cannot be read: a server shows no more of them either."""
    for column in columns:
        try:
            compile_path(column.json_path)
        except InvalidObjectError:
            return
        yield PrinterColumn(
            column.name, column.type, column.json_path, column.description, column.format, column.priority
        )


def _deprecation(version: DefinitionVersion, spec: DefinitionSpec, kind: str) -> str:
    if version.deprecation_warning is not None:
        return version.deprecation_warning
    text = f"{spec.group}/{version.name} {kind} is deprecated"
    rank = version_rank(version.name)
    better = [
        each.name for each in spec.versions if each.served and not each.deprecated and version_rank(each.name) < rank
    ]
    if not better:
        return text
    return f"{text}; use {spec.group}/{min(better, key=version_rank)} {kind}"


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
