"""What travels from whoever merges a plan's objects (the hub, a command) to whoever finds what follows from them."""

from __future__ import annotations

import msgspec

# msgspec reads annotations at run time.
from muster.api.fleet_parts import Diagnostic  # noqa: TC001
from muster.api.fleet_plan import PlanGuards
from muster.questions.plans.token import Input  # noqa: TC001
from muster.values.json import JsonObject


class Hosts(msgspec.Struct, frozen=True):
    """Agents and classifications of the namespaces concerned, as they are."""

    present: tuple[JsonObject, ...] = ()
    trusting: bool = True  # a server has checked them


class PlanWork(msgspec.Struct, frozen=True):
    """Objects as they would be, and those that would be gone. `inputs` is what they were made from."""

    applied: tuple[JsonObject, ...] = ()
    deleted: tuple[JsonObject, ...] = ()
    inputs: tuple[Input, ...] = ()
    guards: PlanGuards = PlanGuards()
    most_names: int = 100
    token: str = ""
    hosts: Hosts | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    restricted: bool = False  # there are placements that the asker may not know of
    alone: bool = False  # no other controller does anything
