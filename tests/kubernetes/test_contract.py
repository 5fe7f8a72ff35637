"""The contract of client and controllers, against a real kube-apiserver with our kinds and policies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.kubernetes.installing import install

if TYPE_CHECKING:
    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]


def test_client_and_controllers_keep_their_contract(server: Server) -> None:
    install(server)
    command = [sys.executable, "-m", "pytest", "tests/contract", "-q", "-k", "other", "-p", "no:cacheprovider"]
    environment = os.environ | {"MUSTER_CONTRACT_KUBECONFIG": str(server.kubeconfig)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    print(done.stdout.splitlines()[-1])
    assert done.returncode == 0, done.stdout[-6000:]
