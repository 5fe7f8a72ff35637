"""Certificates by cert-manager, by a setting: whoever has it need not trust one more authority.

Without it our Pods make the authority and the certificate, keep them in a Secret and put them into the configurations
(`muster.kubernetes.serving`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.kubernetes.objects.common import named
from muster.kubernetes.settings import NAME, SECRET
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.kubernetes.settings import HomeSettings

_GROUP: Final = "cert-manager.io"
_AUTHORITY: Final = f"{NAME}-authority"


def certificates(settings: HomeSettings) -> Iterator[JsonObject]:
    """A self-signed authority of our own, and the certificate it issues for our Service."""
    home = settings.namespace
    yield _object("Issuer", f"{NAME}-self-signed", home, {"selfSigned": {}})
    yield _object(
        "Certificate",
        _AUTHORITY,
        home,
        {
            "isCA": True,
            "commonName": _AUTHORITY,
            "secretName": _AUTHORITY,
            "duration": "87600h",
            "privateKey": {"algorithm": "ECDSA", "size": 256},
            "issuerRef": {"kind": "Issuer", "name": f"{NAME}-self-signed", "group": _GROUP},
        },
    )
    yield _object("Issuer", _AUTHORITY, home, {"ca": {"secretName": _AUTHORITY}})
    yield _object(
        "Certificate",
        SECRET,
        home,
        {
            "secretName": SECRET,
            "dnsNames": [f"{NAME}.{home}.svc", f"{NAME}.{home}.svc.cluster.local"],
            "duration": "2160h",
            "renewBefore": "720h",
            "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
            "issuerRef": {"kind": "Issuer", "name": _AUTHORITY, "group": _GROUP},
        },
    )


def with_authority(obj: JsonObject, settings: HomeSettings) -> JsonObject:
    """What the API server reads to call us, with cert-manager told to put its authority there."""
    if not settings.cert_manager:
        return obj
    metadata: JsonObject = obj["metadata"]
    wanted = {f"{_GROUP}/inject-ca-from": f"{settings.namespace}/{SECRET}"}
    annotations = {**metadata.get("annotations", {}), **wanted}
    return obj | {"metadata": {**metadata, "annotations": annotations}}


def _object(kind: str, name: str, namespace: str, spec: JsonObject) -> JsonObject:
    return named(f"{_GROUP}/v1", kind, name, namespace) | {"spec": spec}
