"""Who comes in: from the head of a request to the user it acts as, or a refusal. Called by the REST layer.

A client certificate counts before a bearer token, as in Kubernetes. Without either a request is refused, or anonymous
where that is switched on.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from muster.hub import status
from muster.hub.auth.fairness import Fairness, UserLimits
from muster.hub.auth.impersonation import acting_user
from muster.hub.auth.tokens import ANONYMOUS, SYSTEM_MASTERS
from muster.hub.requests import Attributes
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from muster.hub.auth.peers import Peer
    from muster.hub.requests import Authenticator, Authorizer, User

PEER = "muster.peer"  # where the server leaves the Peer of a connection in an ASGI scope
_OWN = "system:muster:"  # the hub's own controllers, which are not counted
_UNKNOWN_SIZE = 1024 * 1024  # what a body without a stated length is counted as


class Authentication:
    """Identifies users, lets them act as others if they may, and holds back those who ask for too much."""

    def __init__(
        self,
        authenticator: Authenticator,
        authorizer: Authorizer,
        *,
        anonymous: bool = False,
        limits: UserLimits | None = None,
    ) -> None:
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._anonymous = anonymous
        self._fairness = Fairness(limits or UserLimits())

    async def identify(self, scope: JsonMapping, token: str | None = None) -> User:
        """The user whose credentials the request carries; `token` stands in for a header. Raises 401."""
        peer: Peer | None = scope.get(PEER)
        if peer is not None and peer.is_good:
            return peer.user
        token = _bearer(scope["headers"]) or token
        if token:
            user = await self._authenticator.authenticate(token)
            if user is None:
                raise status.unauthorized()
            return user
        if not self._anonymous or peer is not None:
            raise status.unauthorized()
        return ANONYMOUS

    async def acting_user(self, user: User, scope: JsonMapping, attributes: Attributes) -> User:
        """The user that the request acts as; `attributes` are what it is about. Raises 400 and 403."""
        return await acting_user(user, scope["headers"], self._authorizer, attributes)

    def enter(self, user: User, headers: Mapping[bytes, bytes]) -> int:
        """The request begins: raises 429 if the user has too much under way. Returns what `leave` needs."""
        if SYSTEM_MASTERS in user.groups or user.name.startswith(_OWN):
            return -1
        size = _size(headers)
        self._fairness.enter(user.name, size)
        return size

    def watching(self, user: User) -> AbstractContextManager[None]:
        """While a watch is open. Raises 429 if the user has too many."""
        if SYSTEM_MASTERS in user.groups or user.name.startswith(_OWN):
            return contextlib.nullcontext()
        return self._fairness.watching(user.name)

    async def hold(self, user: User, size: int) -> Callable[[], None]:
        """Room for an answer of this size until it is read; see `Fairness.hold`. Raises 429."""
        if not size or SYSTEM_MASTERS in user.groups or user.name.startswith(_OWN):
            return _nothing
        return await self._fairness.hold(user.name, size)

    def leave(self, user: User, size: int) -> None:
        """The request has been answered."""
        if size >= 0:
            self._fairness.leave(user.name, size)


def _nothing() -> None:
    """What gives back the room of those who are not counted."""


_COLLECTION_VERBS = {"GET": "list", "HEAD": "list", "DELETE": "deletecollection"}
_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def path_attributes(method: str, path: str) -> Attributes:
    """What a role must allow for a path that names no kind we know: a resource all the same, or just a path."""
    parts = [part for part in path.split("/") if part]
    rest, group = parts[2:], ""
    if parts[:1] == ["apis"]:
        rest, group = parts[3:], parts[1] if len(parts) > 1 else ""
    if parts[:1] not in (["api"], ["apis"]) or not rest:
        return Attributes(method.lower(), path=path)
    if rest[0] in ("watch", "proxy") and len(rest) > 1:
        rest = rest[1:]
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 1:
        namespace = rest[1]
        if len(rest) > 2 and rest[2] not in ("status", "finalize"):
            rest = rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    verb = _VERBS.get(method, "") if name else _COLLECTION_VERBS.get(method, _VERBS.get(method, ""))
    return Attributes(verb, group, resource=resource, subresource=subresource, namespace=namespace, name=name)


def wants_to_act(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a request has an impersonation header."""
    for name in headers:  # noqa: SIM110 - every request asks; a generator would take three times as long
        if name.startswith(b"impersonate-"):
            return True
    return False


def _bearer(headers: list[tuple[bytes, bytes]]) -> str:
    """The bearer token; none for other schemes. Two such headers could mean one user here and another elsewhere."""
    found = [value for name, value in headers if name == b"authorization"]
    if not found:
        return ""
    if len(found) > 1:
        raise status.unauthorized()
    scheme, _, token = found[0].decode("latin-1").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _size(headers: Mapping[bytes, bytes]) -> int:
    length = headers.get(b"content-length")
    if length is not None:
        return int(length) if length.isdigit() and len(length) < 16 else _UNKNOWN_SIZE
    return _UNKNOWN_SIZE if b"transfer-encoding" in headers else 0
