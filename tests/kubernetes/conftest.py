"""A real kube-apiserver for tests. `make kubernetes` builds it; other runs say what they leave out.

- `server`: a fresh kube-apiserver and etcd for the module. `server.kubeconfig` is an administrator's,
  `server.user("dev1", groups=())` a kubeconfig of anybody else.
- `home`: the hub, then Kubernetes with our Pods, then with our kinds and policies alone; for what must hold on all.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.kubernetes.binaries import ONLY_SERVER, NotBuiltError, found
from tests.kubernetes.homes import HUB, KUBERNETES, WITHOUT_PODS, hub_home, kubernetes_home
from tests.kubernetes.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.homes import Home
    from tests.kubernetes.server import Server

_HERE: Final = Path(__file__).parent


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not os.environ.get(ONLY_SERVER):
        return
    left = [each for each in items if _HERE in each.path.parents and not _needs_a_server(each)]
    items[:] = [each for each in items if each not in left]
    config.hook.pytest_deselected(items=left)


def _needs_a_server(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return True
    if "home" in item.fixturenames:
        return item.callspec.params["home"] != HUB
    return "binaries" in item.fixturenames


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


@pytest.fixture(scope="module", params=[HUB, KUBERNETES, WITHOUT_PODS])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == HUB:
        with hub_home(folder) as started:
            yield started
        return
    programs = request.getfixturevalue("binaries")
    pods = 2 if request.param == KUBERNETES else 0
    with running(programs, folder) as server, kubernetes_home(server, folder, pods=pods) as started:
        yield started
