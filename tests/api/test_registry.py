"""About api/registry.py, api/crds.py, api/codec.py and the typed views: what is true of every kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.api import RESOURCES, find
from muster.api.addon_placement_score import AddOnPlacementScore
from muster.api.agent import Agent
from muster.api.agent_classification import AgentClassification
from muster.api.cluster import Cluster
from muster.api.cluster_request import ClusterRequest
from muster.api.codec import decode, encode, encode_split
from muster.api.crds import custom_resource_definitions
from muster.api.jsonpath import compile_path
from muster.api.managed_cluster import ManagedCluster
from muster.api.managed_cluster_set import ManagedClusterSet
from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
from muster.api.placement import Placement
from muster.api.placement_decision import PlacementDecision
from muster.api.reading import Reader
from muster.api.reference import reference
from muster.api.resolution import Resolution
from muster.errors import InvalidObjectError

VIEWS: dict[str, type[msgspec.Struct]] = {
    kind.__name__: kind
    for kind in (
        AddOnPlacementScore,
        Agent,
        AgentClassification,
        Cluster,
        ClusterRequest,
        ManagedCluster,
        ManagedClusterSet,
        ManagedClusterSetBinding,
        Placement,
        PlacementDecision,
        Resolution,
    )
}


def test_urls_find_served_versions_only() -> None:
    found = find("cluster.open-cluster-management.io", "v1alpha1", "managedclustersets")
    assert found is not None
    assert (found[0].kind, found[1].name) == ("ManagedClusterSet", "v1alpha1")
    assert find("cluster.open-cluster-management.io", "v9", "managedclustersets") is None
    assert find("", "v1", "pods") is None


def test_every_kind_stores_exactly_one_version() -> None:
    assert {
        key: [version.storage for version in kind.versions].count(True) for key, kind in RESOURCES.items()
    } == dict.fromkeys(RESOURCES, 1)


def test_names_are_unique_within_the_registry() -> None:
    kinds = [kind for kind in RESOURCES.values() if kind.home is kind]  # the others show the same objects
    names = [name for kind in kinds for name in (kind.plural, *kind.short_names)]
    twice = {name for name in names if names.count(name) > 1}
    # SIG-Multicluster calls its kind as Open Cluster Management does; who says no group means the first of them.
    assert twice == {"placementdecisions"}
    first, second = (kind.group for kind in kinds if kind.plural == "placementdecisions")
    assert (first, second) == ("cluster.open-cluster-management.io", "multicluster.x-k8s.io")


def test_virtual_kinds_can_only_be_created() -> None:
    assert {kind.verbs for kind in RESOURCES.values() if kind.virtual} == {("create",)}


def test_every_path_in_a_kind_can_be_read() -> None:
    for kind in RESOURCES.values():
        for version in kind.versions:
            for column in version.columns:
                assert (column.cell is None) == bool(column.path)
                compile_path(column.path)
            for path in version.selectable_fields:
                compile_path(path)


def test_there_is_a_definition_of_every_kind_that_is_not_built_in() -> None:
    definitions = custom_resource_definitions(RESOURCES.values(), "2026-01-01T00:00:00Z")
    assert set(definitions) == {key for key, kind in RESOURCES.items() if not kind.builtin}
    sets = definitions["managedclustersets.cluster.open-cluster-management.io"]
    assert [(each["name"], each["served"], each["storage"]) for each in sets["spec"]["versions"]] == [
        ("v1beta2", True, True),
        ("v1beta1", True, False),
        ("v1alpha1", True, False),
    ]
    cluster = definitions["clusters.clusters.openmcp.cloud"]["spec"]
    assert cluster["names"] == {
        "kind": "Cluster",
        "listKind": "ClusterList",
        "plural": "clusters",
        "singular": "cluster",
    }
    assert cluster["versions"][0]["selectableFields"] == [{"jsonPath": ".spec.profile"}]
    assert definitions == custom_resource_definitions(RESOURCES.values(), "2026-01-01T00:00:00Z")
    msgspec.json.encode(definitions)


def _typed_fields(kind: type[msgspec.Struct]) -> dict[str, str]:
    """JSON names of a view's fields below spec and status, first level."""
    found = {}
    for part in msgspec.structs.fields(kind):
        if part.encode_name in {"spec", "status"}:
            for field in msgspec.structs.fields(part.type):
                found[f"{part.encode_name}.{field.encode_name}"] = field.name
    return found


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_a_typed_view_has_no_field_that_the_schema_lacks(name: str) -> None:
    resource = next(kind for kind in RESOURCES.values() if kind.kind == name)
    properties = resource.storage_version.schema["properties"]
    known = {
        f"{part}.{field}"
        for part in ("spec", "status")
        if part in properties
        for field in properties[part]["properties"]
    }
    assert set(_typed_fields(VIEWS[name])) <= known


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_an_empty_object_has_a_typed_view(name: str) -> None:
    assert msgspec.to_builtins(Reader(VIEWS[name]).of({"apiVersion": "x", "kind": name})) == {}


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidObjectError):
        decode(b"[]")


metadata = st.none() | st.dictionaries(st.sampled_from(["name", "uid", "resourceVersion"]), st.text(max_size=5))
objects = st.dictionaries(st.sampled_from(["apiVersion", "kind", "spec", "status"]), st.text(max_size=5))


@settings(deadline=None)
@given(objects, metadata)
def test_a_split_object_takes_its_revision(obj: dict[str, Any], meta: dict[str, str] | None) -> None:
    if meta is not None:
        obj |= {"metadata": meta}
    head, tail = encode_split(obj)
    assert decode(head + b"42" + tail) == obj | {"metadata": (meta or {}) | {"resourceVersion": "42"}}
    assert decode(encode(obj)) == obj


def test_the_reference_is_what_the_code_says() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "kinds.md"
    assert page.read_text(encoding="utf-8") == reference(RESOURCES.values()), (
        "run: python -m muster.api.reference > docs/reference/kinds.md"
    )
