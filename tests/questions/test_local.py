"""The local observer sees what its user may read, says what that is not, and goes on with what servers do not have."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.client import Client, Connection
from muster.errors import ApiError
from muster.questions.local import LocalAsker, utc_now, watching
from muster.questions.local_fleet import LocalFleet
from tests.builders import a_cluster
from tests.hub.rest.asking import GROUP, Asker, asked_hub, grant, on

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from muster.client.asking import Answer

READING = ("managedclusters", "managedclustersets", "managedclustersetbindings", "addonplacementscores")
LABELS = "managedCluster.metadata.labels"


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asked_hub(tmp_path_factory.mktemp("state")) as asker:
        grant(asker, "lister", "lister", *(on(each, "list") for each in READING))
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role"}
        metadata = {"name": "at-home", "namespace": "apps"}
        rules = [on("placements", "list", "get"), on("placementdecisions", "list")]
        path = "/apis/rbac.authorization.k8s.io/v1/namespaces/apps"
        assert asker.send("POST", f"{path}/roles", {**role, "metadata": metadata, "rules": rules})[0] == 201
        binding = {
            **role,
            "kind": "RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "at-home"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "lister"}],
        }
        assert asker.send("POST", f"{path}/rolebindings", binding)[0] == 201
        yield asker


@contextlib.asynccontextmanager
async def client_of(asker: Asker, user: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {asker.hub.token}"} | ({"Impersonate-User": user} if user else {})
    async with Client(Connection(asker.hub.url, "default", headers)) as client:
        yield client


def ask(asker: Asker, kind: str, spec: dict[str, Any], user: str = "") -> Answer:
    async def asked() -> Answer:
        async with client_of(asker, user) as client:
            return await LocalAsker(LocalFleet(client, utc_now)).ask(kind, spec)

    return asyncio.run(asked())


def plain(answer: Answer) -> Any:
    return msgspec.json.decode(answer.status)


def test_clusters_that_roles_name_are_read_and_the_rest_is_said_to_be_unknown(asker: Asker) -> None:
    found = ask(asker, "FleetEvaluation", {"expression": f"{LABELS}.cloud == 'Amazon'"}, "dora")

    assert [each["name"] for each in plain(found)["rows"]] == ["visible-1"]
    assert plain(found)["objects"] == 2
    assert found.notes[0].startswith("managedclusters: only 2 that roles name are known, and how many others")


def test_who_may_read_no_cluster_at_all_is_refused_as_the_server_refuses(asker: Asker) -> None:
    with pytest.raises(ApiError) as refused:
        ask(asker, "FleetFacets", {}, "nobody")

    assert refused.value.code == 403
    assert 'cannot list resource "managedclusters"' in refused.value.message


def test_placements_of_the_namespace_asked_about_are_enough(asker: Asker) -> None:
    found = ask(asker, "PlacementExplanation", {"namespace": "apps", "name": "p1"}, "lister")

    assert plain(found)["selected"] == 2
    assert [each.partition(",")[0] for each in found.notes] == [
        "placementdecisions: only those in apps are known",
        "placements: only those in apps are known",
    ]


def test_a_set_is_explained_without_placements(asker: Asker) -> None:
    found = ask(asker, "SetExplanation", {"name": "global"}, "lister")

    assert (plain(found)["members"], plain(found)["placements"]) == (5, [])
    assert found.notes[0].startswith("placements: none of them is known")


def test_kinds_that_the_server_does_not_have_are_as_if_there_were_none(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Client.request

    async def without(self: Client, method: str, path: str, **given: Any) -> Any:
        if "addonplacementscores" in path or "multicluster.x-k8s.io" in path:
            raise ApiError(404, "", "404 page not found")
        return await request(self, method, path, **given)

    monkeypatch.setattr(Client, "request", without)

    found = ask(asker, "PlacementExplanation", {"namespace": "apps", "name": "p1"})
    profiles = ask(asker, "FleetEvaluation", {"resource": "clusterprofiles"})

    assert plain(found)["selected"] == 2
    assert found.notes == ("the server has no addonplacementscores: the answer is as if there were none",)
    assert (plain(profiles)["objects"], len(profiles.notes)) == (0, 1)


def test_only_what_a_question_needs_is_read(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    request, paths = Client.request, set[str]()

    async def noted(self: Client, method: str, path: str, **given: Any) -> Any:
        paths.add(path.rpartition("/")[2])
        return await request(self, method, path, **given)

    monkeypatch.setattr(Client, "request", noted)
    ask(asker, "Completion", {"expression": f"{LABELS}."})

    assert paths == {"managedclusters"}


def test_what_changes_is_seen_by_an_observer_that_watches(asker: Asker) -> None:
    async def until(wanted: int, count: Callable[[], Awaitable[int]]) -> int:
        for _ in range(200):
            if (found := await count()) == wanted:
                break
            await asyncio.sleep(0.05)
        return found

    async def watched() -> list[int]:
        async with client_of(asker, "") as client, watching(client) as observer:

            async def count() -> int:
                answer = await observer.ask("FleetEvaluation", {"expression": f"{LABELS}.cloud == 'Moon'"})
                return int(msgspec.json.decode(answer.status)["matched"])

            before = await count()
            new = {"apiVersion": f"{GROUP}/v1", **a_cluster("moon-1", {"cloud": "Moon"})}
            await client.request("POST", f"/apis/{GROUP}/v1/managedclusters", body=new)
            added = await until(1, count)
            await client.request("DELETE", f"/apis/{GROUP}/v1/managedclusters/moon-1")
            return [before, added, await until(0, count)]

    assert asyncio.run(watched()) == [0, 1, 0]
