"""A bundle directory (registry+v1) as a bundle: the manifest, the annotations, dependencies and properties in it.

Takes what was read from the files; knows no files itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.errors import InvalidObjectError
from muster.resolution.catalog.bundles import Bundle, make_bundle
from muster.resolution.catalog.dependencies import from_dependency
from muster.resolution.catalog.properties import GVK, GVK_REQUIRED, PACKAGE, Property, property_from
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator


_PACKAGE = "operators.operatorframework.io.bundle.package.v1"
_CHANNELS = "operators.operatorframework.io.bundle.channels.v1"
_DEFAULT = "operators.operatorframework.io.bundle.channel.default.v1"


@dataclass(frozen=True, slots=True)
class RegistryBundle:
    """The bundle, the channels it says it is in, its edges, and its package's default channel."""

    bundle: Bundle
    channels: tuple[str, ...]
    default_channel: str
    replaces: str
    skips: tuple[str, ...]
    skip_range: str


def read_bundle_directory(
    csv: Json, annotations: Json, dependencies: Json = None, properties: Json = None
) -> RegistryBundle:
    """Put the parts together. Raises InvalidObjectError naming the part and what is wrong with it."""
    metadata, spec = _mapping(csv, "metadata", "the manifest"), _mapping(csv, "spec", "the manifest")
    said = _mapping(annotations, "annotations", "metadata/annotations.yaml")
    name = _text(metadata, "name")
    package = _text(said, _PACKAGE)
    if not name or not package:
        missing = "metadata.name" if not name else _PACKAGE
        raise InvalidObjectError("", f"the bundle has no {missing}")
    version = _text(spec, "version")
    found = [Property(PACKAGE, {"packageName": package, "version": version})]
    found += [Property(GVK, value) for value in _apis(spec, "owned")]
    for raw in _listed(properties, "properties", "metadata/properties.yaml"):
        found.append(property_from(raw))
    required = _listed(dependencies, "dependencies", "metadata/dependencies.yaml")
    for raw in required:
        converted = from_dependency(property_from(raw))
        if converted is not None:
            found.append(converted)
    if not required:
        found += [Property(GVK_REQUIRED, value) for value in _apis(spec, "required")]
    channels = tuple(part.strip() for part in _text(said, _CHANNELS).split(",") if part.strip())
    default, own = _text(said, _DEFAULT), metadata.get("annotations")
    skip_range = _text(own, "olm.skipRange") if isinstance(own, dict) else ""
    return RegistryBundle(
        make_bundle(name, package, version, found),
        channels or ("stable",),
        default or (channels[0] if channels else "stable"),
        _text(spec, "replaces"),
        tuple(map(str, _items(spec, "skips"))),
        skip_range,
    )


def _mapping(value: Json, key: str, what: str) -> JsonObject:
    found = value.get(key) if isinstance(value, dict) else None
    if not isinstance(found, dict):
        raise InvalidObjectError("", f"{what} has no {key}")
    return found


def _text(mapping: JsonObject, key: str) -> str:
    """Empty where nothing, or nothing much, is said."""
    value = mapping.get(key)
    return str(value) if value else ""


def _items(mapping: JsonObject, key: str) -> list[Json]:
    """The items of a list; what is null or another thing has none."""
    value = mapping.get(key)
    return value if isinstance(value, list) else []


def _listed(value: Json, key: str, what: str) -> list[Json]:
    if value is None:
        return []
    found = value.get(key) if isinstance(value, dict) else None
    if found is None:
        return []
    if not isinstance(found, list):
        raise InvalidObjectError("", f"{key} of {what} is no list")
    return found


def _apis(spec: JsonObject, which: str) -> Iterator[dict[str, str]]:
    """The APIs of CRDs (named plural.group) and of API services."""
    for kind in ("customresourcedefinitions", "apiservicedefinitions"):
        section = spec.get(kind)
        for each in _items(section, which) if isinstance(section, dict) else ():
            if not isinstance(each, dict):
                continue
            plural = _text(each, "name")
            group = _text(each, "group") if kind == "apiservicedefinitions" else plural.partition(".")[2]
            yield {"group": group, "version": _text(each, "version"), "kind": _text(each, "kind")}
