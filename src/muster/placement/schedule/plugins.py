"""Plugins of third parties: filters and scorers beside the built-in ones, and those written for one cluster at a time.

A plugin is found by its entry point (`muster.filters`, `muster.scorers`), which names a callable without arguments
that makes it. The shell reads entry points and gives them to `profile_with` and `scorers_with`; a plugin that cannot
be wired is refused then, not while scheduling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np

from muster.errors import PluginError
from muster.placement.schedule.filters import FILTERS, Filter
from muster.placement.schedule.pipeline import Profile
from muster.placement.schedule.scorers import BUILT_IN, Scorer
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from muster.placement.schedule.cycle import Cycle
    from muster.selectors.paths import Path

FILTER_POINTS: Final = "muster.filters"
SCORER_POINTS: Final = "muster.scorers"
T = TypeVar("T")


class ClusterFilter(Protocol):
    """A filter that looks at one cluster at a time."""

    @property
    def name(self) -> str: ...

    def why_not(self, cluster: JsonMapping) -> str | None:
        """Why the cluster does not pass; None when it does."""


class ClusterScorer(Protocol):
    """A scorer that looks at one cluster at a time, at `reads`: a change there schedules the placement again."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> frozenset[Path]: ...

    def score(self, cluster: JsonMapping) -> int:
        """From -100 to 100."""


@dataclass(frozen=True, slots=True)
class EachCluster:
    """Makes a filter of the whole fleet from one that looks at one cluster at a time."""

    plugin: ClusterFilter

    @property
    def name(self) -> str:
        return self.plugin.name

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        passing = np.zeros_like(candidates)
        for row in np.flatnonzero(candidates).tolist():
            passing[row] = self.why_not(cycle, row) is None
        return passing

    def why_not(self, cycle: Cycle, row: int) -> str | None:
        reason: str | None = _guarded(self.plugin.name, self.plugin.why_not, cycle.fleet.load(row))
        return reason


@dataclass(frozen=True, slots=True)
class EachScore:
    """Makes a scorer of the whole fleet from one that looks at one cluster at a time."""

    plugin: ClusterScorer

    @property
    def name(self) -> str:
        return self.plugin.name

    @property
    def reads(self) -> frozenset[Path]:
        return self.plugin.reads

    def scores(self, cycle: Cycle, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        load = cycle.fleet.load
        found = (_guarded(self.plugin.name, self.plugin.score, load(row)) for row in rows.tolist())
        return np.fromiter(found, dtype=np.int64, count=len(rows))

    def warning(self, cycle: Cycle, rows: NDArray[np.intp]) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None


def profile_with(found: Mapping[str, Callable[[], object]]) -> Profile:
    """The built-in filters, then those of plugins in the order of their names."""
    built_in = [make() for make in FILTERS.values()]
    plugins = [_made(name, found[name], _as_filter) for name in sorted(found)]
    return Profile((*built_in, *plugins))


def scorers_with(found: Mapping[str, Callable[[], object]]) -> Mapping[str, Callable[[], Scorer]]:
    """The built-in scorers and those of plugins, by the name that a Placement uses."""
    known = dict(BUILT_IN)
    for name, make in found.items():
        if name in known:
            raise PluginError(name, "a scorer of this name is built in")
        known[name] = _Always(_made(name, make, _as_scorer))
    return known


@dataclass(frozen=True, slots=True)
class _Always:
    """Makes the same scorer every time: plugins keep no state."""

    scorer: Scorer

    def __call__(self) -> Scorer:
        return self.scorer


def _made(name: str, make: Callable[[], object], adapt: Callable[[Any], T | None]) -> T:
    try:
        plugin = make()
    except Exception as error:
        raise PluginError(name, f"cannot be made: {error}") from error
    adapted = adapt(plugin)
    if adapted is None:
        raise PluginError(name, f"{type(plugin).__name__} has none of the methods of a plugin of its kind")
    return adapted


def _as_filter(plugin: Any) -> Filter | None:
    if hasattr(plugin, "passes") and hasattr(plugin, "why_not"):
        whole: Filter = plugin
        return whole
    return EachCluster(plugin) if hasattr(plugin, "why_not") and hasattr(plugin, "name") else None


def _as_scorer(plugin: Any) -> Scorer | None:
    if hasattr(plugin, "scores") and hasattr(plugin, "reads"):
        whole: Scorer = plugin
        return whole
    return EachScore(plugin) if hasattr(plugin, "score") and hasattr(plugin, "reads") else None


def _guarded(name: str, question: Callable[[JsonMapping], T], cluster: JsonMapping) -> T:
    """A plugin's fault is the plugin's: whatever it raises says so."""
    try:
        return question(cluster)
    except Exception as error:
        where = cluster["metadata"]["name"]
        raise PluginError(name, f"failed on cluster {where}: {error}") from error
