"""A real kube-apiserver for tests. `make kubernetes` builds it; other runs say what they leave out.

- `server`: a fresh kube-apiserver and etcd for the module. `server.kubeconfig` is an administrator's,
  `server.user("dev1", groups=())` a kubeconfig of anybody else.
- `home`: the hub, then Kubernetes with what we install there; for tests that must hold on both.
- `webhooks`: our Pods, as processes, called by the API server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kubernetes.binaries import NotBuiltError, found
from tests.kubernetes.homes import HUB, KUBERNETES, hub_home, kubernetes_home
from tests.kubernetes.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.homes import Home
    from tests.kubernetes.server import Server


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    try:
        return found()
    except NotBuiltError as error:
        pytest.skip(f"a real kube-apiserver is run by `make kubernetes`: {error}")


@pytest.fixture(scope="module")
def server(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(binaries, tmp_path_factory.mktemp("kubernetes")) as started:
        yield started


@pytest.fixture(scope="module", params=[HUB, KUBERNETES])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == HUB:
        with hub_home(folder) as started:
            yield started
    else:
        with kubernetes_home(request.getfixturevalue("server"), folder) as started:
            yield started


@pytest.fixture
def webhooks(home: Home) -> None:
    """Our Pods beside a Kubernetes home; on the hub they are the hub."""
    if home.is_kubernetes:
        pytest.xfail("needs the webhook server of `muster kubernetes run` beside the kube-apiserver")
