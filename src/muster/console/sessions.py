"""Who may use the console: one-time links, and sessions that end when nobody uses them.

A session is two secrets. One is a cookie, which the browser sends to every port of this machine, so that another local
program can learn it. The other is told once, in the answer that begins the session, and comes back as a header: only
pages of this origin can send it. Nothing is stored here: the cookie is sealed and carries what the session is, so that
several replicas behind an ingress share sessions when they share the key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

if TYPE_CHECKING:
    from collections.abc import Callable

KEY_BYTES: Final = 32
LONGEST_COOKIE: Final = 3800  # browsers keep 4096 bytes with the name and attributes
_NONCE: Final = 12
_RENEWALS: Final = 20  # of a session's idle time, how often at most a new cookie is sent


class Session(msgspec.Struct, frozen=True):
    """Somebody who may use the console. `bearer` is who he is to the server; empty for the kubeconfig's user."""

    id: str
    seen: float
    bearer: str = ""


@dataclass(frozen=True, slots=True)
class Begun:
    """The two secrets of a new session."""

    cookie: str
    secret: str


class Sessions:
    """Seals and opens sessions. A session ends `idle` seconds after its last use."""

    def __init__(self, idle: float, key: bytes | None = None, clock: Callable[[], float] = time.time) -> None:
        self.idle = idle
        self._key = key or secrets.token_bytes(KEY_BYTES)
        self._seal = AESGCM(hashlib.sha256(b"cookie" + self._key).digest())
        self._clock = clock

    def begin(self, bearer: str = "") -> Begun | None:
        """A new session; None for a bearer token that does not fit into a cookie."""
        session = Session(secrets.token_urlsafe(16), self._clock(), bearer)
        cookie = self._sealed(session)
        return Begun(cookie, self._secret(session)) if len(cookie) <= LONGEST_COOKIE else None

    def find(self, cookie: str, secret: str) -> Session | None:
        """The session that both secrets belong to, if it has not ended."""
        session = self._opened(cookie)
        if session is None or not hmac.compare_digest(self._secret(session).encode(), secret.encode()):
            return None
        return session if self.remaining(session) > 0 else None

    def remaining(self, session: Session) -> float:
        """Seconds until the session ends, if nobody uses it."""
        return session.seen + self.idle - self._clock()

    def renewed(self, session: Session) -> str | None:
        """A cookie that says that the session was used now; None while the one there is says nearly the same."""
        now = self._clock()
        if now - session.seen < self.idle / _RENEWALS:
            return None
        return self._sealed(Session(session.id, now, session.bearer))

    def _secret(self, session: Session) -> str:
        return hmac.new(self._key, b"secret" + session.id.encode(), "sha256").hexdigest()

    def _sealed(self, session: Session) -> str:
        nonce = secrets.token_bytes(_NONCE)
        sealed = nonce + self._seal.encrypt(nonce, msgspec.json.encode(session), None)
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def _opened(self, cookie: str) -> Session | None:
        try:
            sealed = base64.urlsafe_b64decode(cookie + "=" * (-len(cookie) % 4))
            text = self._seal.decrypt(sealed[:_NONCE], sealed[_NONCE:], None)
            return msgspec.json.decode(text, type=Session)
        except (InvalidTag, ValueError, binascii.Error, msgspec.MsgspecError):
            return None


class Links:
    """One-time links: each begins one session."""

    def __init__(self, most: int = 16) -> None:
        self._most = most
        self._unused: list[str] = []  # the oldest first

    def new(self) -> str:
        key = secrets.token_urlsafe(24)
        self._unused = [*self._unused, key][-self._most :]
        return key

    def use(self, key: str) -> bool:
        """Whether the link was made here and not used before; from now on it is used."""
        found = [each for each in self._unused if hmac.compare_digest(each.encode(), key.encode())]
        self._unused = [each for each in self._unused if each not in found]
        return bool(found)
