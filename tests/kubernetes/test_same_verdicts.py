"""A thousand random writes by random users: the hub and a kube-apiserver give the same verdict and end up alike.

MUSTER_VERDICTS is how many, MUSTER_SEED repeats a run. On Kubernetes our Pods run as they are installed: policies and
webhooks answer, controllers write beside the users. Verdicts are compared once the policies know the sets there are.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from muster.api.managed_cluster_set import BY_LABELS
from muster.selectors.membership import DEFAULT_KEY
from tests.kubernetes.calling import SETS
from tests.kubernetes.homes import hub_home, kubernetes_home
from tests.kubernetes.random_writes import NAMESPACE, ROLES, draw, state_of, verdict

if TYPE_CHECKING:
    from pathlib import Path

    from muster.values.json import JsonObject
    from tests.kubernetes.homes import Home
    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]
BY = re.compile(r"ValidatingAdmissionPolicy 'muster-([a-z-]+)'|admission webhook \"([a-z.]+)\.muster\.dev\"")
HOW_MANY = int(os.environ.get("MUSTER_VERDICTS", "1000"))
SEED = int(os.environ.get("MUSTER_SEED", "22"))


def guarded(home: Home) -> dict[str, str]:
    """The key of every set that has its members by one of its own."""
    found = {}
    for each in home.admin.ok("GET", SETS)["items"]:
        spec: JsonObject = each.get("spec", {})
        key: str = spec.get("exclusiveKey", "")
        by_labels = spec.get("clusterSelector", {}).get("selectorType") == BY_LABELS
        if key and key != DEFAULT_KEY and not by_labels:
            found[each["metadata"]["name"]] = key
    return found


def test_random_writes_get_the_same_verdict_on_both_homes(server: Server, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("hub", "kubernetes")]
    for folder in folders:
        folder.mkdir()
    dice = random.Random(SEED)
    verdicts: Counter[str] = Counter()
    denied: Counter[str] = Counter()
    with hub_home(folders[0]) as hub, kubernetes_home(server, folders[1], pods=2) as kubernetes:
        for home in (hub, kubernetes):
            home.admin.ok("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": NAMESPACE}})
            for user, rules in ROLES.items():
                home.grant(user, *rules)
        known = guarded(hub)
        for number in range(HOW_MANY):
            write = draw(dice)
            ours = write.sent(hub)
            theirs = write.sent(kubernetes)
            where = f"seed {SEED}, write {number}: {write}\nhub: {ours.code} {ours.message}\n"
            where += f"kubernetes: {theirs.code} {theirs.message}"
            assert ours.is_allowed == theirs.is_allowed, where
            if {verdict(ours), verdict(theirs)} != {"wrong", "forbidden"}:  # both at once: whichever is found first
                assert verdict(ours) == verdict(theirs), where
            verdicts[verdict(ours)] += 1
            denied.update(policy or f"webhook {webhook}" for policy, webhook in BY.findall(theirs.message))
            if ours.is_allowed and not write.dry_run and write.path.startswith(SETS):
                now = guarded(hub)
                for name in now.keys() | known.keys():
                    if now.get(name) != known.get(name):
                        kubernetes.known(now.get(name) or known[name], name, guards=name in now)
                known = now
        assert state_of(hub) == state_of(kubernetes)
    print(f"seed {SEED}: {dict(verdicts)}, denied by {dict(denied)}")
    assert verdicts["allowed"] > HOW_MANY // 10
    assert verdicts["forbidden"] > HOW_MANY // 10
    if HOW_MANY >= 1000:  # each had something to say
        assert denied.keys() >= {"join", "join-default-key", "accept", "exclusive-key", "bind"}
        assert denied.keys() >= {"webhook sets.permissions", "webhook defaults"}
