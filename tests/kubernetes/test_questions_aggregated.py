"""Questions behind a real kube-apiserver: `kubectl create -f question.yaml -o yaml`, with the asker's permissions."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from muster.api.fleet_questions import QUESTIONS
from muster.kubernetes.settings import HomeSettings
from tests.kubernetes.ports import free_ports
from tests.kubernetes.replicas import (
    CLUSTERS,
    OCM,
    SETS,
    User,
    eventually,
    grant,
    install,
    install_kinds,
    replica,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.replicas import Server


pytestmark = [pytest.mark.e2e, pytest.mark.slow]
_SETTINGS = HomeSettings(webhooks=False, policies=False, questions=True)
_PORTS = tuple(free_ports(2))
_OPENAPI_PATIENCE = 150.0
_FLEET = "/apis/fleet.muster.dev/v1alpha1"
_ASK = {"apiGroups": ["fleet.muster.dev"], "resources": ["*"], "verbs": ["create"]}


@pytest.fixture(scope="module")
def admin(server: Server) -> Iterator[User]:
    admin = User(server.kubeconfig)
    install(admin, _SETTINGS, *_PORTS)
    install_kinds(admin, _SETTINGS)
    for name, cloud in (("a1", "Amazon"), ("a2", "Amazon"), ("z1", "Azure")):
        cluster = {
            "apiVersion": f"{OCM}/v1",
            "kind": "ManagedCluster",
            "metadata": {"name": name, "labels": {"cloud": cloud}},
            "spec": {},
        }
        admin.ok("POST", CLUSTERS, cluster)
    with replica(server.kubeconfig, "--no-webhooks", "--questions", ports=(_PORTS[0], _PORTS[1])) as running:
        eventually(lambda: running.says("leading"))
        path = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.fleet.muster.dev"
        eventually(lambda: [each["status"] for each in admin.ok("GET", path)["status"]["conditions"]], ["True"])
        eventually(lambda: asked(admin, "FleetFacets", {}).code, 201)
        yield admin


def asked(user: User, kind: str, spec: dict[str, Any]) -> Any:
    body = {"apiVersion": "fleet.muster.dev/v1alpha1", "kind": kind, "spec": spec}
    plural = next(each.plural for each in QUESTIONS if each.kind == kind)
    return user.send("POST", f"{_FLEET}/{plural}", body)


def evaluated(user: User, expression: str) -> tuple[int, int, list[str]]:
    answer = asked(user, "FleetEvaluation", {"expression": expression})
    assert answer.code == 201, answer.body
    status = answer.body["status"]
    return status["matched"], status["hidden"], [each["name"] for each in status["rows"]]


def test_who_may_get_every_cluster_is_told_of_every_cluster(admin: User) -> None:
    assert evaluated(admin, "managedCluster.metadata.labels.cloud == 'Amazon'")[::2] == (2, ["a1", "a2"])


def test_an_answer_ranges_over_clusters_that_roles_name_and_no_others(admin: User, server: Server) -> None:
    named = {"apiGroups": [OCM], "resources": ["managedclusters"], "verbs": ["get"], "resourceNames": ["a2", "gone"]}
    grant(admin, "tenant", _ASK, named)
    tenant = User(server.user("tenant"))
    eventually(lambda: asked(tenant, "FleetFacets", {}).code, 201)
    eventually(lambda: evaluated(tenant, "true"), (1, 2, ["a2"]))
    assert evaluated(tenant, "managedCluster.metadata.name == 'a1'") == (0, 2, [])


def test_who_may_not_create_the_kind_may_not_ask(admin: User, server: Server) -> None:
    refused = asked(User(server.user("nobody")), "FleetEvaluation", {"expression": "true"})
    assert refused.code == 403


def test_a_set_and_who_may_join_it_are_told(admin: User, server: Server) -> None:
    made = {"apiVersion": f"{OCM}/v1beta2", "kind": "ManagedClusterSet", "metadata": {"name": "team"}, "spec": {}}
    admin.ok("POST", SETS, made)
    join = {
        "apiGroups": [OCM],
        "resources": ["managedclustersets/join"],
        "verbs": ["create"],
        "resourceNames": ["team"],
    }
    grant(admin, "joiner", _ASK, join, {"apiGroups": [OCM], "resources": ["managedclustersets"], "verbs": ["get"]})

    def joined() -> list[tuple[str, bool]]:
        answer = asked(User(server.user("joiner")), "JoinReview", {"set": "team"})
        return [(each["name"], each["mayJoin"]) for each in answer.body["status"]["sets"]]

    eventually(joined, [("team", True)])
    told = asked(admin, "JoinReview", {"set": "team"}).body["status"]
    assert "joiner" in str(told)


def test_a_placement_that_is_not_saved_is_explained(admin: User) -> None:
    placement = {"metadata": {"namespace": "default", "name": "p"}, "spec": {}}
    answer = asked(admin, "PlacementExplanation", {"placement": placement})
    assert answer.code == 201, answer.body
    assert answer.body["status"]


def test_a_question_that_makes_no_sense_is_refused_with_its_field(admin: User) -> None:
    refused = asked(admin, "ClusterExplanation", {"name": 7})
    assert refused.code in (400, 422)


def test_discovery_and_openapi_come_through_the_server(admin: User) -> None:
    listed = {each["name"] for each in admin.ok("GET", _FLEET)["resources"]}
    assert listed == {each.plural for each in QUESTIONS}
    # The server asks for it in its own time: when nobody answered at first, which happens, after ever longer pauses.
    path = f"/openapi/v3{_FLEET}"
    eventually(lambda: admin.send("GET", path).code, 200, _OPENAPI_PATIENCE)
    document = admin.ok("GET", path)
    assert any("FleetEvaluation" in name for name in document["components"]["schemas"])


def test_kubectl_asks(admin: User, server: Server, tmp_path: Path) -> None:
    kubectl = os.environ.get("KUBECTL") or shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("no kubectl on PATH (Debian: apt install kubernetes-client)")
    question = tmp_path / "question.yaml"
    question.write_text(
        "apiVersion: fleet.muster.dev/v1alpha1\nkind: FleetEvaluation\n"
        "spec:\n  expression: managedCluster.metadata.labels.cloud == 'Azure'\n"
    )
    command = [kubectl, f"--kubeconfig={server.kubeconfig}", "create", "-f", str(question), "-o", "yaml"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "name: z1" in done.stdout


def test_headers_sent_past_the_server_let_nobody_in(admin: User) -> None:
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    headers = {"X-Remote-User": "admin", "X-Remote-Group": "system:masters", "Content-Type": "application/json"}
    request = urllib.request.Request(f"https://127.0.0.1:{_PORTS[1]}{_FLEET}", headers=headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10, context=trust)
    assert refused.value.code == 401
    refused.value.close()
