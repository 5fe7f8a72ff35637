"""ResolutionPreview: a Resolution, saved or not, resolved now: the plan, or why there is none and what would help.

The answer is made by `resolution/preview.py`, in the worker process of a server (`questions/previews.py`) and by
`muster resolve` over files.
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, field

from muster.api.fleet_parts import Diagnostic, question
from muster.api.parts import Node, Part
from muster.api.struct_schemas import schema_of
from muster.values.causes import Cause, invalid, required
from muster.values.json import JsonObject

MOST_NODES: Final = 7
RESOLVED, IMPOSSIBLE, UNDECIDED, REFUSED, INVALID = "resolved", "impossible", "undecided", "refused", "invalid"
Name = Annotated[str, Meta(max_length=253)]
Reasons = dict[str, tuple[JsonObject, ...]]


class ResolutionPreviewSpec(Node, frozen=True):
    """Which resolution: a saved one by name, or one as it would be."""

    namespace: Annotated[Name, Meta(description="Where the resolution is; its ConfigMaps are there too.")] = ""
    name: Annotated[Name, Meta(description="A saved Resolution.")] = ""
    resolution: Annotated[JsonObject | None, Meta(description="A Resolution that need not be saved.")] = None
    lock: Annotated[
        JsonObject | None, Meta(description="A lock of `muster resolve --lock`: what differs from it is told.")
    ] = None
    locked: Annotated[bool, Meta(description="Take exactly what the lock says, or say why that cannot be.")] = False
    explain: Annotated[Name, Meta(description="A package: why this version, why not another.")] = ""


class PassedOverStep(Node, frozen=True, omit_defaults=False):
    """A bundle that was preferred to the one chosen, and why it could not be."""

    name: str
    version: str
    channel: str
    catalog: str
    why: str
    reason: JsonObject


class PlannedStep(Node, frozen=True):
    """An operator of a plan, and why it is in it."""

    action: Annotated[str, Meta(description="install, update or keep.")]
    name: str
    package: str = field(default_factory=str)
    version: str = field(default_factory=str)
    channel: str = ""
    catalog: str = ""
    replaces: str = ""
    asked_by: Annotated[tuple[str, ...], Meta(description="Who asked for it.")] = field(default_factory=tuple)
    needs: Annotated[tuple[str, ...], Meta(description="The bundles that meet its requirements.")] = ()
    passed_over: Annotated[tuple[PassedOverStep, ...], Meta(description="What was preferred to it.")] = ()
    reasons: Annotated[Reasons, Meta(description="askedBy for programs: docs/reference/reasons.md.")] = field(
        default_factory=dict
    )

    @property
    def wants(self) -> tuple[str, ...]:
        """The wants that it meets itself, as they are written."""
        asked = self.reasons.get("askedBy", ())
        return tuple(str(each["parameters"]["want"]) for each in asked if each.get("code") == "Wanted")


class ConflictNode(Part, frozen=True, omit_defaults=False):
    """Something that takes part in a conflict."""

    id: str
    kind: Annotated[
        str,
        Meta(description="want, installed, operator, missing (nothing meets it), api (one may provide it), or more."),
    ]
    text: str
    parts: Annotated[bool, Meta(description="Whether it is here that requirements cannot be met together.")]


class ConflictEdge(Part, frozen=True, omit_defaults=False):
    """Who requires what."""

    begin: Annotated[str, Meta(description="The node that requires.")] = field(name="from")
    to: Annotated[str, Meta(description="The node that is required.")]
    text: Annotated[str, Meta(description="What is required of it.")]
    through: Annotated[tuple[str, ...], Meta(description="Packages in between that are not shown.")]


class Conflict(Node, frozen=True, omit_defaults=False):
    """Why there is no plan, as a graph of at most seven nodes."""

    nodes: tuple[ConflictNode, ...]
    edges: tuple[ConflictEdge, ...]


class ConflictFact(Node, frozen=True):
    """One fact of a conflict; none of them could be left out."""

    kind: str
    about: str
    text: str
    details: tuple[str, ...] = ()
    reasons: Reasons = field(default_factory=dict)
    reason: JsonObject = field(default_factory=dict)


class PreviewFix(Node, frozen=True, omit_defaults=False):
    """A change that would help. It was tried: this is the plan that it leads to."""

    text: str
    reason: JsonObject
    plan: tuple[PlannedStep, ...]


class LockDifference(Part, frozen=True, omit_defaults=False):
    """What became of a package since the lock; an empty text: it was not there, or is gone."""

    package: str
    before: str
    after: str


class ResolutionPreviewStatus(Node, frozen=True):
    """The answer. Nothing is installed and nothing is written."""

    outcome: Annotated[str, Meta(description="resolved, impossible, undecided, refused or invalid.")]
    text: Annotated[str, Meta(description="The same for people: a summary of the plan, or the story.")] = ""
    reason: Annotated[JsonObject | None, Meta(description="Why it is undecided or refused, for programs.")] = None
    diagnostics: Annotated[tuple[Diagnostic, ...], Meta(description="What is wrong with the spec or the lock.")] = ()
    plan: tuple[PlannedStep, ...] = ()
    notes: Annotated[tuple[str, ...], Meta(description="Every fall-back that would otherwise be silent.")] = ()
    facts: Annotated[tuple[ConflictFact, ...], Meta(description="Why there is no plan, fact by fact.")] = ()
    conflict: Annotated[Conflict | None, Meta(description="The same as a small graph.")] = None
    fixes: tuple[PreviewFix, ...] = ()
    faults: Annotated[tuple[str, ...], Meta(description="What cannot be used of what was asked or chosen.")] = ()
    catalog_faults: Annotated[tuple[str, ...], Meta(description="What in the catalogs cannot be used.")] = ()
    reasons: Annotated[Reasons, Meta(description="notes, facts and faults for programs.")] = field(default_factory=dict)
    explanation: Annotated[JsonObject | None, Meta(description="Of the package that was asked about.")] = None
    lock: Annotated[JsonObject | None, Meta(description="The plan as a lock.")] = None
    lock_changes: Annotated[
        tuple[LockDifference, ...] | None, Meta(description="What differs from the lock that was given.")
    ] = None
    input_digest: Annotated[str, Meta(description="A digest of everything that was decided from.")] = ""


def _rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec", {})
    causes: list[Cause] = []
    if spec.get("resolution") is not None and spec.get("name"):
        causes.append(invalid("spec.name", spec["name"], "may not be given with resolution"))
    if spec.get("resolution") is None:
        told = "name a saved resolution and its namespace, or give a resolution"
        causes += [required(f"spec.{name}", told) for name in ("namespace", "name") if not spec.get(name)]
    if spec.get("locked") and spec.get("lock") is None:
        causes.append(required("spec.lock", "there is no lock to go by"))
    return causes


RESOLUTION_PREVIEW: Final = question(
    "ResolutionPreview",
    "Which operators would a resolution install, or why is there no plan and what would help?",
    ResolutionPreviewSpec,
    schema_of(ResolutionPreviewStatus),
    _rules,
)
