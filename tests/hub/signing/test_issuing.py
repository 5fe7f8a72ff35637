"""What the signer takes, and what it issues."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from muster.api.certificate_requests import RequestError, check_certificates, read_request
from muster.hub.auth.certificates import client_authority
from muster.hub.signing.issuing import issued, problem
from tests.hub.signing.requests import CLIENT, KUBELET, pem

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
BOTH = ["digital signature", "client auth"]


@pytest.mark.parametrize(
    ("signer", "request_", "usages", "why"),
    [
        (CLIENT, pem("jane"), ["client auth"], ""),
        (CLIENT, pem("jane"), [*BOTH, "key encipherment"], ""),
        (CLIENT, pem("jane"), ["client auth", "server auth"], "invalid usage for client certificate: server auth"),
        (CLIENT, pem("jane"), ["key encipherment"], "missing required usage for client certificate: client auth"),
        (
            CLIENT,
            pem("jane", "system:masters"),
            ["client auth"],
            f"use of {CLIENT} signer with system:masters group is not allowed",
        ),
        (KUBELET, pem("system:node:n1", "system:nodes"), BOTH, ""),
        (KUBELET, pem("system:node:n1", "devs"), BOTH, "subject organization is not system:nodes"),
        (KUBELET, pem("system:node:n1", "system:nodes", "x"), BOTH, "subject organization is not system:nodes"),
        (KUBELET, pem("n1", "system:nodes"), BOTH, "subject common name does not begin with system:node:"),
        (
            KUBELET,
            pem("system:node:n1", "system:nodes", dns="n1"),
            BOTH,
            "DNS subjectAltNames are not allowed",
        ),
        (
            KUBELET,
            pem("system:node:n1", "system:nodes"),
            ["client auth"],
            "usages did not match [client auth digital signature key encipherment]",
        ),
    ],
)
def test_a_signer_takes_what_kubernetes_signers_take(signer: str, request_: bytes, usages: list[str], why: str) -> None:
    assert problem(signer, read_request(request_), usages) == why


@pytest.mark.parametrize(
    ("seconds", "life"),
    [
        (None, timedelta(days=365) - timedelta(minutes=5)),
        (600, timedelta(minutes=10)),
        (60, timedelta(minutes=10)),
        (86400, timedelta(days=1) - timedelta(minutes=5)),
        (2**31 - 1, timedelta(days=365) - timedelta(minutes=5)),
    ],
)
def test_a_certificate_lasts_as_long_as_asked_within_bounds(
    tmp_path: Path, seconds: int | None, life: timedelta
) -> None:
    authority = client_authority(tmp_path, NOW)
    found = x509.load_pem_x509_certificate(issued(read_request(pem("jane")), ["client auth"], seconds, authority, NOW))
    assert found.not_valid_after_utc - NOW == life
    assert NOW - found.not_valid_before_utc == timedelta(minutes=5)


def test_a_certificate_names_who_asked_and_can_sign_nothing(tmp_path: Path) -> None:
    authority, key = client_authority(tmp_path, NOW)
    text = issued(read_request(pem("jane", "devs", "ops")), BOTH, None, (authority, key), NOW)
    check_certificates(text)
    found = x509.load_pem_x509_certificate(text)
    names = [(each.oid, each.value) for each in found.subject]
    assert names == [
        (NameOID.ORGANIZATION_NAME, "devs"),
        (NameOID.ORGANIZATION_NAME, "ops"),
        (NameOID.COMMON_NAME, "jane"),
    ]
    found.verify_directly_issued_by(authority)
    assert not found.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = found.extensions.get_extension_for_class(x509.KeyUsage).value
    assert (usage.digital_signature, usage.key_encipherment, usage.key_cert_sign) == (True, False, False)
    extended = found.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(extended) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_no_certificate_outlives_its_authority(tmp_path: Path) -> None:
    authority, key = client_authority(tmp_path, NOW)
    late = authority.not_valid_after_utc - timedelta(days=1)
    found = x509.load_pem_x509_certificate(
        issued(read_request(pem("jane")), ["client auth"], None, (authority, key), late)
    )
    assert found.not_valid_after_utc == authority.not_valid_after_utc


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "PEM block type must be CERTIFICATE REQUEST"),
        (b"nonsense", "PEM block type must be CERTIFICATE REQUEST"),
        (pem("jane").replace(b"CERTIFICATE REQUEST", b"PUBLIC KEY"), "PEM block type must be CERTIFICATE REQUEST"),
        (b"x" * 70_000, "a request has at most 65536 bytes"),
    ],
)
def test_what_is_no_request_is_refused_with_the_reason(content: bytes, text: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_request(content)
    assert str(caught.value) == text


def test_a_request_that_somebody_has_changed_is_not_believed() -> None:
    import base64

    lines = pem("jane").splitlines()
    content = bytearray(base64.b64decode(b"".join(lines[1:-1])))
    content[-1] ^= 1
    forged = b"\n".join([lines[0], base64.b64encode(bytes(content)), lines[-1], b""])
    with pytest.raises(RequestError) as caught:
        read_request(forged).check_signature()
    assert str(caught.value) == "x509: ECDSA verification failure"
