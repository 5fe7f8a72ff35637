"""Small catalogs with boring defaults: `a_catalog(bundle("a", "1.0.0", needs("d")), ...)`."""

from __future__ import annotations

from typing import Any

from muster.resolution import (
    Catalog,
    CatalogKey,
    Entry,
    Impossible,
    Outcome,
    Property,
    Request,
    Resolved,
    Want,
    index_catalog,
    make_bundle,
    resolve,
)


def bundle(package: str, version: str = "1.0.0", *properties: dict[str, Any], **edges: Any) -> dict[str, Any]:
    """A bundle named package.vVERSION in the channel stable, which is the default."""
    return {"package": package, "version": version, "properties": properties, **edges}


def name_of(package: str, version: str) -> str:
    return f"{package}.v{version}"


def needs(package: str, wanted: str = ">=0.0.0") -> dict[str, Any]:
    return {"type": "olm.package.required", "value": {"packageName": package, "versionRange": wanted}}


def needs_api(kind: str) -> dict[str, Any]:
    return {"type": "olm.gvk.required", "value": {"group": "g", "version": "v1", "kind": kind}}


def provides(kind: str) -> dict[str, Any]:
    return {"type": "olm.gvk", "value": {"group": "g", "version": "v1", "kind": kind}}


def constraint(**value: Any) -> dict[str, Any]:
    return {"type": "olm.constraint", "value": value}


def rule(text: str, message: str = "", *, optional: bool = False) -> dict[str, Any]:
    value: dict[str, Any] = {"cel": {"rule": text}, "action": {"id": "require", "optional": optional}}
    return constraint(**value, **({"message": message} if message else {}))


def a_property(raw: dict[str, Any]) -> Property:
    return Property(raw["type"], raw["value"])


def an_entry(raw: dict[str, Any], key: CatalogKey = CatalogKey("cat", "default")) -> Entry:  # noqa: B008 - a constant
    made = make_bundle(
        raw.get("name", name_of(raw["package"], raw["version"])),
        raw["package"],
        raw["version"],
        map(a_property, raw["properties"]),
    )
    return Entry(
        made,
        key,
        raw.get("channel", "stable"),
        raw.get("default", raw.get("channel", "stable") == "stable"),
        raw.get("replaces", ""),
        tuple(raw.get("skips", ())),
        raw.get("skip_range", ""),
    )


def a_catalog(*bundles: dict[str, Any], name: str = "cat", priority: int = 0) -> Catalog:
    """Bundles of one package follow each other: each replaces the one before unless it says otherwise."""
    key = CatalogKey(name, "default")
    last: dict[tuple[str, str], str] = {}
    entries = []
    for raw in bundles:
        channel = (raw["package"], raw.get("channel", "stable"))
        linked = {"replaces": last.get(channel, ""), **raw}
        entry = an_entry(linked, key)
        last[channel] = entry.name
        entries.append(entry)
    return index_catalog(key, entries, priority=priority)


def wanting(*packages: str, **request: Any) -> Any:
    """A request for packages by name."""
    from muster.resolution import parse_want

    wants: tuple[Want, ...] = tuple(map(parse_want, packages))
    return lambda *catalogs: Request(catalogs, wants, **request)


def chosen(outcome: Outcome) -> list[str]:
    """The names of what is in the answer."""
    assert isinstance(outcome, Resolved), outcome
    return sorted(step.name for step in outcome.plan.steps)


def resolved(*packages: str, catalog: Catalog, **request: Any) -> list[str]:
    return chosen(resolve(wanting(*packages, **request)(catalog)))


def impossible(*packages: str, catalog: Catalog, **request: Any) -> Impossible:
    outcome = resolve(wanting(*packages, **request)(catalog))
    assert isinstance(outcome, Impossible), outcome
    return outcome


def blobs(*requirements: dict[str, Any], versions: int = 2) -> list[dict[str, Any]]:
    """Package a, whose head has the requirements, and d."""
    made: list[dict[str, Any]] = []
    for package in ("a", "d"):
        names = [f"{package}.v{number}" for number in range(1, versions + 1)]
        entries = [{"name": name, "replaces": names[at - 1] if at else ""} for at, name in enumerate(names)]
        made.append({"schema": "olm.package", "name": package, "defaultChannel": "stable"})
        made.append({"schema": "olm.channel", "package": package, "name": "stable", "entries": entries})
        for number, name in enumerate(names, 1):
            own = {"type": "olm.package", "value": {"packageName": package, "version": f"{number}.0.0"}}
            more = requirements if package == "a" and number == versions else ()
            made.append({"schema": "olm.bundle", "name": name, "package": package, "properties": [own, *more]})
    return made


DIAMOND = a_catalog(
    bundle("a", "1.0.0", needs("d", "<2.0.0")),
    bundle("a", "1.1.0", needs("d", "<2.0.0")),
    bundle("b", "1.0.0", needs("d", ">=2.0.0")),
    bundle("d", "1.0.0"),
    bundle("d", "1.5.0"),
    bundle("d", "2.0.0"),
    bundle("b", "0.9.0", channel="old"),
)

"""Two wants whose needs of d exclude each other."""
