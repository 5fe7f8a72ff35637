"""Decisions over a store: as it is now, told to whoever asks, and never outlived by a write."""

from __future__ import annotations

import asyncio
import statistics
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from muster.hub.api import Api
from muster.hub.auth.rbac.aggregation import Aggregation
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.auth.rbac.bootstrap import AUTO_UPDATE, bootstrap_objects, ensure_roles
from muster.hub.auth.rbac.escalation import EscalationGuard
from muster.hub.requests import Attributes, User
from muster.hub.storage import Store, WatchOverflowError
from tests.hub.a_hub import ADMIN, Hub, story
from tests.hub.auth.rbac.test_policy import binding, role

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Object = dict[str, Any]
ALICE = User("alice", groups=("devs", "system:authenticated"))
RBAC = "rbac.authorization.k8s.io"
GET = Attributes("get", resource="secrets", namespace="default")


@asynccontextmanager
async def a_guarded_hub() -> AsyncIterator[tuple[Hub, RbacAuthorizer]]:
    store = Store.open(None)
    authorizer = RbacAuthorizer(store)
    hub = Hub(store, authorizer, [EscalationGuard(authorizer)])
    await hub.api.start()
    await authorizer.start()
    await ensure_roles(hub.api, store)
    try:
        yield hub, authorizer
    finally:
        await authorizer.close()
        await hub.api.close()
        await store.close()


def a_role(name: str, **more: Any) -> Object:
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", **role(name, **more)}


def a_binding(name: str, role_name: str, subject: str = "alice") -> Object:
    subjects = {"kind": "User", "apiGroup": RBAC, "name": subject}
    return {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", **binding(name, role_name, subjects)}


@story
async def test_a_change_counts_as_soon_as_its_writer_knows_of_it() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        await hub.create(a_role("reader"))
        assert not (await authorizer.authorize(ALICE, GET)).allowed
        await hub.create(a_binding("reader", "reader"))
        decision = await authorizer.authorize(ALICE, GET)
        assert decision.reason == 'RBAC: allowed by ClusterRoleBinding "reader" of ClusterRole "reader" to User "alice"'
        assert (await authorizer.authorize(ALICE, GET)) is decision
        await hub.delete(f"clusterroles.{RBAC}", "reader")
        decision = await authorizer.authorize(ALICE, GET)
        assert decision.reason == f'RBAC: clusterrole.{RBAC} "reader" not found'
        await hub.delete(f"clusterrolebindings.{RBAC}", "reader")
        assert (await authorizer.authorize(ALICE, GET)).reason == ""


@story
async def test_several_missing_roles_are_listed() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        for name in ("x", "y"):
            await hub.create(a_binding(name, name))
        found = f'[clusterrole.{RBAC} "x" not found, clusterrole.{RBAC} "y" not found]'
        assert (await authorizer.authorize(ALICE, GET)).reason == f"RBAC: {found}"


@story
async def test_masters_need_no_role() -> None:
    async with a_guarded_hub() as (_, authorizer):
        assert (await authorizer.authorize(ADMIN, GET)) == (await authorizer.authorize(ADMIN, Attributes("x")))
        assert await authorizer.missing(ADMIN, "get", "secrets", ["a"]) == []


@story
async def test_missing_names_those_that_are_not_allowed() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        joins = a_role("joins")
        joins["rules"] = [
            {"verbs": ["create"], "apiGroups": ["g.io"], "resources": ["sets/join"], "resourceNames": ["a", "b"]},
            {"verbs": ["update"], "apiGroups": ["g.io"], "resources": ["sets"]},
        ]
        await hub.create(joins)
        await hub.create(a_binding("joins", "joins"))
        assert await authorizer.missing(ALICE, "create", "sets/join.g.io", ["c", "a", "d", "b"]) == ["c", "d"]
        assert await authorizer.missing(ALICE, "update", "sets.g.io", ["x", "y"]) == []
        assert await authorizer.missing(ALICE, "delete", "secrets", ["x"]) == ["x"]


@story
async def test_a_permission_that_was_taken_out_stays_out_where_the_role_says_so() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        role = await hub.get(f"clusterroles.{RBAC}", "system:discovery")
        metadata = {**role["metadata"], "annotations": {AUTO_UPDATE: "false"}}
        await hub.update({**role, "metadata": metadata, "rules": []})
        before = hub.store.revision
        await ensure_roles(hub.api, hub.store)
        assert hub.store.revision == before
        again = RbacAuthorizer(hub.store)
        await again.start()
        discovery = Attributes("get", path="/apis")
        assert not (await again.authorize(ALICE, discovery)).allowed
        assert not (await authorizer.authorize(ALICE, discovery)).allowed
        await again.close()


@story
async def test_every_authenticated_user_learns_about_itself_and_the_api() -> None:
    async with a_guarded_hub() as (_, authorizer):
        rules = await authorizer.rules(ALICE, "default")
        assert rules.resource_rules == (
            {
                "verbs": ["create"],
                "apiGroups": ["authorization.k8s.io"],
                "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
            },
            {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
        )
        assert [rule["verbs"] for rule in rules.non_resource_rules] == [["get"], ["get"]]


@story
async def test_admin_holds_what_edit_holds_and_edit_what_view_holds() -> None:
    async with a_guarded_hub() as (_, authorizer):
        held = {key.name: set(rules) for key, _, rules in authorizer.policy.aggregated()}
        assert held["view"] < held["edit"] < held["admin"]
        assert not any("secrets" in rule.resources for rule in held["view"])


def test_bootstrap_roles_are_valid_and_bound_to_roles_that_exist() -> None:
    objects = list(bootstrap_objects())
    roles = {obj["metadata"]["name"] for obj in objects if obj["kind"] == "ClusterRole"}
    assert {obj["roleRef"]["name"] for obj in objects if "roleRef" in obj} <= roles


@story
async def test_a_flood_of_changes_loses_none() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        await asyncio.gather(*(hub.create(a_role(f"r{number}")) for number in range(300)))
        await asyncio.gather(*(hub.create(a_binding(f"b{n}", f"r{n}", f"user{n}")) for n in range(300)))
        for number in (0, 150, 299):
            assert (await authorizer.authorize(User(f"user{number}"), GET)).allowed


@story
async def test_what_an_aggregated_role_holds_is_written_into_it() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        aggregation = Aggregation(hub.api, authorizer)
        aggregation.start()
        await hub.create(a_role("more", **{f"{RBAC}/aggregate-to-view": "true"}))

        async def written(name: str) -> bool:
            rules = (await hub.get(f"clusterroles.{RBAC}", name)).get("rules") or []
            return any(rule["resources"] == ["secrets"] and rule["verbs"] == ["get"] for rule in rules)

        async with asyncio.timeout(5):
            while not (await written("view") and await written("edit") and await written("admin")):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            await hub.delete(f"clusterroles.{RBAC}", "more")
            while await written("view") or await written("admin"):  # noqa: ASYNC110 - an object is waited for
                await asyncio.sleep(0.01)
        before = hub.store.revision
        await asyncio.sleep(0.1)
        assert hub.store.revision == before
        await aggregation.close()


@story
async def test_who_was_cut_off_from_the_events_reads_everything_anew() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        await hub.create(a_role("reader"))
        watches = authorizer._watches
        for resource in watches:
            watches[resource].fail(WatchOverflowError("too slow"))
        await hub.create(a_binding("reader", "reader"))
        assert (await authorizer.authorize(ALICE, GET)).allowed
        await hub.delete(f"clusterrolebindings.{RBAC}", "reader")
        assert not (await authorizer.authorize(ALICE, GET)).allowed


@pytest.mark.slow
@story
async def test_a_decision_among_ten_thousand_roles_takes_less_than_a_fifth_of_a_millisecond() -> None:
    store = Store.open(None)
    authorizer = RbacAuthorizer(store)
    for number in range(10_000):
        authorizer.policy.put_role(role(f"r{number}", resource=f"things{number % 100}"))
        subject = {"kind": "Group", "name": "devs"} if number % 2 else {"kind": "User", "name": f"user{number}"}
        authorizer.policy.put_binding(binding(f"b{number}", f"r{number}", subject))
    spent = []
    for number in range(500):
        user = User(f"user{number * 7 % 10_000}", groups=("devs", "system:authenticated"))
        asked = Attributes("get" if number % 3 else "delete", resource=f"things{number % 100}", name=f"n{number}")
        started = time.perf_counter()
        await authorizer.authorize(user, asked)
        spent.append(time.perf_counter() - started)
    await store.close()
    assert statistics.median(spent) < 200e-6


@story
async def test_the_api_is_asked_with_the_name_in_the_body() -> None:
    async with a_guarded_hub() as (hub, authorizer):
        assert isinstance(hub.api, Api)
        named = a_role("named")
        named["rules"] = [
            {"verbs": ["create"], "apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["alices"]}
        ]
        await hub.create(named)
        await hub.create(a_binding("named", "named"))
        created = await hub.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "alices"}}, ALICE)
        assert created["metadata"]["name"] == "alices"
        assert (await authorizer.authorize(ALICE, Attributes("create", resource="namespaces"))).allowed is False


@story
async def test_decisions_on_long_questions_are_made_and_not_kept() -> None:
    async with a_guarded_hub() as (_, authorizer):
        long = "n" * 100_000
        asked = [
            (ALICE, Attributes("get", resource="secrets", name=long)),
            (ALICE, Attributes("get", path=f"/{long}")),
            (User(long), GET),
            (User("alice", groups=tuple(f"group-{number}" for number in range(5000))), GET),
        ]
        for who, what in asked:
            assert not (await authorizer.authorize(who, what)).allowed
        assert not authorizer._decisions
        await authorizer.authorize(ALICE, GET)
        assert len(authorizer._decisions) == 1
