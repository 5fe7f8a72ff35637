"""How to get to a cluster, from what its ManagedCluster says: a Secret, a ClusterProfile, or a context of a kubeconfig.

What was fetched is remembered for some minutes, and forgotten when the cluster does not take it. `connections` keeps
what is made of it.
"""

from __future__ import annotations

import base64
import binascii
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from muster.client.credentials import Credentials
from muster.client.kubeconfig import Connection, chosen_context, load_connection, load_pair, static_connection
from muster.client.kubeconfig_files import Cluster, User, kubeconfig_in
from muster.collecting.plugins import Plugins, credentials_from
from muster.collecting.profiles import providers_of
from muster.collecting.troubles import Trouble, TroubleError
from muster.errors import ApiError, InvalidObjectError
from muster.importing.found import BY_CONTEXT, BY_PROFILE, BY_SECRET, SECRET
from muster.values.api_paths import object_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.client import Client

KEY: Final = "kubeconfig"  # of the Secret
_REMEMBERED: Final = 600.0  # seconds
_MARGIN: Final = 20.0  # seconds before credentials end at which new ones are made
_MOST_BYTES: Final = 128 * 1024  # of a kubeconfig
_PROFILES: Final = ("multicluster.x-k8s.io", "v1alpha1", "clusterprofiles")


@dataclass(frozen=True, slots=True)
class Material:
    """What a connection is made of."""

    cluster: Cluster
    user: User
    credentials: Credentials
    until: float = field(compare=False)  # by the monotonic clock

    def connection(self) -> Connection:
        """Raises KubeconfigError."""
        made = static_connection(self.cluster, self.user)
        if self.credentials.pair is not None and made.tls is not None:
            load_pair(made.tls, *self.credentials.pair)
        return replace(made, headers={**made.headers, **self.credentials.headers})


@dataclass(frozen=True, slots=True)
class Contexts:
    """A kubeconfig of whoever runs the command: its contexts may do all that kubectl would do with them."""

    file: str | None = None


class Accesses:
    """Ways to clusters. `contexts` is for commands of a person; a controller has none."""

    def __init__(
        self,
        hub: Client,
        clock: Callable[[], datetime],
        plugins: Plugins | None = None,
        contexts: Contexts | None = None,
    ) -> None:
        self._hub = hub
        self._clock = clock
        self._allowed: Plugins = plugins or {}
        self._contexts = contexts
        self._kept: dict[tuple[str, str], Material] = {}

    def forget(self, cluster: str, how: str) -> None:
        """What is remembered was of no use."""
        self._kept.pop((cluster, how), None)

    async def way(self, cluster: str, how: str) -> Material | Connection:
        """What a connection is made of, as the annotation says; of a context, the connection itself.

        Raises TroubleError and KubeconfigError.
        """
        try:
            if how.startswith(BY_CONTEXT):
                return await self._of_context(how.removeprefix(BY_CONTEXT))
            material = self._kept.get((cluster, how))
            if material is None or material.until <= time.monotonic():
                material = await self._material(cluster, how)
                self._kept[(cluster, how)] = material
        except InvalidObjectError as error:
            raise TroubleError(Trouble.NO_ACCESS, str(error)) from error
        return material

    async def _material(self, cluster: str, how: str) -> Material:
        if how == BY_SECRET:
            return await self._of_secret(cluster)
        if how.startswith(BY_PROFILE):
            namespace, _, name = how.removeprefix(BY_PROFILE).partition("/")
            return await self._of_profile(namespace, name)
        raise TroubleError(Trouble.NO_ACCESS, f"nobody knows how to get there by {how[:80]!r}")

    async def _of_context(self, name: str) -> Connection:
        if self._contexts is None:
            text = "only `muster sync` of a person has contexts; a controller needs a Secret or a ClusterProfile"
            raise TroubleError(Trouble.NO_ACCESS, text)
        return await load_connection(name, self._contexts.file)

    async def _of_secret(self, cluster: str) -> Material:
        where = f"the Secret {cluster}/{SECRET}"
        secret = await self._fetched(object_path("", "v1", "secrets", cluster, SECRET), where)
        data = secret.get("data")
        encoded = data.get(KEY) if isinstance(data, dict) else None
        if not isinstance(encoded, str):
            raise TroubleError(Trouble.NO_ACCESS, f"{where} has no key {KEY!r}")
        if len(encoded) > _MOST_BYTES:
            raise TroubleError(Trouble.NO_ACCESS, f"{where} has a kubeconfig of more than {_MOST_BYTES} bytes")
        try:
            content = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise TroubleError(Trouble.NO_ACCESS, f"{where} cannot be decoded") from None
        _, _, server, user = chosen_context(kubeconfig_in(content, where), None)
        return Material(server, user, Credentials(), time.monotonic() + _REMEMBERED)

    async def _of_profile(self, namespace: str, name: str) -> Material:
        where = f"the ClusterProfile {namespace}/{name}"
        profile = await self._fetched(object_path(*_PROFILES, namespace, name), where)
        offered = providers_of(profile)
        for provider in offered:
            plugin = self._allowed.get(provider.name)
            if plugin is not None:
                credentials = await credentials_from(plugin, provider)
                lasts = _REMEMBERED
                if credentials.until is not None:
                    lasts = (credentials.until - self._clock()).total_seconds() - _MARGIN
                until = time.monotonic() + min(lasts, _REMEMBERED)
                return Material(provider.cluster, User(), credentials, until)
        names = ", ".join(sorted(each.name[:80] for each in offered)[:10]) or "none"
        allowed = ", ".join(sorted(self._allowed)) or "none"
        text = f"{where} offers the access providers {names}; this process may use {allowed} (--providers FILE)"
        raise TroubleError(Trouble.NO_ACCESS, text)

    async def _fetched(self, path: str, what: str) -> JsonObject:
        try:
            found: JsonObject = (await self._hub.request("GET", path)).json()
        except ApiError as error:
            why = {403: "may not be read", 404: "is not there"}.get(error.code, f"cannot be read (code {error.code})")
            raise TroubleError(Trouble.NO_ACCESS, f"{what} {why}") from error
        return found
