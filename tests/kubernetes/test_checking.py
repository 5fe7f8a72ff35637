"""What a check makes of what is on a server: whose a definition is, what it lacks, where rules stand."""

from __future__ import annotations

import asyncio
import copy

import pytest

from muster.api import RESOURCES
from muster.client import Client, Connection, Discovery
from muster.kubernetes.checking.definitions import NOTICED, Lacks, lacks, noticed, rules_at
from muster.kubernetes.checking.rules import RULES
from muster.kubernetes.installing.applying import rollout_words
from muster.kubernetes.installing.cluster import Cluster, ObjectId, Refusal, id_from, id_of
from muster.kubernetes.installing.differences import changed_fields
from muster.kubernetes.installing.inventory import inventory_from, inventory_object
from muster.kubernetes.installing.owners import owner_of
from muster.kubernetes.installing.plan import Deed, Options, Step, planned
from muster.kubernetes.manifests import objects
from muster.kubernetes.objects.crds import crd
from muster.kubernetes.policies import policies
from muster.kubernetes.serving.configurations import webhook_configurations
from muster.kubernetes.settings import DEFAULTS, HomeSettings, settings_from
from muster.values.json import Json, JsonObject

SETS = "managedclustersets.cluster.open-cluster-management.io"
PLACEMENTS = "placements.cluster.open-cluster-management.io"


def ours(key: str) -> JsonObject:
    return crd(RESOURCES[key], DEFAULTS, converted=True)


def without(key: str, *fields: tuple[str, ...]) -> JsonObject:
    """Our definition with fields taken out of every version."""
    found = copy.deepcopy(ours(key))
    for version in found["spec"]["versions"]:
        for field in fields:
            schema: Json = version["schema"]["openAPIV3Schema"]
            for name in field[:-1]:
                schema = schema["items"] if name == "[]" else schema["properties"][name]
            del schema["properties"][field[-1]]
    return found


def test_a_definition_lacks_nothing_beside_itself() -> None:
    for key in (SETS, PLACEMENTS):
        assert lacks(ours(key), ours(key)) == Lacks()


def test_what_upstream_does_not_carry_is_named_with_what_a_user_would_notice() -> None:
    theirs = without(SETS, ("spec", "exclusiveKey"))
    theirs["spec"]["versions"] = theirs["spec"]["versions"][:1]
    columns = theirs["spec"]["versions"][0]["additionalPrinterColumns"]
    theirs["spec"]["versions"][0]["additionalPrinterColumns"] = [
        each for each in columns if each["name"] != "Exclusive Key"
    ]
    missing = lacks(ours(SETS), theirs)
    assert (missing.fields, missing.versions, missing.columns) == (
        ("spec.exclusiveKey",),
        ("v1beta1", "v1alpha1"),
        ("Exclusive Key",),
    )
    assert noticed(SETS, missing) == [
        NOTICED[SETS, "spec.exclusiveKey"],
        "requests in v1beta1, v1alpha1 are answered with 404",
        "`kubectl get` does not show Exclusive Key",
    ]


def test_fields_in_lists_are_found_and_a_version_that_is_not_served_is_missing() -> None:
    theirs = without(PLACEMENTS, ("spec", "sortBy"), ("spec", "tolerations", "[]", "tolerationSeconds"))
    assert lacks(ours(PLACEMENTS), theirs).fields == ("spec.tolerations[].tolerationSeconds", "spec.sortBy")
    old = ours(PLACEMENTS)
    old = old | {"spec": {**old["spec"], "versions": [{**each, "served": False} for each in old["spec"]["versions"]]}}
    assert lacks(ours(PLACEMENTS), old) == Lacks(versions=("v1beta1",))


def test_a_schema_that_keeps_everything_lacks_no_field() -> None:
    theirs = ours(PLACEMENTS)
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    versions = [{**each, "schema": {"openAPIV3Schema": anything}} for each in theirs["spec"]["versions"]]
    assert lacks(theirs, {"spec": {"versions": versions}}).fields == ()


def test_everything_that_is_said_to_be_noticed_is_in_our_definitions() -> None:
    for key, path in NOTICED:
        names = tuple(path.replace("[]", ".[]").split("."))
        assert path in lacks(ours(key), without(key, names)).fields


@pytest.mark.skipif(not policies(DEFAULTS), reason="the rules come with `muster.kubernetes.policies`")
def test_every_rule_names_what_we_really_install() -> None:
    known = {each["metadata"]["name"] for each in policies(DEFAULTS)}
    configurations = [
        *webhook_configurations(DEFAULTS),
        *webhook_configurations(HomeSettings(policies=False)),
    ]
    webhooks = {webhook["name"] for each in configurations for webhook in each["webhooks"]}
    for rule in RULES:
        assert set(rule.policies) <= known, rule.name
        assert set(rule.webhooks) <= webhooks, rule.name
        if rule.definition is not None:
            told = rules_at(ours(rule.about), rule.definition.place)
            assert any(rule.definition.message in each for each in told), rule.name
    assert {name for rule in RULES for name in rule.policies} == known


# ----------------------------------------------------------------------------------------------------------------------
# What plans and inventories are made of.


def test_an_object_is_ours_by_its_label_or_by_who_wrote_it_and_helm_is_told_apart() -> None:
    labelled: JsonObject = {"metadata": {"labels": {"app.kubernetes.io/part-of": "muster"}}}
    written: JsonObject = {"metadata": {"managedFields": [{"manager": "muster-install", "operation": "Apply"}]}}
    released = {"metadata": {**labelled["metadata"], "annotations": {"meta.helm.sh/release-name": "fleet"}}}
    assert owner_of(labelled).is_ours
    assert owner_of(written).is_ours
    assert str(owner_of(released)) == "the Helm release fleet"


def test_somebody_elses_object_names_who_wrote_it_but_not_the_server() -> None:
    fields = [
        {"manager": "kube-apiserver", "subresource": "status"},
        {"manager": "kube-apiserver"},
        {"manager": "cluster-manager"},
        {"manager": "autoscaler", "subresource": "status"},
    ]
    owner = owner_of({"metadata": {"managedFields": fields}})
    assert (owner.is_ours, str(owner)) == (False, "cluster-manager")
    assert str(owner_of({"metadata": {}})) == "somebody who left no name"


def test_changed_fields_leave_out_what_every_write_changes() -> None:
    before: JsonObject = {
        "metadata": {"resourceVersion": "1", "labels": {"a": "b"}},
        "spec": {"x": [1, 2]},
        "status": {},
    }
    after: JsonObject = {
        "metadata": {"resourceVersion": "2", "generation": 3, "labels": {"a": "c"}},
        "spec": {"x": [1, 3], "y": 1},
        "status": {"z": 1},
    }
    assert changed_fields(before, after) == ["metadata.labels.a", "spec.x[1]", "spec.y"]
    assert changed_fields(before, before) == []


def test_an_inventory_is_read_as_it_was_written() -> None:
    settings = settings_from({"namespace": "fleet", "replicas": 4, "crds": "upstream"})
    ids = [id_of(each) for each in objects(settings)]
    found = inventory_from(inventory_object(settings, ids))
    assert (found.settings, found.objects) == (settings, tuple(ids))
    assert id_from("not a line") is None
    assert id_from("v1 ConfigMap - a") == ObjectId("v1", "ConfigMap", "", "a")


def test_a_conflict_names_every_manager() -> None:
    one = 'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas'
    two = 'Apply failed with 2 conflicts: conflicts with "a" using v1:\n- .x\nconflicts with "b":\n- .y'
    assert Refusal(409, one).managers == {"kubectl"}
    assert Refusal(409, two).managers == {"a", "b"}
    assert Refusal(422, one).managers == frozenset()


def test_what_an_older_server_does_not_know_is_left_out_of_the_plan() -> None:
    policy: JsonObject = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "muster-default-set"},
    }

    async def steps() -> tuple[Step, ...]:
        async with Client(Connection("https://muster.invalid")) as client:
            return (await planned(Cluster(client, Discovery(())), [policy], None, Options())).steps

    (step,) = asyncio.run(steps())
    assert (step.deed, step.obj) == (Deed.LEAVE_OUT, None)
    assert step.details == ("this server is too old for it; with webhooks=true a webhook would do the same",)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({}, "nobody has taken up the Deployment yet"),
        (
            {"observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 1},
            "1 of 2 replicas are available, 2 of them new",
        ),
        ({"observedGeneration": 2, "updatedReplicas": 2, "availableReplicas": 2}, ""),
    ],
)
def test_a_rollout_is_done_when_every_replica_is_new_and_available(status: JsonObject, words: str) -> None:
    assert rollout_words({"metadata": {"generation": 2}, "spec": {"replicas": 2}, "status": status}) == words
