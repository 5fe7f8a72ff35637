"""Who asks, behind the API server: headers count with the proxy's certificate, and with nothing else."""

from __future__ import annotations

import asyncio
import ssl
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from muster.client.kubeconfig import load_pair
from muster.controllers.questions.asking import Controllers
from muster.hub.auth.certificates import client_certificate, serving_certificate
from muster.hub.auth.peers import Peer
from muster.hub.heavy_work import HeavyWork
from muster.hub.requests import User
from muster.hub.rest.server import serve
from muster.kubernetes.serving.authorizer import ReviewingAuthorizer
from muster.kubernetes.serving.front_proxy import FrontProxy, NoFrontProxyError, read_front_proxy
from muster.kubernetes.serving.mirrored_objects import MirroredObjects
from muster.kubernetes.serving.questions_api import questions_application
from muster.kubernetes.serving.reviews import AccessReviews
from tests.kubernetes.fakes import FakeServer

if TYPE_CHECKING:
    from pathlib import Path

PROXY = FrontProxy("PEM", ("front-proxy",))
LONG = 86_400.0  # a module is read when the suite begins, which may be long before its tests run
GOOD = Peer(User("front-proxy"), time.time() + LONG)


def headers(*pairs: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in pairs]


def test_the_user_is_whom_the_proxy_names() -> None:
    found = PROXY.user(
        GOOD,
        headers(
            ("X-Remote-User", "dev1"),
            ("X-Remote-Uid", "7"),
            ("X-Remote-Group", "devs"),
            ("X-Remote-Group", "system:authenticated"),
            ("X-Remote-Extra-Example.com%2fScopes", "a"),
            ("X-Remote-Extra-Example.com%2fScopes", "b"),
        ),
    )
    assert found == User("dev1", "7", ("devs", "system:authenticated"), {"example.com/scopes": ("a", "b")})


@pytest.mark.parametrize(
    ("peer", "names"),
    [
        (None, ("front-proxy",)),
        (Peer(User("somebody"), time.time() + LONG), ("front-proxy",)),
        (Peer(User("front-proxy"), time.time() - 1), ("front-proxy",)),
        (Peer(User("FRONT-PROXY"), time.time() + LONG), ("front-proxy",)),
    ],
)
def test_nobody_else_is_believed(peer: Peer | None, names: tuple[str, ...]) -> None:
    given = headers(("X-Remote-User", "admin"), ("X-Remote-Group", "system:masters"))
    assert FrontProxy("PEM", names).user(peer, given) is None


def test_a_proxy_that_names_nobody_lets_nobody_in() -> None:
    assert PROXY.user(GOOD, headers(("X-Remote-Group", "system:masters"))) is None
    assert PROXY.user(GOOD, headers(("X-Remote-User", ""))) is None


def test_the_headers_are_those_that_the_cluster_says() -> None:
    proxy = read_front_proxy(
        {
            "requestheader-client-ca-file": "PEM",
            "requestheader-allowed-names": '["a"]',
            "requestheader-username-headers": '["X-Who"]',
            "requestheader-group-headers": '["X-Team"]',
            "requestheader-extra-headers-prefix": '["X-More-"]',
        }
    )
    peer = Peer(User("a"), time.time() + LONG)
    assert proxy.user(peer, headers(("X-Remote-User", "x"))) is None
    found = proxy.user(peer, headers(("X-Who", "u"), ("X-Team", "t"), ("X-More-K", "v"), ("X-Remote-Group", "bad")))
    assert found == User("u", groups=("t", "system:authenticated"), extra={"k": ("v",)})


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"requestheader-client-ca-file": " "},
        {"requestheader-client-ca-file": "P", "requestheader-allowed-names": "{"},
    ],
)
def test_a_cluster_without_a_front_proxy_is_told_so(data: dict[str, str]) -> None:
    with pytest.raises(NoFrontProxyError, match="extension-apiserver-authentication"):
        read_front_proxy(data)


async def _asked(folder: Path, client: tuple[bytes, bytes] | None, server: FakeServer, sent: dict[str, str]) -> Any:
    """What the aggregated API answers to a client with this certificate and these headers."""
    now = datetime.now(UTC)
    files = serving_certificate(folder, now)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(files.certificate, files.key)
    tls.load_verify_locations(cadata=files.authority.decode())
    tls.verify_mode = ssl.CERT_OPTIONAL
    heavy = HeavyWork()
    authorizer = ReviewingAuthorizer(MirroredObjects(), AccessReviews(server.client, 10.0))
    proxy = FrontProxy(files.authority.decode(), ("front-proxy",))
    application = questions_application(server.client, proxy, authorizer, Controllers(folder / "nobody"), heavy)
    bound: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(application, on_ready=bound.set_result, context=tls))
    url = await bound
    trust = ssl.create_default_context(cadata=files.authority.decode())
    if client is not None:
        load_pair(trust, *client)
    try:
        async with aiohttp.ClientSession() as web:
            path = f"{url}/apis/fleet.muster.dev/v1alpha1"
            async with web.get(path, headers=sent, ssl=trust) as reply:
                return reply.status, await reply.json(content_type=None)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        heavy.close()


HOSTILE = {
    "X-Remote-User": "admin",
    "X-Remote-Group": "system:masters",
    "Impersonate-User": "admin",
    "Authorization": "Bearer admin",
}


def test_headers_without_the_proxys_certificate_let_nobody_in(tmp_path: Path) -> None:
    server = FakeServer(may=lambda *_: True)
    code, _ = asyncio.run(_asked(tmp_path, None, server, HOSTILE))
    assert (code, server.asked) == (401, [])
    other = client_certificate(tmp_path, "somebody", (), timedelta(hours=1))
    code, _ = asyncio.run(_asked(tmp_path, (other.certificate, other.key), server, HOSTILE))
    assert (code, server.asked) == (401, [])


def test_a_certificate_of_another_authority_does_not_get_past_tls(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    forged = client_certificate(elsewhere, "front-proxy", (), timedelta(hours=1))
    with pytest.raises((aiohttp.ClientError, ssl.SSLError, ConnectionError)):
        asyncio.run(_asked(tmp_path, (forged.certificate, forged.key), FakeServer(), HOSTILE))


def test_behind_the_proxy_the_server_is_asked_what_the_user_may(tmp_path: Path) -> None:
    pair = client_certificate(tmp_path, "front-proxy", (), timedelta(hours=1))
    server = FakeServer(may=lambda user, *_: user == "dev1")
    said = {"X-Remote-User": "dev1", "X-Remote-Group": "devs", "Impersonate-User": "admin"}
    code, body = asyncio.run(_asked(tmp_path, (pair.certificate, pair.key), server, said))
    assert code == 200
    assert {"fleetevaluations", "joinreviews"} <= {each["name"] for each in body["resources"]}
    assert {spec["user"] for spec in server.reviews} == {"dev1"}, "nobody acts as somebody else here"
    code, _ = asyncio.run(_asked(tmp_path, (pair.certificate, pair.key), server, {**said, "X-Remote-User": "dev2"}))
    assert code == 403
