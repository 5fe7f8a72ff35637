"""The hub's authorizer: roles and bindings as they are in the store, decisions remembered until one of them changes.

`app` starts it before the first request. The machinery, impersonation, reviews and admission ask it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

import msgspec

from muster.access.grants import RoleKey
from muster.access.policy import GROUP, BindingKey, Policy, aggregate_text, missing_role_text
from muster.errors import StorageError
from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.requests import AccessRules, Attributes, Decision
from muster.hub.storage import EventType, Unchanged
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.hub.requests import User
    from muster.hub.storage import Event, Record, Store, Watch

_log = logging.getLogger(__name__)

CLUSTER_ROLES = f"clusterroles.{GROUP}"
ROLES = f"roles.{GROUP}"
CLUSTER_ROLE_BINDINGS = f"clusterrolebindings.{GROUP}"
ROLE_BINDINGS = f"rolebindings.{GROUP}"
RESOURCES = (CLUSTER_ROLES, ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS)

_ALLOWED = Decision(True)
_NO_NAME = "\0"  # of no object; rules may have an empty resourceName, which is not every name
_MOST_REMEMBERED = 20_000
_LONGEST_REMEMBERED = 1_000  # characters of a question: paths and names may be anything
_EVERYTHING = AccessRules(
    resource_rules=({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},),
    non_resource_rules=({"verbs": ["*"], "nonResourceURLs": ["*"]},),
)
_decode = msgspec.json.Decoder(dict).decode


class RbacAuthorizer:
    """Members of system:masters may do everything; others what roles bound to them allow."""

    at_once = 200  # names that are looked up without a pause, a few milliseconds

    def __init__(self, store: Store) -> None:
        self._store = store
        self.policy = Policy()
        self._decisions: dict[tuple[Json, ...], Decision] = {}
        self._revisions = dict.fromkeys(RESOURCES, 0)  # up to where each of them is known
        self._watches: dict[str, Watch] = {}
        self._tasks: list[asyncio.Task[None]] = []
        #: Called after a cluster role has changed.
        self.on_cluster_roles: Callable[[], None] = lambda: None

    # --- Following the store ------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load roles and bindings, and follow them from there."""
        self._load()
        self._tasks = [asyncio.create_task(self._follow(resource)) for resource in RESOURCES]

    async def close(self) -> None:
        for watch in self._watches.values():
            watch.close()
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def _load(self) -> None:
        """Everything as it is now. No event can come in between: the loop does nothing else meanwhile."""
        policy = Policy()
        for resource in RESOURCES:
            for record in self._store.scan(resource):
                _put(policy, record)
            watch = self._watches.get(resource)
            if watch is not None:
                watch.close()
            self._watches[resource] = self._store.watch(resource, None, self._store.revision)
        self.policy = policy
        self._revisions = dict.fromkeys(RESOURCES, self._store.revision)
        self._decisions.clear()

    async def _follow(self, resource: str) -> None:
        while True:
            watch = self._watches[resource]
            try:
                # A commit wakes this task before it answers its writer, so whoever has been told of a change
                # already meets it here.
                async for event in watch:
                    self._apply(event)
            except StorageError as error:
                # Cut off from the events: read everything anew before anything else is decided.
                _log.warning("roles and bindings are loaded anew: %s", error)
                self._load()
                continue
            if self._watches[resource] is watch:
                return  # the store has been closed

    def _apply(self, event: Event) -> None:
        key = event.record.key
        if event.type is not EventType.DELETED:
            _put(self.policy, event.record)
        elif key.resource in (CLUSTER_ROLES, ROLES):
            self.policy.remove_role(RoleKey(key.namespace, key.name))
        else:
            self.policy.remove_binding(BindingKey(key.namespace, key.name))
        self._revisions[key.resource] = event.record.revision
        self._decisions.clear()
        if key.resource == CLUSTER_ROLES:
            self.on_cluster_roles()

    def read(self) -> tuple[Unchanged, ...]:
        """What a decision rests on, for a write that must not outlive it."""
        return tuple(Unchanged(resource, None, None, revision) for resource, revision in self._revisions.items())

    # --- Deciding -----------------------------------------------------------------------------------------------------

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        if SYSTEM_MASTERS in user.groups:
            return _ALLOWED
        key = (
            user.name,
            user.groups,
            attributes.verb,
            attributes.group,
            attributes.resource,
            attributes.subresource,
            attributes.namespace,
            attributes.name,
            attributes.path,
        )
        decision = self._decisions.get(key)
        if decision is None:
            decision = self._decide(user, attributes)
            if len(self._decisions) >= _MOST_REMEMBERED:
                self._decisions.clear()
            if sum(map(len, key[2:])) + len(user.name) + sum(map(len, user.groups)) <= _LONGEST_REMEMBERED:
                self._decisions[key] = decision
        return decision

    def _decide(self, user: User, attributes: Attributes) -> Decision:
        binding = self.policy.decide(user, attributes)
        if binding is not None:
            return Decision(True, self.policy.reason(user, binding))
        missing = self.policy.missing_roles(user, attributes.namespace)
        return Decision(False, f"RBAC: {aggregate_text(map(missing_role_text, missing))}" if missing else "")

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> list[str]:
        """Those of `names` the user may not `verb`; `resource` is `plural.group` or `plural/subresource.group`.

        The empty name stands for every name.
        """
        if SYSTEM_MASTERS in user.groups:
            return []
        path, _, group = resource.partition(".")
        plural, _, subresource = path.partition("/")
        attributes = Attributes(verb, group, "*", plural, subresource, namespace, _NO_NAME)
        if (await self.authorize(user, attributes)).allowed:
            return []  # what is allowed whatever the name is allowed with any
        # Thousands may be asked for at once: neither reasons nor remembered decisions are of use for them.
        return [
            name
            for name in names
            if not name
            or self.policy.decide(user, Attributes(verb, group, "*", plural, subresource, namespace, name)) is None
        ]

    async def rules(self, user: User, namespace: str) -> AccessRules:
        rules = self.policy.rules_for(user, namespace)
        missing = self.policy.missing_roles(user, namespace)
        if not rules and SYSTEM_MASTERS in user.groups:
            return _EVERYTHING
        return AccessRules(
            tuple(rule.to_object() for rule in rules if rule.resources),
            tuple(rule.to_object() for rule in rules if rule.urls),
            error=aggregate_text(map(missing_role_text, missing)) if missing else "",
        )


def _put(policy: Policy, record: Record) -> None:
    obj = _decode(record.value)
    if record.key.resource in (CLUSTER_ROLES, ROLES):
        policy.put_role(obj)
    else:
        policy.put_binding(obj)
