"""What the end-to-end tests share: a running hub on a file, and clients pointed at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.hub.auth.certificates import serving_certificate
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    """A hub with a durable store and TLS, one per test module."""
    folder = tmp_path_factory.mktemp("hub")
    with running_hub(folder / "hub.db", tls=serving_certificate(folder)) as running:
        yield running
