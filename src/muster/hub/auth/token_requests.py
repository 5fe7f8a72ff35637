"""serviceaccounts/token: a token for a service account, issued to whoever may create that subresource.

The REST layer hands requests over; `kubectl create token` sends them. Nothing is stored: a token is good by its
signature while its account, and the secret it is bound to if any, exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from muster.hub import status
from muster.hub.objects import decode, encode
from muster.hub.requests import API_AUDIENCE, MalformedBodyError
from muster.hub.storage import Key
from muster.values.causes import invalid
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.hub.auth.service_accounts import TokenIssuer
    from muster.hub.requests import Body, Target
    from muster.hub.storage import Store

_GROUP, _KIND = "authentication.k8s.io", "TokenRequest"
_API_VERSION = f"{_GROUP}/v1"
_DEFAULT_SECONDS = 3600
_SHORTEST_SECONDS, _LONGEST_SECONDS = 600, 1 << 32
_MOST_AUDIENCES = 32


class _Reference(msgspec.Struct, omit_defaults=True, rename="camel"):
    kind: str = ""
    api_version: str = ""
    name: str = ""
    uid: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    audiences: list[str] | None = None
    expiration_seconds: int | None = None
    bound_object_ref: _Reference | None = None


class _Request(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


@dataclass(frozen=True, slots=True)
class TokenRequests:
    """Answers token requests."""

    store: Store
    issuer: TokenIssuer

    async def create(self, target: Target, body: Body, *, dry_run: bool) -> bytes:
        """The request with its token, for a user who has been authorized. Raises 404, 400 and 422."""
        record = self.store.get(Key("serviceaccounts", target.namespace, target.name))
        if record is None:
            raise status.not_found("", "serviceaccounts", target.name)
        account = decode(record.value)["metadata"]
        spec = _read(body)
        _check(spec)
        secret = self._bound_secret(target, spec.bound_object_ref)
        audiences = spec.audiences or [API_AUDIENCE]
        seconds = spec.expiration_seconds or _DEFAULT_SECONDS
        issued = self.issuer.issue(target.namespace, (target.name, account["uid"]), audiences, seconds, secret)
        now = datetime.now(UTC)
        expires = datetime.fromtimestamp(issued.expires or 0, UTC)
        reference = None if spec.bound_object_ref is None else msgspec.to_builtins(spec.bound_object_ref)
        answer: JsonObject = {
            "kind": _KIND,
            "apiVersion": _API_VERSION,
            "metadata": {"name": target.name, "namespace": target.namespace, "creationTimestamp": _time(now)},
            "spec": {"audiences": audiences, "expirationSeconds": seconds, "boundObjectRef": reference},
            "status": {"token": "" if dry_run else issued.token, "expirationTimestamp": _time(expires)},
        }
        return encode(answer)

    def _bound_secret(self, target: Target, reference: _Reference | None) -> tuple[str, str] | None:
        if reference is None:
            return None
        if (reference.kind, reference.api_version) != ("Secret", "v1"):
            raise status.bad_request(
                f"cannot bind token to object of type {reference.api_version}, Kind={reference.kind}: "
                "only secrets are supported"
            )
        record = self.store.get(Key("secrets", target.namespace, reference.name))
        if record is None:
            raise status.not_found("", "secrets", reference.name)
        uid = decode(record.value)["metadata"]["uid"]
        if reference.uid and reference.uid != uid:
            why = f"the UID in the bound object reference ({reference.uid}) does not match the UID in record ({uid})"
            raise status.conflict("", "secrets", reference.name, why)
        return reference.name, uid


def _read(body: Body) -> _Spec:
    try:
        decoded = body.read().value
    except MalformedBodyError as error:
        raise status.bad_request(
            f"the object provided is unrecognized (must be of type {_KIND}): {error.reason}"
        ) from None
    kind = decoded.get("kind") if isinstance(decoded, dict) else None
    if kind not in (None, "", _KIND):
        raise status.bad_request(f"{kind} cannot be handled as a {_KIND}")
    try:
        return msgspec.convert(decoded, _Request).spec
    except msgspec.ValidationError as error:
        raise status.bad_request(f'{_KIND} in version "v1" cannot be handled as a {_KIND}: {error}') from None


def _check(spec: _Spec) -> None:
    causes = []
    seconds = spec.expiration_seconds
    if seconds is not None and seconds < _SHORTEST_SECONDS:
        causes.append(invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"))
    if seconds is not None and seconds > _LONGEST_SECONDS:
        detail = "may not specify a duration larger than 2^32 seconds"
        causes.append(invalid("spec.expirationSeconds", seconds, detail))
    if len(spec.audiences or ()) > _MOST_AUDIENCES:
        causes.append(invalid("spec.audiences", len(spec.audiences or ()), f"at most {_MOST_AUDIENCES} audiences"))
    if causes:
        raise status.invalid(_GROUP, _KIND, "", causes)


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
