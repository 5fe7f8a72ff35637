"""Completion: what can stand at a place in an expression. Answered by `questions/completing.py`."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from muster.api.fleet_parts import Count, Text, question
from muster.api.parts import Node, Part
from muster.api.struct_schemas import schema_of
from muster.values.causes import Cause, invalid
from muster.values.json import JsonObject

MOST_ITEMS: Final = 500


class CompletionSpec(Node, frozen=True):
    """A text and a place in it."""

    expression: Annotated[Text, Meta(description="A CEL expression over managedCluster, begun or whole.")] = ""
    position: Annotated[
        Count | None, Meta(description="Where the caret is, in code points; at the end if not given.")
    ] = None
    most_items: Annotated[int, Meta(description="How many items to send.", ge=1, le=MOST_ITEMS)] = 50


class Item(Part, frozen=True):
    """Something that can stand there."""

    text: Annotated[str, Meta(description="What to write in place of the text between from and to.")]
    kind: Annotated[str, Meta(description="variable, field, function, macro, label, claim or value.")]
    detail: Annotated[str, Meta(description="What it is, in a few words.")] = ""
    count: Annotated[int | None, Meta(description="On how many clusters it is found.")] = None


class CompletionStatus(Node, frozen=True, omit_defaults=False):
    """The answer. Labels, claims and values are those of clusters that the asker may get."""

    begin: Annotated[int, Meta(description="Where the text begins that an item replaces.")] = msgspec.field(name="from")
    to: Annotated[int, Meta(description="Where it ends.")]
    items: tuple[Item, ...] = ()
    items_in_all: int = 0


def _rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec", {})
    position, length = spec.get("position"), len(spec.get("expression", ""))
    if position is not None and position > length:
        return [invalid("spec.position", position, f"the expression has {length} characters")]
    return []


COMPLETION: Final = question("Completion", "What can stand here?", CompletionSpec, schema_of(CompletionStatus), _rules)
