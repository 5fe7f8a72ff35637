"""Plan: what writing objects would do to placements, sets and hosts, before anything is written.

The hub merges what is asked as it would when it is written (`hub/plans.py`), the observer finds what follows
(`questions/plans/planning.py`), and both together are one token (`questions/plans/token.py`).
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, field

from muster.api.fleet_parts import Diagnostic, question
from muster.api.parts import Node, Part
from muster.api.struct_schemas import schema_of
from muster.values.causes import Cause, invalid, required
from muster.values.json import JsonObject

MOST_OBJECTS: Final = 1000
MOST_NAMES: Final = 100_000
MOST_PLACEMENTS: Final = 1000
LONGEST_TOKEN: Final = 1024
_LISTS: Final = ("objects", "replace", "delete", "labels")
Name = Annotated[str, Meta(max_length=253)]


class ObjectReference(Node, frozen=True):
    """An object that is there."""

    api_version: Name = ""
    kind: Name = ""
    namespace: Name = ""
    name: Name = ""


class LabelEdit(ObjectReference, frozen=True):
    """Labels of an object that is there, to be set, or with null to be taken off."""

    labels: Annotated[dict[str, str | None], Meta(description="By key; null takes a label off.")] = field(
        default_factory=dict
    )


class PlanGuards(Node, frozen=True):
    """What the asker would not have; verdicts are in the answer, by placement."""

    fail_if_removes: Annotated[
        Annotated[int, Meta(ge=1)] | None, Meta(description="No placement may lose so many clusters or more.")
    ] = None
    fail_if_empty: Annotated[bool, Meta(description="No placement may be left without any cluster.")] = False


class PlanSpec(Node, frozen=True):
    """What would be written. All of it at once: deletions last."""

    objects: Annotated[
        tuple[JsonObject, ...],
        Meta(description="Applied, as server-side apply does: created, or merged by who owns which field."),
    ] = ()
    replace: Annotated[
        tuple[JsonObject, ...], Meta(description="Whole objects in place of those that are there, as PUT does.")
    ] = ()
    delete: Annotated[tuple[ObjectReference, ...], Meta(description="Deleted.")] = ()
    labels: Annotated[tuple[LabelEdit, ...], Meta(description="Labels set and taken off, as kubectl label does.")] = ()
    field_manager: Annotated[str, Meta(description="Who would own the fields.", max_length=128)] = "muster"
    force_conflicts: Annotated[bool, Meta(description="Fields that others own are taken over.")] = False
    with_status: Annotated[bool, Meta(description="The status that objects carry is written, too.")] = False
    guards: PlanGuards = PlanGuards()
    most_names: Annotated[
        int, Meta(description="How many names to send in each list of clusters.", ge=0, le=MOST_NAMES)
    ] = 100
    token: Annotated[
        str,
        Meta(
            description="The token of an earlier plan: status.changed says what is different now.",
            max_length=LONGEST_TOKEN,
        ),
    ] = ""


class NameList(Node, frozen=True, omit_defaults=False):
    """Clusters. Those that the asker may get are named, as many as he asks for; the others are counted."""

    count: int = 0
    unnamed: Annotated[int, Meta(description="How many of them the asker may not get.")] = 0
    names: tuple[str, ...] = ()


class LostCluster(Part, frozen=True, omit_defaults=False):
    """A cluster that a placement loses, and why."""

    name: str
    code: Annotated[str, Meta(description="Why, in one word: docs/reference/reasons.md.")] = ""
    reason: Annotated[str, Meta(description="Why, in words.")] = ""
    why: Annotated[JsonObject | None, Meta(description="Why, as a value: code, subject, parameters, values.")] = None


class LostList(Node, frozen=True, omit_defaults=False):
    """Clusters that a placement loses."""

    count: int = 0
    unnamed: Annotated[int, Meta(description="How many of them the asker may not get.")] = 0
    clusters: tuple[LostCluster, ...] = ()


class GuardVerdict(Part, frozen=True, omit_defaults=False):
    """What a guard says of a placement."""

    code: Annotated[str, Meta(description="Which guard, in one word.")]
    allowed: bool
    message: str


class PlacementPlan(Node, frozen=True, omit_defaults=False):
    """What happens to one placement."""

    namespace: str
    name: str
    before: Annotated[int, Meta(description="How many clusters it has.")]
    after: Annotated[int, Meta(description="How many it would have.")]
    gained: NameList = NameList()
    lost: LostList = LostList()
    kept: NameList = NameList()
    created: Annotated[bool, Meta(description="It is not there yet.")] = False
    deleted: Annotated[bool, Meta(description="It would be gone.")] = False
    fault: Annotated[str, Meta(description="Why it cannot be scheduled; its decisions would stay then.")] = ""
    guards: Annotated[tuple[GuardVerdict, ...], Meta(description="What guards say of it.")] = ()


class SetPlan(Node, frozen=True, omit_defaults=False):
    """A cluster set that clusters enter or leave. Only clusters that the asker may get are looked at."""

    name: str
    gained: NameList = NameList()
    lost: NameList = NameList()
    fault: Annotated[str, Meta(description="Why nobody could tell who is in it.")] = ""


class ClassificationPlan(Node, frozen=True, omit_defaults=False):
    """How a classification of hosts fares."""

    namespace: str
    name: str
    created: bool
    deleted: bool
    matched_before: int
    matched_after: int
    errors_before: int
    errors_after: int
    conditions: Annotated[tuple[JsonObject, ...], Meta(description="As its status would have them.")] = ()


class HostLabel(Part, frozen=True, omit_defaults=False):
    """A label of a host that changes; null where there is none."""

    namespace: str
    agent: str
    key: str
    before: str | None
    after: str | None


class HostPlan(Node, frozen=True, omit_defaults=False):
    """What happens to hosts, in namespaces whose agents and classifications the asker may get."""

    classifications: tuple[ClassificationPlan, ...] = ()
    labels: tuple[HostLabel, ...] = ()


class RefusedObject(Part, frozen=True, omit_defaults=False):
    """An object that the server would not take. The plan is of the others."""

    field: Annotated[str, Meta(description="Where it is in the question: spec.objects[2].")]
    kind: str
    namespace: str
    name: str
    code: Annotated[str, Meta(description="Forbidden, Invalid, Conflict, NotFound, AlreadyExists and so on.")]
    message: str


class NeededPermission(Part, frozen=True, omit_defaults=False):
    """A permission that writing takes: the verb itself, and what admission asks for, such as joining a set."""

    verb: str
    resource: Annotated[str, Meta(description="plural.group, or plural/subresource.group.")]
    namespace: str
    name: str
    allowed: Annotated[bool, Meta(description="Whether the asker has it.")]


class PlanStatus(Node, frozen=True, omit_defaults=False):
    """The answer."""

    placements: Annotated[
        tuple[PlacementPlan, ...], Meta(description="Placements whose decisions change, or that come, go or fail.")
    ] = ()
    placements_in_all: Annotated[int, Meta(description="How many these are.")] = 0
    sets: Annotated[tuple[SetPlan, ...], Meta(description="Cluster sets whose members change.")] = ()
    hosts: Annotated[HostPlan | None, Meta(description="If it is about hosts.")] = None
    refused: tuple[RefusedObject, ...] = ()
    permissions: tuple[NeededPermission, ...] = ()
    allowed: Annotated[bool, Meta(description="No guard objects, and nothing would be refused.")] = True
    token: Annotated[str, Meta(description="Stands for this plan and what it rests on.")] = ""
    changed: Annotated[tuple[str, ...], Meta(description="What is different from the plan of spec.token.")] = ()
    restricted: Annotated[
        bool, Meta(description="There are clusters or placements that the asker may not know of; they are left out.")
    ] = False
    hidden: Annotated[int, Meta(description="How many clusters the asker may not get, whatever is asked.")] = 0
    diagnostics: Annotated[tuple[Diagnostic, ...], Meta(description="What the plan leaves out, and why.")] = ()


def _rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec", {})
    given = {name: spec.get(name, ()) for name in _LISTS}
    count = sum(map(len, given.values()))
    if not count:
        return [required("spec.objects", "say what would be written: objects, replace, delete or labels")]
    if count > MOST_OBJECTS:
        return [invalid("spec.objects", count, f"a plan has {MOST_OBJECTS} objects at most")]
    causes: list[Cause] = []
    for field_name in ("objects", "replace"):
        for number, obj in enumerate(given[field_name]):
            causes += _unidentified(f"spec.{field_name}[{number}]", obj)
    for field_name in ("delete", "labels"):
        for number, each in enumerate(given[field_name]):
            where = f"spec.{field_name}[{number}]"
            causes += [required(f"{where}.{key}", "") for key in ("apiVersion", "kind", "name") if not each.get(key)]
    causes += [
        required(f"spec.labels[{number}].labels", "say which labels change")
        for number, each in enumerate(given["labels"])
        if not each.get("labels")
    ]
    return causes


def _unidentified(where: str, obj: JsonObject) -> list[Cause]:
    causes = [required(f"{where}.{key}", "") for key in ("apiVersion", "kind") if not _is_text(obj.get(key))]
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict) or not _is_text(metadata.get("name")):
        causes.append(required(f"{where}.metadata.name", "a plan needs the name, and makes none up"))
    return causes


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


PLAN: Final = question("Plan", "What would writing these objects change?", PlanSpec, schema_of(PlanStatus), _rules)
