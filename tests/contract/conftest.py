"""The servers that the contract is checked against: the hub, and any server of a kubeconfig.

`MUSTER_CONTRACT_KUBECONFIG` adds a server, such as a kube-apiserver with our CRDs installed. Tests use names of their
own and leave nothing behind.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from muster.client import Client, Connection, load_connection
from muster.hub.auth.certificates import serving_certificate
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

OTHER = os.environ.get("MUSTER_CONTRACT_KUBECONFIG")


@dataclass
class Home:
    """A server that objects can be written to."""

    connection: Connection
    hub: RunningHub | None = None  # for what a test can only do to our own server
    prefix: str = field(default_factory=lambda: f"contract-{secrets.token_hex(4)}")

    def client(self) -> Client:
        return Client(self.connection)


@pytest.fixture(scope="module", params=["hub", "hub with TLS", *(["other"] if OTHER else [])])
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    if request.param == "other":
        yield Home(asyncio.run(load_connection(path=OTHER)))
        return
    folder = tmp_path_factory.mktemp("home")
    tls = serving_certificate(folder) if "TLS" in request.param else None
    with running_hub(folder / "hub.db", tls=tls) as hub:
        yield Home(asyncio.run(load_connection(path=str(hub.kubeconfig(folder / "kubeconfig")))), hub)
