"""What controllers do once for a large fleet, and not again and again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muster.controllers.placements.controller import PlacementController
from muster.controllers.placements.decisions import DecisionWriter
from tests.builders import a_binding, a_placement, a_set
from tests.controllers.running import controllers, driven_hub, eventually

if TYPE_CHECKING:
    import pytest

    from muster.api.placement import Placement
    from muster.controllers.placements.drafts import Draft
    from muster.controllers.placements.keys import Key


def test_placements_whose_expressions_take_long_are_written_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are evaluated one after the other; to wait for a disk one after the other is not the point of that."""
    put_off: set[Key] = set()
    writing: set[Key] = set()
    met = asyncio.Event()
    write = DecisionWriter.write

    def is_evaluated(_: PlacementController, key: Key) -> bool:
        is_second_look = key in put_off
        put_off.add(key)
        return is_second_look

    async def written_together(self: DecisionWriter, key: Key, placement: Placement, draft: Draft) -> None:
        writing.add(key)
        if len(writing) == 3:
            met.set()
        await met.wait()
        await write(self, key, placement, draft)

    monkeypatch.setattr(PlacementController, "_is_evaluated", is_evaluated)
    monkeypatch.setattr(DecisionWriter, "write", written_together)
    with driven_hub() as hub, controllers(hub.hub):
        hub.create(a_set("prod"), a_binding("prod"), *(a_placement(f"p{number}") for number in range(3)))
        eventually(lambda: len(writing), 3)
