"""What clients that do not read cost: memory of the server while answers wait, and how long a bystander has to.

`python -m benchmarks.slow_readers [FORM…]` starts a server over a namespace of 31 MB and opens connections that ask and
never read, form by form. Raw sockets, small receive buffers: what the kernel does not take, the server has to keep.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks._load import Connection, Server
from benchmarks._processes import resident

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACE = "/api/v1/namespaces/default/configmaps"
OBJECTS, OBJECT_BYTES = 5_000, 6_000
SECONDS = 4.0
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
WATCH = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\n".format(
    "c2xvdy1yZWFkZXJzLTE2Qg=="
)
#: What is asked, by how many, with which headers.
FORMS = {
    "nobody": (0, "", ""),  # what a bystander waits for on this machine anyway
    "watches": (10, WATCH, ""),
    "watches as Table": (10, WATCH, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n"),
    "watches by WebSocket": (10, WATCH, UPGRADE),
    "lists": (20, "", ""),
    "lists, gzip": (20, "", "Accept-Encoding: gzip\r\n"),
    "lists, indented": (20, "?pretty=true", ""),
    "lists as Table": (20, "", f"Accept: {TABLE}\r\n"),
    "lists as Table with objects": (20, "?includeObject=Object", f"Accept: {TABLE}\r\n"),
    "lists of metadata": (20, "", f"Accept: {METADATA}\r\n"),
    "lists in YAML": (20, "", "Accept: application/yaml\r\n"),
}


@contextlib.contextmanager
def served() -> Iterator[tuple[Server, int]]:
    """A server of its own, and its process."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "muster", "hub", "serve", "--data", directory]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert b"muster hub at" in process.stdout.readline()
            yield Server.from_kubeconfig(Path(directory, "kubeconfig")), process.pid
        finally:
            process.terminate()
            process.wait()


async def fill(server: Server) -> None:
    """The namespace of 31 MB."""
    connections = [await Connection.open(server) for _ in range(8)]

    async def part(number: int) -> None:
        for index in range(number, OBJECTS, len(connections)):
            data = {f"key-{index}": os.urandom(OBJECT_BYTES // 2).hex()}
            body = json.dumps({"metadata": {"name": f"large-{index}"}, "data": data}).encode()
            await connections[number].request("POST", NAMESPACE, body)

    await asyncio.gather(*map(part, range(len(connections))))


def unread(server: Server, query: str, headers: str) -> socket.socket:
    """A request whose answer nobody reads."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect((server.host, server.port))
    client = raw if server.tls is None else server.tls.wrap_socket(raw, server_hostname=server.host)
    head = f"GET {NAMESPACE}{query} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n{headers}\r\n"
    client.sendall(head.encode())
    return client


async def longest_wait(server: Server, seconds: float) -> float:
    """How long a bystander waited at worst, in milliseconds."""
    connection = await Connection.open(server)
    worst, end = 0.0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        await connection.request("GET", "/api/v1/namespaces/default")
        worst = max(worst, time.perf_counter() - started)
        await asyncio.sleep(0.005)
    return worst * 1000


def main() -> None:
    """A server for each form, so that none inherits the memory of another."""
    print(f"{'':30}{'before':>10}{'most':>10}{'more':>10}{'bystander':>12}")
    for form in ["nobody", *(sys.argv[1:] or list(FORMS)[1:])]:
        count, query, headers = FORMS[form]
        with served() as (server, process):
            asyncio.run(fill(server))
            before = resident(process) / 1e6
            most = before

            clients: list[socket.socket] = []

            async def waited() -> float:
                nonlocal most
                waiting = asyncio.create_task(longest_wait(server, SECONDS))
                asking = asyncio.gather(
                    *(asyncio.to_thread(unread, server, query, headers) for _ in range(count))  # noqa: B023
                )
                while not waiting.done() or not asking.done():
                    most = max(most, resident(process) / 1e6)
                    await asyncio.sleep(0.02)
                clients.extend(await asking)  # noqa: B023
                return await waiting

            worst = asyncio.run(waited())
            for client in clients:
                client.close()
        print(f"{f'{count} {form}':30}{before:8.0f}MB{most:8.0f}MB{most - before:8.0f}MB{worst:10.0f}ms", flush=True)


if __name__ == "__main__":
    main()
