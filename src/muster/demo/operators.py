"""Operators for the demo: a small shop's catalog, one wish that can be met and one that cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator


NAMESPACE = "operators"
_GROUP = "resolution.muster.dev/v1alpha1"
_CERTIFIED = 'properties.exists(p, p.type == "certified" && p.value == true)'
_DATABASE = 'properties.exists(p, p.type == "olm.gvk" && p.value.kind == "Database")'
_MODERN = 'properties.exists(p, p.type == "kubernetes" && semver_compare(p.value, "1.30.0") >= 0)'


def resolutions() -> Iterator[JsonObject]:
    """The shop on a modern cluster, and beside a database that the shop does not take."""
    yield _resolution("shop", [{"package": "shop"}])
    yield _resolution("shop-with-legacydb", [{"package": "shop", "range": ">=2.0.0"}, {"package": "legacydb"}])


def _resolution(name: str, wants: list[dict[str, str]]) -> JsonObject:
    return {
        "apiVersion": _GROUP,
        "kind": "Resolution",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "catalogs": [{"name": "demo", "inline": list(_catalog())}],
            "facts": [{"type": "kubernetes", "value": "1.33.2"}],
            "wants": wants,
        },
    }


def _catalog() -> Iterator[JsonObject]:
    yield from _package(
        "shop", {"1.0.0": [], "2.0.0": [_needs("a certified database", f"{_CERTIFIED} && {_DATABASE}")]}
    )
    yield from _package("certdb", {"3.1.0": [_offers("Database"), {"type": "certified", "value": True}]})
    yield from _package("legacydb", {"1.4.0": [_offers("Database"), _refuses_others()]})
    yield from _package("monitoring", {"0.9.0": [_needs("Kubernetes 1.30 or later", _MODERN)]})


def _package(name: str, versions: dict[str, list[JsonObject]]) -> Iterator[JsonObject]:
    entries: list[dict[str, str]] = []
    for version in versions:
        before = {"replaces": entries[-1]["name"]} if entries else {}
        entries.append({"name": f"{name}.v{version}", **before})
    yield {"schema": "olm.package", "name": name, "defaultChannel": "stable"}
    yield {"schema": "olm.channel", "package": name, "name": "stable", "entries": entries}
    for version, properties in versions.items():
        own = {"type": "olm.package", "value": {"packageName": name, "version": version}}
        yield {
            "schema": "olm.bundle",
            "name": f"{name}.v{version}",
            "package": name,
            "properties": [own, *properties],
        }


def _needs(what: str, rule: str) -> JsonObject:
    return {"type": "olm.constraint", "value": {"message": f"needs {what}", "cel": {"rule": rule}}}


def _offers(kind: str) -> JsonObject:
    return {"type": "olm.gvk", "value": {"group": "db.example.com", "version": "v1", "kind": kind}}


def _refuses_others() -> JsonObject:
    """It wants to be the only database: no package of the other one beside it."""
    other = {"constraints": [{"package": {"packageName": "certdb", "versionRange": ">=0.0.0"}}]}
    return {"type": "olm.constraint", "value": {"message": "is the only database beside itself", "none": other}}
