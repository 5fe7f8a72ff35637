"""Client certificates over real TLS."""

from __future__ import annotations

import http.client
import json
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from muster.hub.auth.certificates import (
    CertificateError,
    ClientCertificate,
    client_certificate,
    given_certificate,
    serving_certificate,
)
from muster.hub.auth.peers import peer_of
from muster.hub.requests import User
from tests.hub.auth.guarded import GuardedHub, guarded_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedHub]:
    state = tmp_path_factory.mktemp("state")
    with guarded_hub(state, tls=serving_certificate(state)) as hub:
        yield hub


def ask(hub: GuardedHub, certificate: Path | None, token: str = "") -> tuple[int, str, list[str]]:
    """Code, user and groups as the hub sees a client with this certificate and key in one file."""
    assert hub.running.tls is not None
    context = ssl.create_default_context(cadata=hub.running.tls.authority.decode())
    if certificate is not None:
        context.load_cert_chain(certificate)
    connection = http.client.HTTPSConnection(hub.running.host, hub.running.port, timeout=10, context=context)
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    try:
        connection.request("POST", WHOAMI, b'{"kind": "SelfSubjectReview"}', headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
    finally:
        connection.close()
    info = content["status"]["userInfo"] if answer.status == 201 else {}
    return answer.status, info.get("username", ""), info.get("groups", [])


def written(path: Path, made: ClientCertificate) -> Path:
    path.write_bytes(made.key + made.certificate)
    return path


def test_the_common_name_is_the_user_and_organizations_are_groups(hub: GuardedHub, tmp_path: Path) -> None:
    file = written(tmp_path / "dora.pem", client_certificate(hub.state, "dora", ("devs", "ops"), HOUR))
    assert ask(hub, file) == (201, "dora", ["devs", "ops", "system:authenticated"])
    assert ask(hub, None) == (401, "", [])


def test_a_certificate_counts_before_a_token(hub: GuardedHub, tmp_path: Path) -> None:
    file = written(tmp_path / "dora.pem", client_certificate(hub.state, "dora", (), HOUR))
    assert ask(hub, file, "alice-token-0123456789")[:2] == (201, "dora")
    assert ask(hub, None, "alice-token-0123456789")[:2] == (201, "alice")


def refused_by_tls(hub: GuardedHub, file: Path) -> bool:
    try:
        return ask(hub, file)[0] == 401
    except (ssl.SSLError, ConnectionError, http.client.HTTPException):
        return True


def test_a_certificate_of_another_authority_is_worth_nothing(hub: GuardedHub, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file = written(tmp_path / "eve.pem", client_certificate(elsewhere, "eve", ("system:masters",), HOUR))
    assert refused_by_tls(hub, file)


def test_an_expired_certificate_is_worth_nothing(hub: GuardedHub, tmp_path: Path) -> None:
    past = datetime.now(UTC) - 2 * HOUR
    file = written(tmp_path / "old.pem", client_certificate(hub.state, "old", (), HOUR, past))
    assert refused_by_tls(hub, file)


def test_the_hub_s_own_certificate_is_nobody_s(hub: GuardedHub, tmp_path: Path) -> None:
    assert hub.running.tls is not None
    file = tmp_path / "hub.pem"
    file.write_bytes(hub.running.tls.key.read_bytes() + hub.running.tls.certificate.read_bytes())
    assert refused_by_tls(hub, file)


def test_a_connection_does_not_outlive_its_certificate() -> None:
    subject = ((("organizationName", "devs"),), (("commonName", "dora"),))
    peer = peer_of({"subject": subject, "notAfter": "Jan  1 00:00:00 2020 GMT"})
    assert peer is not None
    assert (peer.user, peer.is_good) == (User("dora", groups=("devs", "system:authenticated")), False)


@pytest.mark.parametrize(
    "subject",
    [
        (),
        ((("organizationName", "system:masters"),),),
        ((("commonName", ""),),),
        ((("commonName", "a"),), (("commonName", "b"),)),
        ((("commonName", "a\x00b"),),),
    ],
)
def test_a_certificate_without_one_clear_name_is_nobody_s(subject: tuple[object, ...]) -> None:
    assert peer_of({"subject": subject, "notAfter": "Jan  1 00:00:00 2030 GMT"}) is None


def test_a_generated_certificate_is_made_anew_for_another_name(tmp_path: Path) -> None:
    first = serving_certificate(tmp_path).certificate.read_bytes()
    assert serving_certificate(tmp_path, hosts=("0.0.0.0", "127.0.0.1")).certificate.read_bytes() == first
    second = serving_certificate(tmp_path, hosts=("hub.example.com",)).certificate.read_bytes()
    assert second != first
    assert serving_certificate(tmp_path, hosts=("hub.example.com",)).certificate.read_bytes() == second


def test_a_given_certificate_needs_its_own_key(tmp_path: Path) -> None:
    elsewhere, another = tmp_path / "a", tmp_path / "b"
    for directory in (elsewhere, another):
        directory.mkdir()
    made, other = serving_certificate(elsewhere), serving_certificate(another)
    given = given_certificate(tmp_path, made.certificate, made.key, elsewhere / "ca.crt")
    assert (given.authority, given.clients) == (made.authority, tmp_path / "ca.crt")
    with pytest.raises(CertificateError, match="is not the key of"):
        given_certificate(tmp_path, made.certificate, other.key)
    with pytest.raises(CertificateError, match="expired on"):
        given_certificate(tmp_path, made.certificate, made.key, now=datetime.now(UTC) + timedelta(days=400))
    with pytest.raises(CertificateError, match="cannot be used"):
        given_certificate(tmp_path, tmp_path / "none", made.key)
