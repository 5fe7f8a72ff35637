"""Every namespace has a ConfigMap `kube-root-ca.crt` with the authority that the hub's certificate is from.

Programs within a namespace read there whom to trust. `app` starts it beside the API, in place of a Kubernetes
controller of that task; like that one it makes the map again when it was deleted, and says again what it has to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.codec import decode
from muster.api.config_map import CONFIG_MAP
from muster.hub.auth.tokens import AUTHENTICATED, SYSTEM_MASTERS
from muster.hub.following import Follower
from muster.hub.namespaces import NAMESPACES, namespace_key
from muster.hub.objects import is_deleting
from muster.hub.requests import ObjectBody, Target, User, WriteOptions
from muster.hub.status import StatusError
from muster.hub.storage import Key

if TYPE_CHECKING:
    from muster.hub.api import Api
    from muster.hub.storage import Record, Store

NAME: Final = "kube-root-ca.crt"
_USER: Final = User("system:controller:root-ca-cert-publisher", groups=(SYSTEM_MASTERS, AUTHENTICATED))
_OPTIONS: Final = WriteOptions(field_manager="kube-controller-manager")
_ABOUT: Final = {"kubernetes.io/description": "The authority to trust when the hub is spoken to."}


class PublishedAuthority:
    """`start` it, `close` it."""

    def __init__(self, api: Api, store: Store, authority: bytes) -> None:
        self._api = api
        self._store = store
        self._data = {"ca.crt": authority.decode()}
        what = "the authority to trust cannot be published in all namespaces now"
        self._followers = (
            Follower(store, NAMESPACES, self._look, what),
            Follower(store, CONFIG_MAP.key, self._check, what, self._gone),
        )

    def start(self) -> None:
        for follower in self._followers:
            follower.start()

    async def close(self) -> None:
        for follower in self._followers:
            await follower.close()

    async def _look(self, record: Record) -> None:
        await self._ensure(record.key.name)

    async def _gone(self, key: Key) -> None:
        if key.name == NAME:
            await self._ensure(key.namespace)

    async def _check(self, record: Record) -> None:
        if record.key.name == NAME:
            await self._ensure(record.key.namespace)

    async def _ensure(self, namespace: str) -> None:
        home = self._store.get(namespace_key(namespace))
        if home is None or is_deleting(home):
            return
        record = self._store.get(Key(CONFIG_MAP.key, namespace, NAME))
        wanted = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "annotations": dict(_ABOUT)},
            "data": self._data,
        }
        try:
            if record is None:
                target = Target(CONFIG_MAP, CONFIG_MAP.storage_version, namespace)
                await self._api.create(_USER, target, ObjectBody(wanted), _OPTIONS)
                return
            present = decode(record.value)
            if present.get("data") != self._data:
                target = Target(CONFIG_MAP, CONFIG_MAP.storage_version, namespace, NAME)
                changed = {**present, "data": self._data}
                changed.pop("binaryData", None)
                await self._api.update(_USER, target, ObjectBody(changed), _OPTIONS)
        except StatusError as error:
            # Somebody else has written it (and we are told), the namespace goes, somebody has made it immutable, or
            # there are too many: nothing that trying again changes.
            if error.code not in (403, 404, 409, 422):
                raise
