"""One look at a cluster: what is read of a good one, and how a look at a hostile one ends."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from muster.client import Client
from muster.client.kubeconfig import chosen_context, static_connection
from muster.client.kubeconfig_files import kubeconfig_in
from muster.collecting.reading import HEADERS, ReadLimits, Seen, look_at
from muster.collecting.troubles import Trouble, TroubleError
from muster.collecting.wire import Wire
from muster.importing.found import judged
from muster.importing.rules import built_in
from tests.collecting.fakes import TOKEN, a_node

if TYPE_CHECKING:
    from muster.client import Connection
    from tests.collecting.fakes import FakeClusters

QUICK = ReadLimits(seconds=0.5, total_seconds=1.0, answer_bytes=2**20, total_bytes=2**21, nodes=2000, claims=100)


class Look(Protocol):
    def __call__(self, name: str, *, trusted: bool = True, token: str = TOKEN, limits: ReadLimits = QUICK) -> Seen: ...


@pytest.fixture(params=["client", "wire"])
def look(request: pytest.FixtureRequest, clusters: FakeClusters) -> Look:
    """One look at a cluster, by a client as people use it, and by a connection that is kept."""

    async def read(connection: Connection, limits: ReadLimits) -> Seen:
        if request.param == "client":
            async with Client(connection) as client:
                return await look_at(client, limits)
        wire = Wire(connection, HEADERS)
        try:
            return await look_at(wire, limits)
        finally:
            wire.close()

    def look(name: str, *, trusted: bool = True, token: str = TOKEN, limits: ReadLimits = QUICK) -> Seen:
        text = json.dumps(clusters.kubeconfig(name, trusted=trusted, token=token)).encode()
        _, _, cluster, user = chosen_context(kubeconfig_in(text, "a test"), None)

        async def main() -> Seen:
            try:
                return await read(static_connection(cluster, user), limits)
            finally:
                await asyncio.sleep(0.1)  # transports end a moment after they are closed

        return asyncio.run(main())

    return look


def test_a_cluster_is_read_as_it_is(look: Look, clusters: FakeClusters) -> None:
    gpu: dict[str, Any] = {"labels": {"nvidia.com/gpu.product": "NVIDIA-A100"}, "capacity": {"nvidia.com/gpu": "8"}}
    clusters.add(
        "good",
        nodes=[a_node("n1"), a_node("n2", "arm64", **gpu), a_node("n3", cpu="8", unschedulable=True)],
        claims={"owner.example.com": "shop", "id.k8s.io": "from-a-claim"},
        properties={"id.k8s.io": "from-a-property"},
    )
    seen = look("good")
    assert seen.unread == ()
    found = judged(seen.facts, built_in())
    assert found.notes == ()
    assert found.state.version == "v1.33.1"
    assert found.state.capacity == {"cpu": "16", "memory": "48Gi", "nvidia.com/gpu": "8", "pods": "330"}
    assert found.state.allocatable == {"cpu": "7840m", "memory": "32Gi", "nvidia.com/gpu": "8", "pods": "220"}
    assert found.state.claims == {
        "architectures.muster.dev": "amd64,arm64",
        "gpu-models.muster.dev": "NVIDIA-A100=8",
        "gpus.muster.dev": "8",
        "id.k8s.io": "from-a-property",
        "kubeversion.open-cluster-management.io": "v1.33.1",
        "owner.example.com": "shop",
        "platform.open-cluster-management.io": "AWS",
        "product.open-cluster-management.io": "Other",
        "region.open-cluster-management.io": "eu-west-1",
        "zones.muster.dev": "eu-west-1a",
    }
    assert found.labels == {"cloud": "Amazon"}


def test_what_may_not_be_read_is_told_and_nothing_else_suffers(look: Look, clusters: FakeClusters) -> None:
    clusters.add("shy", forbidden=("nodes", "clusterproperties"))
    seen = look("shy")
    assert seen.unread == ("nodes: not permitted", "ClusterProperties: not permitted")
    assert (seen.facts.version, seen.facts.nodes, seen.facts.claims) == ("v1.33.1", None, {})
    state = judged(seen.facts, built_in()).state
    assert state.capacity is None, "unknown is not nothing"


@pytest.mark.parametrize(
    ("does", "trouble"),
    [
        ("hang", Trouble.TIMED_OUT),
        ("drip", Trouble.TIMED_OUT),
        ("redirect", Trouble.REDIRECTED),
        ("close", Trouble.UNREACHABLE),
        ("unhealthy", Trouble.UNHEALTHY),
        ("endless", Trouble.TOO_LARGE),
        ("gzip", Trouble.MALFORMED),
        ("circle", Trouble.MALFORMED),
        ("pages", Trouble.TOO_LARGE),
    ],
)
def test_a_look_at_a_hostile_cluster_ends_in_time_with_a_word_for_it(
    look: Look, clusters: FakeClusters, does: str, trouble: Trouble
) -> None:
    clusters.add("hostile", does=does)
    victim = clusters.add("victim")
    started = time.monotonic()
    with pytest.raises(TroubleError) as caught:
        look("hostile")
    assert caught.value.trouble is trouble
    assert time.monotonic() - started < 20
    assert "secret" not in str(caught.value)
    assert victim.requests == 0, "credentials went where the cluster pointed"


def test_lies_are_read_as_far_as_they_go(look: Look, clusters: FakeClusters) -> None:
    clusters.add("liar", does="lies")
    seen = look("liar", limits=ReadLimits(seconds=5, total_seconds=10))
    found = judged(seen.facts, built_in())
    assert found.state.version == "v1.99.0"
    capacity = found.state.capacity
    assert capacity is not None
    assert "cpu" not in capacity
    assert len(capacity) <= 100
    assert any("negative" in note for note in found.notes)
    assert any("more than 1024 bytes" in note for note in found.notes)
    claims = found.state.claims
    assert claims is not None
    assert all(len(value) <= 1024 for value in claims.values())


def test_a_certificate_that_nobody_vouches_for_is_no_cluster(look: Look, clusters: FakeClusters) -> None:
    told = clusters.add("good")
    with pytest.raises(TroubleError) as caught:
        look("good", trusted=False)
    assert caught.value.trouble is Trouble.BAD_CERTIFICATE
    assert told.requests == 0


def test_wrong_credentials_are_ours_to_mend(look: Look, clusters: FakeClusters) -> None:
    clusters.add("good")
    with pytest.raises(TroubleError) as caught:
        look("good", token="another")
    assert caught.value.trouble is Trouble.UNAUTHORIZED
    assert caught.value.trouble.is_alive
