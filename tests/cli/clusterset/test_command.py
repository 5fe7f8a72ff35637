"""`muster clusterset` over files: members, sets of a cluster, who may join, and may this user, and why."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import yaml

from muster.cli.main import run
from tests.builders import a_cluster, a_set

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "cluster.open-cluster-management.io"
DEFAULT_KEY = f"{GROUP}/clusterset"


def a_rule(resource: str, *names: str, verbs: tuple[str, ...] = ("create",)) -> dict[str, Any]:
    rule = {"apiGroups": [GROUP], "resources": [resource], "verbs": list(verbs)}
    return rule | ({"resourceNames": list(names)} if names else {})


def a_role(name: str, subject: dict[str, str], *rules: dict[str, Any]) -> list[dict[str, Any]]:
    """A ClusterRole and a ClusterRoleBinding of the same name."""
    api_version = "rbac.authorization.k8s.io/v1"
    metadata = {"name": name}
    return [
        {"apiVersion": api_version, "kind": "ClusterRole", "metadata": metadata, "rules": list(rules)},
        {
            "apiVersion": api_version,
            "kind": "ClusterRoleBinding",
            "metadata": metadata,
            "roleRef": {"kind": "ClusterRole", "name": name},
            "subjects": [subject],
        },
    ]


def a_user(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name}


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    objects = [
        a_set("apac", exclusiveKey="region"),
        a_set("us", exclusiveKey="region"),
        a_set("gcp", exclusiveKey="vendor"),
        a_set("default", clusterSelector={"selectorType": "ExclusiveClusterSetLabel"}),
        a_set("prod", clusterSelector={"selectorType": "LegacyClusterSetLabel"}),
        a_set("global"),
        a_set("gold", {"tier": "gold"}),
        a_set("nothing", clusterSelector={"selectorType": "LabelSelector"}),
        a_set("odd", clusterSelector={"selectorType": "Odd"}),
        a_cluster("mc1", {"region": "apac", DEFAULT_KEY: "default", "tier": "gold"}),
        a_cluster("mc2", {"region": "us", "vendor": "aws", DEFAULT_KEY: "default"}),
        a_cluster("mc3", {"region": "apac", "vendor": "GCP", DEFAULT_KEY: "prod"}),
        a_cluster("mc4"),
        *a_role(
            "agents",
            {"kind": "ServiceAccount", "name": "agent", "namespace": "mc1"},
            a_rule("managedclustersets/join", "apac"),
            a_rule("managedclusters", "mc1", verbs=("update",)),
        ),
        *a_role("movers", {"kind": "Group", "name": "sre"}, a_rule("managedclustersets/join")),
        # Sets belong to no namespace, so that a binding in one gives nothing here.
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "movers", "namespace": "apps"},
            "roleRef": {"kind": "ClusterRole", "name": "movers"},
            "subjects": [a_user("zoe")],
        },
        *a_role("editors", {"kind": "Group", "name": "sre"}, a_rule("managedclusters", verbs=("get", "patch"))),
        *a_role("joins-us", a_user("ann"), a_rule("managedclustersets/join", "us")),
        *a_role(
            "owns-many",
            a_user("ann"),
            a_rule("managedclusters", *(f"mc{number}" for number in range(1, 8)), verbs=("*",)),
        ),
    ]
    path = tmp_path / "fleet.json"
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in objects))
    return str(path)


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run(("clusterset", *args), io.StringIO(), out, err), out.getvalue(), err.getvalue()


def answer(*args: str) -> Any:
    return json.loads(called(*args, "-o", "json")[1])


# --- Members --------------------------------------------------------------------------------------------------------


def test_members_are_listed_with_their_rule(fleet: str) -> None:
    assert called("members", "apac", "--fleet", fleet) == (
        0,
        "apac has 2 clusters, by label region=apac\n  mc1\n  mc3\n",
        "",
    )
    assert called("members", "gold", "--fleet", fleet)[1] == "gold has 1 cluster, by label selector tier=gold\n  mc1\n"
    assert called("members", "nothing", "--fleet", fleet)[1] == (
        "nothing has no clusters, by a label selector that selects nothing\n"
    )


def test_a_member_that_misses_by_a_capital_letter_is_told(fleet: str) -> None:
    why = "its label is vendor=GCP, and values are case-sensitive"
    assert called("members", "gcp", "--fleet", fleet)[1] == (
        f"gcp has no clusters, by label vendor=gcp\nnot in it: mc3: {why}\n"
    )
    assert answer("members", "gcp", "--fleet", fleet) == {
        "set": "gcp",
        "key": "vendor",
        "rule": "label vendor=gcp",
        "members": [],
        "nearMisses": [{"cluster": "mc3", "why": why}],
    }


def test_what_is_not_there_and_what_cannot_be_evaluated_is_said(fleet: str) -> None:
    assert called("members", "emea", "--fleet", fleet) == (2, "", "muster: there is no cluster set 'emea'\n")
    code, _, said = called("members", "odd", "--fleet", fleet)
    assert (code, said) == (2, "muster: spec.clusterSelector.selectorType: selectorType is not right: Odd\n")
    assert called("of", "mc9", "--fleet", fleet) == (2, "", "muster: there is no cluster 'mc9'\n")


# --- Sets of a cluster ----------------------------------------------------------------------------------------------


def test_all_sets_of_a_cluster_by_key_and_why(fleet: str) -> None:
    code, out, _ = called("of", "mc3", "--fleet", fleet)
    assert (code, out) == (
        0,
        "mc3 is in 3 cluster sets\n"
        "KEY                                             SET      WHY\n"
        f"{DEFAULT_KEY}   prod     label {DEFAULT_KEY}=prod\n"
        "region                                          apac     label region=apac\n"
        "-                                               global   a label selector that selects every cluster\n"
        "vendor                                          -        label vendor=GCP names no set of this key; "
        "gcp is one, and values are case-sensitive\n"
        "odd cannot be evaluated: spec.clusterSelector.selectorType: selectorType is not right: Odd\n",
    )


def test_keys_without_a_set_say_why_for_machines_too(fleet: str) -> None:
    assert answer("of", "mc2", "--fleet", fleet) == {
        "cluster": "mc2",
        "sets": [
            {"set": "default", "key": DEFAULT_KEY, "why": f"label {DEFAULT_KEY}=default"},
            {"set": "us", "key": "region", "why": "label region=us"},
            {"set": "global", "key": "", "why": "a label selector that selects every cluster"},
        ],
        "without": [{"key": "vendor", "why": "label vendor=aws names no set of this key"}],
        "unusable": [{"set": "odd", "why": "spec.clusterSelector.selectorType: selectorType is not right: Odd"}],
    }
    found = yaml.safe_load(called("of", "mc4", "--fleet", fleet, "-o", "yaml")[1])
    assert found["without"] == [
        {"key": key, "why": f"the label {key} is missing"} for key in (DEFAULT_KEY, "region", "vendor")
    ]


# --- Who may join ---------------------------------------------------------------------------------------------------


def test_everybody_who_may_join_by_which_binding_and_with_which_clusters(fleet: str) -> None:
    code, out, _ = called("who-can-join", "apac", "--fleet", fleet)
    assert (code, out) == (
        0,
        "KIND             SUBJECT     BINDING                     ROLE                 CLUSTERS\n"
        "ServiceAccount   mc1/agent   ClusterRoleBinding/agents   ClusterRole/agents   mc1\n"
        "Group            sre         ClusterRoleBinding/movers   ClusterRole/movers   any\n",
    )
    rows = answer("who-can-join", "us", "--fleet", fleet)
    assert [(row["kind"], row["subject"], row["clusters"]) for row in rows] == [
        ("User", "ann", "mc1, mc2, mc3, mc4, mc5, 2 more"),
        ("Group", "sre", "any"),
    ]


def test_sets_by_label_selector_are_in_the_hands_of_who_changes_labels(fleet: str) -> None:
    code, out, _ = called("who-can-join", "gold", "--fleet", fleet)
    assert (code, out) == (
        0,
        "gold has a label selector: whoever may change a cluster's labels decides.\n"
        "These may change all clusters:\n"
        "KIND    SUBJECT   BINDING                      ROLE                  CLUSTERS\n"
        "Group   sre       ClusterRoleBinding/editors   ClusterRole/editors   any\n",
    )


def test_nobody_is_a_no(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    path.write_bytes(msgspec.json.encode(a_set("apac", exclusiveKey="region")))
    assert called("who-can-join", "apac", "--fleet", str(path)) == (1, "no role allows it to anybody\n", "")


# --- May this user, and why -----------------------------------------------------------------------------------------


def test_why_names_what_is_there_and_what_is_missing_with_rules_for_it(fleet: str) -> None:
    code, out, _ = called("why", "ann", "mc1", "us", "--fleet", fleet)
    assert (code, out) == (
        1,
        "no: ann may not move mc1 into us\n"
        "  label region: apac → us\n"
        '├─ ✓ update or patch managedclusters "mc1": the cluster\'s labels change\n'
        '│      update: by ClusterRoleBinding "owns-many" of ClusterRole "owns-many" to User "ann"\n'
        '│      patch: by ClusterRoleBinding "owns-many" of ClusterRole "owns-many" to User "ann"\n'
        '├─ ✗ create managedclustersets/join "apac": the cluster leaves the set apac: label region=apac\n'
        '├─ ✓ create managedclustersets/join "us": the cluster enters the set us: label region=us\n'
        '│      create: by ClusterRoleBinding "joins-us" of ClusterRole "joins-us" to User "ann"\n'
        "└─ rules of a ClusterRole that grants what is missing:\n"
        f'- apiGroups: ["{GROUP}"]\n'
        '  resources: ["managedclustersets/join"]\n'
        '  resourceNames: ["apac"]\n'
        '  verbs: ["create"]\n',
    )


def test_why_for_machines(fleet: str) -> None:
    assert answer("why", "system:serviceaccount:mc1:agent", "mc1", "apac", "--fleet", fleet) == {
        "allowed": True,
        "user": "system:serviceaccount:mc1:agent",
        "cluster": "mc1",
        "set": "apac",
        "direction": "out of",
        "change": "label region: apac → (none)",
        "note": "",
        "needs": [
            {
                "anyOf": [
                    {"verb": verb, "group": GROUP, "resource": "managedclusters", "name": "mc1"}
                    for verb in ("update", "patch")
                ],
                "reason": "the cluster's labels change",
                "met": True,
                "grantedBy": {
                    "update": 'ClusterRoleBinding "agents" of ClusterRole "agents" to ServiceAccount "agent/mc1"'
                },
            },
            {
                "anyOf": [
                    {"verb": "create", "group": GROUP, "resource": "managedclustersets/join", "name": "apac"},
                ],
                "reason": "the cluster leaves the set apac: label region=apac",
                "met": True,
                "grantedBy": {
                    "create": 'ClusterRoleBinding "agents" of ClusterRole "agents" to ServiceAccount "agent/mc1"'
                },
            },
        ],
        "missingRules": [],
    }


def test_groups_count_and_masters_need_no_role(fleet: str) -> None:
    assert called("why", "bob", "mc1", "us", "--fleet", fleet)[0] == 1
    assert called("why", "bob", "mc1", "us", "--group", "sre", "--fleet", fleet)[0] == 0
    code, out, _ = called("why", "root", "mc1", "us", "--group", "system:masters", "--fleet", fleet)
    assert code == 0
    assert "update: by membership of system:masters" in out
    assert out.endswith("└─ nothing is missing\n")


def test_leaving_a_set_of_the_default_key_is_entering_default(fleet: str) -> None:
    found = answer("why", "ann", "mc3", "prod", "--fleet", fleet)
    assert found["change"] == f"label {DEFAULT_KEY}: prod → default"
    assert [rule["resourceNames"] for rule in found["missingRules"]] == [["prod", "default"]]
    code, out, _ = called("why", "bob", "mc1", "default", "--group", "sre", "--fleet", fleet)
    assert (code, out) == (
        1,
        "no: bob may not move mc1 out of default\n"
        f"  a cluster leaves default only into another set of the key {DEFAULT_KEY}\n"
        "└─ no permission would do\n",
    )


def test_a_set_by_label_selector_asks_for_no_permission_to_join(fleet: str) -> None:
    found = answer("why", "ann", "mc2", "gold", "--fleet", fleet)
    assert (found["allowed"], len(found["needs"]), found["direction"]) == (True, 1, "into")
    assert found["note"].startswith("the set has a label selector")


# --- Files that are not what they seem --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"spec": 3}, 'spec: Invalid value: "integer": spec in body must be of type object: "integer"'),
        (
            {"spec": {"exclusiveKey": ["region"]}},
            'spec.exclusiveKey: Invalid value: "array": spec.exclusiveKey in body must be of type string: "array"',
        ),
        ({"apiVersion": f"{GROUP}/v9"}, "ManagedClusterSet has no version 'v9'"),
        (
            {"metadata": {"name": "apac", "labels": [1]}},
            "json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string",
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_named_with_its_file(tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    path = tmp_path / "fleet.json"
    path.write_bytes(msgspec.json.encode(a_set("apac", exclusiveKey="region") | wrong))
    assert called("members", "apac", "--fleet", str(path)) == (2, "", f"muster: {path}:1: {said}\n")
