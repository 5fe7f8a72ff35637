"""ClassificationPreview: what a jq query, or a whole AgentClassification, makes of hosts, before anything is written.

The answer is made by `classification/trial.py`, on a server (`questions/previews.py`) and by the commands over files.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta, field

from muster.api.fleet_parts import Count, Diagnostic, Text, question
from muster.api.parts import Node, Part
from muster.api.struct_schemas import schema_of
from muster.values.causes import Cause, invalid, required
from muster.values.json import Json, JsonObject

MOST_HOSTS: Final = 500
MOST_AMONG: Final = 256
_ASKED: Final = ("name", "query", "classification")
Name = Annotated[str, Meta(max_length=253)]
Given = Annotated[tuple[JsonObject, ...], Meta(max_length=MOST_AMONG)]


class HostRows(Node, frozen=True):
    """Which hosts are wanted, in the order of names."""

    show: Annotated[
        Literal["All", "Matched", "Unmatched", "Failed", "Changed"],
        Meta(description="Which hosts; Changed are those whose labels would be others."),
    ] = "All"
    offset: Annotated[Count, Meta(description="How many rows to pass over.")] = 0
    limit: Annotated[int, Meta(description="How many rows to send.", ge=0, le=MOST_HOSTS)] = 20


class ClassificationPreviewSpec(Node, frozen=True):
    """What is asked: one of name, query and classification; all classifications together if none is given."""

    namespace: Annotated[Name, Meta(description="Where the hosts are; all namespaces if not given.")] = ""
    name: Annotated[Name, Meta(description="A saved AgentClassification.")] = ""
    query: Annotated[Text, Meta(description="A jq query over status.inventory of a host, without a label.")] = ""
    classification: Annotated[
        JsonObject | None,
        Meta(description="A whole AgentClassification, saved or not. It takes the place of a saved one of its name."),
    ] = None
    among: Annotated[
        Given | None,
        Meta(description="AgentClassifications that count instead of those that are saved; if not given, the saved."),
    ] = None
    host: Annotated[Name, Meta(description="Only this host.")] = ""
    explain: Annotated[bool, Meta(description="With the values that the parts of a query gave.")] = False
    rows: Annotated[HostRows, Meta(description="The rows that are wanted.")] = HostRows()


class QueryPart(Node, frozen=True, omit_defaults=False):
    """A part of a query and the first values that it gave."""

    text: str
    values: tuple[Json, ...]
    more: Annotated[int, Meta(description="How many values were left out.")]


class TakenLabel(Part, frozen=True, omit_defaults=False):
    """Why a host that matches does not get the label."""

    value: Annotated[str, Meta(description="The value that the key has instead.")]
    by: Annotated[str, Meta(description="The classification that it is of; empty if it was set by hand.")]


class Said(Node, frozen=True):
    """What a query says of one host."""

    verdict: Annotated[str, Meta(description="Matched, Unmatched or Failed.")] = ""
    values: Annotated[
        tuple[Json, ...], Meta(description="What the query gave: true or false, or else the mistake.")
    ] = ()
    error: Annotated[str, Meta(description="Why it failed.")] = ""
    code: Annotated[str, Meta(description="The same for programs: docs/reference/reasons.md.")] = ""
    taken: TakenLabel | None = None
    parts: tuple[QueryPart, ...] = ()


class HostOutcome(Said, frozen=True, kw_only=True):
    """What one of several classifications says of a host."""

    classification: str


class HostRow(Said, frozen=True, kw_only=True):
    """One host. The verdict is that of the query or classification that was asked about."""

    namespace: str
    name: str
    before: Annotated[str | None, Meta(description="The value of the label that it carries now.")] = None
    after: Annotated[str | None, Meta(description="The value that it would carry.")] = None
    labels: Annotated[
        dict[str, str], Meta(description="If all classifications were asked about: the labels, without their prefix.")
    ] = field(default_factory=dict)
    changes: Annotated[
        dict[str, str | None], Meta(description="Labels that would be others; null for one that goes.")
    ] = field(default_factory=dict)
    outcomes: Annotated[
        tuple[HostOutcome, ...], Meta(description="If all were asked about: what each classification says.")
    ] = ()


class OutcomeCount(Node, frozen=True):
    """Hosts of which the query says the same."""

    verdict: str
    count: int
    examples: tuple[str, ...]
    error: str = ""
    code: str = ""
    parts: Annotated[tuple[QueryPart, ...], Meta(description="With explain: on the first of the examples.")] = ()


class LabelConflict(Part, frozen=True, omit_defaults=False):
    """A classification that matches hosts and does not get its label there."""

    namespace: str
    classification: str
    key: str
    value: Annotated[str, Meta(description="The value that the key has instead.")]
    by: Annotated[str, Meta(description="The classification that it is of; empty if it was set by hand.")]
    count: int
    examples: tuple[str, ...]


class PreviewCondition(Part, frozen=True, omit_defaults=False):
    """A condition that a classification would have."""

    type: str
    status: str
    reason: str
    message: str


class ClassificationFare(Node, frozen=True, omit_defaults=False):
    """How a classification would fare on the hosts that were looked at."""

    namespace: str
    name: str
    key: str
    value: str
    query: str
    matched: Annotated[int, Meta(description="How many hosts would carry its value.")]
    errors: Annotated[int, Meta(description="On how many hosts its query fails.")]
    conditions: tuple[PreviewCondition, ...]


class ClassificationPreviewStatus(Node, frozen=True, omit_defaults=False):
    """The answer, made of nothing but the hosts and classifications that the asker may get."""

    valid: Annotated[bool, Meta(description="Whether what was asked can be used; diagnostics say why not.")] = True
    hosts: Annotated[int, Meta(description="How many hosts were looked at.")] = 0
    hidden: Annotated[int, Meta(description="How many there are that the asker may not get.")] = 0
    hidden_classifications: Annotated[
        int, Meta(description="How many classifications there are that the asker may not get; they do not count.")
    ] = 0
    matched: int = 0
    unmatched: int = 0
    failed: int = 0
    gained: Annotated[int, Meta(description="Labels that hosts would get.")] = 0
    lost: Annotated[int, Meta(description="Labels that hosts would lose.")] = 0
    changed: Annotated[int, Meta(description="Labels that would have another value.")] = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    rows: tuple[HostRow, ...] = ()
    rows_in_all: Annotated[int, Meta(description="How many rows there are without offset and limit.")] = 0
    outcomes: Annotated[tuple[OutcomeCount, ...], Meta(description="Hosts by what the query says of them.")] = ()
    outcomes_in_all: int = 0
    conflicts: Annotated[tuple[LabelConflict, ...], Meta(description="Labels that others have the key of.")] = ()
    classifications: Annotated[
        tuple[ClassificationFare, ...], Meta(description="What was asked about, and its rivals for the same key.")
    ] = ()


def _rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec", {})
    given = [name for name in _ASKED if spec.get(name)]
    causes = [invalid(f"spec.{name}", spec[name], f"may not be given with {given[0]}") for name in given[1:]]
    if not spec.get("namespace"):
        needing = [name for name in ("name", "host") if spec.get(name)]
        causes += [required("spec.namespace", f"say where the {each} is") for each in needing]
    return causes


CLASSIFICATION_PREVIEW: Final = question(
    "ClassificationPreview",
    "Which hosts would a query accept, and which labels would they get?",
    ClassificationPreviewSpec,
    schema_of(ClassificationPreviewStatus),
    _rules,
)
