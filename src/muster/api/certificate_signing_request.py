"""CertificateSigningRequest: somebody asks for a certificate; somebody else approves or denies; a signer issues it.

Who asks is written by the hub (`hub.signing`), and so are the times of conditions. A request never changes: a write of
the object reaches its metadata, one of `approval` its conditions, one of `status` its certificate and conditions that
are no verdict.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from muster.api import parts
from muster.api.ages import human_duration
from muster.api.builtin import AGE, builtin
from muster.api.certificate_rules import approval_rules, read_signing_request, request_rules, status_rules
from muster.api.resource import PrinterColumn
from muster.values.json import JsonObject
from muster.values.json_members import list_at, object_at

if TYPE_CHECKING:
    from datetime import datetime


GROUP: Final = "certificates.k8s.io"
APPROVED, DENIED, FAILED = "Approved", "Denied", "Failed"
VERDICTS: Final = (APPROVED, DENIED)
_NONE: Final = "<none>"


def compose(subresource: str, new: JsonObject, old: JsonObject, now: str) -> None:
    """Put back what a write there may not change."""
    sent, before = object_at(new, "status"), object_at(old, "status")
    conditions, known = list_at(sent, "conditions"), list_at(before, "conditions")
    new["spec"] = object_at(old, "spec")
    match subresource:
        case "approval":
            new["status"] = _with_conditions(before, [_dated(each, known, now) for each in conditions])
        case "status":
            kept = _with_verdicts(conditions, known)
            new["status"] = _with_conditions(sent, [_dated(each, known, now) for each in kept])
        case _:
            new["status"] = before


def _with_conditions(status: JsonObject, conditions: list[JsonObject]) -> JsonObject:
    rest = {name: value for name, value in status.items() if name != "conditions"}
    return {"conditions": conditions, **rest} if conditions else rest


def _with_verdicts(sent: list[JsonObject], before: list[JsonObject]) -> list[JsonObject]:
    """The conditions with those that say yes or no as they were, where there are as many of them as before."""
    for verdict in VERDICTS:
        known = [each for each in before if each.get("type") == verdict]
        if len(known) == len([each for each in sent if each.get("type") == verdict]):
            left = iter(known)
            sent = [next(left) if each.get("type") == verdict else each for each in sent]
    return sent


def _dated(condition: JsonObject, before: list[JsonObject], now: str) -> JsonObject:
    """The condition with the times that it lacks: a status that it already had is as old as it was."""
    dated = dict(condition)
    if not dated.get("lastUpdateTime"):
        dated["lastUpdateTime"] = now
    if not dated.get("lastTransitionTime"):
        same = (
            each["lastTransitionTime"]
            for each in before
            if all(each.get(name) == dated.get(name) for name in ("type", "status")) and each.get("lastTransitionTime")
        )
        dated["lastTransitionTime"] = next(same, now)
    return dated


def _signer(obj: JsonObject, _: datetime) -> object:
    return read_signing_request(obj).spec.signer_name or _NONE


def _requestor(obj: JsonObject, _: datetime) -> object:
    return read_signing_request(obj).spec.username


def _duration(obj: JsonObject, _: datetime) -> object:
    seconds = read_signing_request(obj).spec.expiration_seconds
    return _NONE if seconds is None else human_duration(timedelta(seconds=seconds))


def _condition(obj: JsonObject, _: datetime) -> object:
    status = read_signing_request(obj).status
    verdict = DENIED if status.of(DENIED) else APPROVED if status.of(APPROVED) else "Pending"
    failed = f",{FAILED}" if status.of(FAILED) else ""
    issued = ",Issued" if status.certificate else ""
    return f"{verdict}{failed}{issued}"


CERTIFICATE_SIGNING_REQUEST: Final = builtin(
    "CertificateSigningRequest",
    "certificatesigningrequests",
    parts.kind(
        "A request for a certificate, what was decided about it, and what was issued.",
        parts.obj(
            "The request. It never changes.",
            ("request", "signerName"),
            {
                "request": parts.string("A PKCS #10 request in PEM, as base64.", format="byte"),
                "signerName": parts.string("Who is to sign it, such as kubernetes.io/kube-apiserver-client."),
                "expirationSeconds": parts.integer("How long the certificate should be good, 600 at least."),
                "usages": parts.array(parts.string(), "What the certificate is for.")
                | {"x-kubernetes-list-type": "atomic"},
                "username": parts.string("Who asks. Set by the hub, like the next three."),
                "uid": parts.string("Which user of that name."),
                "groups": parts.array(parts.string(), "The groups of who asks.") | {"x-kubernetes-list-type": "atomic"},
                "extra": {
                    "type": "object",
                    "description": "More about who asks.",
                    "additionalProperties": parts.array(parts.string()),
                },
            },
        ),
        parts.obj(
            "What was decided, and what was issued.",
            properties={
                "conditions": parts.map_list(
                    parts.obj(
                        "A verdict, or what became of the request.",
                        ("status", "type"),
                        {
                            "type": parts.string("Approved, Denied, Failed, or another word."),
                            "status": parts.string("True; other words may be False or Unknown too."),
                            "reason": parts.string("Why, for programs."),
                            "message": parts.string("Why, for people."),
                            "lastUpdateTime": parts.time("When it was last written.", nullable=True),
                            "lastTransitionTime": parts.time("When its status last changed.", nullable=True),
                        },
                    ),
                    ("type",),
                ),
                "certificate": parts.string("What was issued: certificates in PEM, as base64.", format="byte"),
            },
        ),
    ),
    (
        AGE,
        PrinterColumn("SignerName", "string", description="Who is to sign it.", cell=_signer),
        PrinterColumn("Requestor", "string", description="Who asks.", cell=_requestor),
        PrinterColumn("RequestedDuration", "string", description="How long it should be good.", cell=_duration),
        PrinterColumn("Condition", "string", description="What was decided, and what came of it.", cell=_condition),
    ),
    group=GROUP,
    namespaced=False,
    short_names=("csr",),
    status=True,
    parts=("approval",),
    rules=request_rules,
    part_rules={"approval": approval_rules, "status": status_rules},
    compose=compose,
    reset={
        "": {"f:spec": {}, "f:status": {}},
        "approval": {"f:spec": {}, "f:status": {"f:certificate": {}}},
        "status": {"f:spec": {}, "f:status": {"f:conditions": {}}},
    },
    selectable_fields=(".spec.signerName",),
    zero={"spec": {}, "status": {}},
    name_problems=lambda _: [],
)
