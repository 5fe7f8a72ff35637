"""Requests for certificates, made as a client makes them."""

from __future__ import annotations

import base64
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

KEY = ec.generate_private_key(ec.SECP256R1())
CSRS = "certificatesigningrequests.certificates.k8s.io"
CLIENT = "kubernetes.io/kube-apiserver-client"
KUBELET = "kubernetes.io/kube-apiserver-client-kubelet"


def pem(name: str, *groups: str, dns: str = "") -> bytes:
    subject = x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
            *([x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else []),
        ]
    )
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if dns:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(dns)]), critical=False)
    return builder.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def signing_request(name: str, content: bytes, signer: str = CLIENT, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {
            "request": base64.b64encode(content).decode(),
            "signerName": signer,
            "usages": ["client auth"],
            **spec,
        },
    }


def approved(obj: dict[str, Any], verdict: str = "Approved") -> dict[str, Any]:
    conditions = [{"type": verdict, "status": "True", "reason": "ByTest", "message": "m"}]
    return {**obj, "status": {**obj.get("status", {}), "conditions": conditions}}
