"""A real kube-apiserver for tests: the harness brings the fixture `server`. Without it, tests that need it say so."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def server() -> None:
    pytest.skip("a real kube-apiserver is run by `make kubernetes`")
