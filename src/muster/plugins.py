"""The entry points of installed plugins: read once, by whoever wires a scheduler."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from muster.errors import PluginError
from muster.placement.schedule.plugins import FILTER_POINTS, SCORER_POINTS, profile_with, scorers_with
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.placement import Profile
    from muster.placement.schedule.scorers import Scorer


@cache
def installed() -> tuple[Profile, Mapping[str, Callable[[], Scorer]]]:
    """The filters and scorers of this installation. Raises PluginError for one that cannot be used."""
    return profile_with(_found(FILTER_POINTS)), scorers_with(_found(SCORER_POINTS))


def _found(group: str) -> dict[str, Callable[[], Json]]:
    found = {}
    for point in entry_points(group=group):
        try:
            found[point.name] = point.load()
        except (ImportError, AttributeError) as error:
            raise PluginError(point.name, f"cannot be loaded from {point.value}: {error}") from error
    return found
