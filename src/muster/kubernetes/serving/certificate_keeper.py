"""Keeps the certificates of a replica: in the Secret that all replicas share, in the configurations of the API server,
and in the TLS contexts of this process.

Every replica looks; who comes second to a change finds it made. With cert-manager the certificates are files that it
renews and the kubelet brings; its own injector fills in the configurations.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.crds import GROUP as DEFINITIONS
from muster.api.managed_cluster_set import MANAGED_CLUSTER_SET
from muster.api.parts import Node, ObjectMeta
from muster.api.reading import Reader
from muster.client.errors import UnreachableError
from muster.client.kubeconfig import load_pair
from muster.errors import ApiError, MusterError
from muster.kubernetes.serving.certificates import (
    CA,
    CERTIFICATE,
    KEY,
    ServingCertificates,
    ends,
    is_usable,
    kept,
    read_certificates,
)
from muster.kubernetes.serving.configurations import API_SERVICE, webhook_configurations
from muster.kubernetes.settings import NAME, SECRET
from muster.values.api_paths import collection_path, object_path
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from muster.client import Client
    from muster.kubernetes.settings import HomeSettings

_LOGGER = logging.getLogger(__name__)
_NOT_FOUND, _CONFLICT, _FORBIDDEN = 404, 409, 403
_SECRETS: Final = ("", "v1", "secrets")
_REGISTRATION: Final = ("admissionregistration.k8s.io", "v1")
_SOON: Final = 5.0  # seconds after something did not work
_LATER: Final = 60.0  # between looks: configurations that were applied anew want the authority soon
_ATTEMPTS: Final = 5


class CertificatesError(MusterError):
    """Certificates that cannot be had: where, why, and what to do."""


class _Secret(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = msgspec.field(default_factory=dict)


_READER: Final = Reader(_Secret)


class CertificateKeeper:
    """Contexts that serve are given each new certificate; connections that are open keep the one they began with."""

    def __init__(
        self,
        client: Client,
        settings: HomeSettings,
        clock: Callable[[], datetime],
        directory: Path | None = None,
    ) -> None:
        """`directory` has tls.crt, tls.key and ca.crt of somebody who issues and injects them."""
        self._client = client
        self._settings = settings
        self._contexts: list[ssl.SSLContext] = []
        self._clock = clock
        self._directory = directory
        self.current: ServingCertificates | None = None
        self.problem: str | None = "there is no certificate yet"

    @property
    def names(self) -> tuple[str, ...]:
        """Under which the API server calls us."""
        service = f"{NAME}.{self._settings.namespace}"
        return f"{service}.svc", f"{service}.svc.cluster.local", service

    @property
    def seconds_left(self) -> float:
        return 0.0 if self.current is None else (ends(self.current) - self._clock()).total_seconds()

    def serve_with(self, context: ssl.SSLContext) -> None:
        """From now on this context has the certificate, as soon as there is one."""
        self._contexts.append(context)
        if self.current is not None:
            load_pair(context, self.current.certificate, self.current.key)

    def forget(self, context: ssl.SSLContext) -> None:
        self._contexts.remove(context)

    async def run(self) -> None:
        while True:  # what is waited for happens on other machines
            looked = await self.look()
            await asyncio.sleep(_LATER if looked else _SOON)

    async def look(self) -> bool:
        """Renew what ends, and put it where it belongs. Whether all of that worked."""
        try:
            found = self._from_files() if self._directory is not None else await self._from_secret()
            self._show(found)
            if self._directory is None:
                await self._inject(found.authorities)
        except (ApiError, UnreachableError, CertificatesError) as error:
            _LOGGER.warning("certificates: %s", error)
            self.problem = None if self.current is not None else str(error)
            return False
        self.problem = None
        return True

    def _show(self, found: ServingCertificates) -> None:
        if found == self.current:
            return
        for context in self._contexts:
            load_pair(context, found.certificate, found.key)
        self.current = found
        _LOGGER.info("serving with a certificate that ends on %s", f"{ends(found):%Y-%m-%d}")

    def _from_files(self) -> ServingCertificates:
        directory = self._directory
        assert directory is not None  # noqa: S101 - asked before
        try:
            certificate, key = (directory / CERTIFICATE).read_bytes(), (directory / KEY).read_bytes()
            authority = directory / CA
            found = ServingCertificates(authority.read_bytes() if authority.exists() else certificate, certificate, key)
        except OSError as error:
            raise CertificatesError(
                f"{directory}: {error.strerror}; cert-manager writes {CERTIFICATE} there"
            ) from error
        if not is_usable(found):
            raise CertificatesError(f"{directory}: {CERTIFICATE} and {KEY} do not go together")
        return found

    # --------------------------------------------------------------------------------------------------- the Secret

    async def _from_secret(self) -> ServingCertificates:
        for _ in range(_ATTEMPTS):
            secret = await self._secret()
            found = None if secret is None else read_certificates(secret.data)
            wanted = kept(found, self.names, self._clock())
            if wanted == found:
                return wanted
            try:
                await self._write(secret, wanted)
            except ApiError as error:
                if error.code != _CONFLICT:
                    raise
                continue  # another replica was first
            if found is not None and not found.authority_key:
                _LOGGER.warning("nobody has renewed the certificate in Secret %s: ours takes its place", SECRET)
            return wanted
        raise CertificatesError(f"Secret {self._settings.namespace}/{SECRET} is being changed by somebody else")

    async def _secret(self) -> _Secret | None:
        try:
            reply = await self._client.request("GET", object_path(*_SECRETS, self._settings.namespace, SECRET))
        except ApiError as error:
            if error.code == _NOT_FOUND:
                return None
            raise
        return _READER.partly(reply.json()).obj

    async def _write(self, secret: _Secret | None, wanted: ServingCertificates) -> None:
        home = self._settings.namespace
        metadata: JsonObject = {"name": SECRET, "namespace": home}
        body = {"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": wanted.data()}
        if secret is None:
            await self._client.request("POST", collection_path(*_SECRETS, home), body={**body, "metadata": metadata})
            return
        # A merge patch leaves labels, owners and other entries alone; the version says what it was decided from.
        change = {"metadata": {"resourceVersion": secret.metadata.resource_version}, "data": wanted.data()}
        await self._client.request(
            "PATCH", object_path(*_SECRETS, home, SECRET), body=change, content_type="application/merge-patch+json"
        )

    # ------------------------------------------------------------------------------------------- the configurations

    async def _inject(self, authorities: bytes) -> None:
        """Into all of them; one that cannot be written keeps the others from nothing. Raises the first refusal."""
        bundle = base64.b64encode(authorities).decode()
        refused: list[ApiError] = []
        for path in self._carriers():
            try:
                await self._inject_into(path, bundle)
            except ApiError as error:
                if error.code == _NOT_FOUND:
                    continue  # it is not installed; when it is, the next look finds it
                if error.code == _FORBIDDEN and DEFINITIONS in path:
                    continue  # somebody else's definition, which converts nothing
                if error.code != _CONFLICT:
                    refused.append(error)
        if refused:
            raise refused[0]

    async def _inject_into(self, path: str, bundle: str) -> None:
        present: JsonObject = (await self._client.request("GET", path)).json()
        change = with_bundle(present, bundle, self._settings.namespace)
        if change is not None:
            await self._client.request("PUT", path, body=change)

    def _carriers(self) -> Iterator[str]:
        """Those that are installed with these settings: our role names no others."""
        for each in webhook_configurations(self._settings):
            yield object_path(*_REGISTRATION, f"{each['kind'].lower()}s", "", each["metadata"]["name"])
        if self._settings.has_webhooks:
            yield object_path(DEFINITIONS, "v1", "customresourcedefinitions", "", MANAGED_CLUSTER_SET.key)
        if self._settings.has_questions:
            yield object_path("apiregistration.k8s.io", "v1", "apiservices", "", API_SERVICE)


def with_bundle(carrier: JsonObject, bundle: str, namespace: str) -> JsonObject | None:
    """The object with our authority wherever it names our Service; None if it has it already, or names others.

    Addresses of others are left alone: two homes, or somebody's own conversion, may be in the same object.
    """
    changed = _filled(carrier, bundle, namespace)
    return None if changed == carrier else changed


def _filled(value: Json, bundle: str, namespace: str) -> Json:
    if isinstance(value, list):
        return [_filled(each, bundle, namespace) for each in value]
    if not isinstance(value, dict):
        return value
    filled = {key: _filled(each, bundle, namespace) for key, each in value.items() if key != "managedFields"}
    if "managedFields" in value:
        filled["managedFields"] = value["managedFields"]
    # Unless it is an APIService, which trusts anybody where it says so, and may not say both.
    if _is_ours(value.get("service"), namespace) and not value.get("insecureSkipTLSVerify"):
        filled["caBundle"] = bundle
    return filled


def _is_ours(service: Json, namespace: str) -> bool:
    return isinstance(service, dict) and (service.get("name"), service.get("namespace")) == (NAME, namespace)
