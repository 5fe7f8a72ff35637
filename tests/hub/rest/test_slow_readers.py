"""Clients that ask and do not read: what they cost, when they are refused, and that they are cut off."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from websockets.sync.client import connect

from muster.hub.access import AccessSettings
from muster.hub.auth import fairness
from muster.hub.auth.fairness import UserLimits
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.requests import ObjectBody, Target, WriteOptions
from muster.hub.rest.limits import Limits
from muster.hub.rest.parts import PART
from tests.hub.auth.guarded import GuardedHub, guarded_hub, rule, user
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
MEGABYTE = 1_000_000


def fill(hub: RunningHub, count: int, size: int) -> None:
    """Objects behind the back of HTTP."""
    from muster.api import RESOURCES

    resource = RESOURCES["configmaps"]
    target = Target(resource, resource.storage_version, "default")
    api = hub.api

    async def create() -> None:
        for number in range(count):
            obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"m{number:05}"}}
            obj["data"] = {"text": f"{number:05}" + "x" * size}
            await api.create(ADMINISTRATOR, target, ObjectBody(obj), WriteOptions())

    hub.call(create())


@contextlib.contextmanager
def unread(
    hub: RunningHub, path: str, token: str = "", headers: Mapping[str, str] | None = None, buffer: int = 4096
) -> Iterator[socket.socket]:
    """A request whose answer is not read."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    client.settimeout(20)
    client.connect((hub.host, hub.port))
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token or hub.token}\r\n{lines}\r\n"
    client.sendall(head.encode())
    with client:
        yield client


def resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / MEGABYTE


def settled(hub: RunningHub) -> None:
    """The server has done what it can do for those who do not read: the loop has had nothing to do for a while."""
    hub.call(asyncio.sleep(0.5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", {}),
        ("", {}),
        ("", {"Accept-Encoding": "gzip"}),
        ("?pretty=true", {}),
        ("?includeObject=Object", {"Accept": TABLE}),
    ],
    ids=["watches", "lists", "gzip", "indented", "tables"],
)
def test_answers_that_nobody_reads_are_no_copies(query: str, headers: dict[str, str]) -> None:
    with running_hub() as hub, contextlib.ExitStack() as clients:
        fill(hub, 20, MEGABYTE)
        before = resident()
        for _ in range(15):
            clients.enter_context(unread(hub, MAPS + query, headers=headers))
        settled(hub)
        assert resident() - before < 100  # copies would be 15 times 20 MB


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {}),
        ("?watch=true", {}),
        ("?pretty=true", {}),
        ("", {"Accept": "application/yaml"}),
        ("?includeObject=Object", {"Accept": TABLE}),
    ],
    ids=["list", "watch", "indented", "yaml", "table"],
)
def test_a_client_that_reads_nothing_is_cut_off(query: str, headers: dict[str, str]) -> None:
    with running_hub(limits=Limits(write_seconds=0.5)) as hub:
        fill(hub, 10, MEGABYTE)  # more than the kernel takes for one connection
        with unread(hub, MAPS + query, headers=headers) as client:
            assert _is_reset(client, time.monotonic() + 20)
        hub.call(asyncio.sleep(0))
        assert len(hub.application.watches) == 0


@pytest.mark.slow
def test_a_websocket_that_reads_nothing_is_cut_off() -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "c2xvdy1yZWFkZXJzLTE2Qg==",
    }
    with running_hub(limits=Limits(write_seconds=2.0)) as hub:
        fill(hub, 10, MEGABYTE)
        with unread(hub, f"{MAPS}?watch=true", headers=upgrade):
            settled(hub)
            assert len(hub.application.watches) == 1
            deadline = time.monotonic() + 20
            while len(hub.application.watches) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert len(hub.application.watches) == 0


@contextlib.contextmanager
def watching_websocket(hub: RunningHub) -> Iterator[tuple[socket.socket, bytes]]:
    """A socket that is a WebSocket now, and what came with the answer that says so."""
    upgrade = (
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: c2xvdy1yZWFkZXJzLTE2Qg=="
    )
    with socket.create_connection((hub.host, hub.port), timeout=1.0) as client:
        head = f"Host: x\r\nAuthorization: Bearer {hub.token}\r\n{upgrade}\r\n\r\n"
        client.sendall(f"GET {MAPS}?watch=true HTTP/1.1\r\n{head}".encode())
        yield client, client.recv(4096).partition(b"\r\n\r\n")[2]


def test_pings_are_not_read_while_nobody_reads_their_answers() -> None:
    text = b"x" * 100
    ping, pong = b"\x89\xe4\0\0\0\0" + text, b"\x8ad" + text
    with running_hub() as hub, watching_websocket(hub) as (client, first):
        received = len(first)
        sent, pings = 0, ping * 1000
        with contextlib.suppress(TimeoutError):
            while sent < 30 * MEGABYTE:
                sent += client.send(pings[sent % len(pings) :])
        assert sent < 30 * MEGABYTE  # what the system itself takes is less than this
        while received < sent // len(ping) * len(pong):
            received += len(client.recv(MEGABYTE))


def test_a_message_of_endless_empty_frames_is_refused() -> None:
    with running_hub() as hub, watching_websocket(hub) as (client, first):
        client.sendall(b"\x01\x81\0\0\0\0x" + b"\x00\x80\0\0\0\0" * 5000)
        assert (first + client.recv(1000)).endswith(b"\x03\xf1more than 1024 frames")


@pytest.mark.slow
def test_a_client_that_reads_slowly_but_steadily_gets_everything() -> None:
    with running_hub(limits=Limits(write_seconds=1.0)) as hub:
        fill(hub, 60, 100_000)
        with unread(hub, MAPS, headers={"Connection": "close"}, buffer=256 * 1024) as client:
            received = b""
            while chunk := client.recv(128 * 1024):
                received += chunk
                time.sleep(0.03)  # all of it takes longer than a client may go without reading
        assert len(json.loads(received.partition(b"\r\n\r\n")[2])["items"]) == 60


def test_every_form_of_a_large_list_is_the_list() -> None:
    with running_hub() as hub:
        fill(hub, 40, 5000)
        whole = json.loads(hub.request("GET", MAPS)[2])
        assert len(whole["items"]) == 40
        code, headers, body = hub.request("GET", MAPS, headers={"Accept-Encoding": "gzip"})
        assert (code, headers["content-encoding"], json.loads(gzip.decompress(body))) == (200, "gzip", whole)
        assert json.loads(hub.request("GET", f"{MAPS}?pretty=true")[2]) == whole
        assert (
            yaml.safe_load(hub.request("GET", MAPS, headers={"Accept": "application/yaml"})[2])["items"][0]["data"]
            == whole["items"][0]["data"]
        )
        table = json.loads(hub.request("GET", f"{MAPS}?includeObject=Object", headers={"Accept": TABLE})[2])
        typed = [{"apiVersion": "v1", "kind": "ConfigMap", **item} for item in whole["items"]]
        assert [row["object"] for row in table["rows"]] == typed
        named = json.loads(hub.request("GET", MAPS, headers={"Accept": METADATA})[2])
        assert [item["metadata"] for item in named["items"]] == [item["metadata"] for item in whole["items"]]


@pytest.mark.parametrize("form", ["application/json", "application/yaml", "application/json;pretty=1"])
def test_a_large_object_arrives_whole_in_every_form(form: str) -> None:
    with running_hub() as hub:
        fill(hub, 1, 400_000)
        body = hub.request("GET", f"{MAPS}/m00000", headers={"Accept": form})[2]
        read: Any = yaml.safe_load(body) if "yaml" in form else json.loads(body)
        assert len(read["data"]["text"]) == 400_005
        assert body.endswith(b"\n")


def test_a_large_event_arrives_whole_by_http_and_by_websocket() -> None:
    with running_hub() as hub:
        fill(hub, 2, 5 * PART + 11)
        lines = hub.request("GET", f"{MAPS}?watch=true&timeoutSeconds=1")[2].splitlines()
        names = [json.loads(line)["object"]["metadata"]["name"] for line in lines]
        assert names == ["m00000", "m00001"]
        url = f"ws://{hub.host}:{hub.port}{MAPS}?watch=true"
        headers = {"Authorization": f"Bearer {hub.token}"}
        for protocols in (None, ["binary.k8s.io"]):
            with connect(url, additional_headers=headers, proxy=None, subprotocols=protocols) as client:  # type: ignore[arg-type]
                assert [json.loads(client.recv(5))["object"]["metadata"]["name"] for _ in range(2)] == names


# --- What one user may leave unread -----------------------------------------------------------------------


@contextlib.contextmanager
def tenants(path: Path, **limits: int) -> Iterator[GuardedHub]:
    """alice and bob may read ConfigMaps, and leave so much unread."""
    with guarded_hub(path, AccessSettings(users=UserLimits(**limits))) as hub:
        hub.role("reader", rule("get,list,watch", "configmaps"))
        hub.bind("readers", "reader", user("alice"), user("bob"))
        yield hub


def token(name: str) -> str:
    return f"{name}-token-0123456789"


@pytest.mark.slow
@pytest.mark.parametrize("query", ["", "?watch=true"])
def test_one_user_may_leave_so_much_unread_and_others_do_not_notice(
    tmp_path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fairness, "_PATIENCE", 0.3)
    with tenants(tmp_path, answer_bytes=20 * MEGABYTE) as hub, contextlib.ExitStack() as clients:
        fill(hub.running, 15, MEGABYTE)
        clients.enter_context(unread(hub.running, MAPS + query, token("alice")))
        settled(hub.running)
        started = time.monotonic()
        code, message = hub.refusal("alice", "GET", MAPS + query)
        assert (code, message) == (
            429,
            "Too many requests, please try again later: more than 20000000 bytes of answers are not read yet by one "
            "user (setting answerBytesPerUser, option --answer-bytes-per-user)",
        )
        assert time.monotonic() - started > 0.25  # it has waited a little
        code, headers, _ = hub.running.request("GET", MAPS, headers={"Authorization": f"Bearer {token('alice')}"})
        assert (code, headers["retry-after"]) == (429, "1")
        assert len(hub.ok("bob", "GET", MAPS)["items"]) == 15
        assert len(hub.ok("admin", "GET", MAPS)["items"]) == 15
        assert len(hub.ok("alice", "GET", f"{MAPS}?limit=1")["items"]) == 1  # a small answer fits


def test_a_write_is_acknowledged_whatever_its_user_has_not_read(tmp_path: Path) -> None:
    with tenants(tmp_path, answer_bytes=MEGABYTE) as hub, contextlib.ExitStack() as clients:
        hub.role("writer", rule("create,deletecollection", "configmaps"))
        hub.bind("writers", "writer", user("alice"))
        fill(hub.running, 15, MEGABYTE)
        clients.enter_context(unread(hub.running, MAPS, token("alice")))
        settled(hub.running)
        created = hub.ok("alice", "POST", MAPS, {"metadata": {"name": "mine"}, "data": {"x": "y" * 900_000}})
        assert created["metadata"]["name"] == "mine"
        assert len(hub.ok("alice", "DELETE", MAPS)["items"]) == 16


def test_an_answer_waits_until_another_has_been_read(tmp_path: Path) -> None:
    with tenants(tmp_path, answer_bytes=20 * MEGABYTE) as hub:
        fill(hub.running, 15, MEGABYTE)
        with unread(hub.running, MAPS, token("alice")):
            settled(hub.running)
        # The client has gone: what it had not read counts no longer.
        assert len(hub.ok("alice", "GET", MAPS)["items"]) == 15


def test_all_users_together_may_leave_so_much_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fairness, "_PATIENCE", 0.3)
    with tenants(tmp_path, all_answer_bytes=20 * MEGABYTE) as hub, contextlib.ExitStack() as clients:
        fill(hub.running, 15, MEGABYTE)
        clients.enter_context(unread(hub.running, MAPS, token("alice")))
        settled(hub.running)
        code, message = hub.refusal("bob", "GET", MAPS)
        assert (code, message.rpartition("(")[2]) == (429, "setting answerBytes, option --answer-bytes)")


def test_unread_answers_count_as_requests_under_way(tmp_path: Path) -> None:
    with tenants(tmp_path, requests_in_flight=3) as hub, contextlib.ExitStack() as clients:
        fill(hub.running, 15, MEGABYTE)
        for _ in range(3):
            clients.enter_context(unread(hub.running, MAPS, token("alice")))
        settled(hub.running)
        assert hub.refusal("alice", "GET", MAPS)[0] == 429
        assert len(hub.ok("bob", "GET", MAPS)["items"]) == 15


def test_more_connections_than_the_limit_end_at_once() -> None:
    with running_hub(limits=Limits(connections=2)) as hub, contextlib.ExitStack() as open_:
        for _ in range(2):
            open_.enter_context(socket.create_connection((hub.host, hub.port)))
        with socket.create_connection((hub.host, hub.port), timeout=10) as third:
            assert _ended(third)
        open_.close()
        hub.call(asyncio.sleep(0.2))
        assert hub.request("GET", "/healthz")[0] == 200


def _is_reset(client: socket.socket, until: float) -> bool:
    """Whether the connection ends while we go on asking and do not read."""
    while time.monotonic() < until:
        try:
            client.sendall(b"\r\n")
        except OSError:
            return True
        time.sleep(0.05)
    return False


def _ended(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True
