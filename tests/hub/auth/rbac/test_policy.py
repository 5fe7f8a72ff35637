"""Roles and bindings in memory: reasons, gathering, absent roles. That decisions are right is a law of its own."""

from __future__ import annotations

from typing import Any

from muster.access.grants import RoleKey
from muster.access.policy import BindingKey, Policy
from muster.access.rules import Rule, compacted, uncovered
from muster.hub.requests import Attributes, User

Object = dict[str, Any]
ALICE = User("alice", groups=("devs",))
GET_SECRETS = Attributes("get", resource="secrets", namespace="apps", name="s")


def role(name: str, verbs: str = "get", namespace: str = "", resource: str = "secrets", **labels: str) -> Object:
    rules = [{"verbs": verbs.split(","), "apiGroups": [""], "resources": [resource]}]
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}, "rules": rules}


def gathering(name: str, label: str, **labels: str) -> Object:
    selectors = [{"matchExpressions": [{"key": label, "operator": "Exists"}]}]
    return {"metadata": {"name": name, "labels": labels}, "aggregationRule": {"clusterRoleSelectors": selectors}}


def binding(name: str, role_name: str, *subjects: Object, namespace: str = "", kind: str = "ClusterRole") -> Object:
    return {
        "metadata": {"name": name, "namespace": namespace},
        "roleRef": {"kind": kind, "name": role_name},
        "subjects": list(subjects),
    }


USER, GROUP = {"kind": "User", "name": "alice"}, {"kind": "Group", "name": "devs"}


def policy_of(*roles_and_bindings: Object) -> Policy:
    policy = Policy()
    for obj in roles_and_bindings:
        (policy.put_binding if "roleRef" in obj else policy.put_role)(obj)
    return policy


def reason(policy: Policy, user: User = ALICE, asked: Attributes = GET_SECRETS) -> str | None:
    found = policy.decide(user, asked)
    return None if found is None else policy.reason(user, found)


def test_the_reason_names_binding_role_and_the_first_subject_that_applies() -> None:
    policy = policy_of(role("r"), binding("b", "r", {"kind": "User", "name": "bob"}, GROUP, USER))
    assert reason(policy) == 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"'


def test_a_role_binding_is_named_with_its_namespace() -> None:
    robot = {"kind": "ServiceAccount", "name": "robot"}
    policy = policy_of(role("r", namespace="apps"), binding("b", "r", robot, namespace="apps", kind="Role"))
    user = User("system:serviceaccount:apps:robot")
    assert reason(policy, user) == 'RBAC: allowed by RoleBinding "b/apps" of Role "r" to ServiceAccount "robot/apps"'


def test_cluster_bindings_come_first_and_each_kind_by_name() -> None:
    policy = policy_of(
        role("r"),
        binding("a", "r", USER, namespace="apps"),
        binding("c", "r", USER),
        binding("b", "r", GROUP),
    )
    assert reason(policy) == 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "devs"'


def test_a_role_given_twice_is_lost_with_the_second_binding() -> None:
    policy = policy_of(role("r"), binding("a", "r", USER), binding("b", "r", USER))
    policy.remove_binding(BindingKey("", "a"))
    assert policy.decide(ALICE, GET_SECRETS) is not None
    policy.remove_binding(BindingKey("", "b"))
    assert policy.decide(ALICE, GET_SECRETS) is None


def test_a_gathering_role_holds_what_it_selects_at_the_moment_through_others_too() -> None:
    policy = policy_of(gathering("top", "top"), gathering("middle", "middle", top="1"), binding("b", "top", USER))
    assert policy.decide(ALICE, GET_SECRETS) is None
    policy.put_role(role("leaf", middle="1"))
    assert policy.decide(ALICE, GET_SECRETS) is not None
    policy.put_role(role("leaf"))
    assert policy.decide(ALICE, GET_SECRETS) is None
    policy.put_role(role("leaf", middle="1"))
    policy.remove_role(RoleKey("", "middle"))
    assert policy.decide(ALICE, GET_SECRETS) is None


def test_roles_that_gather_each_other_come_to_an_end() -> None:
    policy = policy_of(gathering("a", "x", y="1"), gathering("b", "y", x="1"), role("leaf", y="1"))
    assert [key.name for key, _, held in policy.aggregated() if held] == ["a", "b"]


def test_own_rules_of_a_gathering_role_do_not_count() -> None:
    own = {**gathering("top", "top"), "rules": role("x")["rules"]}
    assert reason(policy_of(own, binding("b", "top", USER))) is None


def test_bound_roles_that_do_not_exist_are_known_by_name() -> None:
    policy = policy_of(
        binding("a", "ghost", USER),
        binding("b", "phantom", GROUP, namespace="apps", kind="Role"),
        binding("c", "other", {"kind": "User", "name": "bob"}),
    )
    assert policy.missing_roles(ALICE, "apps") == [RoleKey("", "ghost"), RoleKey("apps", "phantom")]
    policy.put_role(role("ghost"))
    assert policy.missing_roles(ALICE, "") == []


def test_many_roles_of_one_subject_are_as_good_as_few() -> None:
    policy = Policy()
    for number in range(50):
        policy.put_role(role(f"r{number:02}", resource=f"things{number}"))
        policy.put_binding(binding(f"b{number:02}", f"r{number:02}", USER))
    asked = Attributes("get", resource="things33")
    assert (
        reason(policy, asked=asked) == 'RBAC: allowed by ClusterRoleBinding "b33" of ClusterRole "r33" to User "alice"'
    )
    policy.put_role(role("r33", resource="others"))
    assert policy.decide(ALICE, asked) is None
    policy.remove_binding(BindingKey("", "b07"))
    assert policy.decide(ALICE, Attributes("get", resource="things7")) is None


def test_a_rule_with_very_many_combinations_is_still_a_rule() -> None:
    names = [f"n{number}" for number in range(5000)]
    wide = role("r")
    wide["rules"][0]["resourceNames"] = names
    policy = policy_of(wide, binding("b", "r", USER))
    assert policy.decide(ALICE, Attributes("get", resource="secrets", name="n4999")) is not None
    assert policy.decide(ALICE, Attributes("get", resource="secrets", name="m")) is None


def test_who_can_names_every_binding_that_allows_it() -> None:
    policy = policy_of(
        role("r"),
        role("w", "list"),
        binding("a", "r", USER),
        binding("b", "w", USER),
        binding("c", "r", namespace="ops"),
    )
    assert [found.key.name for found in policy.who_can(GET_SECRETS)] == ["a"]


def test_missing_rights_are_told_resource_by_resource() -> None:
    owned = [Rule(("get",), ("",), ("secrets",)), Rule(("*",), ("",), ("*/status",))]
    wanted = [Rule(("get", "list", "watch"), ("",), ("secrets", "pods/status")), Rule(("get",), urls=("/metrics",))]
    assert [str(rule) for rule in compacted(uncovered(owned, wanted))] == [
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["list" "watch"]}',
    ]


def test_a_right_for_some_names_covers_no_right_for_all() -> None:
    owned = [Rule(("get",), ("",), ("secrets",), ("a",))]
    assert uncovered(owned, [Rule(("get",), ("",), ("secrets",))]) != []
    assert uncovered(owned, [Rule(("get",), ("",), ("secrets",), ("a",))]) == []
