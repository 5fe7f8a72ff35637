"""Recorded rows as requests, and outcomes as text that can be compared with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.reasons import Code, Reason
from muster.resolution.catalog.bundles import CatalogKey, Entry, make_bundle
from muster.resolution.catalog.catalog import Catalog, Fault, index_catalog
from muster.resolution.catalog.dependencies import from_dependency
from muster.resolution.catalog.properties import Property
from muster.resolution.request import Dialect, Installed, Request, Want
from muster.resolution.resolve import Impossible, Outcome, Refused, Resolved

if TYPE_CHECKING:
    from collections.abc import Iterable

UNREADABLE = "INVALID-JSON:"


def a_property(raw: dict[str, Any]) -> Property:
    value = raw["value"]
    if isinstance(value, str) and value.startswith(UNREADABLE):
        return Property(raw["type"], None, value.removeprefix(UNREADABLE))
    return Property(raw["type"], value)


def an_entry(raw: dict[str, Any], key: CatalogKey) -> Entry | None:
    """A row of a catalog. One whose dependencies cannot be read is dropped when the catalog is loaded, as upstream."""
    properties = [a_property(each) for each in raw.get("properties", ())]
    for each in raw.get("dependencies", ()):
        dependency = a_property(each)
        if dependency.unreadable is not None and dependency.type in ("olm.gvk", "olm.package"):
            return None
        converted = from_dependency(dependency)
        if converted is not None:
            properties.append(converted)
    return Entry(
        make_bundle(raw["name"], raw.get("package", ""), raw.get("version", ""), properties),
        key,
        raw.get("channel", ""),
        raw.get("inDefaultChannel", False),
        raw.get("replaces", ""),
        tuple(raw.get("skips", ())),
        raw.get("skipRange", ""),
    )


def a_catalog(raw: dict[str, Any]) -> Catalog:
    key = CatalogKey(raw["name"], raw["namespace"])
    entries = [an_entry(each, key) for each in raw["bundles"]]
    unread = Reason(Code.CATALOG_UNAVAILABLE, parameters={"message": "a dependency cannot be read"})
    faults = [Fault(key.name, unread)] if None in entries else []
    return index_catalog(
        key,
        [entry for entry in entries if entry is not None],
        priority=raw.get("priority", 0),
        faults=faults,
        unavailable=raw.get("error", ""),
    )


def a_want(raw: dict[str, Any]) -> Want:
    return Want(
        name=raw["name"],
        package=raw.get("package", ""),
        channel=raw.get("channel", ""),
        starting=raw.get("startingCSV", ""),
        catalog=raw.get("catalog", ""),
        catalog_namespace=raw.get("catalogNamespace", ""),
        installed=raw.get("installedCSV", ""),
    )


def an_installed(raw: dict[str, Any]) -> Installed:
    return Installed(
        name=raw["name"],
        version=raw.get("version", ""),
        package=raw.get("package", ""),
        properties=tuple(a_property(each) for each in raw.get("properties", ())),
        owner=raw.get("subscription", ""),
    )


def a_request(row: dict[str, Any], dialect: Dialect) -> Request:
    allowed = row.get("systemAllowPackages")
    return Request(
        catalogs=tuple(map(a_catalog, row["catalogs"])),
        wants=tuple(map(a_want, row["subscriptions"])),
        installed=tuple(map(an_installed, row["installed"])),
        namespaces=tuple(row["namespaces"]),
        dialect=dialect,
        allowed_packages=None if allowed is None else frozenset(allowed),
        installed_error=row.get("sourceError", ""),
    )


def shown(outcome: Outcome, *, replacing: bool = True) -> list[str] | str:
    """An outcome as text to compare: new bundles with where they come from, or the kind of failure."""
    if isinstance(outcome, Resolved):
        lines = []
        for number in outcome.solution.chosen:
            entry = outcome.problem.variables[number]
            if not isinstance(entry, Entry) or entry.installed:
                continue
            current = outcome.problem.replaced.get(number)
            replaces = (current.name if current is not None else entry.replaces) if replacing else ""
            lines.append(f"{entry.name} {entry.channel} {entry.catalog} {replaces}".rstrip())
        return sorted(lines)
    return {Impossible: "NotSatisfiable", Refused: "InputError"}.get(type(outcome), "undecided")


def expected(install: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(
        f"{each['name']} {each['channel']} {each['catalog']} {each.get('replaces', '')}".rstrip() for each in install
    )


def wanted(expect: dict[str, Any]) -> list[list[str] | str]:
    if "error" in expect:
        return [expect["error"]["kind"]]
    return [expected(each) for each in expect.get("installAnyOf", [expect.get("install", [])])]
