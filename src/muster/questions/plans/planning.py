"""The answer to a Plan: what follows from objects that have been merged as they would be.

The controllers' own steps run on a fork of the live world, which has the placements concerned and nothing that anybody
decides from; a command without a server has a world of its own, which is used up. Whoever serves the question merges
the objects (`hub/plans.py`) and says what they were made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from muster.api.fleet_parts import WARNING, Diagnostic
from muster.api.fleet_plan import (
    MOST_NAMES,
    MOST_PLACEMENTS,
    LostCluster,
    LostList,
    NameList,
    PlacementPlan,
    PlanStatus,
)
from muster.controllers.placements.concerned import concerned
from muster.controllers.placements.keys import Key, SetKey
from muster.controllers.placements.preview import place_of, preview_steps
from muster.controllers.questions.kinds import Refusal
from muster.errors import InvalidObjectError
from muster.placement import plan_read
from muster.placement.schedule.plan import PLACEMENTS
from muster.placement.schedule.sets import rules_read
from muster.questions.asked import Scope
from muster.questions.plans.guards import PlacementVerdicts, verdicts
from muster.questions.plans.hosts import host_plan
from muster.questions.plans.sets import members, set_plans
from muster.questions.plans.token import Input, changes_since, digest_of, token_of
from muster.questions.plans.view import AskersView
from muster.reasons import Reader, redacted, sentence
from muster.selectors.cel import cel_compiler

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from datetime import datetime

    from muster.api.fleet_plan import HostPlan
    from muster.controllers.placements.preview import PlacementChange
    from muster.controllers.placements.world import PlacementWorld
    from muster.questions.plans.work import PlanWork
    from muster.questions.sharing import Work
    from muster.questions.universe import ClusterUniverse
    from muster.selectors.paths import Path
    from muster.values.json import JsonObject

_CONFLICT: Final = 409
_MOST_REASONS: Final = 1000  # of one placement: each is evaluated again
_CLUSTER, _SCORE, _SET, _PLACEMENT = "ManagedCluster", "AddOnPlacementScore", "ManagedClusterSet", "Placement"


def planned(
    work: PlanWork, scope: Scope, places: Scope, live: PlacementWorld, clusters: ClusterUniverse, now: datetime
) -> Work[PlanStatus]:
    """What follows, tried on a fork of the live world. Raises Refusal."""
    # 1. What is concerned, and the columns that it needs, which stay warm for the next question.
    paths: tuple[Path, ...] = ()
    if compiled := [each for each in work.applied if each["kind"] in (_PLACEMENT, _SET)]:
        yield True
        paths = tuple(_reads(live, compiled))
    yield from clusters.fill(paths)
    keys = yield from concerned(live, work.applied, work.deleted, now)
    view = AskersView(scope, places, _written(work))
    keys = {key for key in keys if isinstance(key, SetKey) or view.shows(key)}
    bound = set[SetKey]()
    if not scope.everything:
        namespaces = {key.namespace for key in keys if isinstance(key, Key)}
        bound = {SetKey(name) for namespace in namespaces for name in live.bindings.get(namespace, {})}
    for key in sorted({*keys, *bound}):
        for _ in live.steps(key):
            yield False
    # 2. From here on it is a world of our own, at this moment.
    fork = live.fork({*keys, *bound}, paths, own_scores=_changes_scores(work))
    return (yield from tried(work, view, fork, keys, now))


def planned_alone(work: PlanWork, world: PlacementWorld, now: datetime) -> Work[PlanStatus]:
    """What follows in a world of one's own, which is used up, for somebody who may know of all that is in it."""
    everything = Scope(everything=True, sets=None)
    keys = yield from concerned(world, work.applied, work.deleted, now)
    view = AskersView(everything, everything, _written(work))
    return (yield from tried(work, view, world, {*keys, *world.placements}, now))


def tried(
    work: PlanWork, view: AskersView, world: PlacementWorld, keys: Collection[Key | SetKey], now: datetime
) -> Work[PlanStatus]:
    """What follows in a world that is used up; `keys` are the placements and sets concerned."""
    changed_scores = {place_of(each).name for each in (*work.applied, *work.deleted) if each["kind"] == _SCORE}
    for key in {key for name in changed_scores for key in world.fleet.score_readers(name) if isinstance(key, Key)}:
        yield True
        world.plans.make(key)  # with the scores of this world
        for _ in world.steps(key):  # who is not evaluated is woken by nothing
            yield False
    yield from view.look(world, {key.namespace for key in keys if isinstance(key, Key)})
    set_keys = [key for key in keys if isinstance(key, SetKey)]
    hidden = len(world.fleet) - int(view.shown(world.fleet).sum())
    before = yield from members(world, set_keys, view, _written(work))
    foundations = {key: _foundation(world, key) for key in keys if isinstance(key, Key)}
    try:
        most = min(work.most_names, _MOST_REASONS)
        changes = yield from preview_steps(
            world, work.applied, now, work.deleted, alone=work.alone, view=view, reasons=most
        )
    except InvalidObjectError as error:
        raise Refusal(_CONFLICT, f"the objects cannot be tried: {error}") from None
    after = yield from members(world, set_keys, view, _written(work))
    sets = set_plans(world, before, after, work.most_names)
    hosts, diagnostics = None, work.diagnostics
    if work.hosts is not None:
        yield True
        hosts, diagnostics = _hosts(work)
        yield False
    placements = tuple(_told(changes, view, world, work, now))
    written = {each.what for each in work.inputs}  # of which the whole object counts
    inputs = [
        *work.inputs,
        *(each for change in changes for each in _inputs(change, view, foundations) if each.what not in written),
        *(Input(f"who is in the set {each.name}", digest_of(msgspec.to_builtins(each))) for each in sets),
        *_host_inputs(hosts),
    ]
    return PlanStatus(
        placements=placements[:MOST_PLACEMENTS],
        placements_in_all=len(placements),
        sets=sets,
        hosts=hosts,
        allowed=all(verdict.allowed for each in placements for verdict in each.guards),
        token=token_of(inputs),
        changed=changes_since(work.token, inputs) if work.token else (),
        restricted=work.restricted or hidden > 0,
        hidden=hidden,
        diagnostics=diagnostics,
    )


def _written(work: PlanWork) -> frozenset[str]:
    """The names of the clusters that the plan writes."""
    return frozenset(place_of(each).name for each in (*work.applied, *work.deleted) if each["kind"] == _CLUSTER)


def _changes_scores(work: PlanWork) -> bool:
    return any(each["kind"] == _SCORE for each in (*work.applied, *work.deleted))


def _reads(world: PlacementWorld, objects: Iterable[JsonObject]) -> Iterator[Path]:
    """What the placements and sets would read. Raises Refusal for what has brought down this process before."""
    compile_cel = cel_compiler(world.fleet.scores)
    for obj in objects:
        if obj["kind"] == _SET:
            for rule in rules_read([obj]).values():
                yield from () if rule.membership is None else rule.membership.reads
            continue
        placement = PLACEMENTS.partly(obj)
        if (entry := world.plans.set_aside_like(placement.obj.spec)) is not None:
            raise Refusal(_CONFLICT, entry.condition(world.quarantine.namespace)[2])
        plan = plan_read(placement, compile_cel)
        yield from plan.paths
        for selector in plan.selectors:
            yield from selector.reads


# ------------------------------------------------------------------------------------------------------------ telling


def _told(
    changes: Sequence[PlacementChange], view: AskersView, world: PlacementWorld, work: PlanWork, now: datetime
) -> Iterator[PlacementPlan]:
    """As much of the changes as the asker may be told; the longest lists of names are cut so that all of them fit."""
    most = min(work.most_names, MOST_NAMES // max(len(changes), 1))
    reader = view.reader(world.fleet)
    kept = PlacementVerdicts(world, changes, view, now)
    for change in changes:
        lost = view.seen(change.lost)
        yield PlacementPlan(
            change.namespace,
            change.name,
            change.before,
            change.after,
            _named(change.gained, view, most),
            LostList(
                len(change.lost),
                len(change.lost) - len(lost),
                tuple(_lost(each, change, reader) for each in lost[:most]),
            ),
            _named(change.kept, view, most),
            created=change.is_new,
            deleted=change.is_gone,
            fault=change.fault,
            guards=(*verdicts(change, work.guards), *kept.of(change)),
        )


def _named(names: Sequence[str], view: AskersView, most: int) -> NameList:
    shown = view.seen(names)
    return NameList(len(names), len(names) - len(shown), tuple(shown[:most]))


def _lost(name: str, change: PlacementChange, reader: Reader) -> LostCluster:
    why = change.why.get(name)
    if why is None:
        return LostCluster(name)
    told = redacted(why, reader, name)
    return LostCluster(name, str(told.code), sentence(told), msgspec.to_builtins(told))


def _hosts(work: PlanWork) -> tuple[HostPlan | None, tuple[Diagnostic, ...]]:
    try:
        return host_plan(work), work.diagnostics
    except InvalidObjectError as error:
        message = f"what becomes of the labels of hosts cannot be told: {error}"
        return None, (*work.diagnostics, Diagnostic("spec", message, WARNING))


# ----------------------------------------------------------------------------------------------- what a plan rests on


def _foundation(world: PlacementWorld, key: Key) -> tuple[str, str]:
    """Which placement it is, and which sets and bindings there are for it, before anything is written."""
    stored = world.placements.get(key)
    known = None if stored is None else stored.obj.metadata
    own = "" if known is None else digest_of(known.uid, known.generation, dict(known.annotations), known.is_going)
    bound = world.bindings.get(key.namespace, {})
    sets = [
        [name, binding.obj.metadata.uid, each.obj.metadata.uid, each.obj.metadata.generation]
        for name, binding in sorted(bound.items())
        if (each := world.sets.get(name)) is not None
    ]
    return own, digest_of(sets)


def _inputs(change: PlacementChange, view: AskersView, foundations: dict[Key, tuple[str, str]]) -> Iterator[Input]:
    """The placement, its sets, and what of its decisions and of the fleet came out: no more than the asker is told."""
    where = f"{change.namespace}/{change.name}"
    own, sets = foundations.get(Key(change.namespace, change.name), ("", ""))
    yield Input(f"Placement {where}", own)
    yield Input(f"a cluster set of {where}, or a binding", sets)
    lists = [[len(names), *view.seen(names)] for names in (change.gained, change.lost, change.kept)]
    outcome = digest_of(lists, change.fault, change.is_new, change.is_gone)
    yield Input(f"what {where} has and would have, by its decisions and the clusters", outcome)


def _host_inputs(hosts: HostPlan | None) -> Iterator[Input]:
    if hosts is not None:
        yield Input("what becomes of hosts", digest_of(msgspec.to_builtins(hosts)))


def merged(status: PlanStatus, **parts: object) -> PlanStatus:
    """The status with what whoever merged the objects knows of them."""
    found: PlanStatus = replace(status, **parts)
    return replace(found, allowed=found.allowed and not found.refused)
