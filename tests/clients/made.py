"""What the clients make: the same objects, under names of their own, so that their rows do not meet."""

from __future__ import annotations

import base64
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

OCM = "cluster.open-cluster-management.io"
EVENT_TIME = "2026-11-01T10:00:00.123456Z"


def config_map(name: str, **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": {"client": name}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def cluster(name: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{OCM}/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": {"client": name}},
        "spec": {"hubAcceptsClient": True},
    }


def event(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "eventTime": EVENT_TIME,
        "reportingController": "example.com/matrix",
        "reportingInstance": name,
        "action": "Trying",
        "reason": "Matrix",
        "type": "Normal",
        "note": f"seen by {name}",
        "regarding": {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "namespace": "default"},
    }


def signing_request(name: str) -> dict[str, Any]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    request = base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {"request": request, "signerName": "kubernetes.io/kube-apiserver-client", "usages": ["client auth"]},
    }


def approved(obj: dict[str, Any]) -> dict[str, Any]:
    condition = {"type": "Approved", "status": "True", "reason": "Matrix", "message": "tried"}
    return {**obj, "status": {"conditions": [condition]}}
