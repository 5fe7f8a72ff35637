"""One hub for the tests of a module; what a test defines is gone before the next one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.hub.custom.a_kind import DEFINITIONS, Shop, shop

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def running() -> Iterator[Shop]:
    with shop() as hub:
        yield hub


@pytest.fixture
def hub(running: Shop) -> Iterator[Shop]:
    own = set(_defined(running))
    yield Shop(running.hub)
    for name in set(_defined(running)) - own:
        running.send("DELETE", f"{DEFINITIONS}/{name}")
    deadline = time.monotonic() + 20
    while set(_defined(running)) - own:
        assert time.monotonic() < deadline, "definitions stay"
        time.sleep(0.01)


def _defined(hub: Shop) -> list[str]:
    return [item["metadata"]["name"] for item in hub.send("GET", DEFINITIONS)["items"]]
