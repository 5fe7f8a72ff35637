"""FleetFacets: what the clusters of a fleet have, and how many have it. Answered by `questions/facets.py`."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from muster.api.fleet_parts import Chosen, Count, Diagnostic, ValueCount, question
from muster.api.parts import Node
from muster.api.struct_schemas import schema_of
from muster.values.causes import Cause, invalid
from muster.values.json import JsonObject

MOST_KEYS: Final = 1000
Facet = Literal["label", "claim", "version", "set", "condition", "taint"]


class FleetFacetsSpec(Chosen, frozen=True):
    """Which facets are wanted, of which clusters. Only clusters that the asker may get are looked at."""

    facets: Annotated[tuple[Facet, ...], Meta(description="The facets that are wanted; all if none is named.")] = ()
    key_prefix: Annotated[str, Meta(description="Only keys that begin so.", max_length=317)] = ""
    most_keys: Annotated[
        int, Meta(description="Keys of a facet, those on most clusters first.", ge=1, le=MOST_KEYS)
    ] = 50
    most_values: Annotated[Count, Meta(description="Values of a key, the most frequent first.", le=MOST_KEYS)] = 10


class KeyCount(Node, frozen=True, omit_defaults=False):
    """A key of a facet: a label, a claim, a type of condition, the key of a taint. Versions and sets have one key."""

    facet: str
    key: str
    clusters: Annotated[int, Meta(description="How many clusters have it.")]
    distinct: Annotated[int, Meta(description="How many different values it has.")]
    values: tuple[ValueCount, ...] = ()


class FleetFacetsStatus(Node, frozen=True, omit_defaults=False):
    """The answer."""

    valid: Annotated[bool, Meta(description="Whether what was asked could be evaluated; diagnostics say why not.")]
    clusters: Annotated[int, Meta(description="How many clusters were counted.")] = 0
    hidden: Annotated[int, Meta(description="How many there are that the asker may not get.")] = 0
    facets: tuple[KeyCount, ...] = ()
    more_keys: Annotated[int, Meta(description="How many keys are not shown.")] = 0
    diagnostics: tuple[Diagnostic, ...] = ()


def _rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec", {})
    given = [name for name in ("expression", "selector", "predicates") if spec.get(name)]
    return [invalid(f"spec.{name}", spec[name], f"may not be given with {given[0]}") for name in given[1:]]


FLEET_FACETS: Final = question(
    "FleetFacets",
    "What do clusters have, and how many have it?",
    FleetFacetsSpec,
    schema_of(FleetFacetsStatus),
    _rules,
)
