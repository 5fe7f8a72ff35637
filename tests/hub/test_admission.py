"""Checks on writes inside the hub: one transaction with the write, and asked again when what they read has changed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from muster.admission import Finding, World, Write, refused
from muster.admission.kinds import KindChecks
from muster.hub.admission import ObjectChecks
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.requests import PatchType
from muster.hub.storage import Store
from tests.hub.a_hub import ADMIN, CLUSTERS, GROUP, Hub, cluster, complaint, config_map, denied, placement, story

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from muster.hub.requests import User


@asynccontextmanager
async def a_checked_hub(checks: Mapping[str, KindChecks] | None = None) -> AsyncIterator[Hub]:
    store = Store.open(None)
    authorizer = AdministratorsOnlyAuthorizer()
    clock: list[Hub] = []
    plugin = ObjectChecks(store, authorizer, clock=lambda: clock[0].now)
    if checks is not None:
        plugin._checks = checks
    hub = Hub(store, authorizer, [plugin])
    clock.append(hub)
    await hub.api.start()
    try:
        yield hub
    finally:
        await hub.api.close()
        await store.close()


@story
async def test_the_server_sets_the_time_of_a_taint_and_keeps_it() -> None:
    taint = {"key": "a", "value": "", "effect": "NoSelect"}
    async with a_checked_hub() as hub:
        created = await hub.create(cluster(taints=[{**taint, "timeAdded": "2000-01-01T00:00:00Z"}]))
        assert created["spec"]["taints"][0]["timeAdded"] == "2026-01-02T03:04:05Z"
        hub.later(60)
        target = hub.target(CLUSTERS, "c1")
        again = await hub.patch(target, {"spec": {"taints": [taint, {"key": "b", "effect": "NoSelect"}]}})
        times = [each["timeAdded"] for each in again["spec"]["taints"]]
        assert times == ["2026-01-02T03:04:05Z", "2026-01-02T03:05:05Z"]
        forged = [{**taint, "timeAdded": "2001-01-01T00:00:00Z"}]
        assert await complaint(hub.patch(target, {"spec": {"taints": forged}})) == (
            400,
            "BadRequest",
            denied("managedcluster", 'It is not allowed to set TimeAdded of Taint "a".', "mutators"),
        )
        applied = {**cluster(), "spec": {"hubAcceptsClient": True, "taints": [taint]}}
        forced = await hub.apply(applied, "gitops", force=True)
        assert forced["spec"]["taints"][0]["timeAdded"] == "2026-01-02T03:04:05Z"
        assert (await hub.apply(applied, "gitops", force=True))["metadata"]["resourceVersion"] == forced["metadata"][
            "resourceVersion"
        ]


@pytest.mark.parametrize("path", ["update", "merge", "json", "apply", "status"])
@story
async def test_no_path_sets_the_time_of_a_taint(path: str) -> None:
    taint = {"key": "a", "value": "", "effect": "NoSelect"}
    forged = {**taint, "timeAdded": "2001-01-01T00:00:00Z"}
    async with a_checked_hub() as hub:
        stored = await hub.create(cluster(taints=[taint]))
        target = hub.target(CLUSTERS, "c1")
        changed = {**stored, "spec": {**stored["spec"], "taints": [forged]}}
        operation = {"op": "replace", "path": "/spec/taints/0/timeAdded", "value": forged["timeAdded"]}
        sent = {
            "update": lambda: hub.update(changed),
            "merge": lambda: hub.patch(target, {"spec": {"taints": [forged]}}),
            "json": lambda: hub.patch(target, [operation], PatchType.JSON),
            "apply": lambda: hub.apply(cluster(taints=[forged]), "gitops", force=True),
            "status": lambda: hub.patch(hub.target(CLUSTERS, "c1", subresource="status"), changed),
        }[path]()
        if path == "status":
            await sent
        else:
            text = 'It is not allowed to set TimeAdded of Taint "a".'
            assert (await complaint(sent))[2] == denied("managedcluster", text, "mutators")
        assert (await hub.get(CLUSTERS, "c1"))["spec"] == stored["spec"]


@story
async def test_a_misconfigured_placement_is_stored_with_a_warning() -> None:
    wrong = placement()
    expression = {"celSelector": {"celExpressions": ["managedCluster.("]}}
    wrong["spec"] = {"predicates": [{"requiredClusterSelector": expression}]}
    async with a_checked_hub() as hub:
        await hub.create(wrong)
        assert [text.partition(":")[0] for text in hub.warnings] == ["placement cannot be scheduled"]


@story
async def test_a_refusal_names_the_object_and_every_cause() -> None:
    long = placement()
    expression = {"celSelector": {"celExpressions": [f"'{'x' * 20_000}' == ''"]}}
    long["spec"] = {"predicates": [{"requiredClusterSelector": expression}]}
    async with a_checked_hub() as hub:
        code, reason, message = await complaint(hub.create(long))
        assert (code, reason) == (422, "Invalid")
        assert message.startswith(f'Placement.{GROUP} "p1" is invalid: spec.predicates[0].requiredClusterSelector.')


@story
async def test_a_check_is_asked_again_when_what_it_read_has_changed() -> None:
    seen: list[str] = []

    async def needs_permission_slip(write: Write, world: World) -> Finding:
        slip = await world.get("configmaps", "default", "slip")
        seen.append("none" if slip is None else slip["data"]["may"])
        if len(seen) == 1:
            # Somebody else writes between this check and the commit.
            await hub.create(config_map("slip", may="no"))
        allowed = slip is None or slip["data"]["may"] == "yes"
        return Finding() if allowed else refused(f"the slip says no to {write.asker.name}", 403, "Forbidden")

    async with a_checked_hub({CLUSTERS: KindChecks(inquiring=(needs_permission_slip,))}) as hub:
        assert await complaint(hub.create(cluster())) == (
            403,
            "Forbidden",
            denied("managedcluster", "the slip says no to admin"),
        )
        assert seen == ["none", "no"]
        assert hub.store.count(CLUSTERS) == 0


@story
async def test_a_list_that_was_read_is_guarded_as_a_whole() -> None:
    counts: list[int] = []

    async def at_most_two(write: Write, world: World) -> Finding:
        clusters = await world.list(CLUSTERS)
        counts.append(len(clusters))
        if len(counts) == 2:
            await hub.create(cluster("rival"))
        return refused("two are enough") if len(clusters) >= 2 else Finding()

    async with a_checked_hub({CLUSTERS: KindChecks(inquiring=(at_most_two,))}) as hub:
        await hub.create(cluster("first"))
        assert (await complaint(hub.create(cluster("second"))))[2] == denied("managedcluster", "two are enough")
        assert await hub.names(CLUSTERS) == ["first", "rival"]


@story
async def test_permissions_are_asked_of_the_hub_s_own_authorizer() -> None:
    async def must_join(write: Write, world: World) -> Finding:
        missing = await world.missing(write.asker, "create", f"managedclustersets/join.{GROUP}", ["a", "b"])
        return refused(f"may not join {', '.join(missing)}", 403, "Forbidden") if missing else Finding()

    class HalfWay(AdministratorsOnlyAuthorizer):
        async def missing(self, user: User, verb: str, resource: str, names: Any, namespace: str = "") -> list[str]:
            return [name for name in names if name != "a"]

    store = Store.open(None)
    authorizer = HalfWay()
    plugin = ObjectChecks(store, authorizer)
    plugin._checks = {CLUSTERS: KindChecks(inquiring=(must_join,))}
    hub = Hub(store, authorizer, [plugin])
    await hub.api.start()
    assert (await complaint(hub.create(cluster(), ADMIN)))[2] == denied("managedcluster", "may not join b")
    await hub.api.close()
    await store.close()
