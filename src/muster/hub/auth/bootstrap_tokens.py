"""Bootstrap tokens: for clusters that are about to join, good until they expire or their secret is deleted.

As in Kubernetes a token is `ID.SECRET`, kept in a secret `bootstrap-token-ID` of type bootstrap.kubernetes.io/token in
the namespace kube-system. Whoever shows it is `system:bootstrap:ID`, in the group `system:bootstrappers` and in those
that the secret names. `access` gives the REST layer the authenticator, `app` starts the cleaner beside the API.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import hmac
import logging
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from muster.api.registration import BOOTSTRAPPERS
from muster.api.secret import BOOTSTRAP_TOKEN, SECRET
from muster.hub.auth.tokens import AUTHENTICATED, SYSTEM_MASTERS
from muster.hub.objects import decode, is_deleting
from muster.hub.requests import API_AUDIENCE, DeleteOptions, Target, User
from muster.hub.status import StatusError
from muster.hub.storage import Key
from muster.values.json_members import object_at
from muster.values.times import Fault, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.api import Api
    from muster.hub.storage import Record, Store
    from muster.values.json import JsonObject

NAMESPACE: Final = "kube-system"
PREFIX: Final = "bootstrap-token-"
_TOKEN: Final = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_GROUP: Final = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")
_USER: Final = User("system:controller:token-cleaner", groups=(SYSTEM_MASTERS, AUTHENTICATED))
_EVERY: Final = 60.0  # seconds between two looks at what has expired
_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class BootstrapTokens:
    """Knows the tokens in the store. An authenticator."""

    def __init__(self, store: Store, clock: Callable[[], datetime] = _now) -> None:
        self._store = store
        self._clock = clock

    async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None:
        found = _TOKEN.fullmatch(token)
        if found is None or audience != API_AUDIENCE:
            return None
        name, secret = found.groups()
        record = self._store.get(Key(SECRET.key, NAMESPACE, PREFIX + name))
        if record is None or is_deleting(record):
            return None
        obj = decode(record.value)
        data = _texts(obj)
        if obj.get("type") != BOOTSTRAP_TOKEN or data.get("token-id") != name:
            return None
        # Compared in full, so that nobody learns a secret letter by letter.
        if not hmac.compare_digest(data.get("token-secret", "").encode(), secret.encode()):
            return None
        if has_expired(data, self._clock()) or data.get("usage-bootstrap-authentication") != "true":
            return None
        groups = [each.strip() for each in data.get("auth-extra-groups", "").split(",") if each.strip()]
        if not all(_GROUP.fullmatch(each) for each in groups):
            return None  # a token can make nobody a member of just any group
        return User(f"system:bootstrap:{name}", groups=(BOOTSTRAPPERS, *sorted(set(groups)), AUTHENTICATED))


def _texts(secret: JsonObject) -> dict[str, str]:
    """The values of a secret as text; what is none is left out."""
    texts = {}
    for key, value in object_at(secret, "data").items():
        with contextlib.suppress(binascii.Error, ValueError, TypeError):
            texts[key] = base64.b64decode(value or "", validate=True).decode()
    return texts


def has_expired(data: dict[str, str], now: datetime) -> bool:
    """Whether a token's time is over. A time that cannot be read is: nobody knows how long it was meant to be good."""
    if not data.get("expiration"):
        return False
    moment = parse_time(data["expiration"])
    return isinstance(moment, Fault) or moment <= now


class BootstrapTokenCleaner:
    """Deletes what has expired. `start` it, `close` it; `sweep` is one round."""

    def __init__(self, api: Api, store: Store, clock: Callable[[], datetime] = _now) -> None:
        self._api = api
        self._store = store
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            try:
                await self.sweep()
            except StatusError as error:  # the disk is full, say: the next round tries again
                _log.warning("bootstrap tokens that have expired cannot be deleted: %s", error)
            await asyncio.sleep(_EVERY)

    async def sweep(self) -> int:
        """Delete every token whose time is over; how many there were."""
        now = self._clock()
        count = 0
        for record in list(self._store.scan(SECRET.key, NAMESPACE)):
            if not record.key.name.startswith(PREFIX):
                continue
            obj = decode(record.value)
            if obj.get("type") == BOOTSTRAP_TOKEN and has_expired(_texts(obj), now):
                count += await self._delete(record)
        return count

    async def _delete(self, record: Record) -> int:
        target = Target(SECRET, SECRET.storage_version, NAMESPACE, record.key.name)
        try:
            await self._api.delete(_USER, target, DeleteOptions(resource_version=str(record.revision)))
        except StatusError as error:
            if error.code not in (404, 409):  # gone, or written meanwhile
                raise
            return 0
        return 1
