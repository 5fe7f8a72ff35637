"""CustomResourceDefinition: the kind, and the objects of it that describe the hub's own kinds.

The hub keeps one definition per kind that it brings and that is not built into Kubernetes, so that kubectl, clients and
people find out what it serves, as on a cluster where the same kinds are installed. Definitions that users write are
checked and served by `muster.hub.custom`.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from muster.api.builtin import CREATED_AT, builtin
from muster.api.cel_rules import with_rules
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.cel_rules import CelRule
    from muster.api.resource import PrinterColumn, Resource, Version

GROUP: Final = "apiextensions.k8s.io"
PLURAL: Final = "customresourcedefinitions"
KEY: Final = f"{PLURAL}.{GROUP}"
_NAMESPACE: Final = uuid.UUID("6e0b6f1c-3f43-5a35-9d2b-0b2f5f1d6a10")


def _text(description: str) -> JsonObject:
    return {"type": "string", "description": description}


def _flag(description: str) -> JsonObject:
    return {"type": "boolean", "description": description}


def _texts(description: str) -> JsonObject:
    return {
        "type": "array",
        "description": description,
        "items": {"type": "string"},
        "x-kubernetes-list-type": "atomic",
    }


def _struct(description: str, required: tuple[str, ...] = (), /, **properties: Any) -> JsonObject:
    schema = {"type": "object", "description": description, "properties": properties}
    return schema | {"required": list(required)} if required else schema


def _always(description: str, required: tuple[str, ...] = (), /, **properties: Any) -> JsonObject:
    """A part that is there even when it is empty, so that nobody owns it as such."""
    return _struct(description, required, **properties) | {"x-muster-always-present": True}


def _list(description: str, item: JsonObject) -> JsonObject:
    return {"type": "array", "description": description, "items": item, "x-kubernetes-list-type": "atomic"}


def _open(description: str) -> JsonObject:
    return {"type": "object", "description": description, "x-kubernetes-preserve-unknown-fields": True}


_NAMES: Final = {
    "plural": _text("The name in paths, in lower case."),
    "singular": _text("The name that kubectl takes for one object; the kind in lower case, if nothing is said."),
    "shortNames": _texts("More names that clients take."),
    "kind": _text("The kind that objects carry."),
    "listKind": _text("The kind of lists; the kind and List, if nothing is said."),
    "categories": _texts("Groups of kinds that clients ask for together, such as all."),
}

_VERSION: Final = _struct(
    "One version.",
    ("name", "served", "storage"),
    name=_text("Its name, such as v1."),
    served=_flag("Whether clients can use it."),
    storage=_flag("Whether objects are stored in it: exactly one is."),
    deprecated=_flag("Whether those who use it are warned."),
    deprecationWarning=_text("What they are told, instead of the usual words."),
    schema=_struct("What objects look like.", openAPIV3Schema=_open("A structural schema in OpenAPI 3.")),
    subresources=_struct(
        "What is written and read apart.",
        status=_open("The status has a subresource of its own."),
        scale=_struct(
            "How the number of replicas is shown and set.",
            ("specReplicasPath", "statusReplicasPath"),
            specReplicasPath=_text("Where the wanted number is, below .spec."),
            statusReplicasPath=_text("Where the present number is, below .status."),
            labelSelectorPath=_text("Where the selector of what is counted is, below .spec or .status."),
        ),
    ),
    additionalPrinterColumns=_list(
        "Columns of kubectl get.",
        _struct(
            "A column.",
            ("name", "type", "jsonPath"),
            name=_text("Its heading."),
            type=_text("One of string, integer, number, boolean, date."),
            format=_text("How clients might show it."),
            description=_text("What it says."),
            priority={"type": "integer", "format": "int32", "description": "Above 0: shown in wide output only."},
            jsonPath=_text("Where the value is, such as .status.phase."),
        ),
    ),
    selectableFields=_list(
        "Fields that field selectors may name, eight at most.",
        _struct("A field.", ("jsonPath",), jsonPath=_text("Where it is, such as .spec.color.")),
    ),
)
_CONVERSION: Final = _struct(
    "How objects get from one version to another.",
    ("strategy",),
    strategy=_text("None: only the apiVersion changes, and fields that the other version does not know are lost."),
    webhook=_struct(
        "What a Kubernetes server would ask with strategy Webhook.",
        ("conversionReviewVersions",),
        clientConfig=_struct(
            "Where it would ask.",
            url=_text("An address."),
            service=_struct(
                "A service.",
                ("namespace", "name"),
                namespace=_text("Its namespace."),
                name=_text("Its name."),
                path=_text("A path below it."),
                port={"type": "integer", "format": "int32", "description": "Its port."},
            ),
            caBundle={"type": "string", "format": "byte", "description": "Whom to trust."},
        ),
        conversionReviewVersions=_texts("Versions of ConversionReview that it takes."),
    ),
)
_CONDITIONS: Final = {
    "type": "array",
    "nullable": True,
    "description": "NamesAccepted, Established and Terminating.",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": _struct(
        "A condition.",
        ("type", "status"),
        type=_text("Its type."),
        status=_text("True, False or Unknown."),
        lastTransitionTime={"type": "string", "format": "date-time", "nullable": True, "description": "Since when."},
        reason=_text("Why, for programs."),
        message=_text("Why, for people."),
        observedGeneration={"type": "integer", "format": "int64", "description": "Of which state of the definition."},
    ),
}
SCHEMA: Final[JsonObject] = {
    "type": "object",
    "description": "A kind that the hub serves because somebody has defined it.",
    "required": ["spec"],
    "properties": {
        "spec": _struct(
            "What is defined.",
            ("group", "names", "scope", "versions"),
            group=_text("The API group: a domain."),
            names=_always("How the kind is called.", ("plural", "kind"), **_NAMES),
            scope=_text("Cluster or Namespaced."),
            versions=_list("Its versions.", _VERSION),
            conversion=_CONVERSION,
            preserveUnknownFields=_flag("Must not be true: say it in the schema."),
        ),
        "status": _struct(
            "What became of it.",
            conditions=_CONDITIONS,
            acceptedNames=_always("The names that are in use.", ("plural", "kind"), **_NAMES),
            storedVersions=_texts("Versions in which objects have been stored.") | {"nullable": True},
            observedGeneration={"type": "integer", "format": "int64", "description": "Of which state this is told."},
        ),
    },
}

CUSTOM_RESOURCE_DEFINITION: Final = replace(
    builtin(
        "CustomResourceDefinition",
        PLURAL,
        SCHEMA,
        (CREATED_AT,),
        group=GROUP,
        namespaced=False,
        short_names=("crd", "crds"),
        status=True,
    ),
    categories=("api-extensions",),
    generation=True,
    heavy=True,
)


def custom_resource_definitions(resources: Iterable[Resource], created: str) -> dict[str, JsonObject]:
    """One object per kind of the hub's own that is not built into Kubernetes, by name. `created` is when they begin."""
    own = (resource for resource in resources if not resource.builtin and not resource.custom)
    return {resource.key: definition(resource, created) for resource in own}


def definition(resource: Resource, created: str) -> JsonObject:
    names: JsonObject = {
        "kind": resource.kind,
        "listKind": resource.list_kind,
        "plural": resource.plural,
        "singular": resource.singular,
    }
    if resource.short_names:
        names["shortNames"] = list(resource.short_names)
    if resource.categories:
        names["categories"] = list(resource.categories)
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": resource.key,
            # The same on every hub, so that clients do not take another one for a new definition.
            "uid": str(uuid.uuid5(_NAMESPACE, resource.key)),
            "generation": 1,
            "creationTimestamp": created,
        },
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(version, resource.cel_rules) for version in resource.versions],
            "conversion": {"strategy": "None"},  # nobody else is asked; ours convert by themselves
        },
        "status": {
            "acceptedNames": names,
            "conditions": [
                _condition("NamesAccepted", "NoConflicts", "no conflicts found", created),
                _condition("Established", "InitialNamesAccepted", "the initial names have been accepted", created),
            ],
            "storedVersions": [resource.storage_version.name],
        },
    }


def _version(version: Version, rules: tuple[CelRule, ...]) -> JsonObject:
    shown: JsonObject = {
        "name": version.name,
        "served": version.served,
        "storage": version.storage,
        "schema": {"openAPIV3Schema": with_rules(version.schema, rules) if rules else version.schema},
    }
    if version.deprecated:
        shown |= {"deprecated": True, "deprecationWarning": version.deprecated}
    if version.status:
        shown["subresources"] = {"status": {}}
    if version.columns:
        shown["additionalPrinterColumns"] = [_column(column) for column in version.columns if column.path]
    if version.selectable_fields:
        shown["selectableFields"] = [{"jsonPath": path} for path in version.selectable_fields]
    return shown


def _column(column: PrinterColumn) -> JsonObject:
    shown: JsonObject = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.description:
        shown["description"] = column.description
    if column.priority:
        shown["priority"] = column.priority
    return shown


def _condition(kind_: str, reason: str, message: str, since: str) -> JsonObject:
    return {"type": kind_, "status": "True", "reason": reason, "message": message, "lastTransitionTime": since}
