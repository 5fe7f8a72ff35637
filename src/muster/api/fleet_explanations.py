"""PlacementExplanation: why a placement selects what it does. The answer is the report of `placements/NAME/explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from muster.api.parts import Node, anything
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.api.resource import Resource
    from muster.values.causes import Cause


class PlacementExplanationSpec(Node, frozen=True):
    """Which placement: a stored one by name, or one as it would be."""

    namespace: Annotated[str, Meta(description="Where the stored placement is.", max_length=253)] = ""
    name: Annotated[str, Meta(description="The stored placement.", max_length=253)] = ""
    placement: Annotated[JsonObject | None, Meta(description="A placement that need not be saved.")] = None
    cluster: Annotated[str, Meta(description="A cluster to explain in full.", max_length=253)] = ""
    limit: Annotated[int, Meta(description="How many clusters to name.", ge=0, le=1000)] = 100
    continue_: Annotated[str, Meta(description="Go on from here: status.metadata.continue of the answer before.")] = (
        msgspec.field(default="", name="continue")
    )


def rules(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    from muster.values.causes import invalid, required

    spec = new.get("spec", {})
    if spec.get("placement"):
        wrong = [name for name in ("namespace", "name") if spec.get(name)]
        return [invalid(f"spec.{name}", spec[name], "may not be given with placement") for name in wrong]
    return [
        required(f"spec.{name}", "name a stored placement and its namespace, or give a placement")
        for name in ("namespace", "name")
        if not spec.get(name)
    ]


def __getattr__(name: str) -> Resource:
    """The kinds with their schemas, for those who check questions; those who ask them need no schema."""
    from muster.api.fleet_parts import question

    match name:
        case "PLACEMENT_EXPLANATION":
            made = question(
                "PlacementExplanation",
                "Why does a placement select what it does?",
                PlacementExplanationSpec,
                anything("The report, as GET placements/NAME/explain has it: docs/reference/explain.md."),
                rules,
            )
        case _:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = made
    return made
