"""What a resolution is asked: catalogs, wants, what is installed, facts of the cluster, and how to decide.

Everything here is plain data; the command line, the hub and tests build it. Orders do not matter: wants are taken by
priority and name, everything else by its own order of preference.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from muster.errors import InvalidObjectError
from muster.resolution.catalog.bundles import DEFAULT_NAMESPACE, EXISTING, CatalogKey, Entry, make_bundle
from muster.resolution.catalog.properties import PACKAGE, Property, package_of
from muster.values.semver import InvalidVersionError
from muster.values.semver_range import parse_range

if TYPE_CHECKING:
    from muster.resolution.catalog.catalog import Catalog

CLUSTER: Final = "cluster"  # the name of the virtual bundle that carries the facts of the cluster


class Dialect(StrEnum):
    """Whose rules apply."""

    MUSTER = "muster"
    OLM_V0 = "olm-v0"


class OptionalPolicy(StrEnum):
    """What becomes of optional requirements."""

    INSTALL = "install"
    ONLY_IF_PRESENT = "only-if-present"
    IGNORE = "ignore"


class UpgradeStrategy(StrEnum):
    """Whether an update may step over one that failed; the values are those of an OperatorGroup."""

    DEFAULT = "Default"
    FAIL_FORWARD = "TechPreviewUnsafeFailForward"


@dataclass(frozen=True, slots=True)
class Want:
    """A package that shall be there: a subscription."""

    name: str
    package: str
    channel: str = ""
    version_range: str = ""
    starting: str = ""  # the bundle to begin with, when nothing is installed
    catalog: str = ""
    catalog_namespace: str = ""
    installed: str = ""  # the installed bundle that belongs to it
    priority: int = 0

    @property
    def catalog_key(self) -> CatalogKey | None:
        return CatalogKey(self.catalog, self.catalog_namespace) if self.catalog or self.catalog_namespace else None

    def __str__(self) -> str:
        wanted = f"@{self.version_range}" if self.version_range else ""
        channel = f":{self.channel}" if self.channel else ""
        return f"{self.package}{wanted}{channel}" + (f" from {self.catalog}" if self.catalog else "")


@dataclass(frozen=True, slots=True)
class Installed:
    """A bundle that is there. Without an owner among the wants it stays, whatever is asked."""

    name: str
    version: str = ""
    package: str = ""
    properties: tuple[Property, ...] = ()
    owner: str = ""
    phase: str = ""
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A question to the resolver."""

    catalogs: tuple[Catalog, ...] = ()
    wants: tuple[Want, ...] = ()
    installed: tuple[Installed, ...] = ()
    facts: tuple[Property, ...] = ()  # of the cluster
    namespaces: tuple[str, ...] = (DEFAULT_NAMESPACE,)  # the first is resolved; catalogs of the others are seen
    dialect: Dialect = Dialect.MUSTER
    optional: OptionalPolicy = OptionalPolicy.INSTALL
    upgrade_strategy: UpgradeStrategy = UpgradeStrategy.DEFAULT
    allowed_packages: frozenset[str] | None = None  # None allows all
    installed_error: str = ""  # why what is installed could not be read

    @property
    def upstream(self) -> bool:
        return self.dialect is Dialect.OLM_V0


def parse_want(text: str) -> Want:
    """`package[@range][:channel]`, as the command line takes it."""
    rest, _, channel = text.partition(":")
    package, at, wanted = rest.partition("@")
    if not package.strip() or (at and not wanted.strip()) or (":" in text and not channel.strip()):
        raise InvalidObjectError("--want", f"{text!r} is not package[@range][:channel]")
    if at:
        try:
            parse_range(wanted.strip())
        except InvalidVersionError as error:
            hint = "; ranges are written like >=1.2.0 <2.0.0 || 3.x"
            raise InvalidObjectError("--want", f"{wanted.strip()!r} is no range: {error}{hint}") from None
    return Want(package.strip(), package.strip(), channel.strip(), wanted.strip())


def installed_entry(installed: Installed, namespace: str) -> Entry:
    """An installed bundle as an entry of the virtual catalog."""
    said = [package_of(each.value) for each in installed.properties if each.type == PACKAGE and each.readable]
    names = [each.name for each in said if each is not None]
    package = names[-1] if names else installed.package
    properties = installed.properties
    if not names and installed.package:
        properties = (
            *properties,
            Property(PACKAGE, {"packageName": installed.package, "version": installed.version}),
        )
    bundle = make_bundle(installed.name, package, installed.version, properties, add_package=False)
    return Entry(bundle, CatalogKey(EXISTING, namespace), installed=True, owner=installed.owner)


def is_cluster(entry: Entry) -> bool:
    """Whether it stands for the cluster, which is no operator."""
    return entry.installed and entry.name == CLUSTER and not entry.package


def cluster_entry(facts: tuple[Property, ...], namespace: str) -> Entry:
    """The facts of the cluster as a bundle that is always there."""
    bundle = make_bundle(CLUSTER, "", "", facts, add_package=False)
    return Entry(bundle, CatalogKey(EXISTING, namespace), installed=True)
