"""FleetEvaluation: what an expression, a selector, predicates or a placement make of the fleet, before anything is
written. Answered by `questions/evaluating.py`."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, field

from muster.api.fleet_parts import Chosen, Count, Diagnostic, Text, ValueCount, question
from muster.api.parts import Node, Part
from muster.api.struct_schemas import schema_of
from muster.values.causes import Cause, invalid
from muster.values.json import Json, JsonObject

MOST_ROWS: Final = 500
MOST_VALUES: Final = 1000
MOST_FIELDS: Final = 32
NAME: Final = "name"  # what rows are sorted by if nothing else is said

Asked = Literal["managedclusters", "clusterprofiles", "clusters", "clusterrequests"]


class Field(Part, frozen=True):
    """A field of the rows."""

    expression: Annotated[Text, Meta(description="What is shown: a CEL expression.")]
    name: Annotated[str, Meta(description="What it is called in the rows; the expression if not given.")] = ""


class Rows(Node, frozen=True):
    """Which rows are wanted, with what, in which order."""

    show: Annotated[Literal["Matched", "Unmatched", "Failed", "All"], Meta(description="Which objects.")] = "Matched"
    filter: Annotated[Text, Meta(description="A condition in CEL that rows must meet beside; counts do not.")] = ""
    fields: Annotated[tuple[Field, ...], Meta(description="What is shown of each.", max_length=MOST_FIELDS)] = ()
    sort_by: Annotated[
        Text, Meta(description="name, or a CEL expression; objects without a value come last, equal ones by name.")
    ] = NAME
    descending: Annotated[bool, Meta(description="The greatest first.")] = False
    offset: Annotated[Count, Meta(description="How many rows to pass over.")] = 0
    limit: Annotated[int, Meta(description="How many rows to send.", ge=0, le=MOST_ROWS)] = 20
    placements: Annotated[bool, Meta(description="Of clusters: say how many placements have decided for each.")] = False


class FleetEvaluationSpec(Chosen, frozen=True):
    """What is asked, of which objects, and what is wanted of the answer."""

    placement: Annotated[
        JsonObject | None,
        Meta(description="A whole placement, saved or not: what it would select. Its namespace is asked about."),
    ] = None
    resource: Annotated[Asked, Meta(description="What is looked at.")] = "managedclusters"
    namespace: Annotated[
        str,
        Meta(
            description="Ask about a namespace: clusters in sets bound to it are counted as well, named or not. Of "
            "other resources, the objects in it.",
            max_length=253,
        ),
    ] = ""
    rows: Annotated[Rows, Meta(description="The rows that are wanted.")] = Rows()
    distinct: Annotated[
        Text,
        Meta(description="A CEL expression whose values on matching objects are counted; expression's own if none."),
    ] = ""
    most_values: Annotated[
        int, Meta(description="How many distinct values to send, the most frequent first.", ge=0, le=MOST_VALUES)
    ] = 20


class Cost(Part, frozen=True, omit_defaults=False):
    """What an expression costs, in CEL's units."""

    estimate_least: Annotated[int, Meta(description="The least it may cost on one cluster, by CEL's estimate.")]
    estimate_most: Annotated[int, Meta(description="The most; a placement's may not be over estimateLimit.")]
    estimate_limit: int
    highest: Annotated[int, Meta(description="The most it did cost on one of the objects that the asker may get.")]
    limit: Annotated[int, Meta(description="What it may cost on one object.")]


class Row(Node, frozen=True):
    """One object."""

    name: str
    verdict: Annotated[str, Meta(description="Matched, Unmatched or Failed.")]
    namespace: str = ""
    fields: Annotated[dict[str, Json], Meta(description="The fields asked for that have a value.")] = field(
        default_factory=dict
    )
    why: Annotated[str, Meta(description="Why it did not match.")] = ""
    placements: Annotated[
        int | None,
        Meta(description="How many placements have decided for it, of those that the asker may explain; if asked for."),
    ] = None


class Failure(Part, frozen=True):
    """A way in which evaluating failed on objects that the asker may get."""

    error: Annotated[str, Meta(description="What kind of failure, in one word.")]
    count: int
    message: Annotated[str, Meta(description="What was said on the first of them.")] = ""
    example: Annotated[str, Meta(description="The first of them.")] = ""


class FleetEvaluationStatus(Node, frozen=True, omit_defaults=False):
    """The answer. Counts are of objects that the asker may get, or that are in sets bound to the namespace."""

    valid: Annotated[bool, Meta(description="Whether what was asked could be evaluated; diagnostics say why not.")]
    objects: Annotated[int, Meta(description="How many objects were looked at.")] = 0
    matched: int = 0
    unmatched: int = 0
    failed: int = 0
    hidden: Annotated[int, Meta(description="How many there are that were not looked at, whatever was asked.")] = 0
    unnamed: Annotated[int, Meta(description="How many were counted that the asker may not get.")] = 0
    type: Annotated[str, Meta(description="The type of the expression.")] = ""
    cost: Cost | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    rows: tuple[Row, ...] = ()
    rows_in_all: Annotated[int, Meta(description="How many rows there are without offset and limit.")] = 0
    values: Annotated[tuple[ValueCount, ...], Meta(description="Distinct values, the most frequent first.")] = ()
    values_in_all: Annotated[int, Meta(description="How many distinct values there are.")] = 0
    failures: tuple[Failure, ...] = ()


def _rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec", {})
    given = [name for name in ("expression", "selector", "predicates", "placement") if spec.get(name)]
    causes = [invalid(f"spec.{name}", spec[name], f"may not be given with {given[0]}") for name in given[1:]]
    if spec.get("resource", "managedclusters") != "managedclusters":
        of_clusters = [name for name in ("predicates", "placement") if spec.get(name)]
        causes += [invalid(f"spec.{name}", spec[name], "is for managedclusters only") for name in of_clusters]
        if spec.get("rows", {}).get("placements"):
            causes.append(invalid("spec.rows.placements", True, "is for managedclusters only"))
    return causes


FLEET_EVALUATION: Final = question(
    "FleetEvaluation",
    "Which objects match, how many, and what it costs?",
    FleetEvaluationSpec,
    schema_of(FleetEvaluationStatus),
    _rules,
)
