"""Clusters that are no clusters: a server on loopback that answers as API servers do, or as hostile ones might.

One server stands for any number of clusters: each has a path of its own. What a cluster does is looked up for every
request, so that a test can change it while it is looked at.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
import threading
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.kubernetes.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

TOKEN = "the-token-of-a-collector"
_ENDLESS = b'{"metadata":{"name":"x","labels":{"a":"' + b"b" * 1000 + b'"}}},'


def a_node(name: str = "n1", arch: str = "amd64", cpu: str = "4", **more: Any) -> dict[str, Any]:
    labels = {
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": "eu-west-1a",
        **more.pop("labels", {}),
    }
    capacity = {"cpu": cpu, "memory": "16Gi", "pods": "110", **more.pop("capacity", {})}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": f"aws:///eu-west-1a/i-{name}", **more},
        "status": {
            "capacity": capacity,
            "allocatable": {**capacity, "cpu": f"{int(cpu) * 1000 - 80}m"},
            "nodeInfo": {"architecture": arch, "operatingSystem": "linux", "kubeletVersion": "v1.33.1"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


@dataclass
class FakeCluster:
    """What it says. `does` is how it misbehaves."""

    version: str = "v1.33.1"
    uid: str = "11111111-2222-3333-4444-555555555555"
    nodes: list[dict[str, Any]] = field(default_factory=lambda: [a_node()])
    claims: dict[str, str] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)
    forbidden: tuple[str, ...] = ()
    does: str = ""
    requests: int = 0


class FakeClusters:
    """All of them, by name."""

    def __init__(self, folder: Path) -> None:
        self.clusters: dict[str, FakeCluster] = {}
        self.url = ""
        self.authority = Authority(folder, "cluster-ca")
        pair = self.authority.server("clusters")
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._tls.load_cert_chain(pair.certificate, pair.key)
        self.other = Authority(folder, "other-ca")

    def add(self, name: str, **told: Any) -> FakeCluster:
        self.clusters[name] = FakeCluster(**{"uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, name)), **told})
        return self.clusters[name]

    def kubeconfig(self, *names: str, trusted: bool = True, token: str = TOKEN) -> dict[str, Any]:
        file = self.authority.file if trusted else self.other.file
        authority = base64.b64encode(file.read_bytes()).decode()
        clusters = [
            {"name": name, "cluster": {"server": f"{self.url}/c/{name}", "certificate-authority-data": authority}}
            for name in names
        ]
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": names[0],
            "clusters": clusters,
            "contexts": [{"name": name, "context": {"cluster": name, "user": "collector"}} for name in names],
            "users": [{"name": "collector", "user": {"token": token}}],
        }

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        _, _, rest = request.path.partition("/c/")
        name, _, path = rest.partition("/")
        cluster = self.clusters.get(name)
        if cluster is None:
            return web.Response(status=404)
        cluster.requests += 1
        match cluster.does:
            case "hang":
                await asyncio.sleep(3600)
            case "drip":
                return await _stream(request, _dripped())
            case "redirect":
                raise web.HTTPFound(f"{self.url}/c/victim/{path}")
            case "close":
                assert request.transport is not None
                request.transport.abort()
            case "unhealthy" if path == "livez":
                return web.Response(status=500, text="a secret of the server")
            case "endless" if path == "api/v1/nodes":
                return await _stream(request, _endless())
            case "gzip" if path == "api/v1/nodes":
                return web.Response(body=b"\x1f\x8b" + b"\0" * 100, headers={"Content-Encoding": "gzip"})
            case "circle" if path == "api/v1/nodes":
                return web.json_response({"metadata": {"continue": "again"}, "items": []})
            case "pages" if path == "api/v1/nodes":
                at = int(request.query.get("continue", "0"))
                return web.json_response({"metadata": {"continue": str(at + 1)}, "items": [a_node(str(at))] * 250})
            case "lies":
                return web.Response(text=_LIES.get(path, '{"metadata": 3, "items": {"a": [1]}}'))
        if request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return web.json_response({"kind": "Status", "code": 401, "message": "who?"}, status=401)
        return self._told(cluster, path)

    def _told(self, cluster: FakeCluster, path: str) -> web.Response:
        if any(each in path for each in cluster.forbidden):
            return web.json_response({"kind": "Status", "code": 403}, status=403)
        match path:
            case "livez":
                return web.Response(text="ok")
            case "version":
                return web.json_response({"gitVersion": cluster.version, "major": "1"})
            case "api/v1/namespaces/kube-system":
                return web.json_response({"metadata": {"name": "kube-system", "uid": cluster.uid}})
            case "api/v1/nodes":
                return web.json_response({"metadata": {}, "items": cluster.nodes})
            case "apis/cluster.open-cluster-management.io/v1alpha1/clusterclaims":
                return web.json_response({"items": _claims(cluster.claims)})
            case "apis/about.k8s.io/v1alpha1/clusterproperties":
                return web.json_response({"items": _claims(cluster.properties)})
            case _:
                return web.json_response({"kind": "Status", "code": 404}, status=404)

    @contextlib.contextmanager
    def running(self) -> Iterator[FakeClusters]:
        loop = asyncio.new_event_loop()
        started = threading.Event()
        ending = asyncio.Event()

        async def main() -> None:
            application = web.Application(client_max_size=2**20)
            application.router.add_route("*", "/{path:.*}", self._answer)
            runner = web.AppRunner(
                application, access_log=None, handle_signals=False, shutdown_timeout=0.1, handler_cancellation=True
            )
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._tls).start()
            self.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
            started.set()
            await ending.wait()
            await runner.cleanup()

        thread = threading.Thread(target=lambda: loop.run_until_complete(main()), name="fake clusters")
        thread.start()
        assert started.wait(20)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(ending.set)
            thread.join(20)
            loop.close()


_LIES = {
    "livez": "ok",
    "version": json.dumps({"gitVersion": "v1.99.0"}),
    "api/v1/namespaces/kube-system": '{"metadata": {"uid": ["no"]}}',
    "api/v1/nodes": json.dumps(
        {
            "items": [
                {
                    "metadata": {"name": 7, "labels": {"a": 1, "topology.kubernetes.io/zone": "z" * 5000}},
                    "status": None,
                },
                {"status": {"capacity": {"cpu": "-4", "memory": "1e" + "9" * 50, "x" * 500: "1", "gpu": "many"}}},
                None,
                {"status": {"capacity": {f"r{at}": "1" for at in range(500)}, "nodeInfo": "arm"}},
            ]
        }
    ),
    "apis/cluster.open-cluster-management.io/v1alpha1/clusterclaims": json.dumps(
        {"items": [{"metadata": {"name": f"claim-{at}"}, "spec": {"value": "v" * (at * 10)}} for at in range(500)]}
    ),
}


def _claims(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"metadata": {"name": name}, "spec": {"value": value}} for name, value in values.items()]


async def _stream(request: web.Request, parts: AsyncIterator[bytes]) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        async for part in parts:
            if request.transport is None or request.transport.is_closing():
                break
            await response.write(part)
            await asyncio.sleep(0)
    return response


async def _endless() -> AsyncIterator[bytes]:
    yield b'{"items":['
    while True:
        yield _ENDLESS * 64


async def _dripped() -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(0.05)
