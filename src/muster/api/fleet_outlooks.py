"""ClusterExplanation and SetExplanation: one cluster over all sets and placements, and one set over all clusters.

Answered by `questions/outlooks.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta

from muster.api.fleet_parts import Count, ValueCount  # noqa: TC001 - msgspec reads the annotations
from muster.api.parts import Node, Part
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.api.resource import Resource
    from muster.values.causes import Cause

MOST_PLACEMENTS: Final = 500
MOST_NAMES: Final = 1000
Name = Annotated[str, Meta(max_length=253)]


class ClusterExplanationSpec(Node, frozen=True):
    """Which cluster, and which placements are wanted."""

    name: Annotated[Name, Meta(description="The cluster.")] = ""
    namespace: Annotated[Name, Meta(description="Only placements in this namespace.")] = ""
    offset: Annotated[Count, Meta(description="How many placements to pass over; they are in the order of names.")] = 0
    limit: Annotated[int, Meta(description="How many placements to explain.", ge=0, le=MOST_PLACEMENTS)] = 100


class SetVerdict(Part, frozen=True, omit_defaults=False):
    """Whether a set that the asker may get has the cluster."""

    name: str
    member: bool
    code: Annotated[str, Meta(description="Why, in one word: docs/reference/reasons.md.")]
    reason: Annotated[str, Meta(description="Why, in words.")]
    why: Annotated[JsonObject, Meta(description="The same as a value: docs/reference/reasons.md.")]
    namespaces: Annotated[tuple[str, ...], Meta(description="Where it is bound, as far as the asker may explain.")]


class PlacementVerdict(Part, frozen=True, omit_defaults=False):
    """What a placement makes of the cluster."""

    namespace: str
    name: str
    selected: bool
    stage: Annotated[str, Meta(description="What it failed at; empty if it is selected.")]
    passed: Annotated[int, Meta(description="How many stages it passed before.")]
    code: Annotated[str, Meta(description="Why, in one word: docs/reference/reasons.md.")]
    reason: Annotated[str, Meta(description="Why, in words.")]
    why: Annotated[JsonObject, Meta(description="The same as a value: docs/reference/reasons.md.")]


class ClusterExplanationStatus(Node, frozen=True, omit_defaults=False):
    """The answer: sets first, then placements, by name. Of those that are not scheduled nothing is said."""

    name: str
    sets: tuple[SetVerdict, ...] = ()
    placements: tuple[PlacementVerdict, ...] = ()
    placements_in_all: Annotated[int, Meta(description="How many placements the asker may explain.")] = 0


class SetExplanationSpec(Node, frozen=True):
    """Which set, and which of its members are wanted."""

    name: Annotated[Name, Meta(description="The ManagedClusterSet.")] = ""
    offset: Annotated[Count, Meta(description="How many members to pass over.")] = 0
    limit: Annotated[int, Meta(description="How many members to name.", ge=0, le=MOST_NAMES)] = 100


class NotMembers(Part, frozen=True, omit_defaults=False):
    """Clusters that are not in the set for one reason."""

    code: str
    reason: str
    why: Annotated[JsonObject, Meta(description="The same as a value: docs/reference/reasons.md.")]
    count: int
    examples: tuple[str, ...]
    values: Annotated[tuple[ValueCount, ...], Meta(description="What they have instead, where it is one value.")] = ()


class SetExplanationStatus(Node, frozen=True, omit_defaults=False):
    """The answer. Clusters are those that the asker may get; the others are one number."""

    name: str
    rule: Annotated[str, Meta(description="What makes a cluster a member.")] = ""
    fault: Annotated[str, Meta(description="Why the set cannot be used, if it cannot.")] = ""
    members: Annotated[int, Meta(description="How many clusters are in it.")] = 0
    clusters: Annotated[tuple[str, ...], Meta(description="Their names, page by page.")] = ()
    others: Annotated[tuple[NotMembers, ...], Meta(description="Those that are not.")] = ()
    hidden: Annotated[int, Meta(description="How many there are that the asker may not get.")] = 0
    namespaces: Annotated[tuple[str, ...], Meta(description="Where it is bound, as far as the asker may explain.")] = ()
    placements: Annotated[tuple[str, ...], Meta(description="Placements there that may choose from it.")] = ()


def rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    """Of both kinds."""
    from muster.values.causes import required

    return [] if new.get("spec", {}).get("name") else [required("spec.name", "name what is to be explained")]


def __getattr__(name: str) -> Resource:
    """The kinds with their schemas, for those who check questions; those who ask them need no schema."""
    from muster.api.fleet_parts import question
    from muster.api.struct_schemas import schema_of

    match name:
        case "CLUSTER_EXPLANATION":
            made = question(
                "ClusterExplanation",
                "Which sets have a cluster, which placements take it, and why do the others not?",
                ClusterExplanationSpec,
                schema_of(ClusterExplanationStatus),
                rules,
            )
        case "SET_EXPLANATION":
            made = question(
                "SetExplanation",
                "Which clusters are in a set, why are the others not, and who may choose from it?",
                SetExplanationSpec,
                schema_of(SetExplanationStatus),
                rules,
            )
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made
    return made
