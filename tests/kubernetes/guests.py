"""Programs and definitions of others that stand beside ours: Helm, and Open Cluster Management's placement controller.

`make interop` builds them from their published modules and names them in the environment; a run without them skips
what needs them. Their definitions come from the module that has them, as they are.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
import yaml

from tests.clients.ocm_controllers import HERE as CLIENTS
from tests.clients.ocm_controllers import MODULE
from tests.differential.building import build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.values.json import JsonObject

HELM, OCM_PLACEMENT, OCM_AGENT = "MUSTER_HELM", "MUSTER_OCM_PLACEMENT", "MUSTER_OCM_AGENT"
HUB: Final = "open-cluster-management-hub"


def built_guests() -> dict[str, str]:
    """Where they are, by the variables that name them; built now if need be."""
    helm = build(Path(__file__).parent / "helm", package="helm.sh/helm/v3/cmd/helm", ldflags="-s -w")
    return {HELM: str(helm), OCM_PLACEMENT: str(placement_program()), OCM_AGENT: str(agent_program())}


def placement_program() -> Path:
    return build(CLIENTS / "ocm", package=f"{MODULE}/placement")


def agent_program() -> Path:
    return build(CLIENTS / "ocm", package=f"{MODULE}/registration")


def named_program(variable: str) -> str:
    """The program that a variable names; the test is skipped where it names none."""
    found = os.environ.get(variable)
    if not found:
        pytest.skip(f"{variable} names no program: `make interop` builds it")
    return found


def ocm_definitions() -> list[JsonObject]:
    """The kinds of clusters, sets and placements, as Open Cluster Management installs them on a hub."""
    command = ["go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/api"]
    environment = os.environ | {"GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local"}
    done = subprocess.run(command, cwd=CLIENTS / "ocm", env=environment, capture_output=True, text=True, check=True)
    files = sorted((Path(done.stdout.strip()) / "cluster").rglob("*.crd.yaml"))
    return [each for file in files for each in yaml.safe_load_all(file.read_text()) if each]


@contextlib.contextmanager
def running_placement(program: str, kubeconfig: Path, folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Open Cluster Management's placement controller, until the block ends."""
    options = [f"--kubeconfig={kubeconfig}", f"--namespace={HUB}", f"--listen=127.0.0.1:{port}"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "POD_NAMESPACE": HUB}
    with (folder / "ocm-placement.log").open("ab") as log:
        process = subprocess.Popen(
            [program, "controller", *options], stdout=log, stderr=log, env=environment, cwd=folder
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(60)
