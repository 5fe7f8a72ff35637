"""Bundles, and their entries in channels: what the resolver chooses between.

A bundle that is in two channels is one Bundle and two entries. Everything that is asked often (what it provides,
requires, which packages it belongs to) is read once, when the bundle is made; the rest stays packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from muster.resolution.catalog.properties import (
    CONSTRAINT,
    DEPRECATED,
    GVK,
    LABEL,
    PACKAGE,
    PAYLOADS,
    REQUIREMENTS,
    Api,
    PackageVersion,
    Property,
    api_of,
    label_of,
    package_of,
    packed,
    unpacked,
)
from muster.values.semver import InvalidVersionError, Version, parse, parse_tolerant

if TYPE_CHECKING:
    from collections.abc import Iterable

DEFAULT_NAMESPACE: Final = "default"
EXISTING: Final = "@existing"  # the catalog of what is installed, in upstream's identifiers


class CatalogKey(NamedTuple):
    """A catalog's identity."""

    name: str
    namespace: str

    def __str__(self) -> str:
        return f"{self.name}/{self.namespace}"


@dataclass(frozen=True, slots=True, eq=False)
class Bundle:
    """A version of an operator. Compared by identity: two catalogs may have different bundles of one name."""

    name: str
    package: str
    version: Version | None
    version_text: str
    packages: tuple[PackageVersion, ...]  # of its olm.package properties
    versions: tuple[Version, ...]  # every version a range may be held against
    apis: tuple[Api, ...]  # as often as it says so
    labels: tuple[str, ...]
    requirements: tuple[tuple[int, Property], ...]  # with their places among the properties
    deprecated: bool
    text: bytes  # the properties, packed

    def properties(self) -> list[Property]:
        return unpacked(self.text)


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A bundle in a channel of a catalog, or an installed one (channel empty)."""

    bundle: Bundle
    catalog: CatalogKey
    channel: str = ""
    in_default_channel: bool = False
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""
    installed: bool = False
    owner: str = ""  # the subscription an installed bundle belongs to

    @property
    def name(self) -> str:
        return self.bundle.name

    @property
    def package(self) -> str:
        return self.bundle.package

    @property
    def identifier(self) -> str:
        """Upstream's name for it: catalog, namespace, channel and bundle."""
        return f"{self.catalog}/{self.channel}/{self.name}"

    def __str__(self) -> str:
        return f"{self.name} (installed)" if self.installed else f"{self.name} ({self.catalog.name}, {self.channel})"


def version_or_none(text: str) -> Version | None:
    try:
        return parse_tolerant(text)
    except InvalidVersionError:
        return None


def make_bundle(
    name: str, package: str = "", version: str = "", properties: Iterable[Property] = (), *, add_package: bool = True
) -> Bundle:
    """A bundle, with what its properties say sorted out. Without an olm.package property it gets one."""
    kept = [each for each in properties if each.type not in PAYLOADS]
    if add_package and not any(each.type == PACKAGE for each in kept):
        kept.append(Property(PACKAGE, {"packageName": package, "version": version}))
    packages: list[PackageVersion] = []
    apis: list[Api] = []
    labels: list[str] = []
    requirements: list[tuple[int, Property]] = []
    deprecated = False
    for place, each in enumerate(kept):
        if each.type in REQUIREMENTS or each.type.startswith(CONSTRAINT):
            requirements.append((place, each))
        elif each.type == DEPRECATED:
            deprecated = True
        elif not each.readable:
            continue
        elif each.type == GVK and (api := api_of(each.value)) is not None:
            apis.append(api)
        elif each.type == PACKAGE and (said := package_of(each.value)) is not None:
            packages.append(said)
        elif each.type == LABEL and (label := label_of(each.value)) is not None:
            labels.append(label)
    own = version_or_none(version)
    versions = [*_strict_versions(packages), *([own] if own is not None else [])]
    return Bundle(
        name=name,
        package=package,
        version=own,
        version_text=version,
        packages=tuple(packages),
        versions=tuple(dict.fromkeys(versions)),
        apis=tuple(apis),
        labels=tuple(labels),
        requirements=tuple(requirements),
        deprecated=deprecated,
        text=packed(tuple(kept)),
    )


def _strict_versions(packages: Iterable[PackageVersion]) -> Iterable[Version]:
    for said in packages:
        try:
            yield parse(said.version)
        except InvalidVersionError:
            continue
