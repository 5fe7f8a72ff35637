"""Entries of dependencies.yaml as the properties that they become."""

from __future__ import annotations

import msgspec

from muster.resolution.catalog.properties import (
    GVK_REQUIRED,
    LABEL_REQUIRED,
    PACKAGE_REQUIRED,
    Property,
    folded,
)
from muster.values.json import JsonObject


def from_dependency(dependency: Property) -> Property | None:
    """An entry of dependencies.yaml as the property it becomes; None for types that mean nothing there."""
    value = dependency.value
    match dependency.type:
        case "olm.gvk":
            return msgspec.structs.replace(dependency, type=GVK_REQUIRED)
        case "olm.package":
            if isinstance(value, dict):
                value = _as_property(value)
            return Property(PACKAGE_REQUIRED, value, dependency.unreadable)
        case "olm.label":
            return msgspec.structs.replace(dependency, type=LABEL_REQUIRED)
        case "olm.constraint" | "olm.constraint.cel":
            return dependency
        case _:
            return None


def _as_property(value: JsonObject) -> JsonObject:
    """Where a dependency says version, the property says versionRange, which says nothing in a dependency. A second
    spelling of a key stays a second one."""
    result: JsonObject = {}
    for key, item in value.items():
        match folded(key):
            case "version":
                result["versionRange" if "versionRange" not in result else "VersionRange"] = item
            case "versionrange":
                continue
            case _:
                result[key] = item
    return result
