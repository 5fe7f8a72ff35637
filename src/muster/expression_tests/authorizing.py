"""The authorizer of a case: what it says is allowed, and nothing else is.

    authorizer:
    - {verb: create, group: apps, resource: deployments, subresource: scale, namespace: shop, name: web}
    - {verb: get, path: /healthz}

A field that is left out allows every value of it; `'*'` as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.cel.libraries.kubernetes.authorizer import Asked, Decided
from muster.errors import InvalidObjectError
from muster.values.json import Json

if TYPE_CHECKING:
    from muster.cel.libraries.kubernetes.authorizer import Decide

_FIELDS: Final = ("verb", "path", "group", "resource", "subresource", "namespace", "name", "service_account")


class _Allowed(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    verb: str = "*"
    path: str = "*"
    group: str = "*"
    resource: str = "*"
    subresource: str = "*"
    namespace: str = "*"
    name: str = "*"
    service_account: str = ""

    def covers(self, asked: Asked) -> bool:
        """A rule about resources says nothing of paths, nor the other way round."""
        if bool(asked.path) != (self.path != "*"):
            return False
        return all(getattr(self, each) in ("*", getattr(asked, each)) for each in _FIELDS)


def authorizer_of(written: Json, place: str) -> Decide:
    """Who decides in a case. Raises InvalidObjectError for what is no list of permissions."""
    try:
        rules = msgspec.convert([] if written is None else written, list[_Allowed])
    except msgspec.ValidationError as error:
        raise InvalidObjectError(place, f"authorizer is a list of what is allowed: {error}") from None

    def decide(asked: Asked) -> Decided:
        if any(rule.covers(asked) for rule in rules):
            return Decided(allowed=True, reason="the case allows it")
        return Decided(allowed=False, reason="the case does not allow it")

    return decide
