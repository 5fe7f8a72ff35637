"""Writes into aggregated cluster roles what they hold, so that `kubectl describe clusterrole admin` shows it.

Only for people: decisions are made from the roles that an aggregated role selects, whatever is written in it.
Started by `hub.access`; woken by the authorizer whenever a cluster role has changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from muster.api import RESOURCES
from muster.hub.auth.rbac.authorizer import CLUSTER_ROLES
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.requests import ObjectBody, PatchType, Target, WriteOptions
from muster.hub.status import StatusError

if TYPE_CHECKING:
    from muster.access.rules import Rule
    from muster.hub.api import Api
    from muster.hub.auth.rbac.authorizer import RbacAuthorizer

_log = logging.getLogger(__name__)
_OPTIONS = WriteOptions(field_manager="clusterrole-aggregation-controller")


class Aggregation:
    """Keeps the rules written in aggregated roles up to date."""

    def __init__(self, api: Api, authorizer: RbacAuthorizer) -> None:
        self._api = api
        self._authorizer = authorizer
        self._wanted = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._authorizer.on_cluster_roles = self._wanted.set
        self._wanted.set()
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            for key, written, held in list(self._authorizer.policy.aggregated()):
                if written != held:
                    await self._write(key.name, held)

    async def _write(self, name: str, rules: tuple[Rule, ...]) -> None:
        resource = RESOURCES[CLUSTER_ROLES]
        target = Target(resource, resource.storage_version, "", name)
        patch = ObjectBody({"rules": [rule.to_object() for rule in rules]})
        try:
            await self._api.patch(ADMINISTRATOR, target, PatchType.MERGE, patch, _OPTIONS)
        except StatusError as error:
            # Deleted meanwhile, or the disk is full: the next change tries again.
            if error.code != 404:
                _log.warning("the rules of cluster role %s cannot be written down: %s", name, error.message)
