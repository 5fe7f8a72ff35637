"""The stories of the guide to cluster sets, told on a real kube-apiserver with its own example files.

One thing is said differently there, as the guide says: who may create clusters or sets is not limited to names.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.sets_stage import EXAMPLE, Stage
from tests.e2e.test_kubectl import KUBECTL
from tests.kubernetes.homes import kubernetes_home
from tests.kubernetes.installing import PROBER, until_known

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.test_kubectl import Kubectl
    from tests.kubernetes.homes import Home
    from tests.kubernetes.server import Server

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]


@pytest.fixture
def on_kubernetes(server: Server, tmp_path: Path) -> Iterator[Home]:
    with kubernetes_home(server, tmp_path) as home:
        yield home


def for_kubernetes(file: str) -> str:
    """An example file as a Kubernetes server needs it."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [_adapted(each) for each in yaml.safe_load_all((EXAMPLE / file).read_text())],
        }
    )


def _adapted(obj: dict[str, Any]) -> dict[str, Any]:
    if obj["kind"] == "ClusterRole":
        return obj | {"rules": [each for rule in obj["rules"] for each in _without_names_on_create(rule)]}
    return obj


def _without_names_on_create(rule: dict[str, Any]) -> list[dict[str, Any]]:
    about = set(rule["resources"]) & {"managedclusters", "managedclustersets"}
    if not about or "create" not in rule["verbs"]:
        return [rule]
    create = {name: value for name, value in rule.items() if name != "resourceNames"} | {"verbs": ["create"]}
    others = [verb for verb in rule["verbs"] if verb != "create"]
    return [create, rule | {"verbs": others}] if others else [create]


def test_the_stories_of_the_guide_hold_on_kubernetes(on_kubernetes: Home) -> None:
    users = ("dev1", "dev2", "sre1", "agent-mc1")
    stage = Stage(on_kubernetes.kubectl(), *(on_kubernetes.kubectl(user) for user in users))

    def applied(user: Kubectl, file: str) -> None:
        user("apply", "--validate=false", "-f", "-", stdin=for_kubernetes(file))

    def refused(user: Kubectl, *args: str) -> None:
        assert "cannot add/remove a ManagedCluster to/from ManagedClusterSet" in user(*args, fails=True)

    def guards(key: str, name: str) -> None:
        until_known(on_kubernetes.caller(PROBER), key, name)

    # All clusters of a region: dev1 registers mc1, and only its agent may say where it is.
    applied(stage.admin, "region/1-admin.yaml")
    guards("region", "apac")
    applied(stage.dev1, "region/2-dev1.yaml")
    refused(stage.dev1, "label", "managedcluster", "mc1", "region=apac")
    stage.agent("label", "managedcluster", "mc1", "region=apac")
    assert stage.members("apac") == ["mc1"]

    # Clusters for disaster recovery: sre1 makes a set by one key and fills it.
    applied(stage.admin, "recovery/1-admin.yaml")
    applied(stage.sre1, "recovery/2-sre1.yaml")
    guards("clusterAttribute", "backup")
    applied(stage.sre1, "recovery/3-sre1.yaml")
    clusters = ("dr-apac", "dr-europe", "dr-us")
    stage.sre1("label", "managedclusters", *clusters, "clusterAttribute=backup")
    assert stage.members("backup") == list(clusters)
    refused(stage.dev1, "label", "managedcluster", "mc1", "clusterAttribute=backup")

    # Clusters with the middleware: the label comes first and the set later, and from then on the set guards it.
    stage.dev1("label", "managedcluster", "mc1", "middlewareAttribute=middlewareenabled")
    applied(stage.admin, "middleware/1-admin.yaml")
    guards("middlewareAttribute", "middlewareenabled")
    applied(stage.dev2, "middleware/2-dev2.yaml")
    stage.dev2("label", "managedcluster", "mc2", "middlewareAttribute=middlewareenabled")
    assert stage.members("middlewareenabled") == ["mc1", "mc2"]
    refused(stage.dev1, "label", "managedcluster", "mc1", "middlewareAttribute-")

    # Asking works the same: it is computed from roles, and agrees with what the policies said.
    code, why = stage.muster("why", "dev1", "mc1", "backup")
    assert (code, why.splitlines()[0]) == (1, "no: dev1 may not move mc1 into backup")
    code, why = stage.muster("why", "agent-mc1", "mc1", "apac")
    assert (code, why.splitlines()[0]) == (0, "yes: agent-mc1 may move mc1 out of apac")
    assert "agent-mc1" in stage.muster("who-can-join", "apac")[1]
