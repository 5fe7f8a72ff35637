"""The certificates that our webhooks and questions are served with: an authority of our own, and what it issues. Pure.

They are kept in a Secret that all replicas share (`certificate_keeper`). The authority is renewed in two steps, so that
there is no moment in which somebody who trusts the one meets a certificate of the other: first the new one is trusted
beside the old one, later it issues.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

AUTHORITY_LIFE: Final = timedelta(days=3650)
SERVING_LIFE: Final = timedelta(days=90)
_RENEW_AUTHORITY: Final = timedelta(days=365)  # before its end
_RENEW_SERVING: Final = timedelta(days=30)
_LAST_MOMENT: Final = timedelta(days=1)  # before the end of what somebody else issued: by then it should be renewed
_SKEW: Final = timedelta(minutes=5)
_SETTLE: Final = timedelta(hours=1)  # in which everybody has learned to trust a new authority
CA, CA_KEY, CERTIFICATE, KEY = "ca.crt", "ca.key", "tls.crt", "tls.key"


@dataclass(frozen=True, slots=True)
class ServingCertificates:
    """All in PEM. `authorities` may be several, the newest first; without `authority_key` somebody else issues."""

    authorities: bytes
    certificate: bytes
    key: bytes
    authority_key: bytes = b""

    def data(self) -> dict[str, str]:
        """As a Secret has it."""
        parts = {CA: self.authorities, CA_KEY: self.authority_key, CERTIFICATE: self.certificate, KEY: self.key}
        return {name: base64.b64encode(pem).decode() for name, pem in parts.items() if pem}


def read_certificates(data: JsonMapping) -> ServingCertificates | None:
    """What a Secret holds; None if that is not a certificate with its key and an authority."""
    try:
        given = {name: base64.b64decode(data.get(name, ""), validate=True) for name in (CA, CA_KEY, CERTIFICATE, KEY)}
    except (binascii.Error, ValueError, TypeError):
        return None
    found = ServingCertificates(given[CA], given[CERTIFICATE], given[KEY], given[CA_KEY])
    return found if is_usable(found) else None


def is_usable(found: ServingCertificates) -> bool:
    """Whether certificate, key and authorities can be read and go together."""
    try:
        x509.load_pem_x509_certificates(found.authorities)
        own = x509.load_pem_x509_certificates(found.certificate)[0]
        key = serialization.load_pem_private_key(found.key, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False
    return _public(key.public_key()) == _public(own.public_key())


def kept(found: ServingCertificates | None, names: Sequence[str], now: datetime) -> ServingCertificates:
    """The same while it is good, else what takes its place. Somebody else's certificates are left alone until they end:
    cert-manager that no longer renews them must not leave us without any."""
    if found is None or (not found.authority_key and now >= ends(found) - _LAST_MOMENT):
        return _made(names, now)
    if not found.authority_key:
        return found
    try:
        authorities = x509.load_pem_x509_certificates(found.authorities)
        signing = serialization.load_pem_private_key(found.authority_key, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return _made(names, now)
    newest = authorities[0]
    if not isinstance(signing, ec.EllipticCurvePrivateKey) or _public(signing.public_key()) != _public(
        newest.public_key()
    ):
        return _made(names, now)
    own = x509.load_pem_x509_certificates(found.certificate)[0]
    if now >= newest.not_valid_after_utc - _RENEW_AUTHORITY:
        key = ec.generate_private_key(ec.SECP256R1())
        trusted = [_authority(key, now), *(each for each in authorities if now < each.not_valid_after_utc)]
        return ServingCertificates(_pem(*trusted), found.certificate, found.key, _private(key))
    is_settled = now >= newest.not_valid_before_utc + _SKEW + _SETTLE
    is_ending = now >= own.not_valid_after_utc - _RENEW_SERVING
    is_old = own.issuer != newest.subject and is_settled
    if is_ending or is_old or not _names_of(own).issuperset(names):
        certificate, key_pem = _issued(newest, signing, names, now)
        return ServingCertificates(found.authorities, certificate, key_pem, found.authority_key)
    if (
        len(authorities) > 1
        and own.issuer == newest.subject
        and any(now >= each.not_valid_after_utc for each in authorities[1:])
    ):
        still = [each for each in authorities if now < each.not_valid_after_utc]
        return ServingCertificates(_pem(*still), found.certificate, found.key, found.authority_key)
    return found


def ends(found: ServingCertificates) -> datetime:
    """When the certificate ends."""
    return x509.load_pem_x509_certificates(found.certificate)[0].not_valid_after_utc


def self_signed(name: str, now: datetime) -> ServingCertificates:
    """For a port whose callers do not look: probes of a kubelet."""
    return _made([name], now)


def _made(names: Sequence[str], now: datetime) -> ServingCertificates:
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(key, now)
    certificate, own = _issued(authority, key, names, now)
    return ServingCertificates(_pem(authority), certificate, own, _private(key))


def _authority(key: ec.EllipticCurvePrivateKey, now: datetime) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"muster-serving-ca-{int(now.timestamp())}")])
    return (
        _draft(subject, subject, key.public_key(), now, AUTHORITY_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
        .sign(key, hashes.SHA256())
    )


def _issued(
    authority: x509.Certificate, signing: ec.EllipticCurvePrivateKey, names: Sequence[str], now: datetime
) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    certificate = (
        _draft(subject, authority.subject, key.public_key(), now, SERVING_LIFE)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
        .sign(signing, hashes.SHA256())
    )
    return _pem(certificate), _private(key)


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


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _names_of(certificate: x509.Certificate) -> set[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    return set(found.get_values_for_type(x509.DNSName))


def _pem(*certificates: x509.Certificate) -> bytes:
    return b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates)


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _public(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
