"""Selection without a hub, and the examples of the two specifications."""

from __future__ import annotations

import doctest
from typing import Any

import pytest

import muster
from muster.errors import InvalidObjectError
from tests.builders import a_binding, a_cluster, a_placement, a_set

GPUS = '{"H100": [{"Standard_NC96ads_H100_v4": 2}], "A100": [{"Standard_NC48ads_A100_v4": 50}]}'
FLEET = [
    a_cluster(
        "new",
        {"version": "1.31.2"},
        {"kubeversion.open-cluster-management.io": "1.31.2"},
        version={"kubernetes": "v1.31.2"},
        properties=[
            {"name": "sku.node.k8s.io", "value": "g6.xlarge,Standard_NC48ads_H100,m3-ultramem-32"},
            {"name": "sku.gpu.kubernetes-fleet.io", "value": GPUS},
        ],
    ),
    a_cluster(
        "old",
        {"version": "1.29.4"},
        {"kubeversion.open-cluster-management.io": "1.29.4"},
        version={"kubernetes": "v1.30.0"},
        properties=[{"name": "sku.node.k8s.io", "value": "m5.large"}],
    ),
]


def a_rich_score(cluster: str, cpu: str, memory: str) -> dict[str, Any]:
    items = [
        {"name": "cpuAvailable", "value": 1, "quantity": cpu},
        {"name": "memAvailable", "value": 2, "quantity": memory},
    ]
    return {
        "kind": "AddOnPlacementScore",
        "metadata": {"name": "default", "namespace": cluster},
        "status": {"scores": items},
    }


SCORES = [a_rich_score("new", "8", "300Mi"), a_rich_score("old", "3", "99Mi")]


@pytest.mark.parametrize(
    ("expressions", "names"),
    [
        (['managedCluster.status.version.kubernetes == "v1.30.0"'], ("old",)),
        ([r"""managedCluster.metadata.labels["version"].matches('^1\\.(30|31)\\.\\d+$')"""], ("new",)),
        (
            [
                'managedCluster.status.clusterClaims.exists(c, c.name == "kubeversion.open-cluster-management.io" '
                r"""&& c.value.matches('^1\\.(30|31)\\.\\d+$'))"""
            ],
            ("new",),
        ),
        (['semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver("v1.30.0", true))'], ("new",)),
        (['semver(managedCluster.metadata.labels["version"], true).isLessThan(semver("v1.31.0", true))'], ("old",)),
        (
            [
                """managedCluster.scores("default").filter(s, s.name == 'cpuAvailable').all(e, e.quantity > 4)""",
                """managedCluster.scores("default").filter(s, s.name == 'memAvailable')"""
                """.all(e, quantity(e.quantity).isGreaterThan(quantity("100Mi")))""",
            ],
            ("new",),
        ),
        (
            [
                'managedCluster.status.properties.exists(c, c.name == "sku.node.k8s.io" '
                '&& c.value.split(",").exists(e, e == "g6.xlarge"))',
                'managedCluster.status.properties.exists(c, c.name == "sku.gpu.kubernetes-fleet.io" '
                "&& c.value.parseJSON().H100.exists(e, e.Standard_NC96ads_H100_v4 == 2))",
            ],
            ("new",),
        ),
    ],
)
def test_the_examples_of_the_cel_specification_select_what_they_say(
    expressions: list[str], names: tuple[str, ...]
) -> None:
    assert muster.select([*FLEET, *SCORES], expressions).names == names
    placement = a_placement(predicates=[{"requiredClusterSelector": {"celSelector": {"celExpressions": expressions}}}])
    assert muster.select([*FLEET, *SCORES], placement=placement).names == names


def test_a_misspelt_expression_is_refused_in_the_words_of_the_specification() -> None:
    expression = r"""managedCluster.metadata.labels["version"].matchess('^1\\.(14|15)\\.\\d+$')"""
    with pytest.raises(InvalidObjectError) as caught:
        muster.select(FLEET, expression)
    assert str(caught.value).splitlines()[0] == (
        f"failed to compile CEL expression '{expression}': "
        "ERROR: <input>:1:51: undeclared reference to 'matchess' (in container '')"
    )


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 + 1", "failed to compile CEL expression '1 + 1': must evaluate to bool, not int"),
        (" " * 10241, "a CEL expression has 10241 bytes; at most 10240 are taken"),
        (
            "managedCluster.status.clusterClaims.all(a, managedCluster.status.clusterClaims.all(b, "
            "managedCluster.status.clusterClaims.all(c, a.value + b.value == c.value)))",
            "more than the limit of 10000000: most of it is managedCluster.status.clusterClaims.all(a, ",
        ),
    ],
)
def test_expressions_that_could_not_work_are_refused_before_they_run(expression: str, message: str) -> None:
    with pytest.raises(InvalidObjectError) as caught:
        muster.select(FLEET, expression)
    assert message in str(caught.value)


def test_the_reason_shows_the_values_that_were_looked_at() -> None:
    selection = muster.select(FLEET, 'managedCluster.metadata.labels["version"].startsWith("1.31")')
    assert selection.why("old") == (
        """'managedCluster.metadata.labels["version"].startsWith("1.31")' is false """
        """(metadata.labels.version = '1.29.4')"""
    )
    assert muster.select(FLEET, labels="version=1.31.2").why("old") == (
        "label version is '1.29.4'; wanted version=1.31.2"
    )


def test_an_expression_that_fails_is_an_error_and_not_a_no() -> None:
    selection = muster.select(FLEET, 'managedCluster.metadata.labels["nope"] == "x"')
    assert (selection.names, selection.failed) == ((), ("new", "old"))
    assert selection.why("new") == """'managedCluster.metadata.labels["nope"] == "x"' failed: no such key: nope"""


def test_a_missing_score_is_an_error_so_that_all_selects_nothing_by_accident() -> None:
    selection = muster.select(FLEET, 'managedCluster.scores("default").all(s, s.value > 100)')
    assert (selection.names, selection.failed) == ((), ("new", "old"))


def test_a_placement_sees_only_bound_sets_when_there_are_any() -> None:
    sets = [a_set("new", {"version": "1.31.2"}), a_set("all")]
    assert muster.select([*FLEET, *sets, a_binding("new")], placement=a_placement()).names == ("new",)
    assert muster.select([*FLEET, *sets], placement=a_placement()).names == ()
    assert muster.select(FLEET, placement=a_placement()).names == ("new", "old")


def test_selectors_over_purposes_look_at_what_has_purposes() -> None:
    objects = [
        *FLEET,
        {"kind": "Cluster", "metadata": {"name": "c", "namespace": "n"}, "spec": {"purposes": ["mcp"]}},
        {"kind": "ClusterRequest", "metadata": {"name": "r", "namespace": "n"}, "spec": {"purpose": "mcp"}},
    ]
    wanted = {"matchPurposes": [{"operator": "Equals", "values": ["mcp"]}]}
    assert muster.select(objects, selector=wanted).names == ("n/c", "n/r")
    assert muster.select(objects, selector=wanted, kind="Cluster").names == ("n/c",)


def test_the_example_in_the_package_runs() -> None:
    assert doctest.testmod(muster) == (0, 5)


def test_explain_gives_typed_results_that_print_as_tables_and_show_in_notebooks() -> None:
    named = {"requiredClusterSelector": {"celSelector": {"celExpressions": ["managedCluster.metadata.name == '<b>'"]}}}
    objects = [a_set(), a_binding(), a_cluster("a", {"cloud": "Azure"}), a_placement("web", predicates=[named])]
    whole = muster.explain(objects, "web")
    assert (whole.placement, whole.selected, whole.funnel[1].before) == ("apps/web", (), 1)
    assert "predicate 1: &#x27;name == &#x27;&lt;b&gt;&#x27;&#x27; is false" in whole._repr_html_()
    assert "<b>" not in whole._repr_html_()
    assert str(whole).splitlines()[:2] == [
        "apps/web: 0 of 1 clusters",
        "STAGE             CLUSTERS   REASON                                  FOR EXAMPLE",
    ]
    way = muster.explain(objects, "apps/web", cluster="a")
    assert (way.stage, way.selected) == ("Predicate", False)
    assert "<td" in way._repr_html_()
    outlook = muster.explain(objects, cluster="a")
    assert [(each.placement, each.stage) for each in outlook.placements] == [("apps/web", "Predicate")]
    assert str(outlook).startswith("a: taken by 0 of 1 placements\n")
    one_set = muster.explain(objects, cluster_set="global")
    assert (one_set.members, one_set.namespaces, one_set.placements) == (("a",), ("apps",), ("apps/web",))
    assert str(one_set).splitlines()[0] == "global: every cluster"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "say what to explain: a placement, a cluster, or a cluster set"),
        ({"placement": "web"}, "there is no Placement 'web'"),
        ({"placement": "twice"}, "placement 'twice' is in several namespaces: name one as NAMESPACE/NAME"),
        ({"cluster": "b"}, "there is no ManagedCluster 'b'"),
        ({"cluster_set": "s"}, "there is no ManagedClusterSet 's'"),
    ],
)
def test_explain_says_what_is_not_there(asked: dict[str, Any], message: str) -> None:
    objects = [a_cluster("a"), a_placement("twice"), a_placement("twice", namespace="shop")]
    with pytest.raises(InvalidObjectError, match=message):
        muster.explain(objects, **asked)


def a_profile(name: str, namespace: str = "apps", healthy: str = "True", **facts: str) -> dict[str, Any]:
    return {
        "apiVersion": "multicluster.x-k8s.io/v1alpha1",
        "kind": "ClusterProfile",
        "metadata": {"name": name, "namespace": namespace, "labels": {"multicluster.x-k8s.io/clusterset": "prod"}},
        "spec": {"displayName": name, "clusterManager": {"name": "somebody"}},
        "status": {
            "version": {"kubernetes": "v1.36.0"},
            "properties": [{"name": key, "value": value} for key, value in facts.items()],
            "conditions": [{"type": "ControlPlaneHealthy", "status": healthy, "reason": "R", "message": ""}],
            "accessProviders": [{"name": "secretreader", "cluster": {"server": f"https://{name}:6443"}}],
        },
    }


def test_profiles_are_selected_as_clusters_are() -> None:
    fleet = [a_profile("c1", region="eu"), a_profile("c2", region="us"), a_profile("c1", "other", region="eu")]
    claim = "managedCluster.status.clusterClaims.exists(c, c.name == 'region' && c.value == 'eu')"
    assert muster.select(fleet, claim, kind="ClusterProfile").names == ("apps/c1", "other/c1")
    address = "managedCluster.spec.managedClusterClientConfigs[0].url == 'https://c2:6443'"
    assert muster.select(fleet, address, kind="ClusterProfile").names == ("apps/c2",)
    own = "managedCluster.spec.clusterManager.name == 'somebody'"
    assert len(muster.select(fleet, own, kind="ClusterProfile").names) == 3


def test_a_placement_chooses_among_the_profiles_of_its_namespace() -> None:
    fleet = [a_profile("c1", region="eu"), a_profile("c2", region="us"), a_profile("c3", "other", region="eu")]
    claims = {"claimSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}}
    placement = a_placement(predicates=[{"requiredClusterSelector": claims}])
    assert placement["metadata"]["namespace"] == "apps"
    found = muster.select(fleet, placement=placement, kind="ClusterProfile")
    assert found.names == ("c1",)
    assert "region" in found.why("c2")
    with pytest.raises(InvalidObjectError):
        found.why("c3")


def test_a_placement_without_a_namespace_finds_each_profile_once_or_says_so() -> None:
    placement = a_placement()
    del placement["metadata"]["namespace"]
    fleet = [a_profile("c1"), a_profile("c1", "other")]
    with pytest.raises(InvalidObjectError, match="several ClusterProfiles 'c1'"):
        muster.select(fleet, placement=placement, kind="ClusterProfile")
    assert muster.select(fleet[:1], placement=placement, kind="ClusterProfile").names == ("c1",)
