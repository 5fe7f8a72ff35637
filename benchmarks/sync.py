"""What keeping clusters true costs: `muster sync --watch` over simulated clusters, by its CPU time and its memory.

`python -m benchmarks.sync --clusters 10000 --seconds 120 [--runs 1]`. One process pretends to be all clusters: TLS
with a certificate that is verified, /livez, /version, three nodes, claims. A real hub keeps them. What counts is the
sync process; the hub's files are in memory, so that a slow disk does not hold it up. Every fifth look is at everything:
what that costs is taken from the first one, which has to connect too. `--seconds 300` sees a whole round instead.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import resource
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop
from aiohttp import web
from tests.collecting.fakes import a_node
from tests.kubernetes.certificates import Authority

from benchmarks._processes import cpu_of
from benchmarks._report import RUNS, figures, heading
from muster.client import Client, load_connection
from muster.importing.found import ACCESS, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLUSTERS = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
_AT_ONCE = 32
_LAST = "clusterproperties"  # what a full look asks for at its end
_EVERY, _FULL_EVERY = 60, 300  # seconds, as `muster sync` has them
CORES = "cores for a look a minute at each, every fifth at everything"
MEMORY = "memory at most, MB"
UNWRITTEN = "clusters that half an hour did not bring to the hub"
GOALS = {CORES: 1, MEMORY: 1000, UNWRITTEN: 0}  # for 10,000 clusters


def serve(folder: Path) -> None:
    """All clusters, in a process of its own."""
    authority = Authority(folder, "ca")
    pair = authority.server("clusters")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(pair.certificate, pair.key)
    nodes = json.dumps({"metadata": {}, "items": [a_node(f"n{at}") for at in range(3)]})
    answers = {
        "livez": "ok",
        "version": json.dumps({"gitVersion": "v1.33.1"}),
        "nodes": nodes,
        "kube-system": json.dumps({"metadata": {"uid": "11111111-2222-3333-4444-555555555555"}}),
        "clusterclaims": json.dumps({"items": [{"metadata": {"name": "a.example.com"}, "spec": {"value": "b"}}]}),
        "clusterproperties": json.dumps({"items": []}),
    }

    looks = 0
    read: set[str] = set()  # clusters that were asked for everything

    async def answer(request: web.Request) -> web.Response:
        nonlocal looks
        cluster, _, what = request.path[1:].partition("/")
        last = what.rpartition("/")[2]
        looks += last == "livez"
        if request.path == "/looks":
            return web.json_response([looks, len(read)])
        if last == _LAST:
            read.add(cluster)
        text = answers.get(last)
        return web.Response(status=404) if text is None else web.Response(text=text, content_type="application/json")

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # connections of all clusters end here

    async def main() -> None:
        application = web.Application()
        application.router.add_get("/{path:.*}", answer)
        runner = web.AppRunner(application, access_log=None, keepalive_timeout=90)  # as kube-apiserver does it
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls, backlog=1024).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    uvloop.run(main())  # one process stands for many: it must not be what is waited for


@contextmanager
def _process(*command: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()


async def _fill(kubeconfig: Path, port: int, authority: bytes, count: int) -> None:
    """Clusters as an import with credentials leaves them."""
    trusted = base64.b64encode(authority).decode()
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(client: Client, name: str) -> None:
        server = {"server": f"https://127.0.0.1:{port}/{name}", "certificate-authority-data": trusted}
        config = {
            "current-context": "a",
            "clusters": [{"name": "a", "cluster": server}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
            "users": [{"name": "a", "user": {"token": "t" * 900}}],
        }
        metadata: dict[str, Any] = {"name": name, "labels": {SOURCE: "kubeconfig"}, "annotations": {ACCESS: "secret"}}
        cluster = {
            "apiVersion": "cluster.open-cluster-management.io/v1",
            "kind": "ManagedCluster",
            "metadata": metadata,
            "spec": {"hubAcceptsClient": True},
        }
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        data = {"kubeconfig": base64.b64encode(json.dumps(config).encode()).decode()}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "muster-kubeconfig"}, "data": data}
        async with gate:
            await client.request("POST", "/api/v1/namespaces", body=namespace)
            await client.request("POST", f"/api/v1/namespaces/{name}/secrets", body=secret)
            await client.request("POST", _CLUSTERS, body=cluster)

    async with Client(await load_connection(None, str(kubeconfig))) as client:
        await asyncio.gather(*(one(client, f"c{at:05}") for at in range(count)))


async def _synced(kubeconfig: Path) -> int:
    async with Client(await load_connection(None, str(kubeconfig))) as client:
        found = [each async for page in client.pages(_CLUSTERS) for each in page["items"]]
    return sum("version" in each.get("status", {}) for each in found)


def _peak(pid: int) -> float:
    """MB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sync", description=__doc__)
    parser.add_argument("--clusters", type=int, default=1_000)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep-open", type=int, help="connections between looks; else as many as usual")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--serve", type=Path)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return
    command = f"python -m benchmarks.sync --clusters {options.clusters} --seconds {options.seconds}"
    heading(command, "Only the process of `muster sync` counts; each run has a hub and clusters of its own.")
    figures([_one_run(options) for _ in range(options.runs)], GOALS)


def _one_run(options: argparse.Namespace) -> dict[str, float]:
    muster = [sys.executable, "-m", "muster"]
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as text:
        folder = Path(text)
        hub = folder / "hub"
        with (
            _process(sys.executable, "-m", "benchmarks.sync", "--serve", str(folder)) as server,
            _process(*muster, "hub", "serve", "--data", str(hub)),
        ):
            assert server.stdout is not None
            port = int(server.stdout.readline())
            while not (hub / "kubeconfig").exists():
                time.sleep(0.2)
            time.sleep(2)
            asyncio.run(_fill(hub / "kubeconfig", port, (folder / "ca.crt").read_bytes(), options.clusters))
            kept = [] if options.keep_open is None else [f"--keep-open={options.keep_open}"]
            with _process(*muster, "sync", "--watch", "--kubeconfig", str(hub / "kubeconfig"), *kept) as sync:
                looks = _Looks(port, folder / "ca.crt")
                return _measure(sync.pid, hub / "kubeconfig", looks, options.clusters, options.seconds)


@dataclass(frozen=True, slots=True)
class _Looks:
    """How often the clusters were looked at so far."""

    port: int
    authority: Path

    def count(self) -> tuple[int, int]:
        """Looks, and clusters that were read as a whole."""
        tls = ssl.create_default_context(cafile=str(self.authority))
        with urllib.request.urlopen(f"https://127.0.0.1:{self.port}/looks", timeout=60, context=tls) as answer:
            looks, clusters = json.loads(answer.read())
        return looks, clusters


def _measure(pid: int, kubeconfig: Path, looks: _Looks, clusters: int, seconds: int) -> dict[str, float]:
    while looks.count()[0] == 0:
        time.sleep(0.5)
    start, started = cpu_of(pid), time.monotonic()
    while looks.count()[1] < clusters:
        time.sleep(1)
        if time.monotonic() - started > 1800:
            raise SystemExit("not all clusters were read within half an hour")
    first, wall = (cpu_of(pid) - start) / clusters, time.monotonic() - started
    found = {"first full look at all, s": wall, "CPU of each of these, ms": first * 1e3}
    while (written := asyncio.run(_synced(kubeconfig))) < clusters and time.monotonic() - started < 1800:
        time.sleep(5)
    found[UNWRITTEN] = clusters - written
    began, (before, _), then = time.monotonic(), looks.count(), cpu_of(pid)
    time.sleep(seconds)
    wall, done, used = time.monotonic() - began, looks.count()[0] - before, cpu_of(pid) - then
    each = used / max(done, 1)
    whole = _EVERY / _FULL_EVERY
    mean = each if seconds >= _FULL_EVERY else max(each, (1 - whole) * each + whole * first)
    return found | {
        f"looks in the next {seconds} s": done,
        "CPU of each of these looks, ms": each * 1e3,
        "cores that they took": used / wall,
        CORES: mean * clusters / _EVERY,
        MEMORY: _peak(pid),
    }


if __name__ == "__main__":
    main()
