"""What can be read of a CertificateSigningRequest, what is checked of it, and what may change about it.

The kind, the hub's admission and its signer read requests through `read_signing_request`. Refusals are in the words of
a real server.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.certificate_requests import RequestError, check_certificates, read_request
from muster.api.parts import Node, ObjectMeta, Part
from muster.api.reading import Reader
from muster.values.causes import Cause, duplicate, forbidden, invalid, not_supported, quoted, required, too_long
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.names import dns_label_problems, subdomain_problems

if TYPE_CHECKING:
    from collections.abc import Iterator


USAGES: Final = (
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
)
LEGACY_SIGNER: Final = "kubernetes.io/legacy-unknown"
_SHORTEST: Final = 600  # seconds
_DOMAIN, _LABEL = 253, 63  # characters
_KEPT: Final = ("Approved", "Denied", "Failed")
_VERDICTS: Final = ("Approved", "Denied")


class RequestCondition(Part, frozen=True):
    """A verdict, or what came of it."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_update_time: str | None = None
    last_transition_time: str | None = None


class SigningRequestSpec(Part, frozen=True):
    request: str = ""
    signer_name: str = ""
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    expiration_seconds: int | None = None
    usages: tuple[str, ...] = ()


class SigningRequestStatus(Node, frozen=True):
    conditions: tuple[RequestCondition, ...] = ()
    certificate: str = ""

    def of(self, kind: str) -> tuple[RequestCondition, ...]:
        """The conditions of one type: there is one at most, unless an old request had more."""
        return tuple(each for each in self.conditions if each.type == kind)


class SigningRequest(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: SigningRequestSpec = SigningRequestSpec()
    status: SigningRequestStatus = SigningRequestStatus()


_READER: Final = Reader(SigningRequest)
_NONE: Final = SigningRequest()


def read_signing_request(obj: JsonMapping) -> SigningRequest:
    return _READER.of(obj)


def _both(new: JsonObject, old: JsonObject | None) -> tuple[SigningRequest, SigningRequest]:
    return _READER.of(new), _NONE if old is None else _READER.of(old)


def request_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    """On a create, and on writes of the object itself."""
    now, before = _both(new, old)
    yield from _whole(now, before)
    if old is not None:
        yield from _removed(now.status, before.status)
        yield from _verdicts(now.status, before.status)
        yield from _certificate(now.status, before.status, may_set=False)


def approval_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    now, before = _both(new, old)
    yield from _whole(now, before)
    yield from _removed(now.status, before.status)
    yield from _certificate(now.status, before.status, may_set=False)


def status_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    now, before = _both(new, old)
    yield from _whole(now, before)
    yield from _removed(now.status, before.status)
    yield from _verdicts(now.status, before.status)
    yield from _certificate(now.status, before.status, may_set=True)


def _whole(new: SigningRequest, old: SigningRequest) -> Iterator[Cause]:
    spec, status = new.spec, new.status
    try:
        read_request(decoded(spec.request)).check_signature()
    except RequestError as error:
        yield invalid("spec.request", spec.request or None, str(error))
    if not spec.usages:
        yield required("spec.usages")
    for index, usage in enumerate(spec.usages):
        if usage not in USAGES:
            yield not_supported(f"spec.usages[{index}]", usage, USAGES)
    for index, usage in enumerate(spec.usages):
        if usage in spec.usages[:index]:
            yield duplicate(f"spec.usages[{index}]", usage)
    yield from _signer(spec.signer_name)
    if spec.expiration_seconds is not None and spec.expiration_seconds < _SHORTEST:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid("spec.expirationSeconds", spec.expiration_seconds, detail)
    yield from _conditions(status, old.status)
    if status.certificate and status.certificate != old.status.certificate:
        try:
            check_certificates(decoded(status.certificate))
        except RequestError as error:
            yield invalid("status.certificate", "<certificate data>", str(error))


def decoded(text: str) -> bytes:
    """Bytes of a field that was checked to be base64."""
    return base64.b64decode(text)


def _signer(name: str) -> Iterator[Cause]:
    field = "spec.signerName"
    if name == LEGACY_SIGNER:
        yield invalid(field, name, "the legacy signerName is not allowed via this API version")
        return
    if not name:
        yield required(field)
        return
    segments = name.split("/")
    if len(segments) != 2:
        yield invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
        return
    domain, path = segments
    if len(domain) > _DOMAIN:
        yield too_long(field, _DOMAIN)
    labels = domain.split(".")
    yield from _first_bad(field, domain, labels, dns_label_problems)
    if len(labels) < 2:
        yield invalid(field, domain, "should be a domain with at least two segments separated by dots")
    yield from _first_bad(field, path, path.split("."), subdomain_problems)
    longest = _DOMAIN + 1 + _DOMAIN + _LABEL + 1
    if len(name) > longest:
        yield too_long(field, longest)


def _first_bad(field: str, segment: str, labels: list[str], problems_of: Json) -> Iterator[Cause]:
    for label in labels:
        if problems := problems_of(label):
            yield from (invalid(field, segment, f"validating label {quoted(label)}: {each}") for each in problems)
            return


def _conditions(status: SigningRequestStatus, before: SigningRequestStatus) -> Iterator[Cause]:
    """What was wrong before is tolerated, so that an old request can still be written."""
    known = [each.type for each in before.conditions]
    field = "status.conditions"
    seen: list[str] = []
    for index, condition in enumerate(status.conditions):
        kind, state = condition.type, condition.status
        if not kind and "" not in known:
            yield required(f"{field}[{index}].type")
        allowed = ("True",) if kind in _KEPT else ("False", "True", "Unknown")
        if not state:
            yield required(f"{field}[{index}].status")
        elif state not in allowed:
            yield not_supported(f"{field}[{index}].status", state, allowed)
        if kind in _VERDICTS and not all(verdict in known for verdict in _VERDICTS):
            other = _VERDICTS[1 - _VERDICTS.index(kind)]
            if other in seen:
                yield invalid(field, kind, "Approved and Denied conditions are mutually exclusive")
        if kind in seen and len(set(known)) == len(known):
            yield duplicate(f"{field}[{index}].type", kind)
        seen.append(kind)


def _removed(new: SigningRequestStatus, old: SigningRequestStatus) -> Iterator[Cause]:
    for kind in _KEPT:
        if len(new.of(kind)) < len(old.of(kind)):
            yield forbidden("status.conditions", f'updates may not remove a condition of type "{kind}"')


def _verdicts(new: SigningRequestStatus, old: SigningRequestStatus) -> Iterator[Cause]:
    """A verdict is given through `approval` only."""
    for kind in _VERDICTS:
        now, before = new.of(kind), old.of(kind)
        if len(now) > len(before):
            yield forbidden("status.conditions", f'updates may not add a condition of type "{kind}"')
        elif len(now) == len(before) and now != before:
            yield forbidden("status.conditions", f'updates may not modify a condition of type "{kind}"')


def _certificate(new: SigningRequestStatus, old: SigningRequestStatus, *, may_set: bool) -> Iterator[Cause]:
    if new.certificate == old.certificate:
        return
    if not may_set:
        yield forbidden("status.certificate", "updates may not set certificate content")
    elif old.certificate:
        yield forbidden("status.certificate", "updates may not modify existing certificate content")
