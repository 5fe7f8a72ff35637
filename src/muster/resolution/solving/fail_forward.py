"""Updates past a failed one: installed bundles that are being replaced by a chain that ends in failure are left out.

Only with the strategy TechPreviewUnsafeFailForward. Texts are upstream's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import MusterError
from muster.resolution.request import UpgradeStrategy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.resolution.request import Installed


class BrokenReplacementError(MusterError):
    """A chain of replacements among installed bundles that is not in order."""


def still_counting(installed: Sequence[Installed], strategy: UpgradeStrategy, namespace: str) -> tuple[Installed, ...]:
    """The installed bundles that count in a resolution. Raises BrokenReplacementError."""
    if strategy is UpgradeStrategy.DEFAULT:
        return tuple(installed)
    replaced_by = {each.replaces: each for each in installed if each.replaces}
    return tuple(each for each in installed if not _gives_way(each, replaced_by, namespace))


def _gives_way(start: Installed, replaced_by: dict[str, Installed], namespace: str) -> bool:
    """Whether the bundle is being replaced and the last of its replacements has failed."""
    current = start
    seen: set[str] = set()
    while (following := replaced_by.get(current.name)) is not None:
        if current.phase != "Replacing":
            raise BrokenReplacementError(
                f"csv {namespace}/{current.name} in phase {current.phase} instead of Replacing"
            )
        if current.name in seen:
            raise BrokenReplacementError(f"csv {namespace}/{current.name} has already been seen")
        seen.add(current.name)
        current = following
    return current is not start and current.phase == "Failed"
