"""Asking for permissions: which of those that a write needs its writer lacks, and the refusal that names them all."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from muster.admission.write import NOTHING, Finding, refused
from muster.clustersets.permissions import refusal_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.admission.write import Asker, World
    from muster.clustersets.permissions import Permission


async def missing_permissions(world: World, asker: Asker, needed: Iterable[Permission]) -> list[Permission]:
    """Those that the asker does not have, in their order. Neighbours of one kind are asked for together."""
    missing: list[Permission] = []
    for (verb, address), group in groupby(needed, key=lambda each: (each.verb, each.address)):
        asked = list(group)
        lacking = set(await world.missing(asker, verb, address, [each.name for each in asked]))
        missing += [each for each in asked if each.name in lacking]
    return missing


def forbidden(asker: Asker, missing: Sequence[Permission]) -> Finding:
    """The refusal, if anything is missing."""
    return refused(refusal_text(asker.name, missing), 403, "Forbidden") if missing else NOTHING
