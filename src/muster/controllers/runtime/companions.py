"""Controllers that run beside those of placements, where they are set to: what the manager asks of each of them."""

from __future__ import annotations

from typing import Protocol


class Companion(Protocol):
    """Told what concerns it by mirrors of its own."""

    @property
    def idle(self) -> bool:
        """Nothing is to be done now."""

    def wake_set(self, name: str) -> None:
        """The clusters of a set are others than before."""

    def wake_all(self) -> None:
        """Look at everything again."""

    async def run(self) -> None:
        """Decide and write, when everything has been seen once."""
