"""Every namespace has a service account `default`: made when the namespace is, and made again when it was deleted.

`app` starts it beside the API, in place of a Kubernetes controller of that task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.api.service_account import SERVICE_ACCOUNT
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

NAME = "default"
_USER = User("system:controller:service-account-controller", groups=(SYSTEM_MASTERS, AUTHENTICATED))
_OPTIONS = WriteOptions(field_manager="kube-controller-manager")


class DefaultAccounts:
    """`start` it, `close` it."""

    def __init__(self, api: Api, store: Store) -> None:
        self._api = api
        self._store = store
        what = "the service accounts that namespaces begin with cannot be made now"
        self._followers = (
            Follower(store, NAMESPACES, self._look, what),
            Follower(store, SERVICE_ACCOUNT.key, _nothing, what, self._gone),
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

    async def _ensure(self, namespace: str) -> None:
        record = self._store.get(namespace_key(namespace))
        if record is None or is_deleting(record) or self._store.get(Key(SERVICE_ACCOUNT.key, namespace, NAME)):
            return
        target = Target(SERVICE_ACCOUNT, SERVICE_ACCOUNT.storage_version, namespace)
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME}}
        try:
            await self._api.create(_USER, target, ObjectBody(account), _OPTIONS)
        except StatusError as error:
            # Somebody else has made it, the namespace goes, or there are too many: nothing that trying again changes.
            if error.code not in (403, 404, 409):
                raise


async def _nothing(_: Record) -> None:
    """Accounts that are there need nothing."""
