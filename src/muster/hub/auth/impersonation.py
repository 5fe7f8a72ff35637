"""Acting as somebody else: the Impersonate-* headers, each of which needs a permission of its own.

Called by the REST layer after authentication. Without it an administrator's `kubectl --as` would run with all rights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from muster.hub import status
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import Attributes, User

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.hub.requests import Authorizer

_ANONYMOUS = "system:anonymous"
_AUTHENTICATION = "authentication.k8s.io"


async def acting_user(user: User, headers: Iterable[tuple[bytes, bytes]], authorizer: Authorizer) -> User:
    """The user that the request acts as. Raises 400 for incomplete headers, 403 without the permission."""
    name = uid = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for raw_header, raw_value in headers:
        if not raw_header.startswith(b"impersonate-"):
            continue
        header, value = raw_header.decode("latin-1"), raw_value.decode("latin-1")
        if header == "impersonate-user":
            name = value
        elif header == "impersonate-group":
            groups.append(value)
        elif header == "impersonate-uid":
            uid = value
        elif header.startswith("impersonate-extra-"):
            extra.setdefault(unquote(header.removeprefix("impersonate-extra-")), []).append(value)
    if not name:
        if groups or uid or extra:
            raise status.internal_error("requested other identity without impersonating a user")
        return user
    needed = [Attributes("impersonate", resource="users", name=name)]
    if name.startswith("system:serviceaccount:") and name.count(":") == 3:
        _, _, namespace, account = name.split(":")
        needed = [Attributes("impersonate", resource="serviceaccounts", namespace=namespace, name=account)]
    needed += [Attributes("impersonate", resource="groups", name=group) for group in groups]
    if uid:
        needed.append(Attributes("impersonate", group=_AUTHENTICATION, resource="uids", name=uid))
    needed += [
        Attributes("impersonate", group=_AUTHENTICATION, resource="userextras", subresource=key, name=value)
        for key, values in extra.items()
        for value in values
    ]
    for attributes in needed:
        decision = await authorizer.authorize(user, attributes)
        if not decision.allowed:
            raise status.forbidden(user, attributes, decision.reason)
    if name != _ANONYMOUS and AUTHENTICATED not in groups:
        groups.append(AUTHENTICATED)
    return User(name, uid, tuple(groups), {key: tuple(values) for key, values in extra.items()})
