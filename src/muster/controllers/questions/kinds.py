"""What the hub asks the controllers' process, and how it is answered: why a placement selects what it does, and advice.

The controllers have the fleet with everything that is known of it, the hub has the users. So the hub says which
placement, and takes out of the answer what its user may not see; nothing here knows users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from muster.placement.explain.report import Window  # noqa: TC001

# msgspec reads annotations at run time.
from muster.placement.lint.findings import Finding  # noqa: TC001
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.client.reflector import Handler
    from muster.controllers.hosts.world import AgentWorld
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.resolutions.world import ResolutionWorld


class ExplainQuestion(msgspec.Struct, frozen=True):
    """Why does this placement select what it does? `cluster`, if given, is explained in full.

    With `all_sets`, sets that have the cluster and are not bound to the placement's namespace are named too. Without
    `values`, the answer says of many clusters together only what tells nothing of what they hold.
    """

    placement: JsonObject
    dry_run: bool
    window: Window
    cluster: str = ""
    all_sets: bool = False
    values: bool = False


class AdviceQuestion(msgspec.Struct, frozen=True):
    """What is there to be said about this placement, given the fleet? Nobody waits longer than so many seconds."""

    placement: JsonObject
    seconds: float


class Advice(msgspec.Struct, frozen=True):
    """Findings, in the order of the placement's fields."""

    findings: tuple[Finding, ...] = ()


class Observer(Protocol):
    """Answers questions about the fleet beside the controllers' own work. `ready` is set once all has been seen."""

    ready: bool

    def handlers(self) -> Mapping[str, Handler]:
        """What to watch for it beside what controllers watch, by resource."""

    async def answer(self, body: bytes) -> bytes:
        """Raises Refusal."""

    async def run(self, has_better: Callable[[], bool]) -> None:
        """What it does beside answering, until cancelled. Called when it is ready. `has_better`: decisions wait."""


class ObserverMaker(Protocol):
    """Makes an observer of what the controllers know."""

    def __call__(
        self,
        world: PlacementWorld,
        clock: Callable[[], datetime],
        *,
        hosts: AgentWorld,
        resolutions: ResolutionWorld,
    ) -> Observer: ...


class Refusal(Exception):  # noqa: N818 - an answer, which the hub passes on
    """Why a question is not answered, as an HTTP code and a sentence."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(code, message)
