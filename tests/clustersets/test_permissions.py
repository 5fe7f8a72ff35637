"""How missing permissions are told."""

from __future__ import annotations

import yaml

from muster.clustersets.permissions import accept, bind, join, refusal_text, role_rules, rules_text, take_in, use_key

GROUP = "cluster.open-cluster-management.io"


def test_a_permission_reads_as_an_access_review_does() -> None:
    assert [str(each) for each in (join("apac", ""), bind("apac"), accept("mc1"), use_key("region"))] == [
        f'create managedclustersets/join.{GROUP} "apac"',
        f'create managedclustersets/bind.{GROUP} "apac"',
        'update managedclusters/accept.register.open-cluster-management.io "mc1"',
        f'create managedclustersets/exclusiveKey.{GROUP} "region"',
    ]
    assert str(take_in("mc1", "region", "apac")) == f'update managedclusters.{GROUP} "mc1"'


def test_rules_grant_what_is_missing_and_no_more() -> None:
    permissions = [join("a", ""), join("b", ""), join("a", ""), use_key("region")]
    rules = [
        {
            "apiGroups": [GROUP],
            "resources": ["managedclustersets/join"],
            "resourceNames": ["a", "b"],
            "verbs": ["create"],
        },
        {
            "apiGroups": [GROUP],
            "resources": ["managedclustersets/exclusiveKey"],
            "resourceNames": ["region"],
            "verbs": ["create"],
        },
    ]
    assert role_rules(permissions) == rules
    assert yaml.safe_load(rules_text(permissions)) == rules


def test_a_refusal_names_every_missing_permission_and_the_rules_that_grant_them() -> None:
    assert refusal_text("dev1", [join("apac", "the cluster enters it"), accept("mc1")]) == "\n".join(
        [
            f'managedclustersets/join.{GROUP} "apac" is forbidden: user "dev1" '
            'cannot add/remove a ManagedCluster to/from ManagedClusterSet "apac"',
            "missing permissions:",
            f'  create managedclustersets/join.{GROUP} "apac" (the cluster enters it)',
            '  update managedclusters/accept.register.open-cluster-management.io "mc1" (hubAcceptsClient becomes true)',
            "rules of a ClusterRole that grants them:",
            f'- apiGroups: ["{GROUP}"]',
            '  resources: ["managedclustersets/join"]',
            '  resourceNames: ["apac"]',
            '  verbs: ["create"]',
            '- apiGroups: ["register.open-cluster-management.io"]',
            '  resources: ["managedclusters/accept"]',
            '  resourceNames: ["mc1"]',
            '  verbs: ["update"]',
        ]
    )


def test_of_thousands_the_first_are_named_and_the_rule_is_for_all() -> None:
    text = refusal_text("sre1", [use_key("region"), *(take_in(f"mc{n}", "region", "apac") for n in range(5000))])
    lines = text.splitlines()
    assert sum("(the cluster is labelled region=apac)" in line for line in lines) == 10
    assert f"  and update managedclusters.{GROUP} for 4990 more" in lines
    assert yaml.safe_load("\n".join(lines[lines.index("rules of a ClusterRole that grants them:") + 1 :])) == [
        {
            "apiGroups": [GROUP],
            "resources": ["managedclustersets/exclusiveKey"],
            "resourceNames": ["region"],
            "verbs": ["create"],
        },
        {"apiGroups": [GROUP], "resources": ["managedclusters"], "verbs": ["update"]},
    ]
