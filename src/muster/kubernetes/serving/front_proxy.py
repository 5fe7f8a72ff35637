"""Who asks, behind the API server: it is the proxy in front of us, and says in headers whom it has let in.

Headers count only on connections that show the proxy's own certificate, signed by the authority that the cluster
publishes for this in ConfigMap kube-system/extension-apiserver-authentication, with one of the names in there. Anybody
else is nobody, whatever he writes into his headers.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import msgspec

from muster.api.config_map import ConfigMap
from muster.api.reading import Reader
from muster.client.errors import UnreachableError
from muster.errors import ApiError, MusterError
from muster.hub import status
from muster.hub.auth.authentication import PEER, Authentication
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from muster.values.api_paths import object_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.client import Client
    from muster.hub.auth.peers import Peer
    from muster.hub.requests import Attributes, Authorizer
    from muster.values.json import JsonMapping

_LOGGER = logging.getLogger(__name__)
CONFIG_MAP: Final = ("kube-system", "extension-apiserver-authentication")
_PATH: Final = object_path("", "v1", "configmaps", *CONFIG_MAP)
_READER: Final = Reader(ConfigMap)
_LATER, _SOON = 60.0, 5.0  # seconds between looks at what the cluster publishes
_LONGEST: Final = 4096  # characters of one value
_MOST_GROUPS: Final = 2000


class NoFrontProxyError(MusterError):
    """The cluster publishes no authority for its front proxy: why, and what to do."""


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """What the cluster says of its proxy. No names: every certificate of the authority is one of the proxy."""

    authority: str  # in PEM
    names: tuple[str, ...] = ()
    user_headers: tuple[str, ...] = ("x-remote-user",)
    uid_headers: tuple[str, ...] = ("x-remote-uid",)
    group_headers: tuple[str, ...] = ("x-remote-group",)
    extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)

    def user(self, peer: Peer | None, headers: list[tuple[bytes, bytes]]) -> User | None:
        """The user whom the proxy has let in; None if this is not the proxy, or it names nobody."""
        if peer is None or not peer.is_good or (self.names and peer.user.name not in self.names):
            return None
        given: list[tuple[str, str]] = [(name.decode("latin-1").lower(), _text(value)) for name, value in headers]
        names = [value for wanted in self.user_headers for name, value in given if name == wanted and value]
        if not names or any(len(value) > _LONGEST for _, value in given):
            return None
        groups = [value for wanted in self.group_headers for name, value in given if name == wanted and value]
        uids = [value for wanted in self.uid_headers for name, value in given if name == wanted and value]
        if len(groups) > _MOST_GROUPS:
            return None
        return User(names[0], next(iter(uids), ""), tuple(dict.fromkeys((*groups, AUTHENTICATED))), self._extra(given))

    def _extra(self, given: list[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
        extra: dict[str, tuple[str, ...]] = {}
        for prefix in self.extra_prefixes:
            for name, value in given:
                if name.startswith(prefix):
                    key = unquote(name.removeprefix(prefix))
                    extra[key] = (*extra.get(key, ()), value)
        return extra


def read_front_proxy(data: Mapping[str, str]) -> FrontProxy:
    """From the data of the ConfigMap. Raises NoFrontProxyError."""
    authority = data.get("requestheader-client-ca-file", "")
    if not authority.strip():
        raise NoFrontProxyError(
            f"ConfigMap {'/'.join(CONFIG_MAP)} has no requestheader-client-ca-file: "
            "the API server needs --requestheader-client-ca-file to serve aggregated APIs"
        )
    usual = FrontProxy(authority)
    return FrontProxy(
        authority,
        _listed(data, "requestheader-allowed-names", (), lower=False),
        _listed(data, "requestheader-username-headers", usual.user_headers),
        _listed(data, "requestheader-uid-headers", usual.uid_headers),
        _listed(data, "requestheader-group-headers", usual.group_headers),
        _listed(data, "requestheader-extra-headers-prefix", usual.extra_prefixes),
    )


def _listed(data: Mapping[str, str], name: str, usual: tuple[str, ...], *, lower: bool = True) -> tuple[str, ...]:
    written = data.get(name, "")
    if not written:
        return usual
    try:
        found = msgspec.json.decode(written, type=list[str])
    except msgspec.MsgspecError as error:
        raise NoFrontProxyError(f"ConfigMap {'/'.join(CONFIG_MAP)}: {name} cannot be read: {error}") from None
    return tuple(each.lower() if lower else each for each in found) or usual


class ProxyAuthentication(Authentication):
    """Lets in whom the front proxy names. Nobody acts as somebody else here: the API server has seen to that before."""

    def __init__(self, proxy: FrontProxy, authorizer: Authorizer) -> None:
        self.nobody = _Nobody()
        super().__init__(self.nobody, authorizer)
        self._proxy = proxy

    async def identify(self, scope: JsonMapping, token: str | None = None) -> User:  # noqa: ARG002 - no tokens here
        user = self._proxy.user(scope.get(PEER), scope["headers"])
        if user is None:
            raise status.unauthorized()
        return user

    async def acting_user(self, user: User, scope: JsonMapping, attributes: Attributes) -> User:  # noqa: ARG002
        return user


class _Nobody:
    """Knows no tokens."""

    async def authenticate(self, token: str, audience: str = "") -> User | None:  # noqa: ARG002 - the protocol
        return None


class FrontProxyWatch:
    """What the cluster publishes, looked at now and then."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.problem: str | None = "the front proxy of the API server is not known yet"

    async def first(self) -> FrontProxy:
        """Wait until it is known."""
        while True:
            found = await self._look()
            if found is not None:
                return found
            await asyncio.sleep(_SOON)

    async def run(self, known: FrontProxy, changed: Callable[[], None]) -> None:
        """Tell when it is another than this."""
        while True:
            await asyncio.sleep(_LATER)
            found = await self._look()
            if found is not None and found != known:
                _LOGGER.warning("the front proxy of the API server has another authority now")
                changed()
                return

    async def _look(self) -> FrontProxy | None:
        try:
            reply = await self._client.request("GET", _PATH)
            found = read_front_proxy(_READER.partly(reply.json()).obj.data)
        except (ApiError, UnreachableError, NoFrontProxyError) as error:
            self.problem = f"the front proxy of the API server is not known: {error}"
            _LOGGER.warning("questions: %s", self.problem)
            return None
        self.problem = None
        return found


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
