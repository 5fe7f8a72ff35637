"""Roles and bindings as they are read: a role whole, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from muster.api import RESOURCES
from muster.api.rbac import PolicyRule, Role, RoleReference, Subject, read_binding, read_role
from muster.api.validation import prepare, validate_object

RULE = {"verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one"]}


def a_role(*rules: Any, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "r", "labels": {"a": "b"}}, "rules": list(rules), **more}


def test_a_rule_is_read_with_all_its_members() -> None:
    paths = {"verbs": ["get"], "nonResourceURLs": ["/healthz"]}
    assert read_role(a_role(RULE, paths)).rules == (
        PolicyRule(("get",), ("",), ("secrets",), ("one",)),
        PolicyRule(("get",), non_resource_urls=("/healthz",)),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {**RULE, "resourceNames": "one"},  # left out, it would be a rule for every name
        {**RULE, "resourceNames": [{"name": "one"}]},
        {**RULE, "verbs": "get"},
        "get secrets",
    ],
)
def test_a_role_that_cannot_be_read_whole_grants_nothing_and_keeps_its_identity(wrong: Any) -> None:
    found = read_role(a_role({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}, wrong))
    assert (found.rules, found.metadata.name, found.metadata.labels) == ((), "r", {"a": "b"})


def test_a_selector_that_cannot_be_read_gathers_nothing() -> None:
    gathering = {"clusterRoleSelectors": [{"matchLabels": "all"}]}  # left out, it would select every role
    assert read_role(a_role(aggregationRule=gathering)).aggregation_rule is None


def test_what_is_no_role_at_all_is_an_empty_one() -> None:
    assert read_role({}) == Role()


def test_a_binding_is_read_as_far_as_it_goes() -> None:
    found = read_binding({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "a"}, None]})
    assert (found.role_ref, found.subjects) == (
        RoleReference(kind="Role", name="r"),
        (Subject(kind="User", name="a"), Subject()),
    )


def a_binding(name: str, **reference: str) -> dict[str, Any]:
    obj = {"kind": "RoleBinding", "metadata": {"name": "b", "namespace": "n"}, "roleRef": {"name": name, **reference}}
    kind = RESOURCES["rolebindings.rbac.authorization.k8s.io"]
    prepare(kind, kind.storage_version, obj)
    return obj


def test_a_role_reference_that_changes_is_shown_as_a_server_shows_it() -> None:
    kind = RESOURCES["rolebindings.rbac.authorization.k8s.io"]
    new, old = a_binding("new", kind="Role"), a_binding("old", kind="Role")
    assert [str(each) for each in validate_object(kind, kind.storage_version, new, old)] == [
        'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"new"}: '
        "cannot change roleRef"
    ]
