"""A hub without HTTP that asks roles and checks every write, and users who have just the rules they are given."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from muster.hub.admission import ObjectChecks
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.requests import User
from muster.hub.storage import Store
from tests.hub.a_hub import GROUP, Hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from muster.admission import Settings

Object = dict[str, Any]
RBAC = "rbac.authorization.k8s.io"
REGISTER = "register.open-cluster-management.io"


def rule(verbs: str, resource: str, *names: str, group: str = GROUP) -> Object:
    """`rule("create", "managedclustersets/join", "apac")`: of every name if none is given."""
    found: Object = {"apiGroups": [group], "resources": [resource], "verbs": verbs.split(",")}
    return {**found, "resourceNames": list(names)} if names else found


def a_user(name: str) -> User:
    return User(name, name, ("system:authenticated",))


class GuardedHub(Hub):
    async def grant(self, name: str, *rules: Object) -> User:
        """A user with exactly these rules, instead of those it had."""
        role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": list(rules)}
        await self.apply(role, "test", force=True)
        binding = {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": name}],
        }
        await self.apply(binding, "test", force=True)
        return a_user(name)


@asynccontextmanager
async def a_guarded_hub(settings: Settings | None = None) -> AsyncIterator[GuardedHub]:
    store = Store.open(None)
    authorizer = RbacAuthorizer(store)
    clock: list[Hub] = []
    checks = ObjectChecks(store, authorizer, settings, permissions=authorizer.read, clock=lambda: clock[0].now)
    hub = GuardedHub(store, authorizer, [checks])
    clock.append(hub)
    await authorizer.start()
    await hub.api.start()
    try:
        yield hub
    finally:
        await hub.api.close()
        await authorizer.close()
        await store.close()


def a_set(name: str, key: str = "", version: str = "v1beta2", **spec: Any) -> Object:
    chosen = {"exclusiveKey": key, **spec} if key else spec
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ManagedClusterSet",
        "metadata": {"name": name},
        "spec": chosen,
    }
