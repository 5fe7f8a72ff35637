"""Permissions of cluster sets at size: `python -m benchmarks clustersets [--clusters N] [--sets N] [--taken-in N]`.

Through the API of a hub in this process, with a store on disk. A label edit moves a cluster from one exclusive set to
another, by a user who may join a thousand sets by name. A new set takes in thousands of clusters, by a user who may
update each of them by name, while the fleet goes on sending heartbeats. `checks` is what admission takes of it.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import shutil
import statistics
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks._processes import afresh
from benchmarks._report import RUNS, figures, heading
from muster.api import RESOURCES
from muster.api.codec import encode_split
from muster.demo.clusters import a_cluster
from muster.hub.admission import ObjectChecks
from muster.hub.api import Api
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.requests import DeleteOptions, ObjectBody, PatchType, Target, User, WriteOptions
from muster.hub.storage import Key, Put, Store
from muster.supervision.cycles import freeze_loaded_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.hub.requests import AdmissionRequest, Admitted

Object = dict[str, Any]
OCM = "cluster.open-cluster-management.io"
RBAC = "rbac.authorization.k8s.io"
CLUSTERS, SETS = f"managedclusters.{OCM}", f"managedclustersets.{OCM}"
DEV, SRE = User("dev"), User("sre")
KEY, KEY_TO_COME = "region", "example.com/grade"
DATABASE = "hub.db"
EDITS = 500
CREATIONS = 5
EDIT = "label edit from one set to another, commit included, ms"
NEW_SET = "new set that takes in its clusters"
BESIDE = "the same while heartbeats go on, of its clusters too"


class Timed:
    """The checks, with a clock beside them."""

    def __init__(self, checks: ObjectChecks) -> None:
        self._checks = checks
        self.spent = 0.0
        self.creations = 0  # of sets: more than were wished for means that some were checked again

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        started = time.perf_counter()
        try:
            return await self._checks.mutate(request)
        finally:
            self.spent += time.perf_counter() - started

    async def validate(self, request: AdmissionRequest) -> Admitted:
        started = time.perf_counter()
        self.creations += request.operation == "CREATE"
        try:
            return await self._checks.validate(request)
        finally:
            self.spent += time.perf_counter() - started


def a_set(name: str, key: str) -> Object:
    spec = {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}, "exclusiveKey": key}
    return {
        "apiVersion": f"{OCM}/v1beta2",
        "kind": "ManagedClusterSet",
        "metadata": {"name": name},
        "spec": spec,
    }


def objects(clusters: int, sets: int, taken_in: int) -> Iterator[tuple[str, Object]]:
    names = []
    for index in range(clusters):
        obj = a_cluster(1, index).object
        if index < taken_in:
            obj["metadata"]["labels"][KEY_TO_COME] = "gold"
            names.append(obj["metadata"]["name"])
        yield CLUSTERS, obj
    for index in range(sets):
        yield SETS, a_set(f"set-{index}", KEY)
    yield from granted(
        "dev", _rule("patch", "managedclusters"), _rule("create", "managedclustersets/join", *_sets(sets))
    )
    yield from granted(
        "sre", _rule("create,delete", "managedclustersets"), _rule("create", "managedclustersets/exclusiveKey")
    )
    for start in range(0, len(names), 500):
        yield from granted(f"sre-{start}", _rule("update", "managedclusters", *names[start : start + 500]), user="sre")


def _sets(count: int) -> Iterator[str]:
    return (f"set-{index}" for index in range(count))


def _rule(verbs: str, resource: str, *names: str) -> Object:
    return {"apiGroups": [OCM], "resources": [resource], "verbs": verbs.split(","), "resourceNames": list(names)}


def granted(name: str, *rules: Object, user: str = "") -> Iterator[tuple[str, Object]]:
    metadata = {"name": name}
    yield f"clusterroles.{RBAC}", {"metadata": metadata, "rules": list(rules)}
    subject = {"apiGroup": RBAC, "kind": "User", "name": user or name}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
    yield f"clusterrolebindings.{RBAC}", {"metadata": metadata, "roleRef": role, "subjects": [subject]}


async def fill(database: Path, clusters: int, sets: int, taken_in: int) -> None:
    batch: list[Put] = []
    async with Store.open(database) as store:
        for resource, obj in objects(clusters, sets, taken_in):
            obj["metadata"] |= {"uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1}
            batch.append(Put(Key(resource, "", obj["metadata"]["name"]), *encode_split(obj), 0))
            if len(batch) == 1000:
                await store.commit(batch)
                batch = []
        await store.commit(batch)


def target(resource: str, name: str = "", subresource: str = "") -> Target:
    kind = RESOURCES[resource]
    return Target(kind, kind.storage_version, "", name, subresource)


def one_run(database: Path, sets: int) -> dict[str, float]:
    return asyncio.run(measure(database, sets))


async def measure(database: Path, sets: int) -> dict[str, float]:
    store = Store.open(database)
    authorizer = RbacAuthorizer(store)
    checks = Timed(ObjectChecks(store, authorizer, permissions=authorizer.read))
    api = Api(store, authorizer, admission=[checks])
    await authorizer.start()
    await api.start()
    names = [record.key.name for record in store.scan(CLUSTERS)]
    freeze_loaded_objects()  # as a hub does behind loading
    found = await edits(api, checks, names, sets) | await heartbeats(api, checks, names)
    found |= await creations(api, NEW_SET)
    beating = asyncio.create_task(_beat(api, names))
    found |= await creations(api, BESIDE)
    beating.cancel()
    with suppress(asyncio.CancelledError):
        await beating
    found["sets that were checked twice"] = checks.creations - 2 * CREATIONS
    await api.close()
    await authorizer.close()
    await store.close()
    return found


async def edits(api: Api, checks: Timed, names: list[str], sets: int) -> dict[str, float]:
    whole, shares = [], []
    for number in range(EDITS):
        patch = {"metadata": {"labels": {KEY: f"set-{number * 7 % sets}", "team": f"team-{number}"}}}
        spent, share = await _timed(checks, _patch(api, DEV, target(CLUSTERS, names[number % 50]), patch))
        whole.append(spent)
        shares.append(share)
    return {
        EDIT: statistics.median(whole),
        f"the longest of {EDITS}, ms": max(whole),
        "checks of such an edit, ms": statistics.median(shares),
    }


async def heartbeats(api: Api, checks: Timed, names: list[str]) -> dict[str, float]:
    shares = []
    for number in range(EDITS):
        patch = {"status": {"version": {"kubernetes": f"v1.30.{number}"}}}
        where = target(CLUSTERS, names[number % len(names)], "status")
        _, share = await _timed(checks, _patch(api, ADMINISTRATOR, where, patch))
        shares.append(share)
    return {"checks of a heartbeat, ms": statistics.median(shares)}


async def creations(api: Api, title: str) -> dict[str, float]:
    whole = []
    for _ in range(CREATIONS):
        started = time.perf_counter()
        await api.create(SRE, target(SETS), ObjectBody(a_set("gold", KEY_TO_COME)), WriteOptions(field_manager="bench"))
        whole.append(time.perf_counter() - started)
        await api.delete(SRE, target(SETS, "gold"), DeleteOptions())
    return {f"{title}, s": statistics.median(whole), f"{title}, the longest of {CREATIONS}, s": max(whole)}


async def _beat(api: Api, names: list[str]) -> None:
    """One heartbeat after the other, those that are taken in among them."""
    for number, name in enumerate(itertools.cycle(names)):
        patch = {"status": {"version": {"kubernetes": f"v1.31.{number}"}}}
        await _patch(api, ADMINISTRATOR, target(CLUSTERS, name, "status"), patch)


async def _patch(api: Api, user: User, where: Target, patch: Object) -> None:
    await api.patch(user, where, PatchType.MERGE, ObjectBody(patch), WriteOptions(field_manager="bench"))


async def _timed(checks: Timed, request: Any) -> tuple[float, float]:
    checks.spent = 0.0
    started = time.perf_counter()
    await request
    return (time.perf_counter() - started) * 1e3, checks.spent * 1e3


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=100_000)
    parser.add_argument("--sets", type=int, default=1_000)
    parser.add_argument("--taken-in", type=int, default=10_000)
    options = parser.parse_args(arguments)
    size = f"{options.clusters:,} clusters, {options.sets:,} exclusive sets"
    taken = f"{options.taken_in:,} of them for the new set"
    heading("make bench AREA=clustersets", f"{size}, {taken}; by the clock, each run over its own copy of the store.")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        stored = Path(folder, "stored")
        stored.mkdir()
        asyncio.run(fill(stored / DATABASE, options.clusters, options.sets, options.taken_in))
        for run in range(RUNS):
            copied = Path(folder, f"run-{run}")
            shutil.copytree(stored, copied)
            found.append(afresh(one_run, copied / DATABASE, options.sets))
            shutil.rmtree(copied)
    figures(found, {EDIT: 5, f"{NEW_SET}, s": 1, f"{BESIDE}, s": 1})


if __name__ == "__main__":
    main()
