"""What the questions of `fleet.muster.dev` have in common: their group, how one is declared, parts of several of them.

Questions are asked by creating an object that is answered and never stored, in the manner of SubjectAccessReview.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
from msgspec import Meta

from muster.api import parts
from muster.api.parts import Node, Part
from muster.api.resource import CREATE_ONLY, Resource, Version
from muster.api.struct_schemas import schema_of
from muster.values.json import Json, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.resource import Rules
    from muster.errors import InvalidExpressionError

GROUP: Final = "fleet.muster.dev"
VERSION: Final = "v1alpha1"
MOST_TEXT: Final = 10 * 1024  # characters of an expression

ERROR, WARNING = "error", "warning"  # of diagnostics
Text = Annotated[str, Meta(max_length=MOST_TEXT)]
Count = Annotated[int, Meta(ge=0)]
_HOMES: Final = {
    "FleetEvaluation": ("fleet_evaluation", "FLEET_EVALUATION"),
    "FleetFacets": ("fleet_facets", "FLEET_FACETS"),
    "Completion": ("fleet_completion", "COMPLETION"),
    "PlacementExplanation": ("fleet_explanations", "PLACEMENT_EXPLANATION"),
    "ClusterExplanation": ("fleet_outlooks", "CLUSTER_EXPLANATION"),
    "SetExplanation": ("fleet_outlooks", "SET_EXPLANATION"),
    "Plan": ("fleet_plan", "PLAN"),
    "JoinReview": ("fleet_joining", "JOIN_REVIEW"),
    "ClassificationPreview": ("fleet_classification", "CLASSIFICATION_PREVIEW"),
    "ResolutionPreview": ("fleet_resolution", "RESOLUTION_PREVIEW"),
}


class ValueCount(Part, frozen=True):
    """A value, and on how many objects it is found."""

    value: Json
    count: int


class Diagnostic(Part, frozen=True):
    """Something that is wrong with what was asked, and where."""

    field: Annotated[str, Meta(description="The field of the question it is about: spec.expression.")]
    message: str
    severity: Annotated[str, Meta(description="error or warning.")]
    begin: Annotated[int | None, Meta(description="Where in the text it begins, in code points.")] = msgspec.field(
        default=None, name="from"
    )
    to: Annotated[int | None, Meta(description="Where it ends.")] = None
    line: Annotated[int | None, Meta(description="The line, from 1.")] = None
    column: Annotated[int | None, Meta(description="The column, from 1.")] = None


class Chosen(Node, frozen=True):
    """What clusters are chosen by; at most one of the four."""

    expression: Annotated[
        Text,
        Meta(
            description="A CEL expression over managedCluster, or over object for other resources. One that is not a "
            "condition matches wherever it has a value, and its values are counted."
        ),
    ] = ""
    selector: Annotated[
        JsonObject | None,
        Meta(
            description="A selector of any form: labelSelector, claimSelector and celSelector as in a placement's "
            "predicate; matchLabels, matchExpressions, matchIdentities, matchPurposes; or a whole ManagedClusterSet, "
            "for its members."
        ),
    ] = None
    predicates: Annotated[
        tuple[JsonObject, ...],
        Meta(description="Predicates as a placement has them; one of them must hold.", max_length=100),
    ] = ()


def positions_of(error: InvalidExpressionError, field: str) -> Iterator[Diagnostic]:
    """Everything that is wrong with a text in one of our languages, and where."""
    for each in error.diagnostics:
        if each.offset is None or each.offset < 0:
            yield Diagnostic(field, each.message, ERROR)
        else:
            line, column = error.source.position(each.offset)
            end = min(each.offset + each.length, len(error.source.text))
            yield Diagnostic(field, each.message, ERROR, each.offset, max(end, each.offset), line, column + 1)


def question(kind: str, description: str, spec: type[msgspec.Struct], status: Schema, rules: Rules) -> Resource:
    """A create-only kind."""
    schema = parts.kind(description, schema_of(spec), status)
    return Resource(
        group=GROUP,
        kind=kind,
        plural=plural_of(kind),
        singular=kind.lower(),
        list_kind=f"{kind}List",
        namespaced=False,
        versions=(Version(VERSION, schema),),
        virtual=True,
        generation=False,
        verbs=CREATE_ONLY,
        rules=rules,
    )


def question_of(kind: str) -> Resource | None:
    """One question; the schemas of the others need not be made for it. `fleet_questions` has all of them."""
    if kind not in _HOMES:
        return None
    home, name = _HOMES[kind]
    found: Resource = getattr(import_module(f"muster.api.{home}"), name)
    return found


def plural_of(kind: str) -> str:
    """How the resource of a question is called in paths and roles."""
    return kind.lower() if kind.endswith("s") else f"{kind.lower()}s"
