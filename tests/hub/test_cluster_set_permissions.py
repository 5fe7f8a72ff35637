"""Who may move clusters between sets and create sets, on every path of the hub, in one transaction with the write."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from muster.admission import Settings
from muster.clustersets.pairs import NAME, NAMESPACE
from muster.hub.requests import PatchType
from muster.selectors.membership import DEFAULT_KEY
from tests.hub.a_guarded_hub import REGISTER, GuardedHub, a_guarded_hub, a_set, rule
from tests.hub.a_hub import CLUSTERS, GROUP, SETS, cluster, complaint, config_map, denied, namespace, refusal, story

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from muster.hub.requests import User

JOIN, EXCLUSIVE_KEY = "managedclustersets/join", "managedclustersets/exclusiveKey"
ANY_CLUSTER = rule("create,update,patch", "managedclusters")
ACCEPT = rule("update", "managedclusters/accept", group=REGISTER)


def in_region(name: str, region: str = "", **labels: str) -> dict[str, Any]:
    return cluster(name, {**({"region": region} if region else {}), DEFAULT_KEY: "default", **labels})


# --- Labels of clusters ---------------------------------------------------------------------------------------------


async def by_create(hub: GuardedHub, user: User) -> Any:
    return await hub.create(in_region("new", "apac"), user)


async def by_update(hub: GuardedHub, user: User) -> Any:
    stored = await hub.get(CLUSTERS, "mc1")
    stored["metadata"]["labels"]["region"] = "apac"
    return await hub.update(stored, user=user)


async def by_merge_patch(hub: GuardedHub, user: User) -> Any:
    return await hub.patch(hub.target(CLUSTERS, "mc1"), {"metadata": {"labels": {"region": "apac"}}}, user=user)


async def by_json_patch(hub: GuardedHub, user: User) -> Any:
    patch = [{"op": "add", "path": "/metadata/labels/region", "value": "apac"}]
    return await hub.patch(hub.target(CLUSTERS, "mc1"), patch, PatchType.JSON, user=user)


async def by_apply(hub: GuardedHub, user: User) -> Any:
    return await hub.apply(in_region("mc1", "apac"), "gitops", force=True, user=user)


async def by_applying_anew(hub: GuardedHub, user: User) -> Any:
    return await hub.apply(in_region("mc2", "apac"), "gitops", user=user)


PATHS = [by_create, by_update, by_merge_patch, by_json_patch, by_apply, by_applying_anew]


@pytest.mark.parametrize("path", PATHS)
@story
async def test_every_path_into_a_set_needs_join(path: Callable[[GuardedHub, User], Coroutine[Any, Any, Any]]) -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("apac", "region"))
        await hub.create(in_region("mc1"))
        dev = await hub.grant("dev", ANY_CLUSTER, ACCEPT, rule("create", JOIN, "default"))
        error = await refusal(path(hub, dev))
        assert (error.code, error.reason) == (403, "Forbidden")
        assert f'create managedclustersets/join.{GROUP} "apac"' in error.message
        assert [name for name in await hub.names(CLUSTERS) if name != "mc1"] == []
        dev = await hub.grant("dev", ANY_CLUSTER, ACCEPT, rule("create", JOIN, "default", "apac"))
        assert (await path(hub, dev))["metadata"]["labels"]["region"] == "apac"


@story
async def test_a_status_write_can_move_nobody() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("apac", "region"))
        await hub.create(in_region("mc1"))
        agent = await hub.grant("agent", rule("patch,update", "managedclusters/status"))
        change = {"metadata": {"labels": {"region": "apac"}}, "status": {"version": {"kubernetes": "v1.31.0"}}}
        written = await hub.patch(hub.target(CLUSTERS, "mc1", subresource="status"), change, user=agent)
        assert written["metadata"]["labels"] == {DEFAULT_KEY: "default"}
        assert written["status"] == {"version": {"kubernetes": "v1.31.0"}}


@story
async def test_leaving_needs_join_and_labels_that_name_no_set_need_nothing() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("apac", "region"))
        await hub.create(in_region("mc1", "apac"))
        dev = await hub.grant("dev", ANY_CLUSTER)
        target = hub.target(CLUSTERS, "mc1")
        assert (await complaint(hub.patch(target, {"metadata": {"labels": {"region": None}}}, user=dev)))[0] == 403
        await hub.patch(target, {"metadata": {"labels": {"team": "blue", "zone": "apac"}}}, user=dev)
        await hub.delete(SETS, "apac")
        await hub.patch(target, {"metadata": {"labels": {"region": None}}}, user=dev)


@story
async def test_the_default_key_is_guarded_by_the_old_and_the_new_name_and_filled_in() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(cluster("mc1"))
        stored = await hub.get(CLUSTERS, "mc1")
        assert stored["metadata"]["labels"] == {DEFAULT_KEY: "default"}
        target = hub.target(CLUSTERS, "mc1")
        dev = await hub.grant("dev", ANY_CLUSTER, rule("create", JOIN, "ghost"))
        move = {"metadata": {"labels": {DEFAULT_KEY: "ghost"}}}
        code, _, message = await complaint(hub.patch(target, move, user=dev))
        assert (code, message.splitlines()[0]) == (
            403,
            denied(
                "managedcluster",
                f'managedclustersets/join.{GROUP} "default" is forbidden: user "dev" cannot add/remove a '
                'ManagedCluster to/from ManagedClusterSet "default"',
            ),
        )
        dev = await hub.grant("dev", ANY_CLUSTER, rule("create", JOIN, "ghost", "default"))
        await hub.patch(target, move, user=dev)
        back = await hub.patch(target, {"metadata": {"labels": None}}, user=dev)
        assert back["metadata"]["labels"] == {DEFAULT_KEY: "default"}


@story
async def test_everything_that_is_missing_is_told_at_once() -> None:
    async with a_guarded_hub() as hub:
        for name, key in (("apac", "region"), ("aws", "vendor")):
            await hub.create(a_set(name, key))
        dev = await hub.grant("dev", ANY_CLUSTER)
        _, _, message = await complaint(hub.create(in_region("mc1", "apac", vendor="aws"), dev))
        told = [line for line in message.splitlines() if line.startswith("  ") and "(" in line]
        assert told == [
            '  update managedclusters/accept.register.open-cluster-management.io "mc1" (hubAcceptsClient becomes true)',
            f'  create managedclustersets/join.{GROUP} "default" '
            f"(the cluster enters the set default: label {DEFAULT_KEY}=default)",
            f'  create managedclustersets/join.{GROUP} "apac" (the cluster enters the set apac: label region=apac)',
            f'  create managedclustersets/join.{GROUP} "aws" (the cluster enters the set aws: label vendor=aws)',
        ]


@story
async def test_a_cluster_with_very_many_labels_is_checked_all_the_same() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("apac", "region"))
        dev = await hub.grant("dev", ANY_CLUSTER, ACCEPT, rule("create", JOIN, "default"))
        many = {f"l{number}": f"v{number}" for number in range(2000)}
        assert (await complaint(hub.create(in_region("mc1", "apac", **many), dev)))[0] == 403
        await hub.create(in_region("mc1", "us", **many), dev)


@story
async def test_a_cluster_is_not_accepted_while_its_namespace_goes_away() -> None:
    async with a_guarded_hub() as hub:
        await hub.create({**namespace("mc1"), "metadata": {"name": "mc1", "finalizers": ["example.com/slow"]}})
        await hub.delete("namespaces", "mc1")
        assert (await complaint(hub.create(cluster("mc1")))) == (
            403,
            "Forbidden",
            denied(
                "managedcluster",
                f'managedclusters/accept.{GROUP} "mc1" is forbidden: cluster namespace "mc1" is terminating',
            ),
        )
        await hub.create(cluster("mc1", hubAcceptsClient=False))


@pytest.mark.parametrize("taints", [["x"], {"a": 1}, [None]])
@story
async def test_malformed_taints_are_told_as_such(taints: Any) -> None:
    async with a_guarded_hub() as hub:
        assert (await complaint(hub.create(cluster("mc1", taints=taints))))[:2] == (422, "Invalid")


# --- Sets -----------------------------------------------------------------------------------------------------------

CREATE_SET = rule("create,update,patch,delete", "managedclustersets")
READ = rule("get", "managedclusters")


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v1beta2"])
@story
async def test_a_new_set_needs_its_key_and_every_cluster_it_takes_in(version: str) -> None:
    async with a_guarded_hub() as hub:
        for name in ("mc1", "mc2"):
            await hub.create(in_region(name, "apac"))
        await hub.create(in_region("mc3", "us"))
        sre = await hub.grant("sre", CREATE_SET, READ, rule("update", "managedclusters", "mc1"))
        apac = a_set("apac", "region", version)
        _, _, message = await complaint(hub.create(apac, sre))
        told = [line for line in message.splitlines() if line.startswith("  ") and "(" in line]
        assert told == [
            f'  create managedclustersets/exclusiveKey.{GROUP} "region" (the set is exclusive by the key region)',
            f'  update managedclusters.{GROUP} "mc2" (the cluster is labelled region=apac)',
        ]
        key = rule("create", EXCLUSIVE_KEY, "region")
        sre = await hub.grant("sre", CREATE_SET, key, rule("update", "managedclusters", "mc1", "mc2"))
        await hub.create(apac, sre)


@story
async def test_who_may_not_get_clusters_is_told_how_many_and_not_which() -> None:
    async with a_guarded_hub() as hub:
        for name in ("mc1", "secret-1", "secret-2"):
            await hub.create(in_region(name, "apac"))
        keys = rule("create", EXCLUSIVE_KEY)
        sre = await hub.grant("sre", CREATE_SET, keys, rule("get", "managedclusters", "mc1"))
        _, _, message = await complaint(hub.create(a_set("apac", "region"), sre))
        assert "secret" not in message
        assert f'  update managedclusters.{GROUP} "mc1" (the cluster is labelled region=apac)' in message.splitlines()
        assert "2 labelled region=apac that you may not get" in message
        assert 'resources: ["managedclusters"]\n  verbs: ["update"]' in message
        blind = await hub.grant("sre", CREATE_SET, keys)
        _, _, message = await complaint(hub.create(a_set("apac", "region"), blind))
        assert "secret" not in message
        assert message.startswith(
            denied(
                "managedclusterset",
                f'managedclusters.{GROUP} is forbidden: user "sre" cannot take 3 ManagedClusters into the '
                'ManagedClusterSet "apac"',
            )
        )
        # Who may take them in hears of a dry run how many there are.
        may = await hub.grant("sre", CREATE_SET, keys, rule("update", "managedclusters"))
        await hub.create(a_set("apac", "region"), may, dry_run=("All",))
        assert hub.warnings == ("clusters labelled region=apac become members: 3",)


@story
async def test_an_empty_resource_name_is_not_every_name() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(in_region("mc1", "apac"))
        keys, nobody = rule("create", EXCLUSIVE_KEY), rule("update", "managedclusters", "")
        sre = await hub.grant("sre", CREATE_SET, READ, keys, nobody)
        assert "mc1" in (await complaint(hub.create(a_set("apac", "region"), sre)))[2]


@story
async def test_the_default_key_needs_no_permission_of_its_own_but_its_clusters_do() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(cluster("mc1", {DEFAULT_KEY: "blue"}))
        sre = await hub.grant("sre", CREATE_SET, READ)
        await hub.create(a_set("red"), sre)
        assert "mc1" in (await complaint(hub.create(a_set("blue"), sre)))[2]
        sre = await hub.grant("sre", CREATE_SET, rule("update", "managedclusters", "mc1"))
        await hub.create(a_set("blue"), sre)


@story
async def test_a_set_by_labels_that_becomes_exclusive_takes_its_clusters_in_then() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(cluster("mc1", {DEFAULT_KEY: "blue"}))
        sre = await hub.grant("sre", CREATE_SET, READ)
        by_labels = {"selectorType": "LabelSelector", "labelSelector": {}}
        await hub.create(a_set("blue", clusterSelector=by_labels), sre)
        exclusive = {"spec": {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel", "labelSelector": None}}}
        assert "mc1" in (await complaint(hub.patch(hub.target(SETS, "blue"), exclusive, user=sre)))[2]
        older = hub.target(SETS, "blue", version="v1alpha1")
        assert "mc1" in (await complaint(hub.patch(older, {"spec": {"clusterSelector": None}}, user=sre)))[2]
        sre = await hub.grant("sre", CREATE_SET, rule("update", "managedclusters"))
        await hub.patch(hub.target(SETS, "blue"), exclusive, user=sre)


@pytest.mark.parametrize("version", ["v1alpha1", "v1beta1", "v1beta2"])
@story
async def test_the_effective_key_never_changes(version: str) -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("blue"))
        target = hub.target(SETS, "blue", version=version)
        await hub.patch(target, {"spec": {"exclusiveKey": DEFAULT_KEY}})
        error = await refusal(hub.patch(target, {"spec": {"exclusiveKey": "region"}}))
        assert (error.code, "spec.exclusiveKey" in error.message, "immutable" in error.message) == (422, True, True)


@story
async def test_other_fields_and_deletion_need_no_more_than_themselves() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("apac", "region"))
        await hub.create(in_region("mc1", "apac"))
        sre = await hub.grant("sre", CREATE_SET)
        await hub.patch(hub.target(SETS, "apac"), {"spec": {"managedNamespaces": [{"name": "x"}]}}, user=sre)
        await hub.delete(SETS, "apac", user=sre, dry_run=("All",))
        assert hub.warnings == ("clusters labelled region=apac are members no longer: 1",)
        sre = await hub.grant("sre", CREATE_SET, rule("get", "managedclusters"))
        await hub.delete(SETS, "apac", user=sre, dry_run=("All",))
        assert hub.warnings == ("clusters labelled region=apac are members no longer: 1: mc1",)
        await hub.delete(SETS, "apac", user=sre)


@story
async def test_a_dry_run_tells_who_becomes_a_member() -> None:
    async with a_guarded_hub() as hub:
        for number in range(12):
            await hub.create(in_region(f"mc{number:02}", "apac"))
        await hub.create(a_set("apac", "region"), dry_run=("All",))
        shown = ", ".join(f"mc{number:02}" for number in range(10))
        assert list(hub.warnings) == [f"clusters labelled region=apac become members: 12: {shown} and 2 more"]
        await hub.create(a_set("apac", "region"))
        assert list(hub.warnings) == []


@story
async def test_a_name_that_can_be_nobody_s_label_is_warned_of() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("x" * 64))
        assert hub.warnings == ("no cluster can be in this set: its name is longer than a label value, 63 characters",)


@story
async def test_keys_that_administrators_deny_are_nobody_s() -> None:
    async with a_guarded_hub(Settings(denied_keys=("kubernetes.io/",))) as hub:
        error = await refusal(hub.create(a_set("apac", "topology.kubernetes.io/region")))
        assert (error.code, "this hub takes no set with the key kubernetes.io/" in error.message) == (422, True)
        await hub.create(a_set("apac", "region"))
        await hub.create(a_set("blue"))


@story
async def test_pairs_that_make_no_sense_are_refused_to_everybody() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(namespace(NAMESPACE))
        await hub.create(config_map(NAME, NAMESPACE, region="apac, us", vendor="aws, gcp"))
        for wrong in (a_set("apac", "vendor"), a_set("aws", "region"), a_set("emea", "region"), a_set("apac")):
            code, reason, message = await complaint(hub.create(wrong))
            assert (code, reason, "clusterset-validation" in message) == (403, "Forbidden", True)
        for right in (a_set("apac", "region"), a_set("aws", "vendor"), a_set("blue", "team"), a_set("default")):
            await hub.create(right)


@story
async def test_a_binding_needs_the_permission_to_bind() -> None:
    async with a_guarded_hub() as hub:
        binding = {
            "apiVersion": f"{GROUP}/v1beta2",
            "kind": "ManagedClusterSetBinding",
            "metadata": {"name": "apac", "namespace": "default"},
            "spec": {"clusterSet": "apac"},
        }
        may_create = rule("create,patch", "managedclustersetbindings")
        dev = await hub.grant("dev", may_create, rule("create", "managedclustersets/bind", "us"))
        assert (await complaint(hub.create(binding, dev)))[2].splitlines()[0] == (
            denied(
                "managedclustersetbinding",
                f'managedclustersets/bind.{GROUP} "apac" is forbidden: '
                'user "dev" is not allowed to bind cluster set "apac"',
            )
        )
        dev = await hub.grant("dev", may_create, rule("create", "managedclustersets/bind", "apac"))
        await hub.create(binding, dev)
        dev = await hub.grant("dev", may_create)
        target = hub.target(f"managedclustersetbindings.{GROUP}", "apac", "default")
        await hub.patch(target, {"metadata": {"labels": {"a": "b"}}}, user=dev)


# --- One transaction ------------------------------------------------------------------------------------------------


@story
async def test_heartbeats_do_not_keep_a_set_from_being_created() -> None:
    """Neither those of clusters that are taken in, nor those of others."""
    async with a_guarded_hub() as hub:
        names = [f"mc{number}" for number in range(40)]
        for name in names:
            await hub.create(in_region(name, "apac" if name < "mc2" else "us"))
        sre = await hub.grant(
            "sre", CREATE_SET, rule("create", EXCLUSIVE_KEY), rule("update", "managedclusters", *names)
        )
        stop = asyncio.Event()

        async def beat(name: str) -> int:
            number = 0
            while not stop.is_set():
                number += 1
                status = {"status": {"version": {"kubernetes": f"v1.31.{number}"}}}
                await hub.patch(hub.target(CLUSTERS, name, subresource="status"), status)
            return number

        beating = [asyncio.create_task(beat(name)) for name in names[:8]]
        for _ in range(5):
            await hub.create(a_set("apac", "region"), sre)
            await hub.delete(SETS, "apac", user=sre)
        stop.set()
        assert sum(await asyncio.gather(*beating)) > 20


@story
async def test_a_cluster_labelled_between_check_and_commit_is_asked_about() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(in_region("mc1"))
        sre = await hub.grant("sre", CREATE_SET, rule("create", EXCLUSIVE_KEY))
        dev = await hub.grant("dev", ANY_CLUSTER)
        outcomes = await asyncio.gather(
            hub.create(a_set("apac", "region"), sre), by_merge_patch(hub, dev), return_exceptions=True
        )
        assert [isinstance(each, Exception) for each in outcomes].count(True) == 1


@story
async def test_a_permission_that_is_taken_away_meanwhile_does_not_count() -> None:
    async with a_guarded_hub() as hub:
        await hub.create(a_set("apac", "region"))
        await hub.create(in_region("mc1"))
        dev = await hub.grant("dev", ANY_CLUSTER, rule("create", JOIN, "apac"))
        edit = asyncio.create_task(by_merge_patch(hub, dev))
        await hub.grant("dev", ANY_CLUSTER)
        revision = hub.store.revision
        outcome = await asyncio.gather(edit, return_exceptions=True)
        labelled = (await hub.get(CLUSTERS, "mc1"))["metadata"]
        # Either it was written before the role was changed, or not at all.
        assert isinstance(outcome[0], Exception) or int(labelled["resourceVersion"]) < revision
