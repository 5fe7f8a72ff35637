"""Resolutions from a seed: catalogs with channels, subscriptions, and what is installed. In the recorded rows' form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.differential.olm.comparing import LISTING
from tests.differential.olm.constraints import APIS, PACKAGES, RANGES, as_text, some_properties

if TYPE_CHECKING:
    import random

NAMESPACE: Final = "olm"
CHANNELS: Final = ("stable", "alpha", "fast")
VERSIONS: Final = ("0.9.0", "1.0.0", "1.1.0", "1.2.0-rc.1", "1.2.0", "2.0.0", "2.1.0")
ODD_VERSIONS: Final = ("1", "v1.0.0", "1.0", "", "x.y", "01.1.0", "1.0.0+build")
_SKIP_RANGES: Final = ("<1.1.0", ">=0.9.0 <2.0.0", "1.x", "<= 1.0.0", "nonsense")


def a_row(chance: random.Random) -> dict[str, Any]:
    catalogs = [a_catalog(chance, "cat", NAMESPACE)]
    if chance.random() < 0.3:
        catalogs.append(a_catalog(chance, "dog", chance.choice((NAMESPACE, "global", "unseen"))))
    if chance.random() < 0.015:
        catalogs[-1]["error"] = LISTING + "connection refused"
    names = [bundle["name"] for catalog in catalogs for bundle in catalog["bundles"]]
    subscriptions = [a_subscription(chance, number, names) for number in range(chance.choice((1, 1, 1, 2, 2, 3)))]
    installed: list[dict[str, Any]] = []
    for each in subscriptions:
        if chance.random() < 0.35 and names:
            present = an_installed(chance, catalogs, each["package"], each["name"])
            if present is not None and present["name"] not in {one["name"] for one in installed}:
                each["installedCSV"] = present["name"]
                installed.append(present)
    if chance.random() < 0.2:
        free = an_installed(chance, catalogs, chance.choice(PACKAGES), "")
        if free is not None and free["name"] not in {each["name"] for each in installed}:
            installed.append(free)
    return {
        "namespaces": [NAMESPACE, "global"],
        "catalogs": catalogs,
        "subscriptions": subscriptions,
        "installed": installed,
    }


def a_catalog(chance: random.Random, name: str, namespace: str) -> dict[str, Any]:
    bundles: list[dict[str, Any]] = []
    for package in chance.sample(PACKAGES, chance.randint(2, 4)):
        default = chance.choice((*CHANNELS[:2], "absent"))
        for channel in chance.sample(CHANNELS, chance.choice((1, 1, 2))):
            bundles += a_channel(chance, package, channel, in_default=channel == default, known=bundles)
    return {"name": name, "namespace": namespace, "priority": chance.choice((0, 0, 5, -1)), "bundles": bundles}


def a_channel(
    chance: random.Random, package: str, channel: str, *, in_default: bool, known: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """A chain, head last in versions; rarely one with gaps, two heads or a ring."""
    versions = sorted(chance.sample(VERSIONS, chance.randint(1, 4)))
    entries: list[dict[str, Any]] = []
    for version in versions:
        name = f"{package}.v{version}"
        if chance.random() < 0.05:
            version = chance.choice(ODD_VERSIONS)
        twin = next((each for each in known if each["name"] == name and each["package"] == package), None)
        entry: dict[str, Any] = {"name": name, "version": version, "package": package, "channel": channel}
        entry["inDefaultChannel"] = in_default
        if twin is not None:
            entry |= {"version": twin["version"], "properties": twin["properties"]}
        else:
            entry["properties"] = some_properties(chance, package, version)
            if chance.random() < 0.08:
                entry["dependencies"] = some_dependencies(chance)
        if entries:
            entry["replaces"] = entries[-1]["name"]
            if chance.random() < 0.12:
                entry["skips"] = [chance.choice(entries)["name"] for _ in range(chance.choice((1, 2)))]
            if chance.random() < 0.15:
                entry["skipRange"] = chance.choice(_SKIP_RANGES)
        elif chance.random() < 0.2:
            entry["replaces"] = f"{package}.v0.1.0"
        entries.append(entry)
    if chance.random() < 0.03 and len(entries) > 1:
        broken = chance.choice(entries)
        broken["replaces"] = chance.choice(("", entries[-1]["name"], broken["name"]))
    chance.shuffle(entries)
    return entries


def some_dependencies(chance: random.Random) -> list[dict[str, Any]]:
    """Well-formed ones: a bundle whose dependencies have another shape is no entry of a catalog."""
    match chance.choice(("olm.package", "olm.gvk", "olm.label", "other")):
        case "olm.package":
            value: Any = {"packageName": chance.choice(PACKAGES), "version": chance.choice(RANGES)}
            kind = "olm.package"
        case "olm.gvk":
            value, kind = chance.choice(APIS), "olm.gvk"
        case "olm.label":
            value, kind = {"label": "lts"}, "olm.label"
        case _:
            value, kind = {"x": 1}, "something.else"
    return [{"type": kind, "value": as_text(chance, value)}]


def a_subscription(chance: random.Random, number: int, names: list[str]) -> dict[str, Any]:
    found = {"name": f"sub{number}", "package": chance.choice(PACKAGES if chance.random() < 0.97 else ("absent",))}
    if chance.random() < 0.6:
        found["channel"] = chance.choice(CHANNELS[:2])
    if chance.random() < 0.85:
        found |= {"catalog": "cat", "catalogNamespace": NAMESPACE}
    if chance.random() < 0.12 and names:
        found["startingCSV"] = chance.choice(names)
    return found


def an_installed(
    chance: random.Random, catalogs: list[dict[str, Any]], package: str, owner: str
) -> dict[str, Any] | None:
    """A bundle of the catalogs, or one that is no longer in them."""
    known = [each for catalog in catalogs for each in catalog["bundles"] if each["package"] == package]
    if not known:
        return None
    if chance.random() < 0.15:
        properties = some_properties(chance, package, "0.1.0")
        return {"name": f"{package}.v0.1.0", "version": "0.1.0", "properties": properties, "subscription": owner}
    chosen = chance.choice(known)
    if chosen["version"] not in VERSIONS:
        return None  # no server takes a ClusterServiceVersion of such a version
    properties = list(chosen["properties"])
    if not any(each["type"] == "olm.package" for each in properties):
        properties.append({"type": "olm.package", "value": {"packageName": package, "version": chosen["version"]}})
    return {
        "name": chosen["name"],
        "version": chosen["version"],
        "properties": properties,
        "subscription": owner,
    }
