"""The roles that every hub starts with: made when missing, completed when older, otherwise the administrator's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.permissions import COLLECTOR
from muster.hub.auth.rbac.bootstrap import AUTO_UPDATE, bootstrap_objects, ensure_roles, with_what_it_lacks
from muster.hub.objects import decode
from muster.hub.storage import Key
from tests.hub.a_hub import a_hub, story

if TYPE_CHECKING:
    from tests.hub.a_hub import Hub

RBAC = "rbac.authorization.k8s.io"
RULE = {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": ["get", "list"]}
OWN = {"apiGroups": [""], "resources": ["events"], "verbs": ["delete"]}


def a_role(*rules: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "r", "labels": {"a": "b"}, **metadata},
        "rules": list(rules),
    }


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        pytest.param(a_role(RULE), None, id="nothing is missing"),
        pytest.param(
            a_role({**RULE, "verbs": ["get"]}, {**RULE, "verbs": ["list", "watch"]}), None, id="covered by two together"
        ),
        pytest.param(a_role(OWN), [OWN, RULE], id="what was added stays"),
        pytest.param(a_role({**RULE, "verbs": ["get"]}), [{**RULE, "verbs": ["get"]}, RULE], id="a verb is missing"),
        pytest.param(a_role(annotations={AUTO_UPDATE: "false"}), None, id="not to be touched"),
        pytest.param(a_role(annotations={AUTO_UPDATE: "true"}), [RULE], id="to be touched"),
    ],
)
def test_a_role_gets_the_rules_that_it_lacks(present: dict[str, Any], expected: list[Any] | None) -> None:
    completed = with_what_it_lacks(present, a_role(RULE))
    assert completed == (None if expected is None else {**present, "rules": expected})


def test_a_binding_gets_the_subjects_and_labels_that_it_lacks_and_keeps_its_role() -> None:
    us, them = {"kind": "Group", "name": "us"}, {"kind": "User", "name": "them"}
    reference = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "r"}
    wanted = {"metadata": {"name": "b", "labels": {"a": "b"}}, "roleRef": reference, "subjects": [us]}
    present = {"metadata": {"name": "b", "labels": {"c": "d"}}, "roleRef": reference, "subjects": [them]}
    assert with_what_it_lacks(present, wanted) == {
        "metadata": {"name": "b", "labels": {"a": "b", "c": "d"}},
        "roleRef": reference,
        "subjects": [them, us],
    }
    assert with_what_it_lacks({**present, "roleRef": {**reference, "name": "other"}}, wanted) is None


def test_a_gathering_role_gets_the_selectors_that_it_lacks() -> None:
    ours, theirs = {"matchLabels": {"ours": "true"}}, {"matchLabels": {"theirs": "true"}}
    wanted = {"metadata": {"labels": {}}, "aggregationRule": {"clusterRoleSelectors": [ours]}}
    present = {"metadata": {}, "aggregationRule": {"clusterRoleSelectors": [theirs]}, "rules": [RULE]}
    assert with_what_it_lacks(present, wanted) == {
        **present,
        "aggregationRule": {"clusterRoleSelectors": [theirs, ours]},
    }


@story
async def test_a_hub_that_has_its_roles_writes_nothing_at_its_start() -> None:
    async with a_hub() as hub:
        await ensure_roles(hub.api, hub.store)
        before = hub.store.revision
        await ensure_roles(hub.api, hub.store)
        assert hub.store.revision == before


@story
async def test_roles_of_an_older_hub_are_completed_at_the_start_of_a_newer_one() -> None:
    async with a_hub() as hub:
        for obj in bootstrap_objects():
            older = {**obj, "rules": obj["rules"][:1]} if obj.get("rules") else obj
            await hub.create(older)
        await ensure_roles(hub.api, hub.store)
        for obj in bootstrap_objects():
            assert with_what_it_lacks(stored(hub, obj), obj) is None


def stored(hub: Hub, obj: dict[str, Any]) -> dict[str, Any]:
    namespace = obj["metadata"].get("namespace", "")
    record = hub.store.get(Key(f"{obj['kind'].lower()}s.{RBAC}", namespace, obj["metadata"]["name"]))
    assert record is not None
    return decode(record.value)


def test_the_garbage_collector_has_no_wildcards_and_no_subresources() -> None:
    (rules,) = [obj["rules"] for obj in bootstrap_objects() if obj["metadata"]["name"] == COLLECTOR and "rules" in obj]
    named = [text for rule in rules for field in rule.values() for text in field]
    assert not [text for text in named if "*" in text or "/" in text]
