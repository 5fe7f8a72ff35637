"""What objects as they would be change, before anything is written: the controllers' own steps on a copy of the world.

The same events go in, the same placements are woken and scheduled in the same order, each once, and what they decide is
put where the next one sees it; then follows what other controllers would do: taints of clusters that do not say that
they are available, built-in sets as they must be. Pure: no I/O, and the world that comes in is used up.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import msgspec

from muster.api.parts import ObjectMeta, PartialObject
from muster.api.placement_decision import PlacementDecision
from muster.api.reading import Reader
from muster.client.heads import Place
from muster.controllers.placements.decision_pages import PLACEMENT_LABEL, DecisionPage
from muster.controllers.placements.keys import Key
from muster.controllers.placements.readers import BINDINGS, DECISIONS, PLACEMENTS, SCORES, SETS
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.runtime.conditions import timestamp
from muster.controllers.runtime.mirror import Stored
from muster.errors import InvalidObjectError
from muster.fleet.scores import readable_score
from muster.placement.schedule.pipeline import reason_against
from muster.reasons import Code, Reason
from muster.values.faults import Fault
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from muster.api.addon_placement_score import AddOnPlacementScore
    from muster.controllers.placements.keys import SetKey, Woken
    from muster.fleet import Fleet, Score
    from muster.fleet.shapes import Shape
    from muster.placement import ScheduleResult

_OBJECTS: Final = Reader(PartialObject)
KINDS: Final = (
    "AddOnPlacementScore",
    "ManagedCluster",
    "ManagedClusterSet",
    "ManagedClusterSetBinding",
    "Placement",
    "PlacementDecision",
)


T = TypeVar("T")
Steps: TypeAlias = Generator[bool | None, None, T]
"""Pauses wherever it yields; true before what cannot pause, such as compiling."""


class View:
    """What a preview looks at. This one at everything; a preview for somebody who may know of less has another."""

    def shows(self, key: Key) -> bool:  # noqa: ARG002 - others look at it
        """Whether a placement is looked at."""
        return True

    def within(self, fleet: Fleet, key: Key) -> NDArray[np.bool_] | None:  # noqa: ARG002 - others look at it
        """The rows that there are for a placement; None for all."""
        return None


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """What happens to the decisions of one placement."""

    namespace: str
    name: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    before: int
    after: int
    fault: str = ""  # why it would be misconfigured; its decisions stay then
    is_new: bool = False
    is_gone: bool = False
    kept: tuple[str, ...] = field(default=(), compare=False)
    why: Mapping[str, Reason] = field(default_factory=dict, compare=False)  # of those that it loses, the first


def world_of(
    objects: Iterable[JsonMapping],
    now: datetime,
    clusters: Iterable[bytes] = (),
    scores: Sequence[bytes] = (),
    shapes: Iterable[Shape | None] = (),
    *,
    is_final: bool = False,
) -> PlacementWorld:
    """The world with these objects in it, and with clusters and scores as JSON, which are many; objects of other kinds
    are passed over. `shapes` are what is known of the clusters already, from whoever has read them. Where nothing will
    change, and nobody need be woken, a placement is planned when somebody asks for it."""
    world = PlacementWorld()
    world.advance(now)
    by_kind: dict[str, list[JsonObject]] = {kind: [] for kind in KINDS}
    for obj in objects:
        if obj.get("kind") in by_kind:
            by_kind[obj["kind"]].append(dict(obj))
    world.fleet.put_scores(_readable_scores(scores))
    for kind in ("AddOnPlacementScore", "ManagedClusterSet", "ManagedClusterSetBinding", "PlacementDecision"):
        for obj in by_kind[kind]:
            put(world, obj)
    given = [msgspec.json.encode(obj) for obj in by_kind["ManagedCluster"]]
    world.fleet.put_many(chain(given, clusters), chain([None] * len(given), shapes, repeat(None)))
    for obj in by_kind["Placement"]:
        if is_final:
            placement = Stored.of(PLACEMENTS, obj)
            world.placements[Key(*placement.place)] = placement
        else:
            put(world, obj)
    return world


def _readable_scores(encoded: Sequence[bytes]) -> Iterator[tuple[str, str, Score]]:
    """Raises InvalidObjectError for what cannot be used."""
    for found in SCORES.read_lines(encoded):
        if isinstance(found, Fault):
            raise InvalidObjectError(found.path, found.message)
        score, fault = readable_score(found.obj)
        if fault := fault or found.fault_in():
            raise InvalidObjectError(fault.path, fault.message)
        yield found.obj.metadata.namespace, found.obj.metadata.name, score


def put(world: PlacementWorld, obj: JsonObject) -> Woken:
    """Feed one object to the world, as its watch would; who is woken."""
    match obj["kind"]:
        case "AddOnPlacementScore":
            return _put_score(world, Stored.of(SCORES, obj))
        case "ManagedCluster":
            return world.put_cluster(place_of(obj).name, msgspec.json.encode(obj))
        case "ManagedClusterSet":
            return world.put_set(Stored.of(SETS, obj))
        case "ManagedClusterSetBinding":
            return world.put_binding(Stored.of(BINDINGS, obj))
        case "Placement":
            return world.put_placement(Stored.of(PLACEMENTS, obj))
        case "PlacementDecision":
            return world.put_decision(Stored.of(DECISIONS, obj))
        case _:
            return frozenset()


def _put_score(world: PlacementWorld, score: Stored[AddOnPlacementScore]) -> Woken:
    told, fault = world.put_score(score)
    if fault is not None:
        raise InvalidObjectError(fault.path, fault.message)
    return told


def remove(world: PlacementWorld, obj: JsonObject) -> Woken:
    """Take one object out of the world, as its watch would; who is woken."""
    place = place_of(obj)
    match obj["kind"]:
        case "AddOnPlacementScore":
            return world.remove_score(place)
        case "ManagedCluster":
            return world.remove_cluster(place.name)
        case "ManagedClusterSet":
            return world.remove_set(place.name)
        case "ManagedClusterSetBinding":
            return world.remove_binding(place)
        case "Placement":
            return world.remove_placement(place)
        case "PlacementDecision":
            return world.remove_decision(place)
        case _:
            return frozenset()


def place_of(obj: JsonObject) -> Place:
    metadata = _OBJECTS.partly(obj).obj.metadata
    return Place(metadata.namespace, metadata.name)


def settle(world: PlacementWorld, now: datetime) -> None:
    """Decide for every placement, as controllers would have done: for objects that come without decisions."""
    _Trial(world, now, View()).settle(list(world.placements))


def preview(
    world: PlacementWorld,
    changes: Iterable[JsonMapping],
    now: datetime,
    deleted: Iterable[JsonMapping] = (),
    *,
    alone: bool = False,
) -> list[PlacementChange]:
    """The placements whose decisions would change, or that would be misconfigured, by name, in one go."""
    return exhausted(preview_steps(world, changes, now, deleted, alone=alone))


def exhausted(steps: Steps[T]) -> T:
    """The result of work that pauses, for somebody who does not."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            result: T = ended.value
            return result


def preview_steps(
    world: PlacementWorld,
    changes: Iterable[JsonMapping],
    now: datetime,
    deleted: Iterable[JsonMapping] = (),
    *,
    alone: bool = False,
    view: View | None = None,
    reasons: int = 0,
) -> Steps[list[PlacementChange]]:
    """The placements whose decisions would change, or that would be misconfigured, by name.

    `changes` are whole objects as they would be; `deleted` are gone. `alone`: no other controller does anything, for
    worlds from files, where clusters seldom say that they are available. Of so many clusters that a placement loses
    the reason is told.
    """
    trial = _Trial(world, now, view or View())
    known = {key for key in world.placements if trial.view.shows(key)}
    before = {key: trial.decided(key) for key in known}
    changed, gone_ones = [dict(change) for change in changes], [dict(each) for each in deleted]
    # 1. What is written, and what placements make of it.
    woken = yield from _written(world, changed)
    woken |= {key for obj in gone_ones for key in remove(world, obj)}
    yield from trial.work_off(woken)
    # 2. What the other controllers make of it, and placements of that.
    if not alone:
        after_it = [*(each for obj in changed for each in following(obj, now)), *made_again(gone_ones)]
        yield from trial.work_off((yield from _written(world, after_it)))
    found = []
    for key in sorted({*before, *(each for each in world.placements if trial.view.shows(each))}):
        gone = key not in world.placements
        # Tens of thousands of names are mostly in order: what keeps their order is sorted quickly.
        old, new = dict.fromkeys(before.get(key, ())), {} if gone else dict.fromkeys(trial.decided(key))
        if old.keys() != new.keys() or key in trial.faults or key not in known or gone:
            lost = tuple(sorted(name for name in old if name not in new))
            found.append(
                PlacementChange(
                    key.namespace,
                    key.name,
                    gained=tuple(sorted(name for name in new if name not in old)),
                    lost=lost,
                    before=len(old),
                    after=len(new),
                    fault=trial.faults.get(key, ""),
                    is_new=key not in known,
                    is_gone=gone,
                    kept=tuple(sorted(name for name in old if name in new)),
                    why=(yield from trial.reasons(key, lost[:reasons])),
                )
            )
    return found


def _written(world: PlacementWorld, objects: Iterable[JsonObject]) -> Steps[set[Key | SetKey]]:
    woken: set[Key | SetKey] = set()
    for obj in objects:
        yield obj["kind"] == "Placement"  # it is compiled, which may take long
        woken |= put(world, obj)
    yield False
    return woken


class _Trial:
    """Placements that have their turn in a world that is used up, and what came of it."""

    def __init__(self, world: PlacementWorld, now: datetime, view: View) -> None:
        self.view = view
        self.faults: dict[Key, str] = {}
        self._world = world
        self._now = now
        self._results: dict[Key, ScheduleResult] = {}
        self._unsettled: dict[Key, ScheduleResult] = {}

    def work_off(self, woken: Iterable[Key | SetKey]) -> Steps[None]:
        """Schedule the woken placements in their turns."""
        world = self._world
        for key in sorted(key for key in woken if isinstance(key, Key) and self.view.shows(key)):
            for _ in world.steps(key):
                yield False
            self._settle_others()
            result = world.decide(key, self._now, self.view.within(world.fleet, key))
            self.faults.pop(key, None)
            if result is None:
                if (held := world.plans.held(key)) is not None:
                    self.faults[key] = held.condition(world.quarantine.namespace)[2]
            elif result.fault is not None:
                self.faults[key] = str(result.fault)
            else:
                self._results[key] = self._unsettled[key] = result
            yield False

    def _settle_others(self) -> None:
        """Put what is decided where the next placement sees it. The last one has none: tens of thousands may stay."""
        for key, result in self._unsettled.items():
            _settle(self._world, key, result)
        self._unsettled.clear()

    def settle(self, keys: Iterable[Key]) -> None:
        """Decide for these, and put all of it where a schedule sees it."""
        exhausted(self.work_off(keys))
        self._settle_others()

    def decided(self, key: Key) -> list[str]:
        """The clusters that are decided for a placement, those that are looked at."""
        if (new := self._unsettled.get(key)) is not None:
            return self._world.fleet.names(new.ranked.tolist())
        names = _decided(self._world, key)
        within, row_of = self.view.within(self._world.fleet, key), self._world.fleet.row
        if within is None:
            return names
        return [name for name in names if (row := row_of(name)) is not None and within[row]]

    def reasons(self, key: Key, lost: Iterable[str]) -> Steps[dict[str, Reason]]:
        """Why a placement loses clusters."""
        found: dict[str, Reason] = {}
        result = self._results.get(key)
        for name in lost:
            if key not in self._world.placements:
                found[name] = Reason(Code.PLACEMENT_DELETING)
            elif result is not None and (why := reason_against(result, name, self._world.profile)) is not None:
                found[name] = why
            yield False
        return found


def following(obj: JsonObject, now: datetime) -> Iterator[JsonObject]:
    """What controllers write when they see this object."""
    from muster.controllers.cluster_sets import BUILT_IN, roll_back  # whoever only looks needs no controllers
    from muster.controllers.clusters import CLUSTERS, wanted_taints

    match obj["kind"]:
        case "ManagedCluster":
            cluster = CLUSTERS.partly(obj).obj
            taints = wanted_taints(cluster)
            if taints != cluster.spec.taints and not cluster.metadata.is_going:
                timed = [{"timeAdded": timestamp(now), **taint} for taint in msgspec.to_builtins(taints)]
                spec = obj["spec"] if isinstance(obj.get("spec"), dict) else {}
                yield {**obj, "spec": {**spec, "taints": timed}}
        case "ManagedClusterSet" if (name := place_of(obj).name) in BUILT_IN:
            if roll_back(Stored.of(SETS, obj)) is not None:
                yield {**obj, "spec": {"clusterSelector": BUILT_IN[name]}}


def made_again(deleted: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The built-in sets do not stay away."""
    from muster.controllers.cluster_sets import BUILT_IN

    for obj in deleted:
        if obj["kind"] == "ManagedClusterSet" and (name := place_of(obj).name) in BUILT_IN:
            yield {"kind": obj["kind"], "metadata": {"name": name}, "spec": {"clusterSelector": BUILT_IN[name]}}


def _decided(world: PlacementWorld, key: Key) -> list[str]:
    return [name for page in world.decisions.of(key) for name in page.clusters]


def _settle(world: PlacementWorld, key: Key, result: ScheduleResult) -> None:
    """Put the decided pages where the controller would."""
    pages = []
    for page in result.pages():
        found = PlacementDecision(ObjectMeta(page.name, key.namespace, labels={PLACEMENT_LABEL: key.name}))
        # What a schedule reads of a page is its clusters.
        pages.append(DecisionPage(Stored(found, b"", Place(key.namespace, page.name)), key, page.clusters))
    world.decisions.replace(key, pages)
