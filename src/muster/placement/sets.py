"""Which cluster sets a placement may choose from, and which clusters they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from muster.errors import InvalidObjectError
from muster.selectors.membership import membership

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from muster.fleet import Fleet
    from muster.selectors.membership import Membership


@dataclass(frozen=True, slots=True)
class Visibility:
    """The sets bound to a placement's namespace: all, those it may choose from, those that cannot be evaluated."""

    bound: tuple[str, ...]
    eligible: tuple[tuple[str, Membership], ...]  # sorted by name
    broken: tuple[tuple[str, str], ...] = ()  # name and why

    @property
    def eligible_names(self) -> list[str]:
        return sorted([name for name, _ in self.eligible] + [name for name, _ in self.broken])

    def available(self, fleet: Fleet) -> NDArray[np.bool_]:
        """Members of any eligible set, without clusters on their way out."""
        mask = np.zeros(fleet.capacity, dtype=np.bool_)
        for _, rule in self.eligible:
            mask |= fleet.mask(rule).selected
        return mask & fleet.present


def visibility(
    namespace: str,
    wanted: Iterable[str],
    bindings: Iterable[Mapping[str, Any]],
    cluster_sets: Iterable[Mapping[str, Any]],
) -> Visibility:
    """Bindings of the namespace that name an existing set, cut down to the wanted sets if any are named."""
    sets = {each["metadata"]["name"]: each for each in cluster_sets}
    bound = sorted(
        {
            each["metadata"]["name"]
            for each in bindings
            if each["metadata"].get("namespace") == namespace and each["metadata"]["name"] in sets
        }
    )
    asked = set(wanted)
    eligible: list[tuple[str, Membership]] = []
    broken: list[tuple[str, str]] = []
    for name in bound:
        if asked and name not in asked:
            continue
        try:
            eligible.append((name, membership(sets[name])))
        except InvalidObjectError as error:
            broken.append((name, str(error)))
    return Visibility(tuple(bound), tuple(eligible), tuple(broken))
