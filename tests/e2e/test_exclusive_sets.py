"""Exclusive cluster sets as their specification tells it: each user with a kubeconfig of its own, and the real kubectl.

What the stories need succeeds, and what does not belong to them is refused in words that name the missing permission.
The roles and objects are those of examples/04-cluster-sets.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.e2e.sets_stage import DEFAULT_KEY, GROUP, Stage, a_cluster, a_rule, a_set, a_stage, example
from tests.e2e.test_kubectl import KUBECTL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with a_stage(tmp_path) as ready:
        yield ready


def needs(refusal: str, *permissions: str) -> list[dict[str, Any]]:
    """The rules that a refusal offers, after it has named exactly these permissions."""
    assert "Error from server (Forbidden): " in refusal, refusal
    told, _, rules = refusal.partition("rules of a ClusterRole that grants them:\n")
    missing = [line.strip().partition(" (")[0] for line in told.partition("missing permissions:\n")[2].splitlines()]
    assert missing == list(permissions), refusal
    offered: list[dict[str, Any]] = yaml.safe_load(rules)
    return offered


def join_of(name: str) -> str:
    return f'create managedclustersets/join.{GROUP} "{name}"'


def not_permitted(refusal: str, verb: str, resource: str) -> None:
    """The refusal of a request itself, before its content matters."""
    assert "Error from server (Forbidden): " in refusal, refusal
    assert f'cannot {verb} resource "{resource}" in API group "{GROUP}" at the cluster scope' in refusal, refusal


# --- The three stories ----------------------------------------------------------------------------------------------


def test_story_of_the_region(stage: Stage) -> None:
    stage.admin("apply", "-f", example("region/1-admin.yaml"))
    stage.dev1("apply", "-f", example("region/2-dev1.yaml"))
    # dev1 owns mc1, but may not say that it is in apac: not by any road.
    manifest = json.loads(stage.dev1("get", "managedcluster", "mc1", "-o", "json"))
    manifest["metadata"]["labels"]["region"] = "apac"
    add = '[{"op": "add", "path": "/metadata/labels/region", "value": "apac"}]'
    roads: list[tuple[list[str], str | None]] = [
        (["label", "managedcluster", "mc1", "region=apac"], None),
        (["patch", "managedcluster", "mc1", "--type=json", "-p", add], None),
        (
            ["patch", "managedcluster", "mc1", "--type=merge", "-p", '{"metadata": {"labels": {"region": "apac"}}}'],
            None,
        ),
        (["replace", "-f", "-"], json.dumps(manifest)),
        (["apply", "--server-side", "-f", "-"], a_cluster("mc1", region="apac")),
    ]
    for args, stdin in roads:
        rules = needs(stage.dev1(*args, stdin=stdin, fails=True), join_of("apac"))
        assert rules == [a_rule("managedclustersets/join", "apac")]
    assert stage.members("apac") == []
    # The agent may.
    stage.agent("label", "managedcluster", "mc1", "region=apac")
    assert stage.members("apac") == ["mc1"]
    # And dev1 may not undo it.
    needs(stage.dev1("label", "managedcluster", "mc1", "region-", fails=True), join_of("apac"))
    needs(stage.dev1("label", "managedcluster", "mc1", "region=us", "--overwrite", fails=True), join_of("apac"))
    # Other labels are free, and so are other values of the key while no set has such a name.
    stage.dev1("label", "managedcluster", "mc1", "team=payments")
    # The agent has no say over other sets and other clusters.
    other = stage.agent("label", "managedcluster", "mc1", f"{DEFAULT_KEY}=prod", "--overwrite", fails=True)
    needs(other, join_of("default"), join_of("prod"))
    stage.admin("create", "-f", "-", stdin=a_cluster("mc9"))
    not_permitted(stage.agent("label", "managedcluster", "mc9", "region=apac", fails=True), "get", "managedclusters")
    not_permitted(stage.agent("delete", "managedcluster", "mc1", fails=True), "delete", "managedclusters")
    not_permitted(stage.dev1("create", "-f", "-", stdin=a_cluster("mc8"), fails=True), "create", "managedclusters")
    assert stage.members("apac") == ["mc1"]


def test_story_of_disaster_recovery(stage: Stage) -> None:
    stage.admin("apply", "-f", example("region/1-admin.yaml"))
    not_permitted(
        stage.sre1("create", "-f", example("recovery/2-sre1.yaml"), fails=True), "create", "managedclustersets"
    )
    stage.admin("apply", "-f", example("recovery/1-admin.yaml"))
    # Not by another key, and no other set by this one.
    by_region = stage.sre1("create", "-f", "-", stdin=a_set("backup", exclusiveKey="region"), fails=True)
    rules = needs(by_region, f'create managedclustersets/exclusiveKey.{GROUP} "region"')
    assert rules == [a_rule("managedclustersets/exclusiveKey", "region")]
    other = stage.sre1("create", "-f", "-", stdin=a_set("other", exclusiveKey="clusterAttribute"), fails=True)
    not_permitted(other, "create", "managedclustersets")
    stage.sre1("create", "-f", example("recovery/2-sre1.yaml"))
    stage.sre1("create", "-f", example("recovery/3-sre1.yaml"))
    stage.sre1("label", "managedclusters", "dr-apac", "dr-us", "dr-europe", "clusterAttribute=backup")
    assert stage.members("backup") == ["dr-apac", "dr-europe", "dr-us"]
    # The region is the agents' matter.
    needs(stage.sre1("label", "managedcluster", "dr-apac", "region=apac", fails=True), join_of("apac"))
    # dev1 and dev2 have nothing to say here.
    not_permitted(
        stage.dev1("label", "managedcluster", "dr-us", "clusterAttribute-", fails=True), "get", "managedclusters"
    )
    not_permitted(stage.dev2("delete", "managedclusterset", "backup", fails=True), "delete", "managedclustersets")
    stage.sre1("label", "managedcluster", "dr-us", "clusterAttribute-")
    assert stage.members("backup") == ["dr-apac", "dr-europe"]


def test_story_of_the_middleware(stage: Stage) -> None:
    stage.admin("apply", "-f", example("region/1-admin.yaml"))
    stage.dev1("apply", "-f", example("region/2-dev1.yaml"))
    # No set has this key yet: the label is like any other.
    stage.dev1("label", "managedcluster", "mc1", "middlewareAttribute=middlewareenabled")
    stage.admin("apply", "-f", example("middleware/1-admin.yaml"))
    assert stage.members("middlewareenabled") == ["mc1"]
    stage.dev2("create", "-f", example("middleware/2-dev2.yaml"))
    stage.dev2("label", "managedcluster", "mc2", "middlewareAttribute=middlewareenabled")
    assert stage.members("middlewareenabled") == ["mc1", "mc2"]
    # From now on the set guards the label, for the cluster's owner too.
    removal = stage.dev1("label", "managedcluster", "mc1", "middlewareAttribute-", fails=True)
    needs(removal, join_of("middlewareenabled"))
    not_permitted(
        stage.dev2("label", "managedcluster", "mc1", "middlewareAttribute-", fails=True), "get", "managedclusters"
    )
    needs(stage.dev2("label", "managedcluster", "mc2", "region=apac", fails=True), join_of("apac"))
    # A cluster may be in one set of each key.
    stage.agent("label", "managedcluster", "mc1", "region=apac")
    found = json.loads(stage.muster("of", "mc1", "-o", "json")[1])
    assert [(each["key"], each["set"]) for each in found["sets"]] == [
        ("middlewareAttribute", "middlewareenabled"),
        ("region", "apac"),
    ]


def test_the_offered_rules_are_enough(stage: Stage) -> None:
    stage.admin("apply", "-f", example("region/1-admin.yaml"))
    stage.admin("apply", "-f", example("recovery/2-sre1.yaml"))
    stage.dev1("apply", "-f", example("region/2-dev1.yaml"))
    both = ("label", "managedcluster", "mc1", "region=apac", "clusterAttribute=backup")
    rules = needs(stage.dev1(*both, fails=True), join_of("backup"), join_of("apac"))
    assert rules == [a_rule("managedclustersets/join", "backup", "apac")]
    stage.grant("dev1", rules)
    stage.dev1(*both)
    assert (stage.members("apac"), stage.members("backup")) == (["mc1"], ["mc1"])


# --- The test plan ---------------------------------------------------------------------------------------------------

_EVERYTHING_ON_BACKUP = a_rule("managedclustersets", "backup", verbs=("create", "get", "update", "patch", "delete"))


def test_plan_with_permission_for_the_key(stage: Stage) -> None:
    stage.grant("sre1", [_EVERYTHING_ON_BACKUP, a_rule("managedclustersets/exclusiveKey", "clusterAttribute")])
    stage.sre1("create", "-f", example("recovery/2-sre1.yaml"))
    more = {"spec": {"managedNamespaces": [{"name": "backups"}]}}
    stage.sre1("patch", "managedclusterset", "backup", "--type=merge", "-p", json.dumps(more))
    stage.sre1("delete", "managedclusterset", "backup")


def test_plan_without_permission_for_the_key(stage: Stage) -> None:
    stage.grant("sre1", [_EVERYTHING_ON_BACKUP])
    refusal = stage.sre1("create", "-f", example("recovery/2-sre1.yaml"), fails=True)
    rules = needs(refusal, f'create managedclustersets/exclusiveKey.{GROUP} "clusterAttribute"')
    assert rules == [a_rule("managedclustersets/exclusiveKey", "clusterAttribute")]
    # What is there may be changed and deleted by whoever may do that.
    stage.admin("create", "-f", example("recovery/2-sre1.yaml"))
    more = {"spec": {"managedNamespaces": [{"name": "backups"}]}}
    stage.sre1("patch", "managedclusterset", "backup", "--type=merge", "-p", json.dumps(more))
    stage.sre1("delete", "managedclusterset", "backup")


def test_plan_the_key_never_changes(stage: Stage) -> None:
    stage.admin("create", "-f", example("recovery/2-sre1.yaml"))
    # No key and the default key are the same.
    stage.admin("create", "-f", "-", stdin=a_set("plain"))
    default = f'"{DEFAULT_KEY}"'
    for version, changed in (("v1alpha1", '"region"'), ("v1beta1", "null"), ("v1beta2", '""'), ("v1beta2", default)):
        patch = ("--type=merge", "-p", f'{{"spec": {{"exclusiveKey": {changed}}}}}')
        refusal = stage.admin("patch", f"managedclustersets.{version}.{GROUP}/backup", *patch, fails=True)
        assert "spec.exclusiveKey: Invalid value: " in refusal
        assert "field is immutable" in refusal
    stage.admin("patch", f"managedclustersets.v1beta1.{GROUP}/plain", *patch)


def test_creating_a_set_needs_every_cluster_that_it_takes_in(stage: Stage) -> None:
    stage.admin("apply", "-f", example("recovery/1-admin.yaml"))
    for name in ("dr-us", "mc1", "mc2"):
        stage.admin("create", "-f", "-", stdin=a_cluster(name, clusterAttribute="backup"))
    # Who may not get them is told how many there are, and not which.
    refusal = stage.sre1("create", "-f", example("recovery/2-sre1.yaml"), fails=True)
    assert "mc1" not in refusal
    every = {"apiGroups": [GROUP], "resources": ["managedclusters"], "verbs": ["update"]}
    assert needs(refusal, f"update managedclusters.{GROUP}") == [every]
    stage.grant("sre1", [a_rule("managedclusters", "mc1", "mc2", verbs=("get",))])
    refusal = stage.sre1("create", "-f", example("recovery/2-sre1.yaml"), fails=True)
    rules = needs(refusal, *(f'update managedclusters.{GROUP} "{name}"' for name in ("mc1", "mc2")))
    assert rules == [a_rule("managedclusters", "mc1", "mc2", verbs=("update",))]
    stage.grant("sre1", rules)
    stage.sre1("create", "-f", example("recovery/2-sre1.yaml"))
    assert stage.members("backup") == ["dr-us", "mc1", "mc2"]


def test_creating_a_labelled_cluster_is_joining(stage: Stage) -> None:
    stage.admin("apply", "-f", example("region/1-admin.yaml"))
    refusal = stage.dev1("create", "-f", "-", stdin=a_cluster("mc1", region="apac"), fails=True)
    needs(refusal, join_of("apac"))
    stage.grant("dev2", [a_rule("managedclusters", "mc2")])
    refusal = stage.dev2("create", "-f", "-", stdin=a_cluster("mc2", region="apac"), fails=True)
    needs(refusal, join_of("default"), join_of("apac"))


# --- The permission leak, and what closes it ------------------------------------------------------------------------


def test_two_harmless_roles_leak_until_the_pairs_are_written_down(stage: Stage) -> None:
    stage.admin("apply", "-f", example("pairs/leak.yaml"))
    # The leak: key of one role, name of the other.
    stage.sre1("create", "-f", example("pairs/unexpected.yaml"))
    stage.sre1("delete", "-f", example("pairs/unexpected.yaml"))
    stage.sre1("create", "-f", "-", stdin=a_set("aws", exclusiveKey="region"))
    stage.sre1("delete", "managedclusterset", "aws")
    # Closed.
    stage.admin("apply", "-f", example("pairs/allowed.yaml"))
    refusals = [
        stage.sre1("create", "-f", example("pairs/unexpected.yaml"), fails=True),
        stage.sre1("create", "-f", "-", stdin=a_set("aws", exclusiveKey="region"), fails=True),
        # The pairs hold for everybody, and for sets of the default key.
        stage.admin("create", "-f", "-", stdin=a_set("aws"), fails=True),
        stage.admin("create", "-f", "-", stdin=a_set("emea", exclusiveKey="region"), fails=True),
    ]
    what = "ConfigMap open-cluster-management-hub/clusterset-validation does not allow"
    assert [text.partition(what)[2].partition(":")[0].strip() for text in refusals] == [
        "vendor=us",
        "region=aws",
        f"{DEFAULT_KEY}=aws",
        "region=emea",
    ]
    # What was meant goes on.
    stage.sre1("create", "-f", "-", stdin=a_set("us", exclusiveKey="region"))
    stage.sre1("create", "-f", "-", stdin=a_set("aws", exclusiveKey="vendor"))
    stage.admin("create", "-f", "-", stdin=a_set("blue", exclusiveKey="team"))


def test_pairs_that_cannot_be_read_let_nothing_through(stage: Stage) -> None:
    stage.admin("apply", "-f", example("pairs/allowed.yaml"))
    namespace = ("-n", "open-cluster-management-hub")
    patch = '{"data": {"region": "apac us"}}'
    stage.admin("patch", "configmap", "clusterset-validation", "-p", patch, *namespace)
    refusal = stage.admin("create", "-f", "-", stdin=a_set("blue", exclusiveKey="team"), fails=True)
    assert "data[region]: 'apac us' cannot be the name of a set; commas separate names" in refusal


# --- Asking who may --------------------------------------------------------------------------------------------------


def test_muster_answers_as_the_hub_does(stage: Stage) -> None:
    stage.admin("apply", "-f", example("region/1-admin.yaml"))
    stage.dev1("apply", "-f", example("region/2-dev1.yaml"))
    code, rows = stage.muster("who-can-join", "apac", "-o", "json")
    own = [row for row in json.loads(rows) if not row["subject"].startswith("system:")]
    assert (code, own) == (
        0,
        [
            {
                "kind": "User",
                "subject": "agent-mc1",
                "binding": "ClusterRoleBinding/agent-of-mc1",
                "role": "ClusterRole/agent-of-mc1",
                "clusters": "mc1",
            }
        ],
    )
    code, answer = stage.muster("why", "dev1", "mc1", "apac", "-o", "json")
    assert (code, json.loads(answer)["missingRules"]) == (1, [a_rule("managedclustersets/join", "apac")])
    assert stage.muster("why", "agent-mc1", "mc1", "apac")[0] == 0
    stage.grant("dev1", json.loads(answer)["missingRules"])
    assert stage.muster("why", "dev1", "mc1", "apac")[0] == 0
    stage.dev1("label", "managedcluster", "mc1", "region=apac")
    # Out of it again.
    code, answer = stage.muster("why", "dev2", "mc1", "apac", "-o", "json")
    assert (code, json.loads(answer)["direction"]) == (1, "out of")
    stage.grant("dev2", json.loads(answer)["missingRules"] + [a_rule("managedclusters", "mc1", verbs=("get",))])
    assert stage.muster("why", "dev2", "mc1", "apac")[0] == 0
    stage.dev2("label", "managedcluster", "mc1", "region-")


def test_asking_needs_the_right_to_list_and_knows_the_asker_s_groups(stage: Stage) -> None:
    stage.admin("apply", "-f", example("region/1-admin.yaml"))
    stage.dev1("apply", "-f", example("region/2-dev1.yaml"))
    code, said = stage.muster("members", "apac", user=stage.dev1)
    assert (code, 'User "dev1" cannot list resource "managedclustersets"' in said) == (4, True)
    code, said = stage.muster("why", "muster:admin", "mc1", "apac")
    assert (code, "update: by membership of system:masters" in said) == (0, True)
    assert stage.muster("why", "somebody", "mc1", "apac")[0] == 1
    assert stage.muster("of", "mc9") == (2, "muster: there is no cluster 'mc9'\n")
