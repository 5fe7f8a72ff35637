"""Secrets of type kubernetes.io/service-account-token: a token without an end, for programs that cannot ask for one.

An admission plugin of the hub: it fills such a secret when it is created. The token is good until the secret or the
account is deleted.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from muster.api.metadata import annotations_of, name_of
from muster.hub import status
from muster.hub.objects import decode
from muster.hub.requests import API_AUDIENCE, Admitted
from muster.hub.storage import Key, Unchanged
from muster.values.causes import required
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from pathlib import Path

    from muster.hub.auth.service_accounts import TokenIssuer
    from muster.hub.requests import AdmissionRequest
    from muster.hub.storage import Store

_TYPE = "kubernetes.io/service-account-token"
_NAME = "kubernetes.io/service-account.name"
_UID = "kubernetes.io/service-account.uid"
_NOTHING = Admitted()


class AccountSecrets:
    """Fills secrets with tokens of the service account they name."""

    kinds = frozenset({"secrets"})

    def __init__(self, store: Store, issuer: TokenIssuer, authority: Path) -> None:
        """`authority` is the file of the certificate that clients trust, if there is one."""
        self._store = store
        self._issuer = issuer
        self._authority = authority

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        new = request.new
        if request.target.resource.key != "secrets" or new is None or new.get("type") != _TYPE:
            return _NOTHING
        metadata = new["metadata"]
        account = annotations_of(new).get(_NAME)
        if not account:
            causes = [required(f"metadata.annotations[{_NAME}]")]
            raise status.invalid("", "Secret", name_of(new), causes)
        if request.operation != "CREATE" or request.dry_run:
            return _NOTHING
        namespace = request.target.namespace
        read = (Unchanged("serviceaccounts", namespace, account, self._store.revision),)
        record = self._store.get(Key("serviceaccounts", namespace, account))
        if record is None:
            return Admitted(
                warnings=(f'service account "{account}" does not exist: the secret gets no token',), read=read
            )
        uid = decode(record.value)["metadata"]["uid"]
        issued = self._issuer.issue(
            namespace, (account, uid), [API_AUDIENCE], None, (metadata["name"], metadata["uid"])
        )
        data = {
            **object_at(new, "data"),
            "token": _encoded(issued.token.encode()),
            "namespace": _encoded(namespace.encode()),
        }
        if self._authority.exists():
            data["ca.crt"] = _encoded(self._authority.read_bytes())
        annotations = {**annotations_of(new), _UID: uid}
        return Admitted({**new, "metadata": {**metadata, "annotations": annotations}, "data": data}, read=read)

    async def validate(self, request: AdmissionRequest) -> Admitted:  # noqa: ARG002 - the protocol's signature
        return _NOTHING


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
