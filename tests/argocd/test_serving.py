"""The plugin generator's endpoint: requests and answers as Argo CD 3.5.6 sends and reads them, over HTTP, with a hub.

Its client posts {"applicationSetName", "input": {"parameters"}} with a bearer token, takes {"output": {"parameters":
[{…}]}} from any 2xx, and fails on every other status, which keeps the Applications.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web

from muster.api.managed_cluster import GROUP
from muster.argocd.questions import _NAMES
from muster.argocd.refreshing import Refreshing
from muster.argocd.serving import PATH, PluginService
from muster.client import Client, Connection
from muster.placement.generations import Marks
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.running import APPS, CLUSTERS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.e2e
TOKEN = "a-token"
PROD = [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}]


@pytest.fixture(scope="module")
def hub() -> Iterator[Driver]:
    """Two clusters of three are decided by apps/p1; apps/none decides nothing."""
    with driven_hub() as found:
        for name, env in (("a", "prod"), ("b", "prod"), ("c", "test")):
            cluster = a_cluster(name, {"env": env}, claims={"region": f"r-{name}"})
            cluster["spec"]["managedClusterClientConfigs"] = [{"url": f"https://{name}.example.com:6443"}]
            found.create(cluster)
        nothing = a_placement(
            "none", predicates=[{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"x": "y"}}}}]
        )
        found.create(a_binding("global"), a_placement(predicates=PROD), nothing)
        with controllers(found.hub):
            eventually(lambda: _told(found), True)
            eventually(lambda: found.condition(f"{APPS}/placements/none", "PlacementSatisfied") is not None, True)
            yield found


def _told(hub: Driver) -> bool:
    """Whether the decisions of apps/p1 are there, and said to be whole: until then an answer is that they are not."""
    pages = hub.get(f"{APPS}/placementdecisions?labelSelector={GROUP}%2Fplacement%3Dp1")["items"]
    marks = [Marks.read(page["metadata"].get("annotations", {})) for page in pages]
    return hub.decided() == ["a", "b"] and any(each is not None and each.fits([["a", "b"]]) for each in marks)


@asynccontextmanager
async def serving(hub: Driver, refresh: bool = False) -> AsyncIterator[tuple[str, PluginService]]:
    token = hub.hub.token
    async with Client(Connection(hub.hub.url, "default", {"Authorization": f"Bearer {token}"})) as client:
        service = PluginService(client, lambda: TOKEN, Refreshing(client, 0.05) if refresh else None)
        runner = web.AppRunner(service.application())
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        task = asyncio.create_task(service.run())
        try:
            while not service.ready:
                assert not task.done(), task.result()
                await asyncio.sleep(0.02)
            yield f"http://127.0.0.1:{runner.addresses[0][1]}", service
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await runner.cleanup()


def ask(hub: Driver, token: str = TOKEN, **parameters: Any) -> tuple[int, Any]:
    """As the generator's client does it."""

    async def story() -> tuple[int, Any]:
        async with serving(hub) as (url, _), aiohttp.ClientSession() as session:
            body = {"applicationSetName": "checkout", "input": {"parameters": parameters}}
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            async with session.post(url + PATH, data=json.dumps(body), headers=headers) as reply:
                return reply.status, await reply.json()

    return asyncio.run(story())


def test_a_placement_gives_names_servers_labels_claims_reason_score_and_generation(hub: Driver) -> None:
    status, answer = ask(hub, placement="apps/p1")
    assert status == 200
    first, second = answer["output"]["parameters"]
    labels = hub.get(f"{CLUSTERS}/a")["metadata"]["labels"]
    assert first == {
        "name": "a",
        "server": "https://a.example.com:6443",
        "labels": labels,
        "claims": {"region": "r-a"},
        "reason": "matches predicate 1",
        "score": "",
        "generation": first["generation"],
        "placement": "p1",
        "placementNamespace": "apps",
        "group": "",
    }
    assert first["generation"].isdigit()
    assert second["name"] == "b"


def test_the_guide_shows_the_parameters_there_are(hub: Driver) -> None:
    guide = (Path(__file__).resolve().parents[2] / "docs" / "guides" / "argo-cd.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r'^\{"output".*$', guide, re.MULTILINE)
    _, answer = ask(hub, placement="apps/p1")
    assert list(json.loads(shown)["output"]["parameters"][0]) == list(answer["output"]["parameters"][0])
    table = guide.partition("| `input.parameters.…` | |")[2].partition("\n\n")[0]
    rows = {
        name for row in table.splitlines() if row.count("|") > 1 for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert rows == set(_NAMES)


def test_an_expression_and_labels_select_without_a_placement(hub: Driver) -> None:
    status, answer = ask(hub, expression="managedCluster.metadata.labels.env == 'test'")
    assert (status, [each["name"] for each in answer["output"]["parameters"]]) == (200, ["c"])
    status, answer = ask(hub, labels="env=prod")
    assert (status, [each["name"] for each in answer["output"]["parameters"]]) == (200, ["a", "b"])


@pytest.mark.parametrize(
    ("parameters", "status", "said"),
    [
        ({"placement": "apps/none"}, 409, "selects 0 clusters"),
        ({"placement": "apps/missing"}, 404, "there is no placement apps/missing"),
        ({"placement": "p1"}, 400, "NAMESPACE/NAME"),
        ({"placement": 3}, 400, "is a text"),
        ({}, 400, "placement, or expression"),
        ({"placement": "apps/p1", "expression": "true"}, 400, "not both"),
        ({"placment": "apps/p1"}, 400, "did you mean placement?"),
        ({"expression": "managedCluster.metadata.labels.nope == 'x'"}, 503, "failed on 3 clusters"),
        ({"expression": "syntax error here"}, 400, ""),
        ({"expression": "false"}, 409, "selects 0 clusters"),
        ({"labels": "env=prod", "minClusters": 3}, 409, "3 are expected"),
        ({"labels": "env=prod", "minClusters": "many"}, 400, "minClusters"),
    ],
)
def test_whatever_is_not_certain_is_an_error_and_never_an_empty_list(
    hub: Driver, parameters: dict[str, Any], status: int, said: str
) -> None:
    found, answer = ask(hub, **parameters)
    assert found == status
    assert said in answer["message"]


def test_none_may_be_allowed(hub: Driver) -> None:
    assert ask(hub, placement="apps/none", allowEmpty=True) == (200, {"output": {"parameters": []}})


def test_another_token_is_refused(hub: Driver) -> None:
    assert ask(hub, token="another", placement="apps/p1")[0] == 401
    assert ask(hub, token="", placement="apps/p1")[0] == 401


def test_pages_that_are_being_written_are_not_told(hub: Driver) -> None:
    async def story() -> str:
        async with serving(hub) as (_, service):
            place = next(at for at in service.decisions.objects if at.name == "p1-decision-1")
            page = json.loads(service.decisions.objects[place])
            page["status"]["decisions"] = page["status"]["decisions"][:1]
            service.decisions.objects[place] = json.dumps(page).encode()
            body = {"input": {"parameters": {"placement": "apps/p1"}}}
            with pytest.raises(Exception, match="being written") as refused:
                await service.answer(json.dumps(body).encode())
            return str(refused.value.code)  # type: ignore[attr-defined]

    assert asyncio.run(story()) == "503"


def test_an_empty_placement_says_so_in_its_status_because_argo_cd_stumbles_otherwise(hub: Driver) -> None:
    page = f"{APPS}/placementdecisions/none-decision-1"
    eventually(lambda: (hub.get(page) or {}).get("status"), {"decisions": []})


def _application_sets() -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {
        "plural": "applicationsets",
        "singular": "applicationset",
        "kind": "ApplicationSet",
        "listKind": "ApplicationSetList",
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "applicationsets.argoproj.io"},
        "spec": {"group": "argoproj.io", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def test_labelled_application_sets_look_again_when_a_generation_is_finished(hub: Driver) -> None:
    hub.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", _application_sets())
    sets = "/apis/argoproj.io/v1alpha1/namespaces/apps/applicationsets"
    eventually(lambda: (hub.get(sets) or {}).get("items"), [])
    wanting = {
        "any": {},
        "mine": {"placement.muster.dev/placements": "x/y, apps/p1"},
        "others": {"placement.muster.dev/placements": "x/y"},
    }
    for name, notes in wanting.items():
        metadata = {"name": name, "labels": {"placement.muster.dev/refresh": "true"}, "annotations": notes}
        hub.send("POST", sets, {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": metadata})
    unlabelled = {"apiVersion": "argoproj.io/v1alpha1", "kind": "ApplicationSet", "metadata": {"name": "unlabelled"}}
    hub.send("POST", sets, unlabelled)

    def refreshed() -> list[str]:
        mark = "argocd.argoproj.io/application-set-refresh"
        items = hub.get(sets)["items"]
        return [
            each["metadata"]["name"]
            for each in items
            if (each["metadata"].get("annotations") or {}).get(mark) == "true"
        ]

    async def story() -> None:
        async with serving(hub, refresh=True):
            assert await asyncio.to_thread(refreshed) == []
            await asyncio.to_thread(hub.patch, f"{CLUSTERS}/b", {"metadata": {"labels": {"env": "test"}}})
            await asyncio.to_thread(eventually, refreshed, ["any", "mine"])

    asyncio.run(story())
    hub.patch(f"{CLUSTERS}/b", {"metadata": {"labels": {"env": "prod"}}})
    eventually(lambda: _told(hub), True)
