"""Decisions among many roles and bindings: `python -m benchmarks access [--roles N]`.

Each scene has N roles and N bindings, laid out as hubs have them or as somebody could lay them out to slow a hub down.
`first` is a decision that nobody has asked for before, `again` one that is remembered, `after a change` a write to a
role and a binding together with the next decision. Microseconds of CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks._processes import afresh
from benchmarks._report import RUNS, heading, matrix
from muster.access.policy import Policy
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.requests import Attributes, User
from muster.hub.storage import Store
from muster.supervision.cycles import freeze_loaded_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Object = dict[str, Any]
OCM = "cluster.open-cluster-management.io"
ASKED = 2000
FIRST = "first"


def role(name: str, namespace: str = "", names: tuple[str, ...] = ()) -> Object:
    rules = [
        {
            "apiGroups": [OCM],
            "resources": ["managedclusters"],
            "verbs": ["get", "update"],
            "resourceNames": list(names),
        },
        {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [OCM], "resources": ["placements", "placements/status"], "verbs": ["*"]},
    ]
    return {"metadata": {"name": name, "namespace": namespace}, "rules": rules}


def binding(name: str, role_name: str, subject: str, kind: str = "User", namespace: str = "") -> Object:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"kind": "Role" if namespace else "ClusterRole", "name": role_name},
        "subjects": [{"kind": kind, "name": subject}],
    }


def a_role_per_user(count: int) -> Iterator[tuple[Object, Object]]:
    for number in range(count):
        yield role(f"r{number}", names=(f"c{number}",)), binding(f"b{number}", f"r{number}", f"user{number}")


def a_namespace_per_team(count: int) -> Iterator[tuple[Object, Object]]:
    for number in range(count):
        place = f"ns{number}"
        yield role("local", place), binding("local", "local", f"team{number % 100}", "Group", place)


def all_for_one_group(count: int) -> Iterator[tuple[Object, Object]]:
    for number in range(count):
        yield role(f"r{number}", names=(f"c{number}",)), binding(f"b{number}", f"r{number}", "devs", "Group")


SCENES: dict[str, Callable[[int], Iterator[tuple[Object, Object]]]] = {
    "a role per user": a_role_per_user,
    "a namespace per team": a_namespace_per_team,
    "all roles for one group": all_for_one_group,
}


def questions(count: int, seed: int = 1) -> list[tuple[User, Attributes]]:
    """Half of them are refused."""
    chance = random.Random(seed)
    found = []
    for _ in range(ASKED):
        number = chance.randrange(count)
        groups = ("devs", f"team{number % 100}", "system:authenticated")
        user = User(f"user{number}", groups=groups)
        verb = chance.choice(["get", "delete"])
        if chance.random() < 0.5:
            asked = Attributes(verb, OCM, "v1", "managedclusters", name=f"c{number}")
        else:
            asked = Attributes(verb, "", "v1", "configmaps", namespace=f"ns{number}", name="x")
        found.append((user, asked))
    return found


def one_run(scene: str, count: int) -> dict[str, float]:
    """In a process of its own."""
    return asyncio.run(measure(scene, count))


async def measure(scene: str, count: int) -> dict[str, float]:
    store = Store.open(None)
    authorizer = RbacAuthorizer(store)
    policy = authorizer.policy = Policy()
    objects = list(SCENES[scene](count))
    started = time.process_time()
    for its_role, its_binding in objects:
        policy.put_role(its_role)
        policy.put_binding(its_binding)
    loaded = time.process_time() - started
    freeze_loaded_objects()  # as a hub does behind loading
    asked = questions(count)
    administrators = [(ADMINISTRATOR, attributes) for _, attributes in asked]
    found = {"all loaded, ms": loaded * 1e3}
    for name, those in ((FIRST, asked), ("again", asked), ("an administrator's", administrators)):
        started = time.process_time()
        for user, attributes in those:
            await authorizer.authorize(user, attributes)
        found[name] = (time.process_time() - started) / ASKED * 1e6
    changes = []
    for (its_role, its_binding), (user, attributes) in zip(objects, asked, strict=False):
        started = time.process_time()
        policy.put_role(its_role)
        policy.put_binding(its_binding)
        policy.decide(user, attributes)
        changes.append(time.process_time() - started)
    await store.close()
    return found | {"after a change": statistics.mean(changes) * 1e6, "the longest of these": max(changes) * 1e6}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--roles", type=int, default=10_000)
    roles = parser.parse_args(arguments).roles
    heading("make bench AREA=access", f"{roles:,} roles and bindings; microseconds of CPU for a decision.")
    matrix([{scene: afresh(one_run, scene, roles) for scene in SCENES} for _ in range(RUNS)], {FIRST: 200})


if __name__ == "__main__":
    main()
