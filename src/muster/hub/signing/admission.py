"""Admission of CertificateSigningRequests: the asker is who asks, nobody asks for mastery, and verdicts and
certificates come from those who may give them for that signer.

An admission plugin of the hub, as `CertificateSubjectRestriction`, `CertificateApproval` and `CertificateSigning` are
of a Kubernetes server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.api.certificate_requests import RequestError, read_request
from muster.api.certificate_rules import decoded, read_signing_request
from muster.api.certificate_signing_request import CERTIFICATE_SIGNING_REQUEST, GROUP
from muster.hub import status
from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.requests import Admitted, Attributes
from muster.hub.signing.issuing import CLIENT_SIGNER
from muster.values.json import JsonObject
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from muster.hub.requests import AdmissionRequest, Authorizer, User

_ASKER = ("username", "uid", "groups", "extra")
_NOTHING = Admitted()


class RequestAdmission:
    """The plugin."""

    kinds = frozenset({CERTIFICATE_SIGNING_REQUEST.key})

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        """Whatever a new request says of who asks is replaced by who asks."""
        new = request.new
        if not _concerns(request) or request.operation != "CREATE" or new is None:
            return _NOTHING
        said = {name: value for name, value in object_at(new, "spec").items() if name not in _ASKER}
        return Admitted({**new, "spec": said | _asker(request.user)})

    async def validate(self, request: AdmissionRequest) -> Admitted:
        if not _concerns(request) or request.new is None:
            return _NOTHING
        if request.operation == "CREATE":
            _refuse_masters(request.new)
        elif request.old is not None:
            await self._check_permission(request, request.old, request.new)
        return _NOTHING

    async def _check_permission(self, request: AdmissionRequest, old: JsonObject, new: JsonObject) -> None:
        """By the signer that the stored request names, whatever the new state says."""
        signer = read_signing_request(old).spec.signer_name
        match request.target.subresource:
            case "approval":
                verb = "approve"
            case "status" if object_at(old, "status") != object_at(new, "status"):
                verb = "sign"
            case _:
                return
        if not await self._may(request.user, verb, signer):
            name = str(old["metadata"]["name"])
            raise _refused(name, f'user not permitted to {verb} requests with signerName "{signer}"')

    async def _may(self, user: User, verb: str, signer: str) -> bool:
        """By the signer's own name, or by that of all signers of its domain."""
        domain = signer.partition("/")[0]
        for name in (signer, f"{domain}/*"):
            attributes = Attributes(verb, GROUP, "*", "signers", name=name)
            if (await self._authorizer.authorize(user, attributes)).allowed:
                return True
        return False


def _concerns(request: AdmissionRequest) -> bool:
    return request.target.resource is CERTIFICATE_SIGNING_REQUEST


def _asker(user: User) -> JsonObject:
    """The fields of a spec that say who asks."""
    extra = {name: list(values) for name, values in user.extra.items()}
    found = (user.name, user.uid, list(user.groups), extra)
    return {name: value for name, value in zip(_ASKER, found, strict=True) if value}


def _refuse_masters(new: JsonObject) -> None:
    """No certificate for this API makes its holder a master, whoever approves it."""
    given = read_signing_request(new)
    if given.spec.signer_name != CLIENT_SIGNER:
        return
    name = given.metadata.name
    try:
        request = read_request(decoded(given.spec.request))
    except RequestError as error:
        raise _refused(name, f"failed to parse CSR: {error}") from None
    if SYSTEM_MASTERS in request.organizations:
        raise _refused(name, f"use of {CLIENT_SIGNER} signer with {SYSTEM_MASTERS} group is not allowed")


def _refused(name: str, sentence: str) -> status.StatusError:
    return status.refused(GROUP, CERTIFICATE_SIGNING_REQUEST.plural, name, sentence)
