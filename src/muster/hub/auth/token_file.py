"""The tokens of users: a file beside the database with who they are and a digest of each token, never the token.

`muster hub token` writes it, whether the hub runs or not; the hub notices at the next request. A token has 256 random
bits, so a plain digest cannot be turned back, and no salt is needed to tell equal tokens apart.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import secrets
import stat
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from muster.errors import InvalidObjectError
from muster.hub.auth.files import write_private
from muster.hub.auth.tokens import ANONYMOUS, AUTHENTICATED, TokenFileError, digest
from muster.hub.requests import API_AUDIENCE, User

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_log = logging.getLogger(__name__)
_LONGEST_NAME = 253
_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_ID_LENGTH = 10
_SECRET_BYTES = 32
_PREFIX = "muster-"


class InvalidTokenError(InvalidObjectError):
    """A token that cannot be made as asked: why."""


class Token(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a token. `digest` is the SHA-256 of the token in hexadecimal."""

    id: str
    user: str
    uid: str
    digest: str
    created: datetime
    groups: tuple[str, ...] = ()
    expires: datetime | None = None

    def is_expired(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now


class _Content(msgspec.Struct, frozen=True):
    tokens: tuple[Token, ...] = ()
    version: int = 1


class TokenFile:
    """Creates, lists and revokes tokens."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(
        self, user: str, groups: tuple[str, ...], lifetime: timedelta | None, now: datetime | None = None
    ) -> tuple[str, Token]:
        """A new token for a user, and what is known of it. The token itself is nowhere else."""
        _check_name("user", user)
        for group in groups:
            _check_name("group", group)
        if user == ANONYMOUS.name:
            raise InvalidTokenError("", f"{user} is nobody in particular, and has no token")
        if lifetime is not None and lifetime <= timedelta(0):
            raise InvalidTokenError("", "a token that has expired from the start is of no use")
        moment = (now or datetime.now(UTC)).replace(microsecond=0)
        with self._changing() as known:
            taken = {each.id for each in known}
            while (name := "".join(secrets.choice(_ID_ALPHABET) for _ in range(_ID_LENGTH))) in taken:
                pass
            secret = f"{_PREFIX}{name}-{secrets.token_urlsafe(_SECRET_BYTES)}"
            uid = next((each.uid for each in known if each.user == user), None) or str(uuid4())
            token = Token(
                id=name,
                user=user,
                uid=uid,
                digest=digest(secret).hex(),
                created=moment,
                groups=tuple(dict.fromkeys(groups)),
                expires=None if lifetime is None else moment + lifetime,
            )
            known.append(token)
        return secret, token

    def tokens(self) -> tuple[Token, ...]:
        """All of them, expired ones too."""
        return read_tokens(self._path)

    def revoke(self, name: str) -> Token | None:
        """Forget the token with this id; None if there is none."""
        with self._changing() as known:
            found = next((each for each in known if each.id == name), None)
            if found is not None:
                known.remove(found)
            return found

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """The tokens, to be changed in place while nobody else does."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self._path.with_name(f"{self._path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise TokenFileError(f"{self._path}: cannot be changed: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = read_tokens(self._path)
            known = [*before]
            yield known
            if tuple(known) != before:
                content = msgspec.json.format(msgspec.json.encode(_Content(tuple(known))), indent=1)
                write_private(self._path, content + b"\n")
        except OSError as error:
            raise TokenFileError(f"{self._path}: cannot be changed: {error.strerror}") from None
        finally:
            os.close(lock)


def read_tokens(path: Path) -> tuple[Token, ...]:
    """The tokens of a file; none if there is no file. Raises TokenFileError if it cannot be trusted."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise TokenFileError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise TokenFileError(f"{path}: this is not a file of tokens, and not a file; remove it")
        if status.st_mode & 0o022:
            raise TokenFileError(f"{path}: others may write it, and so become any user; run: chmod 600 {path}")
        content = os.read(descriptor, status.st_size)
    except OSError as error:
        raise TokenFileError(f"{path}: cannot be read: {error.strerror}") from None
    finally:
        os.close(descriptor)
    try:
        tokens = msgspec.json.decode(content, type=_Content).tokens
        for token in tokens:
            bytes.fromhex(token.digest)
    except ValueError as error:  # of msgspec too
        raise TokenFileError(
            f"{path}: this is not a file of tokens: {error}; put a copy back, or remove it and make new tokens"
        ) from None
    return tokens


def _check_name(noun: str, name: str) -> None:
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
        rule = f"it takes 1 to {_LONGEST_NAME} printable characters without space around them"
        raise InvalidTokenError("", f"{name!r} cannot be a {noun}: {rule}")


class TokenFileAuthenticator:
    """Knows the users of a token file, as it is at the moment of the question."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._known: dict[bytes, tuple[User, float | None]] = {}

    async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None:
        if not token.startswith(_PREFIX) or audience != API_AUDIENCE:
            return None
        self._refresh()
        found = self._known.get(digest(token))
        if found is None:
            return None
        user, expires = found
        return None if expires is not None and expires <= time.time() else user

    def _refresh(self) -> None:
        """Read the file if it is another one than last time. A file that cannot be trusted lets nobody in."""
        try:
            now = self._path.stat()
            seen: tuple[int, ...] = (now.st_mtime_ns, now.st_ino, now.st_size, now.st_mode)
        except OSError:
            seen = ()
        if seen == self._seen:
            return
        self._seen = seen
        self._known = {}
        try:
            tokens = read_tokens(self._path)
        except TokenFileError as error:
            _log.error("nobody can use a token of this file: %s", error)
            return
        for each in tokens:
            groups = each.groups if AUTHENTICATED in each.groups else (*each.groups, AUTHENTICATED)
            expires = None if each.expires is None else each.expires.timestamp()
            self._known[bytes.fromhex(each.digest)] = (User(each.user, each.uid, groups), expires)
