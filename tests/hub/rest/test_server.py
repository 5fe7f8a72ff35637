"""The server: heads travel with bodies, and nothing is lost on the way, whatever its size."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import re
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from muster.hub.auth.certificates import serving_certificate
from muster.hub.rest import protocols, server
from muster.hub.rest.protocols import BoundedProtocol, HeadWithBody
from muster.hub.rest.tls_sockets import TlsSocket
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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
    transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    transport.close()
    assert recorder.written == [
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
    ]
    assert recorder.closed


NAMESPACE = "/api/v1/namespaces/default"
MAP = b'{"metadata":{"name":"NAME"},"data":{"a":"b"}}'


def spoken(hub: RunningHub, *requests: tuple[str, str, str, bytes]) -> list[bytes]:
    """What a server says to requests that are sent without waiting for answers, of which the last ends the connection;
    without what is new in every answer."""
    sent = b""
    for number, (method, path, headers, body) in enumerate(requests):
        last = "Connection: close\r\n" if number == len(requests) - 1 else ""
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub.token}\r\n{headers}{last}"
        sent += f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    with socket.create_connection((hub.host, hub.port), timeout=10) as connection:
        connection.sendall(sent)
        heard = b""
        while data := connection.recv(65536):
            heard += data
    heard = re.sub(rb"audit-id: [0-9a-f-]{36}", b"audit-id: *", heard)
    heard = re.sub(rb"date: [^\r]+ GMT", b"date: *", heard)
    heard = re.sub(rb'"(resourceVersion|uid|creationTimestamp|time)":"[^"]*"', b'"new"', heard)
    return re.split(rb"(?=HTTP/1\.1 \d)", re.sub(rb"content-length: \d+", b"content-length: *", heard))[1:]


def test_answers_that_are_sent_at_once_are_those_that_are_sent_in_two_messages(
    hub: RunningHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def conversation(name: bytes) -> list[bytes]:
        made = MAP.replace(b"NAME", name)
        path = f"{NAMESPACE}/configmaps"
        heard = spoken(
            hub,
            ("GET", NAMESPACE, "", b""),
            ("POST", path, "", made),
            ("POST", path, "", made),
            ("POST", path, "", b"{"),
            ("HEAD", NAMESPACE, "", b""),
            ("GET", NAMESPACE, "Accept: application/yaml\r\n", b""),
            ("GET", NAMESPACE, "Accept: application/vnd.kubernetes.protobuf\r\n", b""),
            ("GET", "/version", "", b""),
            ("GET", "/nowhere", "", b""),
            ("PUT", f"{path}/{name.decode()}", "Expect: 100-continue\r\n", made),
            ("DELETE", f"{path}/{name.decode()}", "", b""),
            ("GET", NAMESPACE, "", b""),
        )
        return [each.replace(name, b"name") for each in heard]

    counted = []
    answer_now = BoundedProtocol._answer_now

    def counting(*arguments: Any) -> bool:
        counted.append(answer_now(*arguments))
        return counted[-1]

    monkeypatch.setattr(BoundedProtocol, "_answer_now", counting)
    at_once = conversation(b"first")
    assert counted.count(True) >= 8
    assert counted[-1] is False  # the connection is to be closed, which the answer says
    monkeypatch.setattr(BoundedProtocol, "_answer_now", lambda *_: False)
    assert at_once == conversation(b"other")
    codes = [each[9:12] for each in at_once if not each.startswith(b"HTTP/1.1 100")]
    assert codes == [*(b"200 201 409 400 200 200 200 200 404 200 200 200".split())]


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


@pytest.mark.parametrize("encrypted", [False, True])
def test_neither_requests_nor_connections_are_left_to_the_collector(encrypted: bool, tmp_path: Path) -> None:
    kinds = (BoundedProtocol, HeadWithBody, RequestResponseCycle, TlsSocket)
    with running_hub(tls=serving_certificate(tmp_path) if encrypted else None) as hub:
        gc.collect()
        gc.disable()
        try:
            connection = hub._connection()
            for path in ("/healthz", SECRETS, f"{SECRETS}?watch=true&timeoutSeconds=1"):
                connection.request("GET", path, headers={"Authorization": f"Bearer {hub.token}"})
                connection.getresponse().read()
            kept = [each for each in gc.get_objects() if isinstance(each, kinds)]
            assert sum(isinstance(each, RequestResponseCycle) for each in kept) == 1  # the connection's last one
            kept.clear()
            connection.close()
            deadline = time.monotonic() + 10
            while (left := sum(isinstance(each, kinds) for each in gc.get_objects())) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert left == 0
        finally:
            gc.enable()


@pytest.mark.parametrize(
    ("request_", "more"),
    [
        ("GET /healthz HTTP/1.1\r\n", "\r\n"),
        (f"POST {SECRETS} HTTP/1.1\r\nContent-Length: 100\r\n", "x"),
        (f"POST {SECRETS} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", "5\r\nx"),
    ],
)
def test_what_is_no_request_keeps_no_connection_open(request_: str, more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_KEEP_ALIVE_SECONDS", 0.5)
    with running_hub() as hub, socket.create_connection((hub.host, hub.port), timeout=5) as client:
        client.sendall(f"{request_}Host: x\r\n\r\n".encode())
        assert client.recv(1000).startswith(b"HTTP/1.1")
        client.sendall(more.encode())
        assert client.recv(1000) == b""


@pytest.mark.parametrize(
    ("before", "again"),
    [("0\r\n", "a: " + "x" * 1000 + "\r\n"), ("0\r\na: ", "x" * 1000), ("5;", "x" * 1000), ("0\r\n\r\n", "\r\n" * 500)],
)
def test_what_is_no_part_of_a_body_has_its_limit_too(before: str, again: str) -> None:
    head = f"POST {SECRETS} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n{before}"
    with running_hub() as hub, socket.create_connection((hub.host, hub.port), timeout=5) as client:
        client.sendall(head.encode())
        assert client.recv(1000).startswith(b"HTTP/1.1 401")
        with pytest.raises(OSError):
            client.sendall(again.encode() * 20_000)


def test_a_body_in_many_chunks_with_a_trailer_is_taken() -> None:
    body = b'{"metadata":{"name":"a"},"data":{"x":"' + b"eHh4" * 100_000 + b'"}}'
    chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (len(each), each) for each in _pieces(body, 50))
    with running_hub() as hub, socket.create_connection((hub.host, hub.port), timeout=20) as client:
        head = f"Authorization: Bearer {hub.token}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
        client.sendall(f"POST {SECRETS} HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n".encode())
        client.sendall(chunks + b"0\r\nExpires: never\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 201")


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def test_of_requests_sent_without_waiting_only_those_read_at_once_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    start = BoundedProtocol._start_asgi_task

    def started(protocol: BoundedProtocol, *args: Any) -> None:
        nonlocal longest
        longest = max(longest, len(protocol.pipeline))
        start(protocol, *args)

    monkeypatch.setattr(BoundedProtocol, "_start_asgi_task", started)
    request = b"GET /livez HTTP/1.1\r\nHost: x\r\nPadding: " + b"x" * 1000 + b"\r\n\r\n"
    with running_hub() as hub, socket.create_connection((hub.host, hub.port), timeout=20) as client:
        sending = threading.Thread(target=client.sendall, args=(request * 5000,))
        sending.start()
        answered = 0
        rest = b""
        while answered < 5000:
            received = rest + client.recv(65536)
            answered += received.count(b"HTTP/1.1 200")
            rest = received[-11:]
        sending.join()
    assert answered == 5000
    assert longest < 300  # a read takes 256 KiB


def test_a_head_that_is_not_read_yet_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocols, "_HEADER_SECONDS", 0.3)
    with running_hub() as hub, socket.create_connection((hub.host, hub.port), timeout=10) as client:
        slow = f"GET {SECRETS}?watch=true&timeoutSeconds=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub.token}"
        last = "GET /readyz HTTP/1.1\r\nConnection: close\r\nHost: x\r\n\r\n"
        client.sendall(f"{slow}\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n{last[:10]}".encode())
        time.sleep(0.1)
        client.sendall(last[10:].encode())
        received = b""
        while chunk := client.recv(65536):
            received += chunk
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200"] * 3


def test_a_request_after_an_empty_line_is_answered() -> None:
    with running_hub() as hub, socket.create_connection((hub.host, hub.port), timeout=5) as client:
        for _ in range(2):
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 200")
            client.sendall(b"\r\n")


def test_of_clients_that_break_off_nothing_is_kept() -> None:
    with running_hub() as hub:
        for _ in range(3):
            with socket.create_connection((hub.host, hub.port), timeout=10) as client:
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                assert client.recv(1000)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        deadline = time.monotonic() + 10
        while left := [each for each in gc.get_objects() if isinstance(each, BoundedProtocol)]:
            assert time.monotonic() < deadline
            left.clear()
            time.sleep(0.05)


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
