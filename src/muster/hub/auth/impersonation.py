"""Acting as somebody else: the Impersonate-* headers, and the permissions they need.

Called by the REST layer after authentication. Permission can be given for everything (the verb `impersonate`, as ever)
or for one kind of user and one verb: `impersonate:user-info` on the user together with
`impersonate-on:user-info:list` on what is listed. Without either, `kubectl --as` is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from msgspec import structs

from muster.access.attributes import service_account_groups
from muster.hub import status
from muster.hub.auth.tokens import ANONYMOUS, AUTHENTICATED, SYSTEM_MASTERS, UNAUTHENTICATED
from muster.hub.requests import Attributes, User
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from muster.hub.requests import Authorizer

_AUTHENTICATION = "authentication.k8s.io"
_SERVICE_ACCOUNT = "system:serviceaccount:"
_MOST_VALUES = 64  # groups and extra values of one request: each costs a decision
_HEADERS = ("impersonate-user", "impersonate-group", "impersonate-uid")
_EXTRA = "impersonate-extra-"


@dataclass(frozen=True, slots=True)
class Impersonated:
    """Whom a request wants to act as, as its headers say."""

    name: str
    uid: str
    groups: tuple[str, ...]
    extra: Mapping[str, tuple[str, ...]]

    @property
    def only_name(self) -> bool:
        return not (self.uid or self.groups or self.extra)

    @property
    def service_account(self) -> tuple[str, str] | None:
        """Namespace and name, if it is a service account."""
        if not self.name.startswith(_SERVICE_ACCOUNT):
            return None
        namespace, _, name = self.name.removeprefix(_SERVICE_ACCOUNT).partition(":")
        return (namespace, name) if namespace and name and ":" not in name else None


async def acting_user(
    user: User, headers: Iterable[tuple[bytes, bytes]], authorizer: Authorizer, attributes: Attributes
) -> User:
    """The user that the request acts as. Raises 400 for incomplete headers, 403 without the permission."""
    wanted = _wanted(headers)
    if wanted is None:
        return user
    first: status.StatusError | None = None
    for mode in _modes(wanted):
        refusal = await _refusal(user, wanted, mode, attributes, authorizer)
        if refusal is None:
            return _resulting(wanted)
        first = first or refusal
    assert first is not None  # noqa: S101 - the plain mode is always there
    raise first


def _wanted(headers: Iterable[tuple[bytes, bytes]]) -> Impersonated | None:
    single: dict[str, str] = {}
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for raw_header, raw_value in headers:
        if not raw_header.startswith(b"impersonate-"):
            continue
        header, value = raw_header.decode("latin-1"), raw_value.decode("utf-8", "surrogateescape")
        if not value.isprintable():
            raise status.bad_request(f"{header}: not a printable text")
        if header == "impersonate-group":
            groups.append(value)
        elif header.startswith(_EXTRA):
            extra.setdefault(unquote(header.removeprefix(_EXTRA)), []).append(value)
        elif header not in _HEADERS:
            # A header that the server does not know could restrict what the client believes to be restricted.
            raise status.bad_request(f"{header}: unknown impersonation header")
        elif header in single:
            raise status.bad_request(f"{header}: given more than once")
        else:
            single[header] = value
    name, uid = single.get("impersonate-user", ""), single.get("impersonate-uid", "")
    if len(groups) + sum(map(len, extra.values())) > _MOST_VALUES:
        raise status.bad_request(f"more than {_MOST_VALUES} impersonated groups and extra values")
    if not name:
        if groups or uid or extra:
            raise status.bad_request(f"requested {_go_syntax(uid, groups, extra)} without impersonating a user name")
        return None
    return Impersonated(name, uid, tuple(groups), {key: tuple(values) for key, values in extra.items()})


def _go_syntax(uid: str, groups: Sequence[str], extra: Mapping[str, Sequence[str]]) -> str:
    """An incomplete identity as the real server shows it."""

    def strings(values: Sequence[str]) -> str:
        return f"[]string{{{', '.join(map(go_quote, values))}}}" if values else "[]string(nil)"

    pairs = ", ".join(f"{go_quote(key)}:{strings(values)}" for key, values in sorted(extra.items()))
    shown = f"map[string][]string{{{pairs}}}" if extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{go_quote(uid)}, Groups:{strings(groups)}, Extra:{shown}}}'


def _modes(wanted: Impersonated) -> Iterator[str]:
    """The kinds of permission that may allow it, the narrow ones first; the empty one is the plain verb."""
    if wanted.service_account is not None:
        if wanted.only_name:
            yield "serviceaccount"
    else:
        yield "user-info"
    yield ""


async def _refusal(
    user: User, wanted: Impersonated, mode: str, attributes: Attributes, authorizer: Authorizer
) -> status.StatusError | None:
    needed: list[Attributes] = []
    if mode:
        needed.append(structs.replace(attributes, verb=f"impersonate-on:{mode}:{attributes.verb}"))
    needed += _needed(wanted, f"impersonate:{mode}" if mode else "impersonate", _AUTHENTICATION if mode else "")
    for each in needed:
        if mode and each.resource == "groups" and each.name in ("", SYSTEM_MASTERS):
            which = f"the {each.name} group" if each.name else "the empty string group"
            return status.forbidden(user, each, f"impersonating {which} is not allowed")
        decision = await authorizer.authorize(user, each)
        if not decision.allowed:
            return status.forbidden(user, each, decision.reason)
    return None


def _needed(wanted: Impersonated, verb: str, group: str) -> Iterator[Attributes]:
    if wanted.service_account is not None:
        namespace, name = wanted.service_account
        yield Attributes(verb, group, resource="serviceaccounts", namespace=namespace, name=name)
    else:
        yield Attributes(verb, group, resource="users", name=wanted.name)
    if wanted.uid:
        yield Attributes(verb, _AUTHENTICATION, resource="uids", name=wanted.uid)
    for each in wanted.groups:
        yield Attributes(verb, group, resource="groups", name=each)
    for key, values in wanted.extra.items():
        for value in values:
            yield Attributes(verb, _AUTHENTICATION, resource="userextras", subresource=key, name=value)


def _resulting(wanted: Impersonated) -> User:
    groups = wanted.groups
    if wanted.service_account is not None and not groups:
        groups = service_account_groups(wanted.service_account[0])
    if wanted.name == ANONYMOUS.name:
        if UNAUTHENTICATED not in groups:
            groups = (*groups, UNAUTHENTICATED)
    elif AUTHENTICATED not in groups and UNAUTHENTICATED not in groups:
        groups = (*groups, AUTHENTICATED)
    return User(wanted.name, wanted.uid, groups, wanted.extra)
