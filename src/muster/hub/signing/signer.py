"""The hub's signer: issues what was approved for one of its signers, and deletes requests that nobody needs any more.

`app` starts it beside the API. It knows the certificate authority of the hub's own clients; requests for other signers
are left to whoever signs for them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from muster.api.certificate_requests import RequestError, pem_blocks, read_request
from muster.api.certificate_rules import decoded, read_signing_request
from muster.api.certificate_signing_request import APPROVED, CERTIFICATE_SIGNING_REQUEST, DENIED, FAILED
from muster.hub.auth.certificates import CertificateError, client_authority
from muster.hub.auth.tokens import AUTHENTICATED, SYSTEM_MASTERS
from muster.hub.following import Follower
from muster.hub.objects import decode
from muster.hub.pace import Pace
from muster.hub.requests import DeleteOptions, ObjectBody, Target, User, WriteOptions
from muster.hub.signing import issuing
from muster.hub.status import StatusError
from muster.values.json import JsonObject
from muster.values.times import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from muster.api.certificate_rules import SigningRequest, SigningRequestSpec
    from muster.hub.api import Api
    from muster.hub.storage import Record, Store

_log = logging.getLogger(__name__)
#: As whom it writes. Nobody else is this user: it is in no file, and acting as it takes mastery.
SIGNER = User("system:controller:certificate-controller", groups=(SYSTEM_MASTERS, AUTHENTICATED))
_OPTIONS = WriteOptions(field_manager="certificate-controller")
_DONE, _WAITING = timedelta(hours=1), timedelta(hours=24)  # how long requests stay once decided, or undecided
_EVERY = 600.0  # seconds between two looks at what is old


class Signer:
    """`start` it, `close` it."""

    def __init__(
        self, api: Api, store: Store, directory: Path, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        """`directory` has the hub's certificate authority."""
        self._api = api
        self._store = store
        self._directory = directory
        self._clock = clock
        kind = CERTIFICATE_SIGNING_REQUEST.key
        self._follower = Follower(store, kind, self._look, "certificates cannot be issued now")
        self._cleaning: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._follower.start()
        self._cleaning = asyncio.get_running_loop().create_task(self._clean())

    async def close(self) -> None:
        await self._follower.close()
        if self._cleaning is not None:
            self._cleaning.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._cleaning

    # --- Signing ----------------------------------------------------------------------------------------------------

    async def _look(self, record: Record) -> None:
        if b'"Approved"' not in record.value:
            return  # nothing to do, as for most states of a request
        obj = decode(record.value)
        request = read_signing_request(obj)
        status = request.status
        if status.certificate or request.spec.signer_name not in issuing.SIGNERS or not status.of(APPROVED):
            return
        if status.of(DENIED) or status.of(FAILED):
            return
        try:
            outcome = await asyncio.to_thread(partial(self._outcome, request.spec))
        except (CertificateError, OSError) as error:
            _log.warning("request %s cannot be signed: %s", record.key.name, error)
            return
        target = Target(
            CERTIFICATE_SIGNING_REQUEST, CERTIFICATE_SIGNING_REQUEST.storage_version, "", record.key.name, "status"
        )
        try:
            await self._api.update(
                SIGNER, target, ObjectBody({**obj, "status": _added(obj["status"], outcome)}), _OPTIONS
            )
        except StatusError as error:
            if error.code not in (404, 409, 422):  # gone, or changed meanwhile: then it is looked at again
                raise

    def _outcome(self, spec: SigningRequestSpec) -> JsonObject:
        """What to add to the status: a certificate, or a condition that says why there is none."""
        try:
            request = read_request(decoded(spec.request))
            request.check_signature()
            why = issuing.problem(spec.signer_name, request, spec.usages)
            if not why:
                now = self._clock()
                authority = client_authority(self._directory, now)
                issued = issuing.issued(request, spec.usages, spec.expiration_seconds, authority, now)
                return {"certificate": _encoded(issued)}
        except (RequestError, ValueError, TypeError) as error:
            why = str(error)
        moment = self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        failed = {
            "type": FAILED,
            "status": "True",
            "reason": "SignerValidationFailure",
            "message": why,
            "lastUpdateTime": moment,
        }
        return {"conditions": [failed]}

    # --- Clearing away ----------------------------------------------------------------------------------------------

    async def _clean(self) -> None:
        while True:
            try:
                await self.sweep()
            except StatusError as error:  # the disk is full, say: the next round tries again
                _log.warning("old certificate requests cannot be deleted: %s", error)
            await asyncio.sleep(_EVERY)

    async def sweep(self) -> int:
        """Delete every request whose time is over; how many there were."""
        pace = Pace()
        count = 0
        now = self._clock()
        for record in list(self._store.rows(CERTIFICATE_SIGNING_REQUEST.key)):
            if is_over(read_signing_request(decode(record.value)), now):
                count += await self._delete(record)
            if pace.is_due():
                await pace.pause()
        return count

    async def _delete(self, record: Record) -> int:
        kind = CERTIFICATE_SIGNING_REQUEST
        target = Target(kind, kind.storage_version, "", record.key.name)
        try:
            await self._api.delete(SIGNER, target, DeleteOptions(resource_version=str(record.revision)))
        except StatusError as error:
            if error.code not in (404, 409):  # gone, or written meanwhile
                raise
            return 0
        return 1


def _added(status: JsonObject, outcome: JsonObject) -> JsonObject:
    """The status with an outcome beside the conditions that it had."""
    conditions = [*status["conditions"], *outcome.get("conditions", ())]
    return {**status, **outcome, "conditions": conditions}


def is_over(request: SigningRequest, now: datetime) -> bool:
    """Whether a request has been there long enough: an hour once it came to an end, a day while it waits for one."""
    certificate = request.status.certificate
    if not request.status.conditions:
        return _older(request.metadata.creation_timestamp, _WAITING, now)
    for condition in request.status.conditions:
        written = condition.last_update_time
        match condition.type:
            case "Denied" | "Failed" if _older(written, _DONE, now):
                return True
            case "Approved" if _older(written, _DONE if certificate else _WAITING, now):
                return True
            case "Approved" if certificate and _has_expired(certificate, now):
                return True
    return False


def _older(moment: object, age: timedelta, now: datetime) -> bool:
    since = parse_time(moment)
    return isinstance(since, datetime) and now - since > age


def _has_expired(certificate: str, now: datetime) -> bool:
    from cryptography import x509

    block = next(pem_blocks(decoded(certificate)), None)
    try:
        return block is not None and now > x509.load_der_x509_certificate(block.content).not_valid_after_utc
    except ValueError:
        return False


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
