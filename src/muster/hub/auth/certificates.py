"""The hub's own certificate authority and serving certificate, made at the first start and renewed before they end.

TLS is not a luxury on loopback: client-go, and so kubectl, sends bearer tokens over TLS only. `app` calls
`serving_certificate` with the hub's state directory and puts the authority into the kubeconfig.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from muster.errors import MusterError
from muster.hub.auth.files import write_private

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes, PublicKeyTypes

_log = logging.getLogger(__name__)
AUTHORITY = "ca.crt"
_AUTHORITY_LIFE = timedelta(days=3650)
_SERVING_LIFE = timedelta(days=365)
_RENEW_BEFORE = timedelta(days=30)
_SKEW = timedelta(minutes=5)  # clocks of clients may be behind
_LONGEST_NAME = 64  # what X.509 allows


class CertificateError(MusterError):
    """Certificates that cannot be made, read or used: which file, why, and what to do."""


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """Files for the server, and the authority that clients have to trust."""

    certificate: Path
    key: Path
    authority: bytes  # PEM
    clients: Path | None = None  # the authority whose client certificates are good


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A user's certificate and key, as PEM."""

    certificate: bytes
    key: bytes
    expires: datetime


def serving_certificate(directory: Path, now: datetime | None = None, hosts: Sequence[str] = ()) -> ServingCertificate:
    """What is in the directory if it is still good, else made anew. The authority outlives many certificates.

    It is good for loopback, this machine's name, and the hosts given.
    """
    moment = now or datetime.now(UTC)
    clients = directory / AUTHORITY
    files = ServingCertificate(directory / "tls.crt", directory / "tls.key", b"", clients)
    names = _names(hosts)
    authority, authority_key = _authority(directory, moment)
    if not files.key.exists() or not _still_good(files, authority, moment, names):
        try:
            _issue(files, authority, authority_key, moment, names)
        except OSError as error:
            if not _is_usable(files, moment):
                raise _unwritable(directory, error) from error
            _log.warning("the serving certificate in %s should be renewed, and cannot: %s", directory, error.strerror)
    return ServingCertificate(files.certificate, files.key, _pem(authority), clients)


def given_certificate(
    directory: Path, certificate: Path, key: Path, authority: Path | None = None, now: datetime | None = None
) -> ServingCertificate:
    """A certificate from elsewhere. Clients trust `authority`, or the last certificate of the chain."""
    try:
        chain = x509.load_pem_x509_certificates(certificate.read_bytes())
        public = serialization.load_pem_private_key(key.read_bytes(), None).public_key()
        trusted = authority.read_bytes() if authority is not None else _pem(chain[-1])
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise CertificateError(f"{certificate} and {key} cannot be used: {error}") from error
    _authority(directory, now or datetime.now(UTC))  # of client certificates, which stay our own
    if _public_bytes(public) != _public_bytes(chain[0].public_key()):
        raise CertificateError(f"{key} is not the key of {certificate}")
    if (now or datetime.now(UTC)) >= chain[0].not_valid_after_utc:
        raise CertificateError(f"{certificate} expired on {chain[0].not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    return ServingCertificate(certificate, key, trusted, directory / AUTHORITY)


def client_certificate(
    directory: Path, user: str, groups: Sequence[str], life: timedelta, now: datetime | None = None
) -> ClientCertificate:
    """A certificate with which a user can connect, signed by the hub's authority. It cannot be revoked."""
    if not user or len(user) > _LONGEST_NAME or any(not each or len(each) > _LONGEST_NAME for each in groups):
        raise CertificateError(f"names in certificates have 1 to {_LONGEST_NAME} characters")
    moment = now or datetime.now(UTC)
    authority, authority_key = _authority(directory, moment)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
            x509.NameAttribute(NameOID.COMMON_NAME, user),
        ]
    )
    certificate = (
        _draft(subject, authority.subject, key.public_key(), moment, life)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    return ClientCertificate(_pem(certificate), _private_pem(key), certificate.not_valid_after_utc)


def client_authority(directory: Path, now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """The authority whose certificates let clients in, and its key. Raises CertificateError."""
    return _authority(directory, now)


def nobodys_authority(now: datetime) -> str:
    """An authority in PEM whose key is thrown away: it has signed nothing, and never will."""
    return _pem(_new_authority("muster-nobodys-ca", ec.generate_private_key(ec.SECP256R1()), now)).decode("ascii")


def certificate_text(certificate: x509.Certificate) -> str:
    """A certificate in PEM."""
    return _pem(certificate).decode("ascii")


def _authority(directory: Path, now: datetime) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    certificate_file, key_file = directory / AUTHORITY, directory / "ca.key"
    if certificate_file.exists() and key_file.exists():
        certificate, key = _read_certificate(certificate_file), _read_key(key_file)
        if _public_bytes(key.public_key()) != _public_bytes(certificate.public_key()):
            raise CertificateError(f"{key_file} is not the key of {certificate_file}; {_TO_RENEW_ALL}")
        if isinstance(key, ec.EllipticCurvePrivateKey) and now < certificate.not_valid_after_utc - _RENEW_BEFORE:
            return certificate, key
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _new_authority("muster-ca", key, now)
    try:
        _write_private(key_file, key)
        certificate_file.write_bytes(_pem(certificate))
    except OSError as error:
        raise _unwritable(directory, error) from error
    return certificate, key


def _new_authority(name: str, key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name}-{int(now.timestamp())}")])
    return (
        _draft(subject, subject, key.public_key(), now, _AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )


def _names(hosts: Sequence[str]) -> list[x509.GeneralName]:
    """Under which the hub can be reached. Wildcard addresses are no names."""
    wanted = ["127.0.0.1", "::1", "localhost", socket.gethostname(), *hosts]
    names: list[x509.GeneralName] = []
    for host in dict.fromkeys(wanted):
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            if host and host.isascii():
                names.append(x509.DNSName(host))
            continue
        if not address.is_unspecified:
            names.append(x509.IPAddress(address))
    return names


def _issue(
    files: ServingCertificate,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
    now: datetime,
    names: Sequence[x509.GeneralName],
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
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


def _still_good(
    files: ServingCertificate, authority: x509.Certificate, now: datetime, names: Sequence[x509.GeneralName]
) -> bool:
    if not files.certificate.exists():
        return False
    certificate, key = _read_certificate(files.certificate), _read_key(files.key)
    if _public_bytes(key.public_key()) != _public_bytes(certificate.public_key()):
        raise CertificateError(f"{files.key} is not the key of {files.certificate}; {_TO_RENEW}")
    if certificate.issuer != authority.subject or now >= certificate.not_valid_after_utc - _RENEW_BEFORE:
        return False
    try:
        own = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return False
    return all(name in list(own) for name in names)


def _is_usable(files: ServingCertificate, now: datetime) -> bool:
    """Whether a certificate that should be renewed does for now."""
    return files.certificate.exists() and now < _read_certificate(files.certificate).not_valid_after_utc


_TO_RENEW = "delete tls.crt and tls.key to have new ones made"
_TO_RENEW_ALL = "delete ca.crt, ca.key, tls.crt and tls.key to have new ones made, which clients then have to trust"


def _read_certificate(path: Path) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except OSError as error:
        raise CertificateError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise CertificateError(f"{path}: this is not a certificate; {_way_out(path)} ({error})") from error


def _read_key(path: Path) -> PrivateKeyTypes:
    try:
        return serialization.load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise CertificateError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise CertificateError(f"{path}: this is not a key; {_way_out(path)} ({error})") from error


def _way_out(path: Path) -> str:
    return _TO_RENEW if path.name.startswith("tls.") else _TO_RENEW_ALL


def _unwritable(directory: Path, error: OSError) -> CertificateError:
    return CertificateError(f"{directory}: the hub's certificates cannot be written: {error.strerror}")


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _public_bytes(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def _write_private(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    write_private(path, _private_pem(key))
