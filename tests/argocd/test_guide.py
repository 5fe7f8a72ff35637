"""The guide to Argo CD: its commands are typed, but for the port, beside a hub."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.running import controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("curl") and shutil.which("openssl")), reason="no curl, or no openssl"),
]
GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "argo-cd.md").read_text(encoding="utf-8")
PROD = [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Beside a hub whose placement apps/checkout has the guide's cluster."""
    with driven_hub() as hub:
        cluster = a_cluster("prod-eu-1", {"env": "prod"}, claims={"region": "eu"})
        cluster["spec"]["managedClusterClientConfigs"] = [{"url": "https://prod-eu-1.example.com:6443"}]
        hub.create(a_binding("global"), cluster, a_placement("checkout", predicates=PROD))
        with controllers(hub.hub):
            eventually(lambda: hub.decided("checkout"), ["prod-eu-1"])
            bin_folder = str(Path(sys.executable).parent)
            path = f"{bin_folder}{os.pathsep}{os.environ['PATH']}"
            kubeconfig = str(hub.hub.kubeconfig(tmp_path / "kubeconfig"))
            yield os.environ | {"KUBECONFIG": kubeconfig, "PATH": path}


def test_the_commands_of_the_guide_do_what_it_says(tmp_path: Path, environment: dict[str, str]) -> None:
    (block,) = [each for each in re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL) if "curl" in each]
    token, serve, ask = re.findall(r"^\$ ((?:.*\\\n)*.*)$", block, re.MULTILINE)
    assert serve == "muster argocd serve --token-file token --port 8086"
    subprocess.run(token, shell=True, check=True, cwd=tmp_path, env=environment, timeout=30)
    command = serve.replace("8086", "0").split()
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/api/v1/getparams\.execute", address)
            typed = ask.replace("http://127.0.0.1:8086/api/v1/getparams.execute", address)
            deadline = time.monotonic() + 20
            while True:
                done = subprocess.run(
                    typed, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=30
                )
                answer = json.loads(done.stdout)
                if "output" in answer:
                    break
                assert time.monotonic() < deadline, answer  # it is still reading
                time.sleep(0.1)
        finally:
            process.terminate()
            process.wait(20)
    shown = json.loads(block.strip().splitlines()[-1])
    (found,), (expected,) = answer["output"]["parameters"], shown["output"]["parameters"]
    assert list(found) == list(expected)
    for own in ("generation", "labels"):  # how often it was decided, and the labels that the hub adds
        del found[own], expected[own]
    assert found == expected


def test_what_the_guide_shows_is_what_the_manifests_have() -> None:
    deploy = Path(__file__).resolve().parents[2] / "deploy" / "argocd"
    for name in re.findall(r"deploy/argocd/([a-z-]+\.yaml)", GUIDE):
        assert (deploy / name).exists()
    manifests = (deploy / "cluster-decision-resource.yaml").read_text()
    (reference,) = re.findall(r"configMapRef: (\S+)", GUIDE)
    assert f"name: {reference}" in manifests
