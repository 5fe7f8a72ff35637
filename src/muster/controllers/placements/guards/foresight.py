"""What guards would say to a change that is only planned: asked of the world, answered by whoever keeps guards.

Where controllers run, they answer with all that they remember. Where none do (files, a copy that somebody else's server
answers from) the annotations of the placement are what is known: `ANNOTATIONS_ALONE`. Nothing is counted here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from muster.placement.guards import APPROVAL, Memory, placement_guard, verdict

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from muster.api.parts import ObjectMeta
    from muster.controllers.placements.keys import Key
    from muster.placement.guards import Verdict


class Foresight(Protocol):
    """Who knows what guards would say."""

    def foresee(
        self,
        key: Key,
        placement: ObjectMeta,
        present: Collection[str],
        wanted: Collection[str],
        now: datetime,
        others: int = 0,
    ) -> Verdict:
        """The verdict on a change of a placement with these annotations; others would lose so many clusters with it."""

    def held(self, key: Key) -> Collection[str]:
        """The clusters that are held now."""


@dataclass(frozen=True, slots=True)
class AnnotationsAlone:
    """Knows the guards that stand on a placement, and nothing of the fleet's or of what has gone lately."""

    def foresee(
        self,
        key: Key,  # noqa: ARG002 - the protocol
        placement: ObjectMeta,
        present: Collection[str],
        wanted: Collection[str],
        now: datetime,
        others: int = 0,  # noqa: ARG002 - the protocol
    ) -> Verdict:
        guard = placement_guard(placement.annotations)
        guards = [] if guard is None else [guard]
        approval = placement.annotations.get(APPROVAL, "")
        return verdict(guards, present, wanted, now, Memory(placement.uid), approval)

    def held(self, key: Key) -> Collection[str]:  # noqa: ARG002 - the protocol
        return ()


ANNOTATIONS_ALONE: Final[Foresight] = AnnotationsAlone()
