"""Watches over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from muster.hub.rest.limits import Limits
from muster.hub.rest.watching import Rounds
from tests.hub.rest.running import RunningHub, running_hub
from tests.hub.rest.test_application import CLUSTERS, OCM, create, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def hub() -> Iterator[RunningHub]:
    with running_hub(limits=Limits(watches=3)) as running:
        yield running


def label(hub: RunningHub, name: str, **labels: str) -> None:
    body = json.dumps({"metadata": {"labels": labels}}).encode()
    assert hub.request("PATCH", f"{CLUSTERS}/{name}", body, {"Content-Type": "application/merge-patch+json"})[0] == 200


def opened(hub: RunningHub, query: str) -> socket.socket:
    """A watch whose connection stays open; its head has been read."""
    client = socket.create_connection((hub.host, hub.port), timeout=10)
    head = f"GET {CLUSTERS}?watch=true{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub.token}\r\n\r\n"
    client.sendall(head.encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += client.recv(1)
    assert received.startswith(b"HTTP/1.1 200"), received
    return client


def test_a_watch_sends_what_exists_and_what_happens_until_its_time_is_over(hub: RunningHub) -> None:
    create(hub, "a", x="1")
    later = threading.Timer(0.5, label, (hub, "a"), {"x": "2"})
    later.start()
    code, headers, body = hub.request("GET", f"{CLUSTERS}?watch=1&timeoutSeconds=2")
    later.join()
    assert (code, headers["content-type"], headers["transfer-encoding"]) == (200, "application/json", "chunked")
    events = [json.loads(line) for line in body.splitlines()]
    assert [(e["type"], e["object"]["metadata"]["labels"]) for e in events] == [
        ("ADDED", {"x": "1"}),
        ("MODIFIED", {"x": "2"}),
    ]


def test_a_table_watch_names_its_columns_once(hub: RunningHub) -> None:
    create(hub, "a")
    create(hub, "b")
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    body = hub.request("GET", f"{CLUSTERS}?watch=1&timeoutSeconds=1", headers=accept)[2]
    first, second = (json.loads(line)["object"] for line in body.splitlines())
    assert first["columnDefinitions"][0]["name"] == "Name"
    assert second["columnDefinitions"] is None
    assert [table["rows"][0]["cells"][0] for table in (first, second)] == ["a", "b"]


def test_a_watch_in_yaml_is_refused(hub: RunningHub) -> None:
    answer = hub.request("GET", f"{CLUSTERS}?watch=1&timeoutSeconds=1", headers={"Accept": "application/yaml"})
    assert refusal(answer) == (
        406,
        "NotAcceptable",
        (
            "only the following media types are accepted: "
            "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
        ),
    )


def test_the_old_path_watches_one_object(hub: RunningHub) -> None:
    create(hub, "a")
    create(hub, "b")
    body = hub.request("GET", f"/apis/{OCM}/v1/watch/managedclusters/b?timeoutSeconds=1")[2]
    assert [json.loads(line)["object"]["metadata"]["name"] for line in body.splitlines()] == ["b"]


def test_more_watches_than_the_limit_are_refused_until_one_ends(hub: RunningHub) -> None:
    watching = [opened(hub, "") for _ in range(3)]
    answer = hub.request("GET", f"{CLUSTERS}?watch=true&timeoutSeconds=1")
    text = "too many watches are open (limit 3, setting watches, option --watches), please try again later"
    assert refusal(answer) == (429, "TooManyRequests", text)
    assert answer[1]["retry-after"] == "5"
    for client in watching:
        client.close()
    deadline = time.monotonic() + 5
    while len(hub.application.watches) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert hub.request("GET", f"{CLUSTERS}?watch=true&timeoutSeconds=1")[0] == 200


def test_a_watch_with_a_request_behind_it_ends_with_its_connection(hub: RunningHub) -> None:
    create(hub, "a")
    head = f" HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub.token}\r\n\r\n"
    with socket.create_connection((hub.host, hub.port), timeout=10) as client:
        client.sendall(f"GET {CLUSTERS}?watch=true{head}GET /healthz{head}".encode())
        assert client.recv(1)
        assert len(hub.application.watches) == 1
    deadline = time.monotonic() + 5
    while len(hub.application.watches) and time.monotonic() < deadline:
        label(hub, "a", now=str(time.monotonic()))  # nothing is read before the next answer: it is noticed in writing
    assert len(hub.application.watches) == 0


def test_a_connection_cannot_be_switched_to_websocket_while_it_carries_an_answer(hub: RunningHub) -> None:
    create(hub, "a")
    query = f"GET {CLUSTERS}?watch=true HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub.token}\r\n"
    switch = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MQ==\r\n"
    with socket.create_connection((hub.host, hub.port), timeout=10) as client:
        client.sendall(f"{query}\r\n".encode())
        assert client.recv(1)
        client.sendall(f"{query}{switch}\r\n".encode())
        while chunk := client.recv(1000):
            assert b"101" not in chunk
    deadline = time.monotonic() + 5
    while len(hub.application.watches) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(hub.application.watches) == 0


def test_stopping_the_hub_ends_watches_cleanly() -> None:
    with running_hub() as hub:
        client = opened(hub, "")
        started = time.monotonic()
    rest = b""
    while chunk := client.recv(1000):
        rest += chunk
    client.close()
    assert rest.endswith(b"0\r\n\r\n")
    assert time.monotonic() - started < 4


@pytest.mark.slow
def test_a_client_that_stops_reading_is_cut_off() -> None:
    with running_hub(limits=Limits(write_seconds=0.5)) as hub, opened(hub, "") as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        create(hub, "big")
        body = {"metadata": {"annotations": {"text": ""}}}
        for number in range(60):
            body["metadata"]["annotations"]["text"] = str(number) + "x" * 200_000
            sent = json.dumps(body).encode()
            code = hub.request("PATCH", f"{CLUSTERS}/big", sent, {"Content-Type": "application/merge-patch+json"})[0]
            assert code == 200
        deadline = time.monotonic() + 10
        while len(hub.application.watches) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(hub.application.watches) == 0


def websocket(hub: RunningHub, query: str, **options: Any) -> Any:
    headers = options.pop("headers", {"Authorization": f"Bearer {hub.token}"})
    url = f"ws://{hub.host}:{hub.port}{CLUSTERS}?watch=true{query}"
    return connect(url, additional_headers=headers, proxy=None, **options)


def test_a_websocket_gets_one_message_per_event(hub: RunningHub) -> None:
    create(hub, "a")
    with websocket(hub, "") as client:
        first = json.loads(client.recv(5))
        create(hub, "b")
        second = json.loads(client.recv(5))
    assert [(e["type"], e["object"]["metadata"]["name"]) for e in (first, second)] == [("ADDED", "a"), ("ADDED", "b")]


def test_a_browsers_client_gets_base64_and_sends_its_token_as_a_protocol(hub: RunningHub) -> None:
    create(hub, "a")
    token = base64.urlsafe_b64encode(hub.token.encode()).decode().rstrip("=")
    protocols = [f"base64url.bearer.authorization.k8s.io.{token}", "base64.binary.k8s.io"]
    with websocket(hub, "", headers={}, subprotocols=protocols) as client:
        assert client.subprotocol == "base64.binary.k8s.io"
        assert json.loads(base64.b64decode(client.recv(5)))["object"]["metadata"]["name"] == "a"


def test_a_websocket_without_a_token_is_refused(hub: RunningHub) -> None:
    with pytest.raises(InvalidStatus) as caught, websocket(hub, "", headers={}):
        pass
    assert caught.value.response.status_code == 401


def test_a_websocket_watch_ends_with_its_time(hub: RunningHub) -> None:
    create(hub, "a")
    with websocket(hub, "&timeoutSeconds=1") as client:
        assert [json.loads(message)["type"] for message in client] == ["ADDED"]


class Clock:
    """Time that goes by only when somebody lets it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Sending:
    """Has something to send for so many slices, uses up each, and notes how long it was."""

    due = 0.0

    def __init__(self, slices: int, clock: Clock) -> None:
        self.slices: list[float] = []
        self.done = asyncio.Event()
        self._most = slices
        self._clock = clock

    def serve(self, until: float) -> bool:
        self.slices.append(until - self._clock.now)
        self._clock.now = until
        if len(self.slices) == self._most:
            self.done.set()
        return not self.done.is_set()


@pytest.mark.parametrize(("busy", "slice_"), [(0.0, 0.001), (0.02, 0.02), (0.2, 0.05)])
def test_events_are_sent_for_as_long_as_others_had_their_turn(busy: float, slice_: float) -> None:
    async def story() -> list[float]:
        clock = Clock()
        rounds, sending, loop = Rounds(clock), Sending(4, clock), asyncio.get_running_loop()

        def others() -> None:
            clock.now += busy
            if not sending.done.is_set():
                loop.call_soon(others)

        loop.call_soon(others)
        rounds.join(sending)
        await sending.done.wait()
        return sending.slices

    assert asyncio.run(story()) == pytest.approx([slice_] * 4)
