"""Paths to resources: which kind, version, namespace, object and subresource a URL names.

Built once from the registry; `Routes.find` splits the path and looks up, with no pattern matching on the way.
It knows no HTTP methods and no answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.resource import Resource, Version


class Route(msgspec.Struct, frozen=True):
    """What a path below /api/v1 or /apis/GROUP/VERSION names. `watch` marks the old form with `/watch/` in it."""

    resource: Resource
    version: Version
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False


class Routes:
    """The served kinds by group, version and plural."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._kinds: dict[tuple[str, str], dict[str, tuple[Resource, Version]]] = {}
        for resource in resources:
            for version in resource.versions:
                if version.served:
                    kinds = self._kinds.setdefault((resource.group, version.name), {})
                    kinds[resource.plural] = (resource, version)

    def find(self, path: str) -> Route | None:
        """The route of a path, or None when no served kind has it."""
        parts = path.split("/")
        if len(parts) < 4 or parts[0]:
            return None
        if parts[1] == "api":
            kinds = self._kinds.get(("", parts[2]))
            rest = parts[3:]
        elif parts[1] == "apis" and len(parts) > 4:
            kinds = self._kinds.get((parts[2], parts[3]))
            rest = parts[4:]
        else:
            return None
        if kinds is None:
            return None
        if rest[-1] == "":  # a trailing slash names the same thing
            rest.pop()
        watch = bool(rest) and rest[0] == "watch"
        if watch:
            rest = rest[1:]
        return _resolve(kinds, rest, watch) if rest and all(rest) else None


def _resolve(kinds: dict[str, tuple[Resource, Version]], rest: list[str], watch: bool) -> Route | None:
    namespace = ""
    # /namespaces/N/configmaps is about ConfigMaps; /namespaces/N and /namespaces/N/status are about the Namespace.
    if rest[0] == "namespaces" and len(rest) > 2 and not (len(rest) == 3 and rest[2] in ("status", "finalize")):
        namespace, rest = rest[1], rest[2:]
    found = kinds.get(rest[0])
    if found is None or len(rest) > 3:
        return None
    resource, version = found
    if namespace and not resource.namespaced:
        return None
    name = rest[1] if len(rest) > 1 else ""
    if name and resource.namespaced and not namespace:
        return None
    return Route(resource, version, namespace, name, rest[2] if len(rest) > 2 else "", watch)
