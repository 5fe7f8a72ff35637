"""About api/validation.py and the rules of single kinds."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from muster.api import RESOURCES
from muster.api.validation import decode_problem, prepare, validate_object

NOT_CHECKED = (
    "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation"
)
OCM = "cluster.open-cluster-management.io"


def sent(key: str, **fields: Any) -> dict[str, Any]:
    """An object of the kind's stored version, as it is after decoding."""
    resource = RESOURCES[key]
    version = resource.storage_version
    metadata = {"name": "a"} | ({"namespace": "n"} if resource.namespaced else {})
    obj = {"apiVersion": resource.api_version(version), "kind": resource.kind, "metadata": metadata} | fields
    prepare(resource, version, obj)
    return obj


def causes(key: str, obj: dict[str, Any], old: dict[str, Any] | None = None, subresource: str = "") -> list[str]:
    resource = RESOURCES[key]
    return [str(cause) for cause in validate_object(resource, resource.storage_version, obj, old, subresource)]


def test_the_kind_must_be_that_of_the_url() -> None:
    obj = sent(f"managedclusters.{OCM}", spec={}) | {"kind": "Placement"}
    assert causes(f"managedclusters.{OCM}", obj) == ['kind: Invalid value: "Placement": must be ManagedCluster']


def test_metadata_comes_before_the_schema() -> None:
    obj = sent(f"managedclusters.{OCM}", spec={"hubAcceptsClient": "yes"}, metadata={"name": "A"})
    assert [text.split(":")[0] for text in causes(f"managedclusters.{OCM}", obj)] == [
        "metadata.name",
        "spec.hubAcceptsClient",
    ]


def test_rules_that_could_not_be_checked_are_announced() -> None:
    assert causes("clusters.clusters.openmcp.cloud", sent("clusters.clusters.openmcp.cloud", spec={})) == [
        "spec.profile: Required value",
        "spec.tenancy: Required value",
        NOT_CHECKED,
    ]
    empty = sent("clusters.clusters.openmcp.cloud", spec={"profile": "p", "tenancy": "Shared", "purposes": []})
    assert causes("clusters.clusters.openmcp.cloud", empty) == [
        "spec.purposes: Invalid value: 0: spec.purposes in body should have at least 1 items"
    ]


def test_a_cluster_keeps_its_profile() -> None:
    key = "clusters.clusters.openmcp.cloud"
    old = sent(key, spec={"profile": "p", "tenancy": "Shared"})
    new = sent(key, spec={"profile": "q", "tenancy": "Shared"})
    assert causes(key, new, old) == ['spec.profile: Invalid value: "q": profile is immutable']


def test_a_cluster_request_keeps_its_spec_and_its_cluster() -> None:
    key = "clusterrequests.clusters.openmcp.cloud"
    status = {"observedGeneration": 1, "phase": "Granted", "cluster": {"name": "a", "namespace": "n"}}
    old = sent(key, spec={"purpose": "mcp"}, status=status)
    assert causes(key, sent(key, spec={"purpose": "x"}, status=status), old) == [
        "spec: Invalid value: spec is immutable"
    ]
    moved = sent(key, spec={"purpose": "mcp"}, status=status | {"cluster": {"name": "b", "namespace": "n"}})
    assert causes(key, moved, old, "status") == ["status.cluster: Invalid value: cluster is immutable"]
    gone = sent(key, spec={"purpose": "mcp"}, status={"observedGeneration": 1, "phase": "Granted"})
    assert causes(key, gone, old, "status") == ["status: Invalid value: cluster may not be removed once set"]


def test_an_agent_classification_keeps_its_label() -> None:
    key = "agentclassifications.agent-install.openshift.io"
    old = sent(key, spec={"labelKey": "size", "labelValue": "medium", "query": "true"})
    new = sent(key, spec={"labelKey": "size", "labelValue": "large", "query": "false"})
    assert causes(key, new, old) == ['spec.labelValue: Invalid value: "large": field is immutable']


def test_a_cluster_profile_keeps_its_manager() -> None:
    key = "clusterprofiles.multicluster.x-k8s.io"
    old = sent(key, spec={"clusterManager": {"name": "a"}})
    assert causes(key, sent(key, spec={"clusterManager": {"name": "b"}}), old) == [
        "spec.clusterManager: Invalid value: ClusterManager is immutable"
    ]


def test_a_placement_gets_its_defaults_and_cannot_want_less_than_nothing() -> None:
    obj = sent(f"placements.{OCM}", spec={"tolerations": [{"key": "gpu"}], "prioritizerPolicy": {}})
    assert obj["spec"] == {
        "scoreRateLimit": "1m",
        "sortBy": "ClusterName",
        "tolerations": [{"key": "gpu", "operator": "Equal"}],
        "prioritizerPolicy": {"mode": "Additive"},
    }
    negative = sent(f"placements.{OCM}", spec={"numberOfClusters": -1})
    assert causes(f"placements.{OCM}", negative) == [
        "spec.numberOfClusters: Invalid value: -1: spec.numberOfClusters in body should be greater than or equal to 0"
    ]


def test_score_items_may_carry_a_quantity() -> None:
    key = f"addonplacementscores.{OCM}"
    scores = [{"name": "cpu", "value": 3, "quantity": 3}, {"name": "memory", "value": 4, "quantity": "300Mi"}]
    assert causes(key, sent(key, status={"scores": scores})) == []
    (text,) = causes(key, sent(key, status={"scores": [{"name": "cpu", "quantity": "much"}]}))
    assert text.startswith(
        'status.scores[0].quantity: Invalid value: "much": status.scores[0].quantity in body should match'
    )


def test_on_updates_findings_about_metadata_are_listed_twice_as_upstream_does() -> None:
    key = f"managedclusters.{OCM}"
    old = sent(key, spec={}, metadata={"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"})
    new = sent(key, spec={}, metadata={"name": "a", "finalizers": ["x/y"]})
    assert len(causes(key, new, old)) == 2
    assert causes(key, new, old, "status") == []


# ----------------------------------------------------------------------------------------------------------------------
# Built-in kinds.


def test_a_namespace_has_a_label_a_phase_and_a_short_name() -> None:
    obj = sent("namespaces")
    assert obj["metadata"]["labels"] == {"kubernetes.io/metadata.name": "a"}
    assert (obj["spec"], obj["status"]) == ({}, {"phase": "Active"})
    dotted = sent("namespaces", metadata={"name": "a.b"})
    assert causes("namespaces", dotted) == ['metadata.name: Invalid value: "a.b": must not contain dots']


def test_the_text_of_a_secret_becomes_its_data() -> None:
    obj = sent("secrets", stringData={"password": "é"}, data={"user": "YQ=="})
    assert obj["data"] == {"user": "YQ==", "password": base64.b64encode("é".encode()).decode()}
    assert "stringData" not in obj
    assert obj["type"] == "Opaque"
    assert causes("secrets", sent("secrets", type="kubernetes.io/tls", data={"tls.crt": ""})) == [
        "data[tls.key]: Required value"
    ]
    assert causes("secrets", sent("secrets", type="x"), obj) == ['type: Invalid value: "x": field is immutable']


def test_an_immutable_config_map_stays_as_it_is() -> None:
    old = sent("configmaps", data={"a": "b"}, immutable=True)
    assert causes("configmaps", sent("configmaps", data={"a": "c"}), old) == [
        "immutable: Forbidden: field is immutable when `immutable` is set",
        "data: Forbidden: field is immutable when `immutable` is set",
    ]
    (text,) = causes("configmaps", sent("configmaps", data={"a/b": ""}))
    assert text.startswith('data[a/b]: Invalid value: "a/b": a valid config key must consist of')


def test_roles_say_what_they_allow() -> None:
    rules = [{"verbs": []}, {"verbs": ["get"], "nonResourceURLs": ["/metrics"]}]
    assert causes("roles.rbac.authorization.k8s.io", sent("roles.rbac.authorization.k8s.io", rules=rules)) == [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
        'rules[1].nonResourceURLs: Invalid value: ["/metrics"]: namespaced rules cannot apply to non-resource URLs',
    ]


def test_a_binding_keeps_its_role_and_names_somebody() -> None:
    key = "clusterrolebindings.rbac.authorization.k8s.io"
    old = sent(key, roleRef={"kind": "ClusterRole", "name": "mcr"}, subjects=[{"kind": "Group", "name": "devs"}])
    group = "rbac.authorization.k8s.io"
    assert old["roleRef"]["apiGroup"] == group
    assert old["subjects"][0]["apiGroup"] == group
    assert causes(key, old) == []
    new = sent(
        key, roleRef={"kind": "ClusterRole", "name": "admin"}, subjects=[{"kind": "ServiceAccount", "name": "s"}]
    )
    assert causes(key, new, old) == [
        "subjects[0].namespace: Required value",
        f'roleRef: Invalid value: {{"APIGroup":"{group}","Kind":"ClusterRole","Name":"admin"}}: cannot change roleRef',
    ]


def test_a_review_asks_one_question() -> None:
    key = "selfsubjectaccessreviews.authorization.k8s.io"
    assert causes(key, sent(key, spec={})) == [
        "spec.resourceAttributes: Invalid value: null: "
        "exactly one of nonResourceAttributes or resourceAttributes must be specified"
    ]
    assert causes(key, sent(key, spec={"resourceAttributes": {"verb": "get"}})) == []


def test_a_lease_lasts() -> None:
    key = "leases.coordination.k8s.io"
    assert causes(key, sent(key, spec={"leaseDurationSeconds": 0})) == [
        "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"
    ]


def test_an_event_lives_where_its_object_does() -> None:
    elsewhere = sent("events", involvedObject={"namespace": "other"})
    assert causes("events", elsewhere) == [
        'involvedObject.namespace: Invalid value: "other": does not match event.namespace'
    ]


@pytest.mark.parametrize(
    ("key", "fields", "problem"),
    [
        ("configmaps", {"data": {"a": "b"}}, None),
        (
            "configmaps",
            {"data": {"a": 1}},
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            "configmaps",
            {"data": "x"},
            "json: cannot unmarshal string into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            "leases.coordination.k8s.io",
            {"spec": {"leaseDurationSeconds": "x"}},
            "json: cannot unmarshal string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32",
        ),
        (
            "roles.rbac.authorization.k8s.io",
            {"rules": [{"verbs": "get"}]},
            "json: cannot unmarshal string into Go struct field PolicyRule.rules.verbs of type []string",
        ),
        ("secrets", {"data": {"a": "%"}}, "illegal base64 data at input byte 0"),
        (
            f"managedclusters.{OCM}",
            {"metadata": {"labels": {"a": True}}},
            "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            f"managedclusters.{OCM}",
            {"metadata": []},
            "json: cannot unmarshal array into Go struct field ManagedCluster.metadata of type v1.ObjectMeta",
        ),
        (f"managedclusters.{OCM}", {"spec": "custom resources are judged by their schema"}, None),
    ],
)
def test_wrong_types_in_structs_are_found_before_validation(
    key: str, fields: dict[str, Any], problem: str | None
) -> None:
    resource = RESOURCES[key]
    assert decode_problem(resource, resource.storage_version, fields) == problem
