"""Parts of a definition as refusals quote them: as the Go structs that a Kubernetes server keeps them in.

A server prints the struct it has, with Go's names and everything that is empty. Only error messages show it.
"""

from __future__ import annotations

from typing import Final

from muster.values.json import JsonObject

Value = JsonObject

# The fields of a schema in Go's order: our name, Go's name, and what an absent one is.
_SCHEMA: Final = (
    ("id", "ID", ""),
    ("$schema", "Schema", ""),
    ("$ref", "Ref", None),
    ("description", "Description", ""),
    ("type", "Type", ""),
    ("nullable", "Nullable", False),
    ("format", "Format", ""),
    ("title", "Title", ""),
    ("default", "Default", None),
    ("maximum", "Maximum", None),
    ("exclusiveMaximum", "ExclusiveMaximum", False),
    ("minimum", "Minimum", None),
    ("exclusiveMinimum", "ExclusiveMinimum", False),
    ("maxLength", "MaxLength", None),
    ("minLength", "MinLength", None),
    ("pattern", "Pattern", ""),
    ("maxItems", "MaxItems", None),
    ("minItems", "MinItems", None),
    ("uniqueItems", "UniqueItems", False),
    ("multipleOf", "MultipleOf", None),
    ("enum", "Enum", None),
    ("maxProperties", "MaxProperties", None),
    ("minProperties", "MinProperties", None),
    ("required", "Required", None),
    ("items", "Items", None),
    ("allOf", "AllOf", None),
    ("oneOf", "OneOf", None),
    ("anyOf", "AnyOf", None),
    ("not", "Not", None),
    ("properties", "Properties", None),
    ("additionalProperties", "AdditionalProperties", None),
    ("patternProperties", "PatternProperties", None),
    ("dependencies", "Dependencies", None),
    ("additionalItems", "AdditionalItems", None),
    ("definitions", "Definitions", None),
    ("externalDocs", "ExternalDocs", None),
    ("example", "Example", None),
    ("x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields", None),
    ("x-kubernetes-embedded-resource", "XEmbeddedResource", False),
    ("x-kubernetes-int-or-string", "XIntOrString", False),
    ("x-kubernetes-list-map-keys", "XListMapKeys", None),
    ("x-kubernetes-list-type", "XListType", None),
    ("x-kubernetes-map-type", "XMapType", None),
    ("x-kubernetes-validations", "XValidations", None),
)


def go_rule(rule: Value) -> Value:
    """One entry of x-kubernetes-validations."""
    return {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }


def go_versions(versions: list[Value] | None, moved: set[str]) -> list[Value] | None:
    """The versions of a definition. What is alike in all of them stands elsewhere by then, and is in `moved`."""
    if versions is None:
        return None
    return [
        {
            "Name": version.get("name", ""),
            "Served": version.get("served", False),
            "Storage": version.get("storage", False),
            "Deprecated": version.get("deprecated", False),
            "DeprecationWarning": version.get("deprecationWarning"),
            "Schema": None if "schema" in moved or "schema" not in version else _validation(version["schema"]),
            "Subresources": None if "subresources" in moved else _subresources(version.get("subresources")),
            "AdditionalPrinterColumns": None
            if "additionalPrinterColumns" in moved
            else _columns(version.get("additionalPrinterColumns")),
            "SelectableFields": None if "selectableFields" in moved else _fields(version.get("selectableFields")),
        }
        for version in versions
    ]


def _validation(value: Value) -> Value:
    schema = value.get("openAPIV3Schema")
    return {"OpenAPIV3Schema": None if schema is None else go_schema(schema)}


def _subresources(value: Value | None) -> Value | None:
    if value is None:
        return None
    scale = value.get("scale")
    return {
        "Status": value.get("status"),
        "Scale": None
        if scale is None
        else {
            "SpecReplicasPath": scale.get("specReplicasPath", ""),
            "StatusReplicasPath": scale.get("statusReplicasPath", ""),
            "LabelSelectorPath": scale.get("labelSelectorPath"),
        },
    }


def _columns(columns: list[Value] | None) -> list[Value] | None:
    if columns is None:
        return None
    return [
        {
            "Name": column.get("name", ""),
            "Type": column.get("type", ""),
            "Format": column.get("format", ""),
            "Description": column.get("description", ""),
            "Priority": column.get("priority", 0),
            "JSONPath": column.get("jsonPath", ""),
        }
        for column in columns
    ]


def _fields(fields: list[Value] | None) -> list[Value] | None:
    return None if fields is None else [{"JSONPath": each.get("jsonPath", "")} for each in fields]


def in_go_order(schema: Value) -> list[str]:
    """The fields that a schema has, in the order of Go's struct."""
    return [name for name, _, _ in _SCHEMA if name in schema]


def go_schema(schema: Value) -> Value:
    """A schema."""
    found: Value = {}
    for name, go_name, absent in _SCHEMA:
        value = schema.get(name, absent)
        match name:
            case "items" if isinstance(value, dict):
                value = {"Schema": go_schema(value), "JSONSchemas": None}
            case "items" if isinstance(value, list):
                value = {"Schema": None, "JSONSchemas": [go_schema(each) for each in value]}
            case "allOf" | "oneOf" | "anyOf" if value is not None:
                value = [go_schema(each) for each in value]
            case "not" if value is not None:
                value = go_schema(value)
            case "properties" | "patternProperties" | "definitions" if value is not None:
                value = {key: go_schema(each) for key, each in sorted(value.items())}
            case "additionalProperties" | "additionalItems" if isinstance(value, dict):
                value = {"Allows": True, "Schema": go_schema(value)}
            case "additionalProperties" | "additionalItems" if value is not None:
                value = {"Allows": value, "Schema": None}
            case "externalDocs" if value is not None:
                value = {"Description": value.get("description", ""), "URL": value.get("url", "")}
            case "x-kubernetes-validations" if value is not None:
                value = [go_rule(each) for each in value]
            case _:
                pass
        found[go_name] = value
    return found
