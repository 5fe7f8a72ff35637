"""About api/managed_cluster_set.py: three versions of one stored form, and the rules of the exclusive key."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.api.managed_cluster import GROUP
from muster.api.managed_cluster_set import MANAGED_CLUSTER_SET, ManagedClusterSet
from muster.api.reading import Reader
from muster.api.validation import prepare, validate_object

READER = Reader(ManagedClusterSet)


def a_set(version: str, spec: dict[str, Any] | None = None, name: str = "apac") -> dict[str, Any]:
    """A set as a client sends it in a version, defaulted."""
    obj: dict[str, Any] = {"apiVersion": f"{GROUP}/{version}", "kind": "ManagedClusterSet", "metadata": {"name": name}}
    if spec is not None:
        obj["spec"] = spec
    served = MANAGED_CLUSTER_SET.version(version)
    assert served is not None
    prepare(MANAGED_CLUSTER_SET, served, obj)
    return obj


def causes(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    version = MANAGED_CLUSTER_SET.version(new["apiVersion"].rpartition("/")[2])
    assert version is not None
    return [str(cause) for cause in validate_object(MANAGED_CLUSTER_SET, version, new, old)]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("v1beta2", {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}}),
        ("v1beta1", {"clusterSelector": {"selectorType": "LegacyClusterSetLabel"}}),
        ("v1alpha1", {}),
    ],
)
def test_a_set_without_a_spec_is_exclusive_in_every_version(version: str, expected: dict[str, Any]) -> None:
    obj = a_set(version)
    assert obj["spec"] == expected
    assert MANAGED_CLUSTER_SET.to_storage(obj) == a_set("v1beta2")


def test_the_exclusive_key_is_the_same_in_every_version() -> None:
    stored = MANAGED_CLUSTER_SET.to_storage(a_set("v1alpha1", {"exclusiveKey": "region"}))
    assert stored["spec"] == {
        "exclusiveKey": "region",
        "clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"},
    }
    shown = [MANAGED_CLUSTER_SET.to_version(stored, version)["spec"] for version in MANAGED_CLUSTER_SET.versions]
    assert [spec["exclusiveKey"] for spec in shown] == ["region", "region", "region"]


selectors = st.fixed_dictionaries(
    {"selectorType": st.sampled_from(["ExclusiveClusterSetLabel", "LabelSelector"])},
    optional={"labelSelector": st.sampled_from([{}, {"matchLabels": {"a": "b"}}])},
)
specs = st.fixed_dictionaries(
    {"clusterSelector": selectors},
    optional={"exclusiveKey": st.sampled_from(["", "region"]), "managedNamespaces": st.just([{"name": "n"}])},
)


@settings(deadline=None)
@given(specs, st.sampled_from(["v1alpha1", "v1beta1", "v1beta2"]))
def test_conversion_there_and_back_loses_nothing(spec: dict[str, Any], version: str) -> None:
    stored = a_set("v1beta2", spec)
    served = MANAGED_CLUSTER_SET.version(version)
    assert served is not None
    shown = MANAGED_CLUSTER_SET.to_version(stored, served)
    assert shown["apiVersion"] == f"{GROUP}/{version}"
    assert causes(shown) == causes(stored)
    assert MANAGED_CLUSTER_SET.to_storage(shown) == stored


def test_the_key_cannot_change_but_its_default_may_be_written_out() -> None:
    old = a_set("v1beta2")
    same = a_set("v1beta2", {"exclusiveKey": "cluster.open-cluster-management.io/clusterset"})
    other = a_set("v1alpha1", {"exclusiveKey": "region"})
    assert causes(same, old) == []
    assert causes(other, a_set("v1alpha1")) == ['spec.exclusiveKey: Invalid value: "region": field is immutable']


def test_the_key_must_be_a_label_key_and_the_name_a_label_value() -> None:
    (text,) = causes(a_set("v1alpha1", {"exclusiveKey": "a/b/c"}))
    assert text.startswith('spec.exclusiveKey: Invalid value: "a/b/c": a valid label key')
    long = "a" * 64
    (text,) = causes(a_set("v1alpha1", {"exclusiveKey": "region"}, name=long))
    assert text.startswith(f'metadata.name: Invalid value: "{long}": must be no more than 63 characters')
    assert causes(a_set("v1alpha1", name=long)) == []


def test_a_set_by_labels_has_no_key() -> None:
    spec = {"exclusiveKey": "region", "clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {}}}
    assert causes(a_set("v1beta2", spec)) == [
        'spec.exclusiveKey: Invalid value: "region": '
        "may not be set when spec.clusterSelector.selectorType is LabelSelector"
    ]


def test_the_cluster_label_of_the_first_draft_is_refused_with_the_reason() -> None:
    (text,) = causes(a_set("v1alpha1", {"clusterLabel": {"key": "a", "value": "b"}}))
    assert text == (
        "spec.clusterLabel: Forbidden: clusters are selected by exclusiveKey and the name of the set; remove it"
    )


def test_the_typed_view_knows_the_effective_key() -> None:
    assert READER.of(a_set("v1beta2")).spec.effective_key == "cluster.open-cluster-management.io/clusterset"
    assert READER.of(a_set("v1beta2", {"exclusiveKey": "region"})).spec.effective_key == "region"
