"""Bearer tokens: the administrator's token, made at the first start, and the authenticator that knows tokens by digest.

`app` calls `administrator_token` with a file of the hub's state directory and gives the REST layer the authenticator.
The tokens of other users are in `token_file`, those of programs in `service_accounts`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
from typing import TYPE_CHECKING

from muster.access.attributes import AUTHENTICATED as AUTHENTICATED
from muster.access.attributes import SYSTEM_MASTERS as SYSTEM_MASTERS
from muster.errors import MusterError
from muster.hub.requests import API_AUDIENCE, User

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from muster.hub.requests import Authenticator

UNAUTHENTICATED = "system:unauthenticated"
ANONYMOUS = User("system:anonymous", groups=(UNAUTHENTICATED,))
ADMINISTRATOR = User("muster:admin", uid="muster:admin", groups=(SYSTEM_MASTERS, AUTHENTICATED))

_TOKEN_BYTES = 32
_SHORTEST = 20
_LONGEST = 8 * 1024


class TokenFileError(MusterError):
    """A file with tokens cannot be trusted or used: which file, why, and what to do."""


class UnwrittenTokenError(TokenFileError):
    """There is no token yet, and the disk takes none."""


def administrator_token(path: Path) -> str:
    """The token in the file, or a new one written there readable only by its owner."""
    try:
        return _read(path)
    except FileNotFoundError:
        return _create(path)


def _read(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TokenFileError(f"{path}: the token cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise TokenFileError(f"{path}: this is not a file; remove it to have a new token made")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise TokenFileError(f"{path}: others may read the token; run: chmod 600 {path}")
        token = os.read(descriptor, _LONGEST).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        raise TokenFileError(f"{path}: this is not a token; delete the file to have a new one made")
    return token


def _create(path: Path) -> str:
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # O_EXCL: of two hubs that start at once, one makes the token and the other reads it.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return _read(path)
    except OSError as error:
        raise UnwrittenTokenError(f"{path}: the token cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with contextlib.suppress(OSError):
            path.unlink()
        raise UnwrittenTokenError(f"{path}: the token cannot be written: {error.strerror}") from None
    return token


class TokenAuthenticator:
    """Knows tokens by their digest: neither a lookup's timing nor a memory dump gives one away."""

    def __init__(self, users: Mapping[str, User]) -> None:
        self._users = {digest(token): user for token, user in users.items()}

    async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None:
        return self._users.get(digest(token)) if audience == API_AUDIENCE else None


def digest(token: str) -> bytes:
    """What is kept of a token. Tokens are long and random, so it says nothing about them."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


class Credentials:
    """Several authenticators as one: the first that knows a token answers."""

    def __init__(self, *authenticators: Authenticator) -> None:
        self._authenticators = authenticators

    async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None:
        if len(token) > _LONGEST:
            return None
        for each in self._authenticators:
            user = await each.authenticate(token, audience)
            if user is not None:
                return user
        return None
