"""Which resources a server serves, and which of them a user means by `mc` or `placements.cluster.…`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api.parts import Identity, Node, Part
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.values.api_paths import collection_path, object_path
from muster.values.json import JsonObject
from muster.values.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class ServedResource:
    """One resource in one version, as discovery tells it."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str = "") -> str:
        """The URL path of all objects, or of those in a namespace. Raises InvalidObjectError."""
        return collection_path(self.group, self.version, self.plural, namespace if self.namespaced else "")

    def object_path(self, namespace: str, name: str, subresource: str = "") -> str:
        """The URL path of one object. Raises InvalidObjectError for what cannot be the name of one."""
        if self.namespaced and not namespace:
            raise InvalidObjectError("", f"{self.plural} are in namespaces: one must be given for {name[:80]!r}")
        place = namespace if self.namespaced else ""
        return object_path(self.group, self.version, self.plural, place, name, subresource)


@dataclass(frozen=True, slots=True)
class Discovery:
    """All resources of a server, groups and versions in the server's order of preference."""

    resources: tuple[ServedResource, ...]

    def find(self, wanted: str) -> ServedResource | None:
        """The resource that `named` would find; None if the server has none."""
        name, _, qualifier = wanted.lower().partition(".")
        for resource in self.resources:
            names = (resource.plural, resource.singular, resource.kind.lower(), *resource.short_names)
            if name in names and qualifier in (
                "",
                resource.group,
                f"{resource.version}.{resource.group}".rstrip("."),
            ):
                return resource
        return None

    def named(self, wanted: str) -> ServedResource:
        """The resource a user means: plural, singular, short name or kind; `.group` or `.version.group` may follow."""
        found = self.find(wanted)
        if found is not None:
            return found
        name = wanted.lower().partition(".")[0]
        close = nearest(name, {each.plural for each in self.resources} | {each.singular for each in self.resources})
        hint = f": did you mean {' or '.join(close)}?" if close else "; `kubectl api-resources` lists them"
        raise InvalidObjectError("", f"the server doesn't have a resource type {wanted!r}{hint}")

    def resources_of(self, wanted: str) -> list[ServedResource]:
        """The resource a user means, or all of a category, such as `all`, in the version that is preferred."""
        found: dict[tuple[str, str], ServedResource] = {}
        for each in self.resources:
            if wanted in each.categories and "list" in each.verbs:
                found.setdefault((each.group, each.plural), each)
        return list(found.values()) if found else [self.named(wanted)]

    def of_kind(self, api_version: str, kind: str) -> ServedResource:
        for resource in self.resources:
            if resource.kind == kind and resource.api_version == api_version:
                return resource
        others = sorted({r.api_version for r in self.resources if r.kind == kind})
        hint = f" (the server has it in {', '.join(others)})" if others else ""
        raise InvalidObjectError("", f"the server has no kind {kind!r} in {api_version!r}{hint}")


class _ResponseKind(Part, frozen=True):
    group: str = ""
    kind: str = ""


class _DiscoveredResource(Part, frozen=True):
    resource: str = ""
    singular_resource: str = ""
    response_kind: _ResponseKind = _ResponseKind()
    scope: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()


class _DiscoveredVersion(Node, frozen=True):
    version: str = ""
    resources: tuple[_DiscoveredResource, ...] = ()


class _DiscoveredGroup(Node, frozen=True):
    metadata: Identity = Identity()
    versions: tuple[_DiscoveredVersion, ...] = ()


class _GroupList(Node, frozen=True):
    """An APIGroupDiscoveryList."""

    items: tuple[_DiscoveredGroup, ...] = ()


class _ListedResource(Part, frozen=True):
    name: str = ""
    singular_name: str = ""
    kind: str = ""
    namespaced: bool = False
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()


class _ResourceList(Node, frozen=True):
    """An APIResourceList."""

    group_version: str = ""
    resources: tuple[_ListedResource, ...] = ()


_GROUPS: Final = Reader(_GroupList)
_RESOURCES: Final = Reader(_ResourceList)


def from_aggregated(documents: Iterable[JsonObject]) -> Discovery:
    """From APIGroupDiscoveryList documents. Raises InvalidObjectError for what is none."""
    return Discovery(
        tuple(
            ServedResource(
                group=each.response_kind.group or group.metadata.name,
                version=version.version,
                plural=each.resource,
                singular=each.singular_resource,
                kind=each.response_kind.kind,
                namespaced=each.scope == "Namespaced",
                short_names=each.short_names,
                categories=each.categories,
                verbs=each.verbs,
            )
            for document in documents
            for group in _GROUPS.partly(document).obj.items
            for version in group.versions
            for each in version.resources
        )
    )


def from_legacy(documents: Iterable[JsonObject]) -> Discovery:
    """From one APIResourceList per group and version. Raises InvalidObjectError for what is none."""
    found = []
    for document in documents:
        listed = _RESOURCES.partly(document).obj
        group, _, version = listed.group_version.rpartition("/")
        found += [
            ServedResource(
                group=group,
                version=version,
                plural=each.name,
                singular=each.singular_name,
                kind=each.kind,
                namespaced=each.namespaced,
                short_names=each.short_names,
                categories=each.categories,
                verbs=each.verbs,
            )
            for each in listed.resources
            if "/" not in each.name
        ]
    return Discovery(tuple(found))
