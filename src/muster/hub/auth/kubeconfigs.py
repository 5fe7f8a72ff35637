"""Kubeconfigs for users: the administrator's, which says where the hub is, with other credentials in it. Pure."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import msgspec

from muster.errors import MusterError
from muster.values.json import Json
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.hub.auth.certificates import ClientCertificate


class KubeconfigError(MusterError):
    """A kubeconfig that cannot be made: why, and what to do."""


def token_credentials(token: str) -> dict[str, str]:
    return {"token": token}


def certificate_credentials(certificate: ClientCertificate) -> dict[str, str]:
    return {
        "client-certificate-data": base64.b64encode(certificate.certificate).decode(),
        "client-key-data": base64.b64encode(certificate.key).decode(),
    }


def user_kubeconfig(hub: bytes, user: str, credentials: Mapping[str, str], server: str | None = None) -> bytes:
    """A kubeconfig with one context, for a hub whose own kubeconfig is given; `server` is where others reach it."""
    try:
        document = read_yaml(hub, YamlLimits())
        config: Json = None if document is None else document.value
        cluster = dict(config["clusters"][0]["cluster"])
    except (YamlError, KeyError, IndexError, TypeError, ValueError) as error:
        raise KubeconfigError(f"the hub's own kubeconfig cannot be read: {error}") from None
    if server:
        cluster["server"] = server
    return msgspec.yaml.encode(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "muster", "cluster": cluster}],
            "users": [{"name": user, "user": dict(credentials)}],
            "contexts": [{"name": "muster", "context": {"cluster": "muster", "user": user}}],
            "current-context": "muster",
        }
    )
