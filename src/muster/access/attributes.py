"""Who asks and what for: the terms in which permissions are decided, wherever they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTHENTICATED: Final = "system:authenticated"
SYSTEM_MASTERS: Final = "system:masters"


class User(msgspec.Struct, frozen=True):
    """The authenticated asker, groups included (`system:authenticated` too)."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class Attributes(msgspec.Struct, frozen=True, gc=False):
    """What a permission is asked for; `path` alone for requests that are not about a resource."""

    verb: str
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """The groups every service account of a namespace is in."""
    return ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
