"""What the user of a client may do, asked of the server that decides: access reviews, and the names that roles give.

The local observer asks, for answers that a hub would find in its own roles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.values.api_paths import collection_path
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.client.client import Client

_AUTHORIZATION: Final = "authorization.k8s.io"
_ANY: Final = "*"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something is allowed, and the server's reason, such as the binding that allows it."""

    allowed: bool
    reason: str = ""


class Me(msgspec.Struct, frozen=True):
    """Who the server takes this client for."""

    username: str = ""
    groups: tuple[str, ...] = ()


class _Rule(msgspec.Struct, frozen=True, rename="camel"):
    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()


class _Reviewed(msgspec.Struct, frozen=True, rename="camel"):
    allowed: bool = False
    reason: str = ""
    resource_rules: tuple[_Rule, ...] | None = None
    user_info: Me = Me()


class _Review(msgspec.Struct, frozen=True):
    status: _Reviewed = _Reviewed()


async def review(client: Client, attributes: JsonMapping, user: str = "", groups: Sequence[str] = (), /) -> Verdict:
    """Whether this is allowed to the client's own user, or to another one, which needs a permission itself.

    `attributes` are the resourceAttributes of a SubjectAccessReview. Raises ApiError.
    """
    spec: JsonObject = {"resourceAttributes": dict(attributes)}
    kind = "SelfSubjectAccessReview"
    if user:
        kind, spec = "SubjectAccessReview", {**spec, "user": user, "groups": list(groups)}
    found = await _reviewed(client, _AUTHORIZATION, kind, spec)
    return Verdict(found.allowed, found.reason)


async def who_am_i(client: Client) -> Me:
    """The user that the server sees. Raises ApiError."""
    return (await _reviewed(client, "authentication.k8s.io", "SelfSubjectReview", None)).user_info


async def names_in_roles(client: Client, group: str, resource: str) -> frozenset[str]:
    """The names of objects outside of namespaces that roles let the client's user get. Raises ApiError."""
    found = await _reviewed(client, _AUTHORIZATION, "SelfSubjectRulesReview", {"namespace": "default"})
    return frozenset(
        name
        for rule in found.resource_rules or ()
        if not {_ANY, "get"}.isdisjoint(rule.verbs)
        and not {_ANY, group}.isdisjoint(rule.api_groups)
        and not {_ANY, resource}.isdisjoint(rule.resources)
        for name in rule.resource_names
    )


async def _reviewed(client: Client, group: str, kind: str, spec: Json) -> _Reviewed:
    body = {"apiVersion": f"{group}/v1", "kind": kind} | ({} if spec is None else {"spec": spec})
    reply = await client.request("POST", collection_path(group, "v1", f"{kind.lower()}s"), body=body)
    return msgspec.json.decode(reply.body, type=_Review).status
