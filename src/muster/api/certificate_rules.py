"""What is checked of a CertificateSigningRequest, and what may change about it, in the words of a real server."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from muster.api.certificate_requests import RequestError, check_certificates, read_request
from muster.values.causes import Cause, duplicate, forbidden, invalid, not_supported, quoted, required, too_long
from muster.values.json import Json, JsonObject
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


def request_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    """On a create, and on writes of the object itself."""
    yield from _whole(new, old)
    if old is not None:
        yield from _removed(new, old)
        yield from _verdicts(new, old)
        yield from _certificate(new, old, may_set=False)


def approval_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    yield from _whole(new, old)
    yield from _removed(new, old or {})
    yield from _certificate(new, old or {}, may_set=False)


def status_rules(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    yield from _whole(new, old)
    yield from _removed(new, old or {})
    yield from _verdicts(new, old or {})
    yield from _certificate(new, old or {}, may_set=True)


def _whole(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    spec, status = new.get("spec") or {}, new.get("status") or {}
    request = spec.get("request") or ""
    try:
        read_request(decoded(request)).check_signature()
    except RequestError as error:
        yield invalid("spec.request", request or None, str(error))
    usages = spec.get("usages") or []
    if not usages:
        yield required("spec.usages")
    for index, usage in enumerate(usages):
        if usage not in USAGES:
            yield not_supported(f"spec.usages[{index}]", usage, USAGES)
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            yield duplicate(f"spec.usages[{index}]", usage)
    yield from _signer(spec.get("signerName") or "")
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        detail = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid("spec.expirationSeconds", seconds, detail)
    yield from _conditions(status.get("conditions") or [], (old or {}).get("status") or {})
    certificate = status.get("certificate") or ""
    if certificate and certificate != ((old or {}).get("status") or {}).get("certificate"):
        try:
            check_certificates(decoded(certificate))
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


def _conditions(conditions: list[JsonObject], before: JsonObject) -> Iterator[Cause]:
    """What was wrong before is tolerated, so that an old request can still be written."""
    known = [each.get("type") or "" for each in before.get("conditions") or ()]
    field = "status.conditions"
    seen: list[str] = []
    for index, condition in enumerate(conditions):
        kind, state = condition.get("type") or "", condition.get("status") or ""
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


def _of(obj: JsonObject, kind: str) -> list[JsonObject]:
    return [each for each in (obj.get("status") or {}).get("conditions") or () if each.get("type") == kind]


def _removed(new: JsonObject, old: JsonObject) -> Iterator[Cause]:
    for kind in _KEPT:
        if len(_of(new, kind)) < len(_of(old, kind)):
            yield forbidden("status.conditions", f'updates may not remove a condition of type "{kind}"')


def _verdicts(new: JsonObject, old: JsonObject) -> Iterator[Cause]:
    """A verdict is given through `approval` only."""
    for kind in _VERDICTS:
        now, before = _of(new, kind), _of(old, kind)
        if len(now) > len(before):
            yield forbidden("status.conditions", f'updates may not add a condition of type "{kind}"')
        elif len(now) == len(before) and now != before:
            yield forbidden("status.conditions", f'updates may not modify a condition of type "{kind}"')


def _certificate(new: JsonObject, old: JsonObject, *, may_set: bool) -> Iterator[Cause]:
    now, before = ((each.get("status") or {}).get("certificate") or "" for each in (new, old))
    if now == before:
        return
    if not may_set:
        yield forbidden("status.certificate", "updates may not set certificate content")
    elif before:
        yield forbidden("status.certificate", "updates may not modify existing certificate content")
