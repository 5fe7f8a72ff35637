"""Jobs for the load client (`benchmarks/peers/load`, in Go): what it is to send, and what came of it.

The client is not in Python, so that it leaves the two cores to the servers: of one request it takes about 50 µs of CPU.
It speaks HTTP/1.1 to both, one request at a time on each connection.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from tests.differential.building import build

from muster.demo.clusters import a_cluster

if TYPE_CHECKING:
    from benchmarks.serving.peers import Peer

LEASES: Final = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
_SOURCE: Final = Path(__file__).parents[1] / "peers" / "load"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What all clients of a run do."""

    work: str
    path: str
    prefix: str
    clients: int = 16
    watchers: int = 0
    rate: float = 0.0
    seconds: float = 2.0
    count: int = 0
    settle: float = 5.0
    bodies: tuple[str, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """What the client says. Times are in milliseconds."""

    answers: int
    errors: int
    problem: str
    seconds: float
    p50: float
    p99: float
    least: float
    bytes: int
    events: int
    missing: int
    disorder: int
    again: int
    delay_p50: float
    delay_p99: float
    lost: int
    cpu: float


class Run(msgspec.Struct, frozen=True):
    """One run, with the CPU that the server took for it."""

    outcome: Outcome
    cpu: float

    @property
    def rate(self) -> float:
        return self.outcome.answers / self.outcome.seconds

    @property
    def cores(self) -> float:
        return self.cpu / self.outcome.seconds

    @property
    def per_thousand(self) -> float:
        """Seconds of CPU for a thousand answers."""
        return self.cpu / max(1, self.outcome.answers) * 1000


def cluster_bodies() -> tuple[str, ...]:
    """Clusters to create, of 2.7 KB; NAME and TICK are filled in by the client."""
    made = []
    for index in range(64):
        obj = a_cluster(1, index).object
        obj["metadata"]["name"] = "NAME"
        obj["metadata"]["labels"]["tick"] = "TICK"
        made.append(msgspec.json.encode(obj).decode())
    return tuple(made)


def lease_bodies() -> tuple[str, ...]:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "NAME", "namespace": "default"},
        "spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 60, "renewTime": "2026-11-01T00:00:00.000000Z"},
    }
    return (msgspec.json.encode(lease).decode(),)


def client() -> Path:
    """The program, built now if need be. Raises NoGoError or RuntimeError."""
    return build(_SOURCE)


def ran(program: Path, peer: Peer, job: Job) -> Run:
    """Have a job done, and measure the server from its first request to its last event."""
    where = {"address": peer.address, "authority": peer.authority, "token": peer.token}
    with subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(where | msgspec.structs.asdict(job)) + b"\n")
        process.stdin.flush()
        if process.stdout.readline() != b"ready\n":
            raise RuntimeError(f"{job.work} on {peer.name}: the client did not get ready")
        before = peer.cpu()
        process.stdin.write(b"go\n")
        process.stdin.flush()
        line = process.stdout.readline()
        used = peer.cpu() - before
    if not line:
        raise RuntimeError(f"{job.work} on {peer.name}: the client ended without a word")
    outcome = msgspec.json.decode(line, type=Outcome)
    if not outcome.answers:
        raise RuntimeError(f"{job.work} on {peer.name}: {outcome.problem}")
    return Run(outcome, used)
