"""A short run of hostile bodies in this process: no request makes the hub fail, and none costs much CPU."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.hostile.bodies import bodies
from tests.hostile.in_process import NOBODY, in_process

if TYPE_CHECKING:
    from pathlib import Path

_MOST_CPU = 5.0  # seconds of one request: a body of three megabytes takes one, on a machine that does other things too


def test_the_same_seed_gives_the_same_bodies() -> None:
    assert list(bodies(3, 200)) == list(bodies(3, 200))
    assert list(bodies(3, 200)) != list(bodies(4, 200))


def test_every_content_type_and_patch_type_is_among_them() -> None:
    types = {content_type for _, _, content_type, _ in bodies(1, 500)}
    assert {
        "application/json",
        "application/yaml",
        "application/vnd.kubernetes.protobuf",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    } <= types


def test_hostile_bodies_never_make_the_hub_fail_and_cost_little(tmp_path: Path) -> None:
    async def run() -> None:
        async with in_process(tmp_path) as hub:
            for number, (method, path, content_type, body) in enumerate(bodies(16, 300)):
                token = {"token": NOBODY} if number % 10 == 9 else {}
                answer = await hub.send(method, path, body, content_type, **token)
                request = (method, path, content_type, body[:500], answer.body[:500])
                assert not answer.is_failure, request
                assert answer.cpu < _MOST_CPU, (answer.cpu, request)
                assert sum(len(name) + len(value) for name, value in answer.headers) < 16 * 1024, request

    asyncio.run(run())
