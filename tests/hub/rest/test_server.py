"""The server: heads travel with bodies, and nothing is lost on the way, whatever its size."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

import pytest

from muster.hub.rest.server import HeadWithBody
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRETS = "/api/v1/namespaces/default/secrets"


class Recorder:
    """A transport that remembers what was written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written.append(bytes(data))

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def test_a_head_goes_out_with_what_follows_it() -> None:
    recorder = Recorder()
    transport = HeadWithBody(recorder)  # type: ignore[arg-type]  # as much of a transport as is needed
    transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
    assert recorder.written == []
    transport.write(memoryview(b"body"))
    transport.write(memoryview(b"more"))
    assert recorder.written == [b"HTTP/1.1 200 OK\r\n\r\nbody", b"more"]
    assert transport.is_closing() is False


def test_a_head_without_body_is_let_go_and_a_switch_of_protocols_never_waits() -> None:
    recorder = Recorder()
    transport = HeadWithBody(recorder)  # type: ignore[arg-type]
    transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    transport.write(b"")
    transport.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
    transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    transport.close()
    assert recorder.written == [
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ]
    assert recorder.closed


@pytest.fixture(scope="module")
def hub() -> Iterator[RunningHub]:
    with running_hub() as running:
        yield running


def test_an_answer_of_many_megabytes_arrives_whole(hub: RunningHub) -> None:
    for number in range(5):
        body = {"metadata": {"name": f"large-{number}"}, "stringData": {"text": "x" * 900_000}}
        code, _, answer = hub.request("POST", SECRETS, json.dumps(body).encode(), {"Content-Type": "application/json"})
        assert code == 201, answer
    code, headers, answer = hub.request("GET", SECRETS)
    items = json.loads(answer)["items"]
    assert (code, len(items)) == (200, 5)
    assert int(headers["content-length"]) == len(answer) > 5_000_000


def test_a_head_request_is_answered_without_a_body(hub: RunningHub) -> None:
    code, _, answer = hub.request("HEAD", "/version")
    assert answer == b""
    assert code in (200, 405)


def test_what_is_cut_off_by_the_end_of_the_server_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    with running_hub():
        logger = logging.getLogger("uvicorn.error")
        logger.error("a slow watch", exc_info=asyncio.CancelledError("timeout graceful shutdown exceeded"))
        logger.error("a fault of ours", exc_info=ValueError("wrong"))
    assert [record.getMessage() for record in caplog.records if record.name == "uvicorn.error"] == ["a fault of ours"]
