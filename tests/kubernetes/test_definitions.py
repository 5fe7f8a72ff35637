"""The rules that our definitions carry, run by our own CEL: they refuse what the hub refuses. No server is needed."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.admission.cluster_set_binding import same_name
from muster.admission.managed_cluster import client_configs
from muster.api import RESOURCES
from muster.api.crds import definition
from muster.api.validation import prepare, validate_object
from muster.cel import CompileBudget
from muster.hub.custom.objects import CustomChecks
from muster.hub.custom.openapi_schema import schema_causes
from muster.hub.custom.rules import MOST_COMPILING
from muster.kubernetes.policies import crd_validations
from muster.selectors.membership import DEFAULT_KEY
from tests.admission.writes import a_write

OCM = "cluster.open-cluster-management.io"
SETS, CLUSTERS = f"managedclustersets.{OCM}", f"managedclusters.{OCM}"
BINDINGS, CLASSIFICATIONS = f"managedclustersetbindings.{OCM}", "agentclassifications.agent-install.openshift.io"
OWN = [key for key, kind in RESOURCES.items() if not (kind.builtin or kind.virtual)]
Object = dict[str, Any]


@cache
def checks(key: str) -> CustomChecks:
    """A kind as a server checks it that has nothing but its definition."""
    versions = definition(RESOURCES[key], "")["spec"]["versions"]
    (stored,) = (each for each in versions if each["storage"])
    return CustomChecks(stored["schema"]["openAPIV3Schema"], None, status=True)


def refused_by_definition(key: str, new: Object, old: Object | None = None) -> bool:
    return bool(checks(key).causes(new, old, "", []).causes)


def an_object(key: str, spec: Object | None, name: str = "x") -> Object:
    """As it is after defaults were filled in."""
    resource = RESOURCES[key]
    version = resource.storage_version
    obj: Object = {"apiVersion": resource.api_version(version), "kind": resource.kind, "metadata": {"name": name}}
    if resource.namespaced:
        obj["metadata"]["namespace"] = "apps"
    if spec is not None:
        obj["spec"] = spec
    prepare(resource, version, obj)
    return obj


def refused_by_hub(key: str, new: Object, old: Object | None = None) -> bool:
    resource = RESOURCES[key]
    if validate_object(resource, resource.storage_version, new, old):
        return True
    write = a_write(resource.plural, new, old, resource.group)
    checked = {CLUSTERS: client_configs, BINDINGS: same_name}.get(key)
    return checked is not None and checked(write).refusal is not None


@pytest.mark.parametrize("key", OWN)
def test_a_server_takes_the_definition_with_its_rules(key: str) -> None:
    for version in definition(RESOURCES[key], "")["spec"]["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        found = schema_causes(
            schema, "schema", CompileBudget(MOST_COMPILING), status=version.get("subresources") is not None
        )
        assert [str(each) for each in found] == []
        assert crd_validations(key, version["name"], schema) == schema  # they are there once


NAMES = st.sampled_from(["x", "a-name", "with.dots", "x" * 63, "y." * 31 + "yy", "x" * 64, "y." * 40 + "y"])
KEYS = st.sampled_from(
    ["", "region", "example.com/Region", DEFAULT_KEY, "-wrong", "a/b/c", "/x", "x/", "UP.com/x", "x" * 63, "x" * 64]
) | st.text("ab-./_A", max_size=6)
SELECTORS = st.sampled_from(
    [{"selectorType": "ExclusiveClusterSetLabel"}, {"selectorType": "LabelSelector", "labelSelector": {}}, {}]
)
SET_SPECS = st.none() | st.fixed_dictionaries(
    {}, optional={"exclusiveKey": KEYS, "clusterSelector": SELECTORS, "clusterLabel": st.just({"key": "a"})}
)


@given(new=SET_SPECS, old=st.none() | SET_SPECS.map(lambda spec: (spec,)), name=NAMES)
def test_sets(new: Object | None, old: tuple[Object | None] | None, name: str) -> None:
    before = None if old is None else an_object(SETS, old[0], name)
    if before is not None and refused_by_hub(SETS, before):
        return  # it was never stored
    after = an_object(SETS, new, name)
    assert refused_by_definition(SETS, after, before) == refused_by_hub(SETS, after, before)


URLS = st.sampled_from(
    [
        "https://a:6443/x",
        "HTTPS://a",
        "http://a",
        "https:a",
        " https://a",
        "https://[::1",
        "//a",
        "",
        "https://a b",
        "%zz",
    ]
) | st.text("htps:/ab[%2\t", max_size=12)
CONFIGS = st.lists(st.builds(lambda url: {"url": url}, URLS) | st.just({}), max_size=2)
CLUSTER_SPECS = st.fixed_dictionaries({}, optional={"managedClusterClientConfigs": CONFIGS})


@given(new=CLUSTER_SPECS, name=NAMES)
def test_clusters(new: Object, name: str) -> None:
    after = an_object(CLUSTERS, new, name)
    assert refused_by_definition(CLUSTERS, after) == refused_by_hub(CLUSTERS, after)


@given(spec=st.none() | st.builds(lambda name: {"clusterSet": name}, NAMES), name=NAMES)
def test_bindings(spec: Object | None, name: str) -> None:
    new = an_object(BINDINGS, spec, name)
    assert refused_by_definition(BINDINGS, new) == refused_by_hub(BINDINGS, new)


TEXTS = st.sampled_from(["size", "", "-a", "a/b", "x" * 52, "x" * 53, "x" * 63, "QUERYERROR", "QUERYERROR-x", "a.b"])
LABELS = st.builds(lambda key, value: {"labelKey": key, "labelValue": value, "query": "."}, TEXTS, TEXTS)


@given(new=st.none() | LABELS, old=st.none() | LABELS)
def test_classifications(new: Object | None, old: Object | None) -> None:
    before = None if old is None else an_object(CLASSIFICATIONS, old)
    if before is not None and refused_by_hub(CLASSIFICATIONS, before):
        return
    after = an_object(CLASSIFICATIONS, new)
    assert refused_by_definition(CLASSIFICATIONS, after, before) == refused_by_hub(CLASSIFICATIONS, after, before)


@pytest.mark.parametrize(
    ("key", "spec"),
    [
        (SETS, {"exclusiveKey": "-wrong-"}),
        (SETS, {"clusterLabel": {"key": "a"}}),
        (SETS, {"exclusiveKey": "a", "clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {}}}),
        (CLUSTERS, {"managedClusterClientConfigs": [{"url": "http://a"}]}),
        (BINDINGS, {"clusterSet": "another"}),
        (CLASSIFICATIONS, {"labelKey": "-a", "labelValue": "-b", "query": "."}),
        (CLASSIFICATIONS, None),
    ],
)
def test_what_was_stored_before_a_rule_came_gets_its_status(key: str, spec: Object | None) -> None:
    old = an_object(key, spec, "a.name.of.old")
    assert refused_by_definition(key, old)
    new = old | {"status": {"conditions": []}}
    assert checks(key).causes(new, old, "status", []).causes == ()
    labelled = old | {"metadata": old["metadata"] | {"labels": {"a": "b"}}}
    assert checks(key).causes(labelled, old, "", []).causes == ()
