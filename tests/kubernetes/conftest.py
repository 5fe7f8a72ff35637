"""A real kube-apiserver for tests: `server`, with `server.kubeconfig` of an administrator."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def server() -> None:
    pytest.skip(
        "a real kube-apiserver is run by `make kubernetes`: MUSTER_KUBERNETES_BIN names the folder of its programs"
    )
