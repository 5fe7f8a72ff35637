"""A hub, and clusters that are no clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.collecting.fakes import FakeClusters
from tests.controllers.running import driven_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.controllers.running import Driver


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeClusters]:
    with FakeClusters(tmp_path_factory.mktemp("clusters")).running() as running:
        yield running


@pytest.fixture
def hub(clusters: FakeClusters) -> Iterator[Driver]:
    clusters.clusters.clear()
    with driven_hub() as driver:
        yield driver
