"""The server of these tests: who its users are, and that nothing of it stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.kubernetes.calling import Caller

if TYPE_CHECKING:
    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def test_users_are_known_by_certificate_and_by_token(server: Server) -> None:
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    admin, dev = Caller(server.kubeconfig), Caller(server.user("dev1", groups=("developers",)))
    assert admin.ok("POST", WHO, review)["status"]["userInfo"]["groups"] == ["system:masters", "system:authenticated"]
    found = dev.ok("POST", WHO, review)["status"]["userInfo"]
    assert (found["username"], found["groups"]) == ("dev1", ["developers", "system:authenticated"])
    assert dev.send("GET", "/api/v1/namespaces").code == 403
    admin.ok("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "pod"}})
    token = admin.ok("POST", "/api/v1/namespaces/default/serviceaccounts/pod/token", {"spec": {}})["status"]["token"]
    pod = Caller(server.with_token(token, "pod"))
    user = pod.ok("POST", WHO, review)["status"]["userInfo"]["username"]
    assert user == "system:serviceaccount:default:pod"
    for caller in (admin, dev, pod):
        caller.close()


STARTS = """
import sys, time
from pathlib import Path
from tests.kubernetes.binaries import Binaries
from tests.kubernetes.server import running
with running(Binaries(Path(sys.argv[1]), Path(sys.argv[2])), Path(sys.argv[3])) as server:
    print(server.process, flush=True)
    time.sleep(600)
"""


def test_a_killed_test_run_leaves_no_server_behind(binaries: Binaries, tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux ends a program with its parent")
    root = Path(__file__).parents[2]
    paths = os.pathsep.join([str(root), *sys.path])
    command = [sys.executable, "-c", STARTS, str(binaries.apiserver), str(binaries.etcd), str(tmp_path)]
    with subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": paths}
    ) as run:
        assert run.stdout is not None
        started = int(run.stdout.readline())
        assert _is_running(started)
        run.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while _is_running(started) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(started)


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
