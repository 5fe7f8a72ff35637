"""The chart, by the real Helm on a real kube-apiserver: installed, upgraded, uninstalled with what users wrote kept.

`make interop` builds Helm from its module. That it renders what our manifests say is in `test_packaging`.
"""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muster.cli.main import run
from tests.kubernetes.calling import CLUSTERS, SETS, Caller, a_cluster, a_set
from tests.kubernetes.guests import HELM, named_program
from tests.kubernetes.installing import eventually

if TYPE_CHECKING:
    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]
CHART = Path(__file__).resolve().parents[2] / "charts" / "muster"
DEPLOYMENT = "/apis/apps/v1/namespaces/fleet/deployments/muster"


def test_a_release_comes_changes_and_goes_and_what_users_wrote_stays(
    server: Server, request: pytest.FixtureRequest
) -> None:
    helm = named_program(HELM)

    def helmed(*args: str) -> str:
        command = [helm, *args, "-n", "fleet", "--kubeconfig", str(server.kubeconfig)]
        home = {"HOME": str(server.folder), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=home)
        assert done.returncode == 0, done.stderr
        return done.stdout

    admin = Caller(server.kubeconfig)
    request.addfinalizer(admin.close)
    helmed("install", "muster", str(CHART), "--create-namespace", "--set", "webhooks=false")
    eventually(lambda: admin.send("POST", SETS, a_set("kept")).is_allowed, "sets can be written")
    eventually(lambda: admin.send("POST", CLUSTERS, a_cluster("kept")).is_allowed, "clusters can be written")
    assert admin.ok("GET", DEPLOYMENT)["spec"]["replicas"] == 2

    helmed("upgrade", "muster", str(CHART), "--set", "webhooks=true,replicas=3,questions=true")
    assert admin.ok("GET", DEPLOYMENT)["spec"]["replicas"] == 3
    out = io.StringIO()
    run(
        ["kubernetes", "check", "-n", "fleet", "--kubeconfig", str(server.kubeconfig), "-o", "json"],
        io.StringIO(),
        out,
        out,
    )
    found = json.loads(out.getvalue())
    assert "Helm" in json.dumps(found["installed"]), found["installed"]
    # What was set is read off the Deployment; whether all objects are there is for Helm to say.
    assert [part["name"] for part in found["parts"]] == ["Pods", "leader", "webhooks", "questions"]
    assert not any(kind["lacks"]["versions"] for kind in found["kinds"])

    beside = [f"/apis/apps/v1/namespaces/fleet/deployments/muster-{name}" for name in ("sync", "registration")]
    helmed("upgrade", "muster", str(CHART), "--set", "sync=true,registration=true,clusterProfiles=true")
    assert [admin.send("GET", each).code for each in beside] == [200, 200]
    args = admin.ok("GET", DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["args"]
    assert "--cluster-profiles" in args
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/muster-sync"
    assert any("secrets" in each["resources"] for each in admin.ok("GET", role)["rules"])

    helmed("upgrade", "muster", str(CHART), "--set", "webhooks=false")  # as the guide says, before it goes
    assert [admin.send("GET", each).code for each in (*beside, role)] == [404, 404, 404]
    helmed("uninstall", "muster")
    assert admin.send("GET", DEPLOYMENT).code == 404
    assert admin.ok("GET", f"{SETS}/kept")["metadata"]["name"] == "kept"
    assert admin.ok("GET", f"{CLUSTERS}/kept")["metadata"]["name"] == "kept"
    helmed("install", "muster", str(CHART), "--set", "webhooks=false")  # definitions that were kept are taken back
    assert admin.ok("GET", f"{CLUSTERS}/kept")["metadata"]["name"] == "kept"
