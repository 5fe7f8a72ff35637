"""Random edits by random users over random sets and roles, against a model: nobody moves a cluster without permission.

    python -m tests.hostile.label_edits --count 1000000 --seed 1

Every edit goes through `hub.api.Api` on a store in memory, with roles, admission and, for what owners and deletions
bring about, the garbage collector. HTTP is left out. What happened is read from the store's own events and judged by
`label_model`, which shares no code with the hub. A share of the edits runs together, so that they meet.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from muster.api import RESOURCES
from muster.client import Discovery, Reply, ServedResource
from muster.controllers.garbage.collector import GarbageCollector
from muster.controllers.permissions import COLLECTOR, RULES
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.errors import ApiError
from muster.hub.requests import DeleteOptions, ListOptions, ObjectBody, PatchType, User, WriteOptions
from muster.hub.status import StatusError
from muster.hub.storage import EventType
from tests.hostile.label_model import DEFAULT_KEY, Actor, Grant, Model
from tests.hub.a_guarded_hub import GuardedHub, a_guarded_hub
from tests.hub.a_hub import CLUSTERS, GROUP, SETS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from muster.hub.storage import Watch

Object = dict[str, Any]
KEYS = (DEFAULT_KEY, "region", "vendor", "example.com/tier")
NAMES = ("apac", "us", "gold", "default")
VALUES = (*NAMES, *NAMES, "nobody", "")
HOSTS = ("c1", "c2", "c3", "c4", "c5")
BINDINGS = f"managedclustersetbindings.{GROUP}"
EPOCH = 4000  # edits before everything begins anew
TOGETHER = 0.04  # of the turns are several edits at once
SERVED = {
    kind.key: ServedResource(
        kind.group, kind.storage_version.name, kind.plural, kind.singular, kind.kind, kind.namespaced, verbs=kind.verbs
    )
    for kind in RESOURCES.values()
    if kind.key in (CLUSTERS, SETS)
}


@dataclass
class Tally:
    """What was done and what came of it."""

    edits: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    joined: int = 0
    left: int = 0
    collected: int = 0
    wrong: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # though it was allowed

    def told(self) -> str:
        return (
            f"{self.edits} edits: {dict(sorted(self.outcomes.items()))}\n"
            f"kinds: {dict(sorted(self.kinds.items()))}\n"
            f"{self.joined} joins, {self.left} leaves, {self.collected} objects collected\n"
            f"joins or leaves without permission: {len(self.wrong)}; plain edits refused though permitted: "
            f"{len(self.refused)}"
        )


class Stage:
    """One hub with its users, and the model beside it."""

    def __init__(self, hub: GuardedHub, dice: random.Random, tally: Tally) -> None:
        self.hub = hub
        self.dice = dice
        self.tally = tally
        self.model = Model()
        self.actors: list[Actor] = []
        self._watches: list[Watch] = []
        self._collector = GarbageCollector(self, self, Discovery(tuple(SERVED.values())), ControllerMetrics())  # type: ignore[arg-type]  # a client and a recorder of events, as far as they are used
        self._handlers = {key: self._collector.mirror(resource) for key, resource in SERVED.items()}
        self._collecting = User(COLLECTOR, COLLECTOR, ("system:authenticated",))

    async def begin(self) -> None:
        await self.hub.grant(COLLECTOR, *RULES[COLLECTOR])
        for number in range(self.dice.randint(2, 4)):
            await self._hire(f"user-{number}")
        everything = Actor("admin", (Grant(_ALL, "managedclusters"), Grant(_ALL, "managedclustersets")))
        joins = (Grant(("create",), "managedclustersets/join"), Grant(("create",), "managedclustersets/exclusiveKey"))
        self.admin = Actor("admin", everything.grants + joins)
        watched = (CLUSTERS, SETS, BINDINGS)
        self._watches = [self.hub.store.watch(kind, None, self.hub.store.revision) for kind in watched]
        for name in self.dice.sample(NAMES, self.dice.randint(1, len(NAMES))):
            await self._attempt(self.hub.create(self._a_set(name)), "setup")
        for name in HOSTS:
            await self._attempt(self.hub.create(self._a_cluster(name)), "setup")
        await self._settle([self.admin])

    def close(self) -> None:
        for watch in self._watches:
            watch.close()

    async def _hire(self, name: str) -> None:
        """A user with random grants, instead of those it had."""
        dice = self.dice
        grants = []
        for verbs, resource, names in _GRANTS:
            if dice.random() < 0.75:
                some = tuple(dice.sample(names, dice.randint(1, len(names)))) if dice.random() < 0.6 else ()
                chosen = tuple(verb for verb in verbs if dice.random() < 0.8) or verbs
                grants.append(Grant(chosen, resource, some))
        actor = Actor(name, tuple(grants))
        self.actors = [each for each in self.actors if each.name != name] + [actor]
        rules = [
            {"apiGroups": [GROUP], "resources": [each.resource], "verbs": list(each.verbs)}
            | ({"resourceNames": list(each.names)} if each.names else {})
            for each in grants
        ]
        await self.hub.grant(name, *rules)

    # --- a turn

    async def turn(self) -> None:
        dice = self.dice
        if dice.random() < 0.002:
            await self._hire(dice.choice(self.actors).name)
            return
        if dice.random() < TOGETHER:
            actors = [dice.choice(self.actors) for _ in range(dice.randint(2, 4))]
            edits = [self._edit(actor) for actor in actors]
            self.tally.edits += len(edits)
            await asyncio.gather(*(self._attempt(edit, kind) for kind, edit, _ in edits))
            await self._settle(actors)
            return
        actor = dice.choice(self.actors)
        kind, edit, allowed = self._edit(actor)
        self.tally.edits += 1
        outcome = await self._attempt(edit, kind)
        if outcome == "403" and allowed:
            self.tally.refused.append(f"{actor}: {kind}: {allowed}")
        await self._settle([actor])

    async def _attempt(self, edit: Awaitable[Any], kind: str) -> str:
        self.tally.kinds[kind] += 1
        try:
            await edit
            outcome = "done"
        except StatusError as error:
            outcome = str(error.code)
            if error.code >= 500:
                self.tally.wrong.append(f"{kind}: {error.code} {error}")
        self.tally.outcomes[outcome] += 1
        return outcome

    async def _settle(self, actors: list[Actor]) -> None:
        """Judge what the edit did, let the collector work on it, and judge that."""
        await self._judge(actors, collected=False)
        while len(self._collector.queue):
            uid = await self._collector.queue.get()
            try:
                await self._collector._look_at(uid)
            except ApiError as error:
                if error.code not in (404, 409):
                    self.tally.wrong.append(f"the collector: {error}")
            finally:
                self._collector.queue.done(uid)
            await self._judge(actors, collected=True)

    async def _judge(self, actors: list[Actor], *, collected: bool) -> None:
        events = [event for watch in self._watches if not watch.caught_up for event in await watch.batch()]
        for event in sorted(events, key=lambda each: each.record.revision):
            key, gone = event.record.key, event.type is EventType.DELETED
            obj = None if gone else msgspec.json.decode(event.record.value)
            judge = {
                CLUSTERS: self.model.cluster_changed,
                SETS: self.model.set_changed,
                BINDINGS: self.model.binding_changed,
            }[key.resource]
            # Several of one batch may be there at once; the administrator only sets the stage.
            self.tally.wrong += judge(key.name, obj, actors, collected=collected)
            handler = self._handlers.get(key.resource)
            if handler is None:
                continue
            if gone:
                self.tally.collected += collected
                handler.remove(event.record.value)
            else:
                handler.put(event.record.value)

    # --- the collector's client, and its recorder of events

    async def request(self, method: str, path: str, **given: Any) -> Reply:
        parts = path.split("/")
        resource = SETS if "managedclustersets" in parts else CLUSTERS
        target = self.hub.target(resource, parts[-1])
        api, user, body = self.hub.api, self._collecting, given.get("body") or {}
        try:
            if method == "GET":
                answer = await api.get(user, target)
            elif method == "PATCH":
                answer = await api.patch(
                    user, target, PatchType.MERGE, ObjectBody(body), WriteOptions(field_manager="gc")
                )
            else:
                preconditions = body["preconditions"]
                asked = DeleteOptions(
                    propagation_policy=body["propagationPolicy"],
                    uid=preconditions["uid"],
                    resource_version=preconditions["resourceVersion"],
                )
                answer = await api.delete(user, target, asked)
        except StatusError as error:
            raise ApiError(error.code, error.reason, str(error)) from None
        return Reply(answer.code, msgspec.json.encode(answer.decoded()), ())

    def record(self, *_: Any) -> None:
        """Events are of no interest here."""

    # --- edits

    def _edit(self, actor: Actor) -> tuple[str, Coroutine[Any, Any, Any], str]:
        """A random edit: its kind, what does it, and, if a plain one is allowed by the model, which."""
        make = self.dice.choices(_EDITS, _WEIGHTS)[0]
        return make(self, actor, User(actor.name, actor.name, ("system:authenticated",)))

    def _some_labels(self) -> dict[str, str]:
        dice = self.dice
        return {key: dice.choice(VALUES) for key in KEYS if dice.random() < 0.5}

    def _a_cluster(self, name: str) -> Object:
        metadata: Object = {"name": name, "labels": self._some_labels()}
        return {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ManagedCluster",
            "metadata": metadata,
            "spec": {"hubAcceptsClient": False},
        }

    def _a_set(self, name: str) -> Object:
        dice = self.dice
        version = dice.choice(("v1beta2", "v1beta2", "v1beta1", "v1alpha1"))
        spec: Object = {}
        if dice.random() < 0.2 and version != "v1alpha1":
            spec["clusterSelector"] = {"selectorType": "LabelSelector", "labelSelector": {}}
        elif dice.random() < 0.8:
            spec["exclusiveKey"] = dice.choice(KEYS)
        return {
            "apiVersion": f"{GROUP}/{version}",
            "kind": "ManagedClusterSet",
            "metadata": {"name": name},
            "spec": spec,
        }

    def _an_owner(self) -> Object:
        """One that is there, one that was, or one that never was."""
        dice = self.dice
        choice = dice.random()
        if choice < 0.4 and self.model.clusters:
            name, obj = dice.choice(sorted(self.model.clusters.items()))
            uid, kind, version = obj["metadata"]["uid"], "ManagedCluster", "v1"
        elif choice < 0.6 and self.model.sets:
            name, obj = dice.choice(sorted(self.model.sets.items()))
            uid, kind, version = obj["metadata"]["uid"], "ManagedClusterSet", "v1beta2"
        elif choice < 0.75 and self.model.seen:
            uid, (kind, name) = dice.choice(sorted(self.model.seen.items()))
            version = "v1" if kind == "ManagedCluster" else "v1beta2"
        else:
            uid, kind, version = f"ghost-{dice.randint(0, 9)}", "ManagedCluster", "v1"
            name = dice.choice(("ghost", "?watch=true&x=", "c1"))
        reference = {"apiVersion": f"{GROUP}/{version}", "kind": kind, "name": name, "uid": uid}
        return reference | ({"blockOwnerDeletion": True} if dice.random() < 0.2 else {})

    def _options(self, actor: Actor, **more: Any) -> WriteOptions:
        dry = ("All",) if self.dice.random() < 0.05 else ()
        return WriteOptions(field_manager=f"{actor.name}-{self.dice.randint(0, 1)}", dry_run=dry, **more)


_ALL = ("create", "update", "patch", "delete", "deletecollection", "get")
_GRANTS = (
    (("create", "update", "patch", "delete", "get"), "managedclusters", HOSTS),
    (("update", "patch"), "managedclusters", HOSTS),
    (("update", "patch"), "managedclusters/status", HOSTS),
    (("update",), "managedclusters/finalizers", HOSTS),
    (("create", "update", "patch", "delete"), "managedclustersets", NAMES),
    (("create",), "managedclustersets/join", NAMES),
    (("create",), "managedclustersets/join", NAMES),
    (("create",), "managedclustersets/exclusiveKey", KEYS),
    (("create",), "managedclustersets/bind", NAMES),
    (("create", "update", "patch", "delete"), "managedclustersetbindings", NAMES),
)
Edit = tuple[str, "Coroutine[Any, Any, Any]", str]


def _merge(stage: Stage, actor: Actor, user: User) -> Edit:
    """Labels by merge patch: some set, some removed, sometimes all of them."""
    dice, name = stage.dice, stage.dice.choice(HOSTS)
    present = stage.model.labels(name)
    change: dict[str, str | None] | None = {**stage._some_labels()}
    for key in KEYS:
        if change is not None and dice.random() < 0.2:
            change[key] = None
    if dice.random() < 0.05:
        change = None
    body: Object = {"metadata": {"labels": change}}
    after = {} if change is None else {key: value for key, value in (present | change).items() if value is not None}
    options = stage._options(actor)
    edit = stage.hub.api.patch(user, stage.hub.target(CLUSTERS, name), PatchType.MERGE, ObjectBody(body), options)
    plain = name in stage.model.clusters and "deletionTimestamp" not in stage.model.clusters[name]["metadata"]
    allowed = plain and stage.model.may_label(actor, name, after, "patch")
    return "merge patch", edit, f"{name} {present} → {after}" if allowed else ""


def _json_patch(stage: Stage, actor: Actor, user: User) -> Edit:
    dice, name = stage.dice, stage.dice.choice(HOSTS)
    operations: list[Object] = []
    for _ in range(dice.randint(1, 3)):
        path = f"/metadata/labels/{dice.choice(KEYS).replace('/', '~1')}"
        other = f"/metadata/labels/{dice.choice(KEYS).replace('/', '~1')}"
        operations.append(
            dice.choice(
                (
                    {"op": "add", "path": path, "value": dice.choice(VALUES)},
                    {"op": "replace", "path": path, "value": dice.choice(VALUES)},
                    {"op": "remove", "path": path},
                    {"op": "move", "path": path, "from": other},
                    {"op": "copy", "path": path, "from": other},
                    {"op": "add", "path": "/metadata/labels", "value": stage._some_labels()},
                    {"op": "remove", "path": "/metadata/labels"},
                )
            )
        )
    options, target = stage._options(actor), stage.hub.target(CLUSTERS, name)
    return "JSON patch", stage.hub.api.patch(user, target, PatchType.JSON, ObjectBody(operations), options), ""


def _update(stage: Stage, actor: Actor, user: User) -> Edit:
    """A whole new state, sometimes from an old one, sometimes of the status, sometimes with what nobody may set."""
    dice, name = stage.dice, stage.dice.choice(HOSTS)
    known = stage.model.clusters.get(name)
    obj = msgspec.json.decode(msgspec.json.encode(known)) if known else stage._a_cluster(name)
    labels = stage._some_labels()
    obj["metadata"]["labels"] = labels
    if dice.random() < 0.1:
        obj["metadata"]["resourceVersion"] = str(dice.randint(1, 50))
    if dice.random() < 0.1:
        obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    if dice.random() < 0.1:
        obj["metadata"]["uid"] = "another"
    subresource = "status" if dice.random() < 0.15 else ""
    target = stage.hub.target(CLUSTERS, name, subresource=subresource)
    edit = stage.hub.api.update(user, target, ObjectBody(obj), stage._options(actor))
    return f"update {subresource}".strip(), edit, ""


def _apply(stage: Stage, actor: Actor, user: User) -> Edit:
    dice, name = stage.dice, stage.dice.choice(HOSTS)
    obj = stage._a_cluster(name)
    if dice.random() < 0.1:
        del obj["metadata"]["labels"]
    options = stage._options(actor, force=dice.random() < 0.7)
    subresource = "status" if dice.random() < 0.1 else ""
    target = stage.hub.target(CLUSTERS, name, subresource=subresource)
    return "apply", stage.hub.api.patch(user, target, PatchType.APPLY, ObjectBody(obj), options), ""


def _own(stage: Stage, actor: Actor, user: User) -> Edit:
    """Owners and finalizers of clusters and sets, by themselves or together with labels."""
    dice = stage.dice
    resource, name = (CLUSTERS, dice.choice(HOSTS)) if dice.random() < 0.8 else (SETS, dice.choice(NAMES))
    metadata: Object = {}
    if dice.random() < 0.8:
        metadata["ownerReferences"] = [stage._an_owner() for _ in range(dice.randint(0, 3))] or None
    if dice.random() < 0.3:
        metadata["finalizers"] = dice.choice((None, ["example.com/wait"], ["foregroundDeletion"], ["orphan"]))
    if dice.random() < 0.3:
        metadata["labels"] = stage._some_labels()
    target = stage.hub.target(resource, name)
    edit = stage.hub.api.patch(user, target, PatchType.MERGE, ObjectBody({"metadata": metadata}), stage._options(actor))
    return "owners", edit, ""


def _create(stage: Stage, actor: Actor, user: User) -> Edit:
    dice = stage.dice
    obj = stage._a_cluster(dice.choice(HOSTS))
    if dice.random() < 0.1:
        obj["metadata"] = {"generateName": "c", "labels": obj["metadata"]["labels"]}
    if dice.random() < 0.2:
        obj["metadata"]["ownerReferences"] = [stage._an_owner()]
    if dice.random() < 0.1:
        obj["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    target = stage.hub.target_of({**obj, "metadata": {"name": ""}}, named=False)
    return "create", stage.hub.api.create(user, target, ObjectBody(obj), stage._options(actor)), ""


def _delete(stage: Stage, actor: Actor, user: User) -> Edit:
    dice = stage.dice
    resource, name = (CLUSTERS, dice.choice(HOSTS)) if dice.random() < 0.6 else (SETS, dice.choice(NAMES))
    options = DeleteOptions(
        dry_run=("All",) if dice.random() < 0.1 else (),
        propagation_policy=dice.choice((None, "Background", "Foreground", "Orphan")),
    )
    if dice.random() < 0.1:
        target = stage.hub.target(resource)
        return "delete collection", stage.hub.api.delete_collection(user, target, ListOptions(), options), ""
    return "delete", stage.hub.api.delete(user, stage.hub.target(resource, name), options), ""


def _found(stage: Stage, actor: Actor, user: User) -> Edit:
    """A set is created, in any version."""
    obj = stage._a_set(stage.dice.choice(NAMES))
    target = stage.hub.target_of(obj, named=False)
    return "create set", stage.hub.api.create(user, target, ObjectBody(obj), stage._options(actor)), ""


def _reform(stage: Stage, actor: Actor, user: User) -> Edit:
    """A set is changed: its key, how it selects, in any version and by any patch."""
    dice, name = stage.dice, stage.dice.choice(NAMES)
    obj = stage._a_set(name)
    version = obj["apiVersion"].rpartition("/")[2]
    target = stage.hub.target(SETS, name, version=version)
    if dice.random() < 0.3:
        options = stage._options(actor, force=dice.random() < 0.7)
        return "apply set", stage.hub.api.patch(user, target, PatchType.APPLY, ObjectBody(obj), options), ""
    kind = {"v1beta2": "ExclusiveClusterSetLabel", "v1beta1": "LegacyClusterSetLabel", "v1alpha1": None}[version]
    changes: Sequence[Object] = (
        {"exclusiveKey": dice.choice((None, "", *KEYS))},
        {"clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {}}, "exclusiveKey": None},
        {"clusterSelector": {"selectorType": kind, "labelSelector": None}},
        {"clusterSelector": None},
    )
    body = {"spec": dice.choice(changes)}
    return "patch set", stage.hub.api.patch(user, target, PatchType.MERGE, ObjectBody(body), stage._options(actor)), ""


def _rebuild(stage: Stage, actor: Actor, user: User) -> Edit:
    """Deleted and created again outside its set, at once: two permissions of their own."""
    name = stage.dice.choice(HOSTS)
    hub, obj = stage.hub, stage._a_cluster(name)

    async def both() -> None:
        await hub.api.delete(user, hub.target(CLUSTERS, name), DeleteOptions())
        await hub.api.create(user, hub.target_of(obj, named=False), ObjectBody(obj), stage._options(actor))

    return "delete and create", both(), ""


def _bind(stage: Stage, actor: Actor, user: User) -> Edit:
    """A set is bound to a namespace, under its own name or another, or a binding is turned to another set."""
    dice, name = stage.dice, stage.dice.choice(NAMES)
    target = stage.hub.target(BINDINGS, name, "default")
    spec = {"clusterSet": name if dice.random() < 0.7 else dice.choice(NAMES)}
    if dice.random() < 0.3:
        body = {"spec": spec}
        return (
            "patch binding",
            stage.hub.api.patch(user, target, PatchType.MERGE, ObjectBody(body), stage._options(actor)),
            "",
        )
    if dice.random() < 0.2:
        return "delete binding", stage.hub.api.delete(user, target, DeleteOptions()), ""
    obj = {
        "apiVersion": f"{GROUP}/{target.version.name}",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }
    unnamed = stage.hub.target(BINDINGS, "", "default")
    return "create binding", stage.hub.api.create(user, unnamed, ObjectBody(obj), stage._options(actor)), ""


_EDITS: tuple[Callable[[Stage, Actor, User], Edit], ...] = (
    _merge,
    _json_patch,
    _update,
    _apply,
    _own,
    _create,
    _delete,
    _found,
    _reform,
    _rebuild,
    _bind,
)
_WEIGHTS = (30, 15, 15, 10, 8, 10, 4, 6, 5, 2, 2)


async def _epoch(dice: random.Random, tally: Tally, edits: int) -> None:
    async with a_guarded_hub() as hub:
        stage = Stage(hub, dice, tally)
        await stage.begin()
        until = tally.edits + edits
        while tally.edits < until:
            await stage.turn()
        _compare(stage)
        tally.joined += stage.model.joined
        tally.left += stage.model.left
        stage.close()


def _compare(stage: Stage) -> None:
    """The model has seen everything: it holds just what the store holds."""
    model = stage.model
    for resource, known in ((CLUSTERS, model.clusters), (SETS, model.sets), (BINDINGS, model.bindings)):
        stored = {record.key.name: msgspec.json.decode(record.value) for record in stage.hub.store.scan(resource)}
        if stored != known:
            stage.tally.wrong.append(f"{resource}: the model has lost track")


async def run(count: int, seed: int, told: Callable[[Tally], None] = lambda _: None) -> Tally:
    """So many edits. The same seed makes the same users, sets and edits; what runs together may end differently."""
    dice, tally = random.Random(seed), Tally()
    while tally.edits < count:
        await _epoch(dice, tally, min(EPOCH, count - tally.edits))
        told(tally)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    started, next_word = time.monotonic(), [100_000]

    def progress(tally: Tally) -> None:
        if tally.edits >= next_word[0]:
            next_word[0] += 100_000
            sys.stdout.write(f"{tally.edits} edits in {time.monotonic() - started:.0f} s, {len(tally.wrong)} wrong\n")
            sys.stdout.flush()

    tally = asyncio.run(run(given.count, given.seed, progress))
    sys.stdout.write(f"{tally.told()}\nseed {given.seed}, {time.monotonic() - started:.0f} s\n")
    for line in (tally.wrong + tally.refused)[:20]:
        sys.stdout.write(f"  {line}\n")
    return 1 if tally.wrong or tally.refused else 0


if __name__ == "__main__":
    sys.exit(main())
