"""From an approved request to a certificate: which requests a signer takes, for how long it signs, and what it writes.

Pure but for the randomness in serial numbers and signatures; `signer` calls it with the hub's authority. The rules are
those of a Kubernetes controller manager for its two signers of client certificates.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from muster.hub.auth.tokens import SYSTEM_MASTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cryptography.hazmat.primitives.asymmetric import ec

    from muster.api.certificate_requests import Request

CLIENT_SIGNER: Final = "kubernetes.io/kube-apiserver-client"
KUBELET_SIGNER: Final = "kubernetes.io/kube-apiserver-client-kubelet"
LONGEST: Final = timedelta(days=365)  # what is given to those who ask for nothing, or for more
_SHORTEST: Final = timedelta(minutes=10)
_BACKDATED: Final = timedelta(minutes=5)  # clocks of clients may be behind
_SHORT: Final = timedelta(hours=8)  # of certificates as short as this every minute counts: they end as late as asked
_NODES: Final = "system:nodes"
_NODE: Final = "system:node:"
_SIGNATURE, _ENCIPHERMENT, _CLIENT = "digital signature", "key encipherment", "client auth"


def problem(signer: str, request: Request, usages: Sequence[str]) -> str:
    """Why this signer does not sign the request; empty if it does."""
    if SYSTEM_MASTERS in request.organizations:
        return f"use of {signer} signer with {SYSTEM_MASTERS} group is not allowed"
    return _CHECKS[signer](request, usages)


def _client(_: Request, usages: Sequence[str]) -> str:
    for usage in usages:
        if usage not in (_SIGNATURE, _ENCIPHERMENT, _CLIENT):
            return f"invalid usage for client certificate: {usage}"
    return "" if _CLIENT in usages else f"missing required usage for client certificate: {_CLIENT}"


def _kubelet(request: Request, usages: Sequence[str]) -> str:
    if request.organizations != (_NODES,):
        return f"subject organization is not {_NODES}"
    for kind in ("DNS", "Email", "IP", "URI", "Other"):
        if kind in request.alternative_names:
            return f"{kind} subjectAltNames are not allowed"
    if not request.common_names or not request.common_names[-1].startswith(_NODE):
        return f"subject common name does not begin with {_NODE}"
    if set(usages) - {_ENCIPHERMENT} != {_SIGNATURE, _CLIENT}:
        return f"usages did not match [{_CLIENT} {_SIGNATURE} {_ENCIPHERMENT}]"
    return ""


_CHECKS: Final = {CLIENT_SIGNER: _client, KUBELET_SIGNER: _kubelet}
SIGNERS: Final = frozenset(_CHECKS)


def issued(
    request: Request,
    usages: Sequence[str],
    seconds: int | None,
    authority: tuple[x509.Certificate, ec.EllipticCurvePrivateKey],
    now: datetime,
) -> bytes:
    """The certificate in PEM. It names who the request names and is no authority, whatever else is asked for."""
    certificate, key = authority
    life = LONGEST if seconds is None else min(max(timedelta(seconds=seconds), _SHORTEST), LONGEST)
    end = now + life if life < _SHORT else now + life - _BACKDATED
    public = request.source.public_key()
    builder = (
        x509.CertificateBuilder()
        .subject_name(_subject(request))
        .issuer_name(certificate.subject)
        .public_key(public)  # of any kind that can sign, which the request's signature shows
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(min(end, certificate.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()),
            critical=False,
        )
    )
    if {_SIGNATURE, _ENCIPHERMENT} & set(usages):
        builder = builder.add_extension(_key_usage(usages), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
    try:
        names = request.source.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        builder = builder.add_extension(names.value, critical=False)
    except x509.ExtensionNotFound:
        pass
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _subject(request: Request) -> x509.Name:
    """Written anew from the texts that were checked: how a request had encoded them decides nothing."""
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in request.organizations),
            *(x509.NameAttribute(NameOID.COMMON_NAME, each) for each in request.common_names[-1:]),
        ]
    )


def _key_usage(usages: Sequence[str]) -> x509.KeyUsage:
    absent: Mapping[str, bool] = dict.fromkeys(
        (
            "content_commitment",
            "data_encipherment",
            "key_agreement",
            "key_cert_sign",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    return x509.KeyUsage(digital_signature=_SIGNATURE in usages, key_encipherment=_ENCIPHERMENT in usages, **absent)
