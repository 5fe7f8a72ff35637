"""Argo CD's own generators beside a hub: what they make of our decisions, our ConfigMaps and our endpoint.

The program in `generator` is a few lines around Argo CD's packages, built from its Go modules once; that takes minutes,
so that it is built by `make interop` (MUSTER_INTEROP=1) and the tests are left out where nobody has built it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.argocd.test_serving import PROD, TOKEN, serving
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.placements.test_guards import PREFIX
from tests.controllers.running import CLUSTERS, GROUP, Driver, controllers, driven_hub, eventually
from tests.differential.building import NoGoError, build, built_path

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(3600)]
HERE = Path(__file__).parent
DEPLOY = HERE.parents[1] / "deploy" / "argocd"
NAMES = ("a", "b")
ARGOCD = f"{GROUP}/v1beta1/namespaces/argocd"
DECISIONS = f"{ARGOCD}/placementdecisions"


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        if not os.environ.get("MUSTER_INTEROP") and not built_path(HERE / "generator").exists():
            pytest.skip("Argo CD's generators are not built: `make interop` does it")
        return build(HERE / "generator")
    except NoGoError as error:
        pytest.skip(str(error))


@pytest.fixture
def hub() -> Iterator[Driver]:
    """The placement argocd/p1, with a guard, has the clusters a and b."""
    with driven_hub() as found:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "argocd"}}
        found.send("POST", "/api/v1/namespaces", namespace)
        for name in NAMES:
            cluster = a_cluster(name, {"env": "prod"}, claims={"region": f"r-{name}"})
            cluster["spec"]["managedClusterClientConfigs"] = [{"url": f"https://{name}.example.com:6443"}]
            found.create(cluster)
        binding, placement = a_binding("global"), a_placement(predicates=PROD)
        for each in (binding, placement):
            each["metadata"]["namespace"] = "argocd"
        placement["metadata"]["annotations"] = {f"{PREFIX}/max-removals": "1"}
        found.send("POST", f"{GROUP}/v1beta2/namespaces/argocd/managedclustersetbindings", binding)
        found.send("POST", f"{ARGOCD}/placements", placement)
        with controllers(found.hub):
            eventually(lambda: decided(found), list(NAMES))
            yield found


def decided(hub: Driver) -> list[str]:
    pages = (hub.get(DECISIONS) or {"items": []})["items"]
    return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", []))


def by_decisions(placement: str = "p1") -> dict[str, Any]:
    """As docs/guides/argo-cd.md shows it."""
    labels = {"matchLabels": {"cluster.open-cluster-management.io/placement": placement}}
    return {"clusterDecisionResource": {"configMapRef": "muster-decisions-generator", "labelSelector": labels}}


def by_plugin(**parameters: Any) -> dict[str, Any]:
    return {"plugin": {"configMapRef": {"name": "muster-plugin-generator"}, "input": {"parameters": parameters}}}


def asked(
    program: Path, hub: Driver, folder: Path, *generators: dict[str, Any], url: str = "", go: bool = True
) -> list[dict[str, Any]]:
    """What the generators say. The manifests are ours as they are applied, but for the address and the token."""
    clusters = [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": f"cluster-{name}",
                "namespace": "argocd",
                "labels": {"argocd.argoproj.io/secret-type": "cluster"},
            },
            "stringData": {"name": name, "server": f"https://argo-knows-{name}", "config": "{}"},
        }
        for name in NAMES
    ]
    plugin = list(yaml.safe_load_all((DEPLOY / "plugin-generator.yaml").read_text()))
    plugin[0]["data"]["baseUrl"] = url
    plugin[1]["stringData"]["token"] = TOKEN
    manifests = folder / "manifests.yaml"
    manifests.write_text(yaml.safe_dump_all([*clusters, *plugin]))
    kubeconfig = hub.hub.kubeconfig(folder / "kubeconfig")
    files = [str(DEPLOY / "cluster-decision-resource.yaml"), str(manifests)]
    questions = "\n".join(json.dumps({"generator": each, "goTemplate": go}) for each in generators)
    done = subprocess.run(
        [str(program), str(kubeconfig), "argocd", *files],
        input=questions,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def asked_with_plugin(
    program: Path, hub: Driver, folder: Path, *generators: dict[str, Any], go: bool = True
) -> list[dict[str, Any]]:
    async def story() -> list[dict[str, Any]]:
        async with serving(hub) as (url, _):
            return await asyncio.to_thread(asked, program, hub, folder, *generators, url=url, go=go)

    return asyncio.run(story())


def test_the_cluster_decision_resource_reads_our_decisions(program: Path, hub: Driver, tmp_path: Path) -> None:
    found, missing = asked(program, hub, tmp_path, by_decisions(), by_decisions("missing"))
    assert found == {
        "parameters": [
            {
                "name": name,
                "server": f"https://argo-knows-{name}",
                "clusterName": name,
                "reason": "matches predicate 1",
            }
            for name in NAMES
        ],
        "error": "",
        "panic": "",
        "requeueAfterSeconds": 180,
    }
    # A list that is not there is an error, and Argo CD keeps what it has.
    assert (missing["parameters"], missing["error"]) == (None, "no clusterDecisionResources found")


def test_what_a_guard_holds_stays_in_the_parameters_of_both(program: Path, hub: Driver, tmp_path: Path) -> None:
    for name in NAMES:
        hub.patch(f"{CLUSTERS}/{name}", {"metadata": {"labels": {"env": "test"}}})
    eventually(lambda: hub.condition(f"{ARGOCD}/placements/p1", "RemovalsHeld") is not None, True)
    left = decided(hub)
    assert left
    found, plugin = asked_with_plugin(program, hub, tmp_path, by_decisions(), by_plugin(placement="argocd/p1"))
    assert [each["name"] for each in found["parameters"]] == left
    assert [each["name"] for each in plugin["parameters"]] == left


def test_an_empty_placement_ends_nobody(program: Path, hub: Driver, tmp_path: Path) -> None:
    """`status: {decisions: []}` gives no parameters here, and a status without the list would be a panic."""
    nothing = a_placement("none", predicates=PROD, clusterSets=["global"], numberOfClusters=0)
    nothing["metadata"]["namespace"] = "argocd"
    hub.send("POST", f"{ARGOCD}/placements", nothing)
    page = f"{DECISIONS}/none-decision-1"
    eventually(lambda: (hub.get(page) or {}).get("status"), {"decisions": []})
    found, plugin = asked_with_plugin(program, hub, tmp_path, by_decisions("none"), by_plugin(placement="argocd/none"))
    assert (found["parameters"], found["error"], found["panic"]) == (None, "", "")
    # The plugin makes an error of it: nothing is deleted.
    assert plugin["parameters"] is None
    assert "409" in plugin["error"]


def test_the_plugin_generator_asks_our_endpoint(program: Path, hub: Driver, tmp_path: Path) -> None:
    expression = "managedCluster.metadata.labels.env == 'prod'"
    questions = (by_plugin(placement="argocd/p1"), by_plugin(expression=expression), by_plugin(placement="argocd/x"))
    placement, inline, missing = asked_with_plugin(program, hub, tmp_path, *questions)
    first = placement["parameters"][0]
    assert {name: first[name] for name in ("name", "server", "claims", "reason", "placement")} == {
        "name": "a",
        "server": "https://a.example.com:6443",
        "claims": {"region": "r-a"},
        "reason": "matches predicate 1",
        "placement": "p1",
    }
    assert first["labels"]["env"] == "prod"
    assert first["generation"].isdigit()
    assert first["generator"]["input"]["parameters"] == {"placement": "argocd/p1"}
    assert [each["name"] for each in inline["parameters"]] == list(NAMES)
    assert (missing["parameters"], "404" in missing["error"]) == (None, True)


def test_without_go_templates_parameters_are_flat(program: Path, hub: Driver, tmp_path: Path) -> None:
    (found,) = asked_with_plugin(program, hub, tmp_path, by_plugin(placement="argocd/p1"), go=False)
    assert found["parameters"][0]["labels.env"] == "prod"
    assert found["parameters"][0]["claims.region"] == "r-a"


def test_another_token_is_an_error(program: Path, hub: Driver, tmp_path: Path) -> None:
    async def story() -> list[dict[str, Any]]:
        async with serving(hub) as (url, service):
            service.token = lambda: "another"
            return await asyncio.to_thread(asked, program, hub, tmp_path, by_plugin(placement="argocd/p1"), url=url)

    (found,) = asyncio.run(story())
    assert (found["parameters"], "401" in found["error"]) == (None, True)
