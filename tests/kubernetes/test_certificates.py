"""Certificates: made once, shared, renewed without a moment in which nobody trusts them, put where they belong."""

from __future__ import annotations

import asyncio
import base64
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509

from muster.errors import ApiError
from muster.kubernetes.serving.certificate_keeper import CertificateKeeper, with_bundle
from muster.kubernetes.serving.certificates import (
    AUTHORITY_LIFE,
    SERVING_LIFE,
    ServingCertificates,
    kept,
    read_certificates,
)
from muster.kubernetes.serving.configurations import api_service, webhook_configurations
from muster.kubernetes.settings import HomeSettings
from tests.kubernetes.calling import SETS, a_set
from tests.kubernetes.fakes import FakeServer
from tests.kubernetes.pods import installed as home_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kubernetes.server import Server

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
NAMES = ("muster.muster-system.svc",)
SECRET = "/api/v1/namespaces/muster-system/secrets/muster-serving"
VALIDATING = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/muster"
SERVICE = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.fleet.muster.dev"


def loaded(pem: bytes) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(pem)


def is_trusted(found: ServingCertificates, authorities: bytes) -> bool:
    own = loaded(found.certificate)[0]
    for each in loaded(authorities):
        if each.subject == own.issuer:
            own.verify_directly_issued_by(each)
            return True
    return False


def test_what_is_good_stays_and_what_ends_is_renewed_by_the_same_authority() -> None:
    first = kept(None, NAMES, NOW)
    assert is_trusted(first, first.authorities)
    assert kept(first, NAMES, NOW + timedelta(days=30)) is first
    renewed = kept(first, NAMES, NOW + SERVING_LIFE - timedelta(days=20))
    assert renewed.authorities == first.authorities
    assert renewed.certificate != first.certificate
    assert is_trusted(renewed, first.authorities)


def test_another_name_is_another_certificate() -> None:
    first = kept(None, NAMES, NOW)
    assert kept(first, ("muster.elsewhere.svc",), NOW).certificate != first.certificate


def test_a_new_authority_is_trusted_before_it_issues() -> None:
    found, before = kept(None, NAMES, NOW), b""
    moment, end = NOW, NOW + AUTHORITY_LIFE + timedelta(days=400)
    authorities = set()
    while moment < end:
        trusted_before = found.authorities
        changed = kept(found, NAMES, moment)
        # Whoever has not been told yet, and whoever has, trusts what is served at any moment.
        assert is_trusted(changed, trusted_before) or changed.authorities == before
        assert is_trusted(changed, changed.authorities)
        assert loaded(changed.certificate)[0].not_valid_after_utc > moment
        authorities |= {each.subject.rfc4514_string() for each in loaded(changed.authorities)}
        assert len(loaded(changed.authorities)) <= 2
        before, found = found.authorities, changed
        moment += timedelta(days=5)
    assert len(authorities) == 2
    assert len(loaded(found.authorities)) == 1, "the old authority is forgotten when it has ended"


@pytest.mark.parametrize(
    "damage",
    [
        {"tls.key": ""},
        {"tls.crt": base64.b64encode(b"nonsense").decode()},
        {"ca.crt": "%%%"},
        {"tls.key": base64.b64encode(kept(None, NAMES, NOW).key).decode()},
    ],
)
def test_what_does_not_go_together_is_made_anew(damage: dict[str, str]) -> None:
    data = {**kept(None, NAMES, NOW).data(), **damage}
    assert read_certificates(data) is None


def test_a_key_of_another_authority_is_not_used_to_issue() -> None:
    one, other = kept(None, NAMES, NOW), kept(None, NAMES, NOW)
    mixed = ServingCertificates(one.authorities, one.certificate, one.key, other.authority_key)
    made = kept(mixed, NAMES, NOW + SERVING_LIFE - timedelta(days=1))
    assert is_trusted(made, made.authorities)


def test_certificates_of_somebody_else_are_left_alone() -> None:
    given = kept(None, NAMES, NOW)
    foreign = ServingCertificates(given.authorities, given.certificate, given.key)
    assert kept(foreign, ("other",), NOW + SERVING_LIFE - timedelta(days=2)) is foreign


def test_a_certificate_that_somebody_else_no_longer_renews_is_replaced_before_it_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As cert-manager leaves it behind when it is no longer wanted."""
    server, moment = installed(), [NOW]
    theirs = kept(None, NAMES, NOW)
    data = ServingCertificates(theirs.authorities, theirs.certificate, theirs.key).data()
    server.objects[SECRET] = {"metadata": {"resourceVersion": "4"}, "data": data}
    keeper, _ = a_keeper(server, moment)
    asyncio.run(keeper.look())
    assert keeper.current is not None
    assert (keeper.current.certificate, caplog.messages) == (theirs.certificate, [])
    moment[0] = NOW + SERVING_LIFE - timedelta(hours=23)
    asyncio.run(keeper.look())
    assert keeper.seconds_left > 80 * 86400
    assert keeper.current.certificate != theirs.certificate
    bundle = base64.b64encode(keeper.current.authorities).decode()
    assert {each["clientConfig"]["caBundle"] for each in server.objects[VALIDATING]["webhooks"]} == {bundle}
    assert caplog.messages == ["nobody has renewed the certificate in Secret muster-serving: ours takes its place"]


def a_keeper(server: FakeServer, moment: list[datetime], **more: Any) -> tuple[CertificateKeeper, ssl.SSLContext]:
    settings = HomeSettings(questions=True)
    keeper = CertificateKeeper(server.client, settings, lambda: moment[0], **more)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    keeper.serve_with(context)
    return keeper, context


def installed() -> FakeServer:
    settings = HomeSettings(questions=True)
    validating, mutating = webhook_configurations(settings)
    mutating_path = VALIDATING.replace("validating", "mutating")
    return FakeServer({VALIDATING: validating, mutating_path: mutating, SERVICE: api_service(settings)[0]})


def test_replicas_share_one_certificate_and_put_its_authority_where_it_is_looked_for() -> None:
    server, moment = installed(), [NOW]
    one, _ = a_keeper(server, moment)
    other, _ = a_keeper(server, moment)

    async def looked() -> None:
        assert await one.look()
        assert await other.look()

    asyncio.run(looked())
    assert one.current is not None
    assert one.current == other.current
    bundle = base64.b64encode(one.current.authorities).decode()
    assert {each["clientConfig"]["caBundle"] for each in server.objects[VALIDATING]["webhooks"]} == {bundle}
    assert server.objects[SERVICE]["spec"]["caBundle"] == bundle
    writes = [path for _, path, _ in server.written]
    assert len(writes) == len(set(writes)), "nothing is written twice"
    assert one.problem is None


def test_a_renewal_reaches_open_listeners_and_configurations_that_were_applied_anew() -> None:
    server, moment = installed(), [NOW]
    keeper, _ = a_keeper(server, moment)
    asyncio.run(keeper.look())
    first = keeper.current
    server.objects[VALIDATING] = webhook_configurations(HomeSettings())[0]  # somebody has applied the manifests
    moment[0] = NOW + SERVING_LIFE - timedelta(days=1)
    asyncio.run(keeper.look())
    assert keeper.current is not None
    assert keeper.current != first
    assert "caBundle" in server.objects[VALIDATING]["webhooks"][0]["clientConfig"]


def test_other_replicas_that_were_first_win() -> None:
    server, moment = installed(), [NOW]
    theirs = kept(
        None, ("muster.muster-system.svc", "muster.muster-system.svc.cluster.local", "muster.muster-system"), NOW
    )

    class Raced(FakeServer):
        async def request(self, method: str, path: str, *, body: Any = None, **more: Any) -> Any:
            if method == "POST" and "secrets" in path and SECRET not in self.objects:
                self.objects[SECRET] = {"metadata": {"resourceVersion": "4"}, "data": theirs.data()}
            return await super().request(method, path, body=body, **more)

    raced = Raced(server.objects)
    keeper, _ = a_keeper(raced, moment)
    assert asyncio.run(keeper.look())
    assert keeper.current == theirs


class Guarded(FakeServer):
    """Lets nobody near some paths."""

    def __init__(self, objects: dict[str, Any], *forbidden: str) -> None:
        super().__init__(objects)
        self.forbidden = forbidden

    async def request(self, method: str, path: str, *, body: Any = None, **more: Any) -> Any:
        if path.startswith(self.forbidden):
            raise ApiError(403, "Forbidden", f"{path} is forbidden")
        return await super().request(method, path, body=body, **more)


def test_beside_others_nothing_is_asked_for_that_the_role_does_not_name() -> None:
    """Where there is no webhook that changes anything, there is no configuration of one, and no right to read it."""
    settings = HomeSettings(mode="beside", questions=True)
    (validating,) = webhook_configurations(settings)
    objects = {VALIDATING: validating, SERVICE: api_service(settings)[0]}
    server = Guarded(objects, VALIDATING.replace("validating", "mutating"), "/apis/apiextensions.k8s.io")
    keeper = CertificateKeeper(server.client, settings, lambda: NOW)
    assert asyncio.run(keeper.look())
    assert server.objects[SERVICE]["spec"]["caBundle"]


def test_one_configuration_that_cannot_be_written_keeps_no_other_from_its_authority() -> None:
    server = Guarded(installed().objects, VALIDATING)
    keeper, _ = a_keeper(server, [NOW])
    assert not asyncio.run(keeper.look()), "it is tried again soon"
    assert server.objects[SERVICE]["spec"]["caBundle"]


def test_the_addresses_of_others_keep_their_authorities() -> None:
    theirs = {"service": {"name": "other", "namespace": "muster-system"}, "caBundle": "theirs"}
    carrier = {"webhooks": [{"clientConfig": dict(theirs)}, {"clientConfig": {"url": "https://x", "caBundle": "x"}}]}
    assert with_bundle(carrier, "ours", "muster-system") is None


def test_files_of_cert_manager_are_taken_as_they_are(tmp_path: Path) -> None:
    given = kept(None, NAMES, NOW)
    (tmp_path / "tls.crt").write_bytes(given.certificate)
    (tmp_path / "tls.key").write_bytes(given.key)
    server = FakeServer()
    keeper, _ = a_keeper(server, [NOW], directory=tmp_path)
    assert asyncio.run(keeper.look())
    assert server.written == []
    (tmp_path / "tls.key").write_bytes(kept(None, NAMES, NOW).key)
    assert not asyncio.run(keeper.look())
    assert keeper.problem is None, "what is being served is good for now"
    empty, _ = a_keeper(server, [NOW], directory=tmp_path / "nothing")
    assert not asyncio.run(empty.look())
    assert empty.problem is not None
    assert "cert-manager" in empty.problem


@pytest.mark.e2e
@pytest.mark.slow
def test_a_certificate_that_has_ended_is_renewed_and_the_api_server_goes_on_calling(server: Server) -> None:
    with home_of(server, HomeSettings(policies=False), pods=1) as home:
        before = read_certificates(home.admin.ok("GET", SECRET)["data"])
        assert before is not None
        names, life = ("muster.muster-system.svc",), timedelta(days=89)
        ended = kept(before, (*names, "another"), datetime.now(UTC) - SERVING_LIFE - timedelta(seconds=5))
        assert ended.authorities == before.authorities
        home.admin.ok("PATCH", SECRET, {"data": ended.data()})
        home.start()  # looks at once; the other one looks every minute
        home.until_ready()
        after = read_certificates(home.admin.ok("GET", SECRET)["data"])
        assert after is not None
        assert (after.authorities, after.authority_key) == (before.authorities, before.authority_key)
        assert loaded(after.certificate)[0].not_valid_after_utc > datetime.now(UTC) + life
        # Whichever Pod is asked, with the certificate that it has: a refusal would be the failure policy's.
        asked = [home.admin.send("POST", SETS, a_set(f"asked-{number}"), dry_run=True) for number in range(20)]
        assert [each.message for each in asked if not each.is_allowed] == []
        told = home.pods[-1].health("/metrics")[1]
        (left,) = [line for line in told.splitlines() if line.startswith("muster_certificate_seconds_left ")]
        assert float(left.split()[1]) > life.total_seconds()
