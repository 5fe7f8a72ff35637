"""Resolution: which operators to install so that everything asked for works together, and the plan found."""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.json import Json

GROUP: Final = "resolution.muster.dev"
CATALOG_LABEL: Final = f"{GROUP}/catalog"  # on ConfigMaps that are catalogs; others are not read
DEFAULT_LIMIT: Final = 30  # seconds


class ConfigMapCatalog(Part, frozen=True):
    """A ConfigMap of the same namespace; without keys, all of them."""

    name: str = ""
    keys: tuple[str, ...] = ()


class CatalogSource(Node, frozen=True):
    """A catalog: written here, in a ConfigMap, or the hub's own of that name."""

    name: str = ""
    priority: int = 0
    inline: msgspec.Raw = msgspec.Raw(b"")  # blobs; they are many, and most readers pass them on
    config_map: ConfigMapCatalog | None = None

    @property
    def is_inline(self) -> bool:
        return bytes(self.inline) not in (b"", b"null")

    def blobs(self) -> list[Json]:
        """The blobs that are written here. What is no list of them, or nests too deep to be read, has none."""
        try:
            found = msgspec.json.decode(self.inline) if self.is_inline else []
        except RecursionError:
            return []
        return found if isinstance(found, list) else []


class WantedPackage(Part, frozen=True):
    """A package that is wanted."""

    package: str = ""
    channel: str = ""
    range: str = ""
    pin: str = ""
    starting_csv: str = msgspec.field(default="", name="startingCSV")
    catalog: str = ""
    priority: int = 0


class GivenProperty(Node, frozen=True):
    """A property as people write it: any JSON value under a type."""

    type: str = ""
    value: Json = None


class InstalledOperator(Node, frozen=True):
    """A bundle that is there already."""

    name: str = ""
    package: str = ""
    version: str = ""
    properties: tuple[GivenProperty, ...] = ()


class ResolutionSpec(Node, frozen=True):
    catalogs: tuple[CatalogSource, ...] = ()
    wants: tuple[WantedPackage, ...] = ()
    installed: tuple[InstalledOperator, ...] = ()
    facts: tuple[GivenProperty, ...] = ()
    optional: str = "install"
    compat: str = ""
    time_limit_seconds: int = DEFAULT_LIMIT


class PassedOverBundle(Part, frozen=True):
    """A bundle that was preferred to the one chosen, and why it could not be."""

    name: str = ""
    channel: str = msgspec.field(default_factory=str)
    why: str = ""
    code: str = ""


class PlannedOperator(Node, frozen=True):
    """A bundle of the plan, and why it is in it. Package and version are written even when they are not known."""

    action: str = ""
    name: str = ""
    package: str = msgspec.field(default_factory=str)
    version: str = msgspec.field(default_factory=str)
    channel: str = ""
    catalog: str = ""
    replaces: str = ""
    asked_by: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    passed_over: tuple[PassedOverBundle, ...] = ()


class ResolutionReason(Part, frozen=True):
    """A reason for programs: whether it is a fact, note, fix or problem, its code, and what it is about."""

    of: str = ""
    code: str = ""
    package: str = ""
    bundle: str = ""


class ResolutionStatus(Node, frozen=True):
    """What came of it. How many operators are planned is written even when there are none, and so is the message."""

    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()
    message: str = msgspec.field(default_factory=str)
    plan: tuple[PlannedOperator, ...] = ()
    planned: int = msgspec.field(default_factory=int)
    notes: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    reasons: tuple[ResolutionReason, ...] = ()
    input_digest: str = ""


class Resolution(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResolutionSpec = ResolutionSpec()
    status: ResolutionStatus = ResolutionStatus()


_PROPERTIES = parts.obj(
    "A property.",
    ("type",),
    {
        "type": parts.string("Its type.", minLength=1),
        "value": {"description": "Its value, any JSON value.", "x-kubernetes-preserve-unknown-fields": True},
    },
)
_CATALOG = parts.obj(
    "A catalog to choose from. With neither `inline` nor `configMap` it is the hub's catalog of this name, which the"
    " administrator gives with `muster hub run --catalog NAME=PATH`.",
    ("name",),
    {
        "name": parts.string("The catalog's name.", minLength=1, maxLength=253),
        "priority": parts.integer("Catalogs of a higher priority are preferred.", default=0),
        "inline": parts.array(
            parts.anything("An olm.package, olm.channel, olm.bundle or olm.deprecations blob."), "The catalog itself."
        ),
        "configMap": parts.obj(
            f'A ConfigMap of this namespace with the label `{CATALOG_LABEL}: "true"`; its values are files of a'
            " file-based catalog, with names that end in .json, .ndjson, .yaml or .yml (binary values also in .gz).",
            ("name",),
            {
                "name": parts.string("The ConfigMap's name.", minLength=1),
                "keys": parts.array(parts.string(minLength=1), "The values to read; all of them if empty."),
            },
        ),
    },
)
_WANT = parts.obj(
    "A package that is wanted.",
    ("package",),
    {
        "package": parts.string("The package.", minLength=1),
        "channel": parts.string("The channel; any if empty, the package's default channel first."),
        "range": parts.string("Versions that will do, such as `>=1.2.0 <2.0.0`.", maxLength=4096),
        "pin": parts.string("The one version that will do. Not together with a range.", maxLength=256),
        "startingCSV": parts.string("The bundle or version to begin with when nothing is installed."),
        "catalog": parts.string("The catalog; any if empty."),
        "priority": parts.integer("Wants of a higher priority choose first.", default=0),
    },
)
_INSTALLED = parts.obj(
    "A bundle that is there already; what is not said of it is taken from the catalogs.",
    ("name",),
    {
        "name": parts.string("The bundle's name.", minLength=1),
        "package": parts.string("Its package."),
        "version": parts.string("Its version."),
        "properties": parts.array(_PROPERTIES, "Its properties."),
    },
)
_SPEC = parts.obj(
    "What is wanted, what is there, and what to choose from.",
    properties={
        "catalogs": parts.map_list(_CATALOG, ("name",), "Catalogs to choose from; all of the hub's own if empty.")
        | {"maxItems": 32},
        "wants": parts.map_list(_WANT, ("package",), "Packages that are wanted.") | {"maxItems": 256},
        "installed": parts.map_list(_INSTALLED, ("name",), "Bundles that are there already.") | {"maxItems": 1024},
        "facts": parts.array(
            _PROPERTIES,
            "Facts of the cluster: properties of a bundle that is always there, so that constraints can ask for them.",
        )
        | {"maxItems": 256},
        "optional": parts.string(
            "What becomes of optional requirements.", enum=["install", "only-if-present", "ignore"], default="install"
        ),
        "compat": parts.string("Decide as this program does instead.", enum=["", "olm-v0"]),
        "timeLimitSeconds": parts.integer("How long deciding may take.", minimum=1, maximum=120, default=DEFAULT_LIMIT),
    },
)
_TEXTS = parts.string()
_STATUS = parts.obj(
    "The plan, or why there is none. Nothing is installed.",
    properties={
        "observedGeneration": parts.integer("The generation this status is about.", "int64"),
        "conditions": parts.CONDITIONS,
        "message": parts.string("The outcome for people: a summary of the plan, or the story of why there is none."),
        "plan": parts.array(
            parts.obj(
                "An operator of the plan.",
                ("action", "name"),
                {
                    "action": parts.string("install, update or keep."),
                    "name": parts.string("The bundle's name."),
                    "package": parts.string("Its package."),
                    "version": parts.string("Its version."),
                    "channel": parts.string("The channel it comes from."),
                    "catalog": parts.string("The catalog it comes from."),
                    "replaces": parts.string("The bundle it takes the place of."),
                    "askedBy": parts.array(_TEXTS, "Who asked for it."),
                    "needs": parts.array(_TEXTS, "The bundles that meet its requirements."),
                    "passedOver": parts.array(
                        parts.obj(
                            "A bundle that was preferred, and why it could not be.",
                            ("name", "why"),
                            {
                                "name": parts.string("The bundle's name."),
                                "channel": parts.string("Its channel."),
                                "why": parts.string("Why it could not be."),
                                "code": parts.string("The same for programs."),
                            },
                        ),
                        "What was preferred to it; the first few.",
                    ),
                },
            ),
            "What to install, update and keep, in the order of deciding.",
        ),
        "planned": parts.integer("How many operators are to be installed or updated."),
        "notes": parts.array(_TEXTS, "Every fall-back that would otherwise be silent."),
        "fixes": parts.array(_TEXTS, "Changes that would help; each was tried."),
        "problems": parts.array(_TEXTS, "What in the catalogs cannot be used, and where; the first few."),
        "reasons": parts.array(
            parts.obj(
                "A reason.",
                ("of", "code"),
                {
                    "of": parts.string("fact, note, fix or problem."),
                    "code": parts.string("Its code, which is stable."),
                    "package": parts.string("The package it is about."),
                    "bundle": parts.string("The bundle it is about."),
                },
            ),
            "The same for programs: facts of a conflict, and each of the notes, fixes and problems in their order.",
        ),
        "inputDigest": parts.string("A digest of everything that was decided from."),
    },
)

RESOLUTION: Final = Resource(
    group=GROUP,
    kind="Resolution",
    plural="resolutions",
    singular="resolution",
    list_kind="ResolutionList",
    namespaced=True,
    versions=(
        Version(
            "v1alpha1",
            parts.kind("Finds operators that work together.", _SPEC, _STATUS),
            (
                parts.condition_column("Resolved", "Resolved"),
                parts.condition_column("Reason", "Resolved", "reason"),
                PrinterColumn("Changes", "integer", ".status.planned"),
                PrinterColumn("Message", "string", ".status.message", priority=1),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
