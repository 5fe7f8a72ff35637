"""The hub's own certificate authority and serving certificate, made at the first start and renewed before they end.

TLS is not a luxury on loopback: client-go, and so kubectl, sends bearer tokens over TLS only. `app` calls
`serving_certificate` with the hub's state directory and puts the authority into the kubeconfig.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from muster.errors import MusterError

if TYPE_CHECKING:
    from pathlib import Path

_AUTHORITY_LIFE = timedelta(days=3650)
_SERVING_LIFE = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)
_SKEW = timedelta(minutes=5)  # clocks of clients may be behind


class CertificateError(MusterError):
    """Certificates that cannot be made, read or used: which file, why, and what to do."""


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """Files for the server, and the authority that clients have to trust."""

    certificate: Path
    key: Path
    authority: bytes  # PEM


def serving_certificate(directory: Path, now: datetime | None = None) -> ServingCertificate:
    """What is in the directory if it is still good, else made anew. The authority outlives many certificates."""
    moment = now or datetime.now(UTC)
    files = ServingCertificate(directory / "tls.crt", directory / "tls.key", b"")
    try:
        authority, authority_key = _authority(directory, moment)
        if not _still_good(files.certificate, authority, moment) or not files.key.exists():
            _issue(files, authority, authority_key, moment)
    except (OSError, ValueError) as error:
        raise CertificateError(
            f"{directory}: the hub's certificates cannot be read or written: {error}; "
            "delete ca.crt, ca.key, tls.crt and tls.key there to have new ones made"
        ) from error
    return ServingCertificate(files.certificate, files.key, _pem(authority))


def _authority(directory: Path, now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    certificate_file, key_file = directory / "ca.crt", directory / "ca.key"
    if certificate_file.exists() and key_file.exists():
        certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
        key = serialization.load_pem_private_key(key_file.read_bytes(), None)
        if isinstance(key, ec.EllipticCurvePrivateKey) and now < certificate.not_valid_after_utc - _RENEW_BEFORE:
            return certificate, key
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"muster-ca-{int(now.timestamp())}")])
    certificate = (
        _draft(name, name, key.public_key(), now, _AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write_private(key_file, key)
    certificate_file.write_bytes(_pem(certificate))
    return certificate, key


def _issue(
    files: ServingCertificate, authority: x509.Certificate, authority_key: ec.EllipticCurvePrivateKey, now: datetime
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    names: list[x509.GeneralName] = [
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
        x509.IPAddress(ipaddress.ip_address("::1")),
        x509.DNSName("localhost"),
    ]
    if (host := socket.gethostname()).isascii() and host != "localhost":
        names.append(x509.DNSName(host))
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "muster-hub")])
    certificate = (
        _draft(subject, authority.subject, key.public_key(), now, _SERVING_LIFE)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    _write_private(files.key, key)
    files.certificate.write_bytes(_pem(certificate))


def _draft(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _still_good(certificate_file: Path, authority: x509.Certificate, now: datetime) -> bool:
    if not certificate_file.exists():
        return False
    certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    return certificate.issuer == authority.subject and now < certificate.not_valid_after_utc - _RENEW_BEFORE


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _write_private(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    encoded = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.unlink(missing_ok=True)  # never write a key into a file that somebody else made readable
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(encoded)
