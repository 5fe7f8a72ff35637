"""CustomResourceDefinition objects for our kinds, derived from the registry, read-only.

They let kubectl, clients and people find out what the hub serves, as on a cluster where the same kinds are installed.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from muster.api.builtin import CREATED_AT, builtin
from muster.api.parts import anything, kind
from muster.api.resource import READ_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.resource import PrinterColumn, Resource, Version

GROUP: Final = "apiextensions.k8s.io"
_NAMESPACE: Final = uuid.UUID("6e0b6f1c-3f43-5a35-9d2b-0b2f5f1d6a10")

CUSTOM_RESOURCE_DEFINITION: Final = builtin(
    "CustomResourceDefinition",
    "customresourcedefinitions",
    kind(
        "A kind that the server knows by its definition.", anything("The definition."), anything("What became of it.")
    ),
    (CREATED_AT,),
    group=GROUP,
    namespaced=False,
    short_names=("crd", "crds"),
    verbs=READ_ONLY,
)


def custom_resource_definitions(resources: Iterable[Resource], created: str) -> dict[str, dict[str, Any]]:
    """One object per kind that is not built in, by name. `created` is the time stamp they carry."""
    return {resource.key: definition(resource, created) for resource in resources if not resource.builtin}


def definition(resource: Resource, created: str) -> dict[str, Any]:
    names: dict[str, Any] = {
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
            # The same on every start, so that clients do not take a restart for a new definition.
            "uid": str(uuid.uuid5(_NAMESPACE, resource.key)),
            "resourceVersion": "1",
            "generation": 1,
            "creationTimestamp": created,
        },
        "spec": {
            "group": resource.group,
            "names": names,
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [_version(version) for version in resource.versions],
            "conversion": {"strategy": "None"}
            if resource.convert is None
            else {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}},
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


def _version(version: Version) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": version.name,
        "served": version.served,
        "storage": version.storage,
        "schema": {"openAPIV3Schema": version.schema},
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


def _column(column: PrinterColumn) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": column.name, "type": column.type, "jsonPath": column.path}
    if column.description:
        shown["description"] = column.description
    if column.priority:
        shown["priority"] = column.priority
    return shown


def _condition(kind_: str, reason: str, message: str, since: str) -> dict[str, Any]:
    return {"type": kind_, "status": "True", "reason": reason, "message": message, "lastTransitionTime": since}
