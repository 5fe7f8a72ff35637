"""Resolution: which operators to install so that everything asked for works together, and the plan found."""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version


class Subscription(Part, frozen=True):
    """A package that is wanted."""

    package: str = ""
    channel: str = ""
    catalog: str = ""
    starting_csv: str = msgspec.field(default="", name="startingCSV")


class InstalledOperator(Part, frozen=True):
    """A bundle that is there already."""

    name: str = ""
    package: str = ""
    version: str = ""
    channel: str = ""
    catalog: str = ""


class CatalogReference(Part, frozen=True):
    name: str = ""
    priority: int = 0


class ResolutionSpec(Node, frozen=True):
    catalogs: tuple[CatalogReference, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    installed: tuple[InstalledOperator, ...] = ()


class PlannedOperator(Part, frozen=True):
    """A bundle of the plan, and why it is in it."""

    name: str = ""
    package: str = ""
    version: str = ""
    channel: str = ""
    catalog: str = ""
    replaces: str = ""
    reason: str = ""


class ResolutionStatus(Node, frozen=True):
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()
    plan: tuple[PlannedOperator, ...] = ()
    planned: int = 0
    explanation: tuple[str, ...] = ()


class Resolution(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResolutionSpec = ResolutionSpec()
    status: ResolutionStatus = ResolutionStatus()


_BUNDLE = {
    "name": parts.string("The bundle's name.", minLength=1),
    "package": parts.string("Its package."),
    "version": parts.string("Its version."),
    "channel": parts.string("The channel it comes from."),
    "catalog": parts.string("The catalog it comes from."),
}

_SPEC = parts.obj(
    "What is wanted, and what is there.",
    properties={
        "catalogs": parts.map_list(
            parts.obj(
                "A catalog to choose from.",
                ("name",),
                {
                    "name": parts.string("The catalog's name.", minLength=1),
                    "priority": parts.integer("Catalogs of a higher priority are preferred.", default=0),
                },
            ),
            ("name",),
            "Catalogs to choose from; all known ones if empty.",
        ),
        "subscriptions": parts.map_list(
            parts.obj(
                "A package that is wanted.",
                ("package",),
                {
                    "package": parts.string("The package.", minLength=1),
                    "channel": parts.string("The channel; the package's default if empty."),
                    "catalog": parts.string("The catalog; any if empty."),
                    "startingCSV": parts.string("The bundle to begin with; the channel's head if empty."),
                },
            ),
            ("package",),
            "Packages that are wanted.",
        ),
        "installed": parts.map_list(
            parts.obj("A bundle that is there already.", ("name",), _BUNDLE),
            ("name",),
            "Bundles that are there already.",
        ),
    },
)
_STATUS = parts.obj(
    "The plan, or why there is none.",
    properties={
        "observedGeneration": parts.integer("The generation the plan was made for.", "int64"),
        "conditions": parts.CONDITIONS,
        "plan": parts.map_list(
            parts.obj(
                "A bundle of the plan.",
                ("name",),
                _BUNDLE
                | {
                    "replaces": parts.string("The installed bundle it takes the place of."),
                    "reason": parts.string("Why it is in the plan."),
                },
            ),
            ("name",),
            "What to install, in order.",
        ),
        "planned": parts.integer("How many bundles the plan has."),
        "explanation": parts.array(parts.string(), "Why no plan exists: the requirements that exclude each other."),
    },
)

RESOLUTION: Final = Resource(
    group="resolution.muster.dev",
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
                PrinterColumn("Operators", "integer", ".status.planned"),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
