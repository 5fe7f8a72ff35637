"""A server of fake clusters for the tests of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.collecting.fakes import FakeClusters

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeClusters]:
    with FakeClusters(tmp_path_factory.mktemp("clusters")).running() as running:
        yield running
