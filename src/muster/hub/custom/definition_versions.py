"""What the versions of a CustomResourceDefinition may say: subresources, columns, selectable fields, warnings, schemas.

Called by `definition`. What all versions say alike a Kubernetes server keeps once, and its refusals speak of it there:
`spec.validation` is the schema of all versions. Schemas are judged by `openapi_schema`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.api.custom_resource_definition import Definition, DefinitionVersion
from muster.cel import CompileBudget
from muster.hub.custom.field_paths import InvalidPathError, read_path
from muster.hub.custom.nodes import same
from muster.hub.custom.openapi_schema import schema_causes
from muster.hub.custom.rules import MOST_COMPILING
from muster.values.causes import Cause, duplicate, invalid, required, too_many
from muster.values.json_members import list_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.custom_resource_definition import (
        DefinitionColumn,
        DefinitionScale,
        DefinitionSpec,
        SelectableField,
    )
    from muster.values.json import Json, JsonMapping, Schema

_PER_VERSION: Final = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_SELECTABLE: Final = 8
_LONGEST_WARNING: Final = 256
_NOTHING: Final = DefinitionVersion()


@dataclass(frozen=True, slots=True)
class Definitions:
    """A definition as it is to be and as it was, and what compiling its rules may cost."""

    new: Definition
    old: Definition | None = None
    shared: frozenset[str] = frozenset()  # what all versions of the new one say alike
    budget: CompileBudget = field(default_factory=lambda: CompileBudget(MOST_COMPILING))


def shared_parts(spec: JsonMapping) -> frozenset[str]:
    """What all versions say alike. Given as JSON: true and 1 are not alike."""
    versions = list_at(spec, "versions")
    return frozenset(
        name
        for name in _PER_VERSION
        if versions and all(same(each.get(name), versions[0].get(name)) for each in versions)
    )


def version_causes(version: DefinitionVersion, path: str, both: Definitions) -> Iterator[Cause]:
    """What is wrong with what a version says for itself."""
    for problem in _warning_problems(version):
        yield invalid(f"{path}.deprecationWarning", version.deprecation_warning, problem)
    own = _only(version, frozenset(_PER_VERSION) - both.shared)
    yield from _part_causes(own, path, "schema", both, status=version.has_status)


def shared_causes(both: Definitions) -> Iterator[Cause]:
    """What is wrong with what all versions say alike."""
    versions = both.new.spec.versions
    if versions:
        status = any(version.has_status for version in versions)
        yield from _part_causes(_only(versions[0], both.shared), "spec", "validation", both, status=status)


def _only(version: DefinitionVersion, parts: frozenset[str]) -> DefinitionVersion:
    """A version of this name that says these parts only."""
    return DefinitionVersion(
        version.name,
        schema=version.schema if "schema" in parts else _NOTHING.schema,
        subresources=version.subresources if "subresources" in parts else _NOTHING.subresources,
        additional_printer_columns=version.additional_printer_columns if "additionalPrinterColumns" in parts else (),
        selectable_fields=version.selectable_fields if "selectableFields" in parts else (),
    )


def _warning_problems(version: DefinitionVersion) -> Iterator[str]:
    warning = version.deprecation_warning
    if warning is None:
        return
    if not version.deprecated:
        yield "can only be set for deprecated versions"
        return
    if len(warning.encode("utf-8", "surrogatepass")) > _LONGEST_WARNING:
        yield "must be <= 256 characters long"
    if not warning:
        yield "must not be an empty string"
    for index, character in enumerate(warning):
        if not character.isprintable():
            place = len(warning[:index].encode("utf-8", "surrogatepass"))
            yield f"must only contain printable UTF-8 characters; non-printable character found at index {place}"
            return


def _part_causes(
    said: DefinitionVersion, path: str, schema_name: str, both: Definitions, *, status: bool
) -> Iterator[Cause]:
    """Schema, subresources, columns and selectable fields: of one version, or of all of them."""
    schema = said.schema.openapi
    if schema is not None:
        place = f"{path}.{schema_name}.openAPIV3Schema"
        unchanged = both.old is not None and same(schema, _schema_of(both.old.spec, said.name))
        yield from schema_causes(schema, place, both.budget, status=status, old_cost_accepted=unchanged)
    if said.subresources.scale is not None:
        yield from _scale(said.subresources.scale, f"{path}.subresources.scale")
    for index, column in enumerate(said.additional_printer_columns):
        yield from _column(column, f"{path}.additionalPrinterColumns[{index}]")
    if said.selectable_fields and schema is not None:
        yield from _selectable(said.selectable_fields, schema, f"{path}.selectableFields")


def _schema_of(spec: DefinitionSpec, version: str) -> Json:
    return next((each.schema.openapi for each in spec.versions if each.name == version), None)


def _scale(scale: DefinitionScale, path: str) -> Iterator[Cause]:
    either = "should be a json path under either .spec or .status"
    for name, given, prefixes, words in (
        ("specReplicasPath", scale.spec_replicas_path, (".spec.",), "should be a json path under .spec"),
        ("statusReplicasPath", scale.status_replicas_path, (".status.",), "should be a json path under .status"),
        ("labelSelectorPath", scale.label_selector_path, (".spec.", ".status."), either),
    ):
        place = f"{path}.{name}"
        if not given:
            if name != "labelSelectorPath":
                yield required(place)
        elif not given.startswith("."):
            yield invalid(place, given, "must be a simple json path starting with .")
        elif not given.startswith(prefixes):
            yield invalid(place, given, words)


def _column(column: DefinitionColumn, path: str) -> Iterator[Cause]:
    if not column.name:
        yield required(f"{path}.name")
    types = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not column.type:
        yield required(f"{path}.type", types)
    elif column.type not in _COLUMN_TYPES:
        yield invalid(f"{path}.type", column.type, types)
    if column.format and column.format not in _COLUMN_FORMATS:
        yield invalid(f"{path}.format", column.format, f"must be one of {','.join(_COLUMN_FORMATS)}")
    if not column.json_path:
        yield required(f"{path}.JSONPath")
    elif not column.json_path.startswith("."):
        yield invalid(f"{path}.JSONPath", column.json_path, "must be a simple json path starting with .")


def _selectable(fields: Sequence[SelectableField], schema: Schema, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, each in enumerate(fields):
        place, given = f"{path}[{index}].jsonPath", each.json_path
        if not given:
            yield required(place)
            continue
        try:
            found = read_path(given, schema, brackets=False)
        except InvalidPathError as error:
            yield invalid(place, given, f"is an invalid path: {error}")
            continue
        if found.root == "metadata":
            yield invalid(place, given, "must not point to fields in metadata")
        if found.schema.get("type") not in ("string", "boolean", "integer"):
            detail = (
                "must point to a field of type string, boolean or integer. "
                "Enum string fields and strings with formats are allowed."
            )
            yield invalid(place, given, detail)
        if found.text in seen:
            yield duplicate(place, given)
        seen.add(found.text)
    if len(seen) > _MOST_SELECTABLE:
        yield too_many(path, len(seen), _MOST_SELECTABLE)
