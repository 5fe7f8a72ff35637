"""What every Kubernetes server has beside its kinds: accounts, an authority, conditions, odd paths and forms."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from muster.hub.default_accounts import DefaultAccounts
from muster.hub.published_authority import PublishedAuthority
from muster.hub.requests import PatchType
from tests.hub.a_hub import Hub, a_hub, complaint, config_map, namespace, story
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

JSON = {"Content-Type": "application/json"}


async def _until(check: Callable[[], Awaitable[Any]]) -> None:
    async with asyncio.timeout(10):
        while not await check():  # noqa: ASYNC110 - what is waited for is in the store, and says nothing
            await asyncio.sleep(0.01)


# --- Namespaces -----------------------------------------------------------------------------------------------------


@story
async def test_every_namespace_has_a_default_account_and_gets_it_back() -> None:
    async with a_hub() as hub:
        accounts = DefaultAccounts(hub.api, hub.store)
        accounts.start()
        try:

            async def there() -> bool:
                return await hub.names("serviceaccounts", "apps") == ["default"]

            await hub.create(namespace("apps"))
            await _until(there)
            before = (await hub.get("serviceaccounts", "default", "apps"))["metadata"]["uid"]
            await hub.delete("serviceaccounts", "default", "apps")
            await _until(there)
            assert (await hub.get("serviceaccounts", "default", "apps"))["metadata"]["uid"] != before
            assert await hub.names("serviceaccounts", "kube-system") == ["default"]
        finally:
            await accounts.close()


@story
async def test_every_namespace_tells_whom_to_trust_and_nobody_can_make_it_tell_otherwise() -> None:
    async with a_hub() as hub:
        publisher = PublishedAuthority(hub.api, hub.store, b"an authority")
        publisher.start()
        try:

            async def told() -> bool:
                if "kube-root-ca.crt" not in await hub.names("configmaps", "apps"):
                    return False
                found = await hub.get("configmaps", "kube-root-ca.crt", "apps")
                return "binaryData" not in found and found["data"] == {"ca.crt": "an authority"}

            await hub.create(namespace("apps"))
            await _until(told)
            await hub.delete("configmaps", "kube-root-ca.crt", "apps")
            await _until(told)
            changed = await hub.get("configmaps", "kube-root-ca.crt", "apps")
            await hub.update({**changed, "data": {"ca.crt": "another"}, "binaryData": {"more": "YQ=="}})
            await _until(told)
            assert "kube-root-ca.crt" in await hub.names("configmaps", "kube-system")
        finally:
            await publisher.close()


@story
async def test_annotations_are_written_with_the_status_of_a_namespace_and_its_spec_is_not() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        condition = {"type": "StatusPatch", "status": "True", "reason": "E2E", "message": "patched"}
        change = {
            "metadata": {"annotations": {"a": "b"}, "uid": None},
            "spec": {"finalizers": ["example.com/mine"]},
            "status": {"conditions": [condition]},
        }
        before = await hub.get("namespaces", "apps")
        patched = await hub.patch(hub.target("namespaces", "apps", subresource="status"), change)
        assert patched["metadata"]["annotations"] == {"a": "b"}
        assert (patched["spec"], patched["metadata"]["uid"]) == (before["spec"], before["metadata"]["uid"])
        assert patched["status"] == {"phase": "Active", "conditions": [condition]}
        changed = await hub.update({**patched, "status": {"phase": "Terminating"}})
        assert changed["status"] == patched["status"]


async def _told(hub: Hub, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    async def conditions() -> bool:
        found[:] = (await hub.get("namespaces", name))["status"].get("conditions") or []
        return bool(found)

    await _until(conditions)
    return found


@story
async def test_a_namespace_that_waits_says_for_what() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        held = config_map("held", "apps")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        await hub.create(held)
        await hub.create(config_map("free", "apps"))
        await hub.delete("namespaces", "apps")
        told = {each["type"]: (each["status"], each["reason"], each["message"]) for each in await _told(hub, "apps")}
        assert told == {
            "NamespaceDeletionDiscoveryFailure": (
                "False",
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            "NamespaceDeletionGroupVersionParsingFailure": (
                "False",
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            "NamespaceDeletionContentFailure": (
                "False",
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            "NamespaceContentRemaining": (
                "True",
                "SomeResourcesRemain",
                "Some resources are remaining: configmaps. has 1 resource instances",
            ),
            "NamespaceFinalizersRemaining": (
                "True",
                "SomeFinalizersRemain",
                "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
            ),
        }
        await hub.patch(hub.target("configmaps", "held", "apps"), {"metadata": {"finalizers": None}})

        async def gone() -> bool:
            return "apps" not in await hub.names("namespaces")

        await _until(gone)


@story
async def test_a_namespace_is_let_go_through_finalize_and_takes_what_is_in_it_along() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("apps"))
        held = config_map("held", "apps")
        held["metadata"]["finalizers"] = ["example.com/hold"]
        await hub.create(held)
        await hub.create(config_map("free", "apps"))
        deleted = await hub.delete("namespaces", "apps")
        assert "deletionGracePeriodSeconds" not in deleted["metadata"]
        await _told(hub, "apps")
        released = await hub.update(namespace("apps") | {"spec": {"finalizers": []}}, "finalize")
        assert released["spec"] == {}
        assert "apps" not in await hub.names("namespaces")
        assert await hub.names("configmaps", "apps") == ["held"]  # which waits for whoever holds it


@story
async def test_a_namespace_in_the_body_of_a_cluster_scoped_object_is_dropped() -> None:
    async with a_hub() as hub:
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
        created = await hub.create(role | {"metadata": {"name": "r", "namespace": "apps"}})
        assert "namespace" not in created["metadata"]


@story
async def test_a_strict_merge_patch_quotes_the_whole_object_in_order() -> None:
    async with a_hub() as hub:
        await hub.create(config_map("m", a="1"))
        _, _, text = await complaint(
            hub.patch(hub.target("configmaps", "m"), {"zebra": 1, "aardvark": 2}, field_validation="Strict")
        )
        assert text.startswith(' "" is invalid: patch: Invalid value: "{\\"aardvark\\":2,\\"apiVersion\\":\\"v1\\",')
        assert text.endswith('strict decoding error: unknown field "aardvark", unknown field "zebra"')


@story
async def test_members_that_no_json_patch_has_are_told() -> None:
    async with a_hub() as hub:
        await hub.create(config_map("m", a="1"))
        target = hub.target("configmaps", "m")
        operation = [{"op": "add", "path": "/data/a", "value": "2", "foo": "bar"}]
        await hub.patch(target, operation, PatchType.JSON)
        assert hub.warnings == ('json patch unknown field "[0].foo"',)
        code, _, text = await complaint(hub.patch(target, operation, PatchType.JSON, field_validation="Strict"))
        assert (code, text.endswith('strict decoding error: json patch unknown field "[0].foo"')) == (422, True)


# --- Over HTTP ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub(state=tmp_path_factory.mktemp("state")) as running:
        yield running


def _json(hub: RunningHub, path: str, accept: str = "application/json") -> tuple[int, Any]:
    code, _, body = hub.request("GET", path, headers={"Accept": accept})
    return code, json.loads(body)


def test_the_issuer_of_tokens_is_found_with_its_keys(hub: RunningHub) -> None:
    code, found = _json(hub, "/.well-known/openid-configuration")
    assert (code, found["issuer"], found["jwks_uri"]) == (
        200,
        "https://kubernetes.default.svc",
        f"https://{hub.host}:{hub.port}/openid/v1/jwks",
    )
    code, headers, body = hub.request("GET", "/openid/v1/jwks", headers={"Accept": "*/*"})
    assert (code, headers["content-type"], headers["cache-control"]) == (
        200,
        "application/jwk-set+json",
        "public, max-age=3600",
    )
    assert [key["alg"] for key in json.loads(body)["keys"]] == found["id_token_signing_alg_values_supported"]


def test_keys_are_not_sent_to_who_wants_plain_json(hub: RunningHub) -> None:
    code, refused = _json(hub, "/openid/v1/jwks")
    assert (code, refused["message"]) == (
        406,
        "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json",
    )


def test_a_token_names_the_key_that_checks_it(hub: RunningHub) -> None:
    import base64

    path = "/api/v1/namespaces/default/serviceaccounts"
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    hub.request("POST", path, json.dumps(account).encode(), JSON)
    body = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}).encode()
    _, _, answer = hub.request("POST", f"{path}/robot/token", body, JSON)
    head = json.loads(answer)["status"]["token"].partition(".")[0]
    named = json.loads(base64.urlsafe_b64decode(head + "=="))["kid"]
    _, keys = _json(hub, "/openid/v1/jwks", "application/jwk-set+json")
    assert [key["kid"] for key in keys["keys"]] == [named]


def test_the_authority_of_clients_is_published(hub: RunningHub) -> None:
    _, found = _json(hub, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")
    assert found["data"]["client-ca-file"].startswith("-----BEGIN CERTIFICATE-----\n")
    assert found["data"]["requestheader-client-ca-file"].startswith("-----BEGIN CERTIFICATE-----\n")
    assert found["data"]["requestheader-client-ca-file"] != found["data"]["client-ca-file"]
    assert found["data"]["requestheader-username-headers"] == '["X-Remote-User"]'


def test_there_are_no_services_and_nobody_makes_one(hub: RunningHub) -> None:
    path = "/api/v1/namespaces/kube-system/services"
    assert _json(hub, f"{path}?labelSelector=a%3Db")[1]["items"] == []
    code, _, body = hub.request("POST", path, b"{}", JSON)
    assert (code, json.loads(body)["message"]) == (
        405,
        "the server does not allow this method on the requested resource",
    )
    _, kinds = _json(hub, "/api/v1")
    assert [each["categories"] for each in kinds["resources"] if each["name"] == "services"] == [["all"]]


def test_items_of_built_in_lists_do_not_repeat_what_they_are(hub: RunningHub) -> None:
    _, built_in = _json(hub, "/api/v1/namespaces")
    assert (built_in["kind"], {key for item in built_in["items"] for key in item}) == (
        "NamespaceList",
        {"metadata", "spec", "status"},
    )
    group = "cluster.open-cluster-management.io/v1"
    cluster = {
        "apiVersion": group,
        "kind": "ManagedCluster",
        "metadata": {"name": "c"},
        "spec": {"hubAcceptsClient": True},
    }
    hub.request("POST", f"/apis/{group}/managedclusters", json.dumps(cluster).encode(), JSON)
    _, custom = _json(hub, f"/apis/{group}/managedclusters")
    assert [item["kind"] for item in custom["items"]] == ["ManagedCluster"]


def test_openapi_2_is_there_in_json(hub: RunningHub) -> None:
    _, found = _json(hub, "/openapi/v2")
    assert found["swagger"] == "2.0"
    assert found["definitions"]["io.k8s.api.core.v1.ConfigMap"]["x-kubernetes-group-version-kind"] == [
        {"group": "", "kind": "ConfigMap", "version": "v1"}
    ]
    operation = found["paths"]["/api/v1/namespaces/{namespace}/configmaps"]["post"]
    assert [each["schema"] for each in operation["parameters"] if each["in"] == "body"] == [
        {"$ref": "#/definitions/io.k8s.api.core.v1.ConfigMap"}
    ]
    assert "#/components/" not in json.dumps(found)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/watch/namespaces/kube-system/configmaps",
        "/api/v1/watch/configmaps",
        "/api/v1/watch/namespaces/kube-system/configmaps/extension-apiserver-authentication",
        "/api/v1/watch/namespaces/kube-system",
    ],
)
def test_paths_with_watch_in_them_watch(hub: RunningHub, path: str) -> None:
    code, _, body = hub.request("GET", f"{path}?timeoutSeconds=1&resourceVersion=0")
    events = [json.loads(line) for line in body.splitlines()]
    assert code == 200
    assert {event["type"] for event in events} == {"ADDED"}


@pytest.mark.parametrize(("text", "value"), [("y", True), ("n", False), ("Y", True), ("'y'", "y"), ("yy", "yy")])
def test_y_and_n_are_truth_values_in_yaml(hub: RunningHub, text: str, value: object) -> None:
    group = "cluster.open-cluster-management.io/v1"
    body = f"apiVersion: {group}\nkind: ManagedCluster\nmetadata: {{name: why}}\nspec: {{hubAcceptsClient: {text}}}\n"
    headers = {"Content-Type": "application/yaml"}
    code, _, answer = hub.request("POST", f"/apis/{group}/managedclusters?dryRun=All", body.encode(), headers)
    if isinstance(value, bool):
        assert (code, json.loads(answer)["spec"]["hubAcceptsClient"]) == (201, value)
    else:
        assert code == 422


def test_health_is_told_whatever_the_method(hub: RunningHub) -> None:
    assert [hub.request(method, "/healthz")[2] for method in ("GET", "POST", "PUT")] == [b"ok", b"ok", b"ok"]


def test_a_timeout_that_is_no_duration_is_refused(hub: RunningHub) -> None:
    for path in ("/version", "/api/v1/namespaces"):
        assert [hub.request("GET", f"{path}?timeout={text}")[0] for text in ("0s", "3m", "")] == [200, 200, 200]
        code, _, answer = hub.request("GET", f"{path}?timeout=invalid")
        wanted = 'invalid timeout specified in the request URL - time: invalid duration "invalid"'
        assert (code, json.loads(answer)["message"]) == (400, wanted)
    assert hub.request("GET", "/api/v1/namespaces?watch=1&timeoutSeconds=1&timeout=invalid")[0] == 200


def test_answers_to_questions_have_no_tables(hub: RunningHub) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    asked = {"nonResourceAttributes": {"path": "/", "verb": "get"}}
    body = json.dumps({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": asked})
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    assert hub.request("POST", path, body.encode(), {**JSON, "Accept": table})[0] == 406
    code, _, answer = hub.request("POST", path, body.encode(), {**JSON, "Accept": f"{table},application/json"})
    assert (code, json.loads(answer)["kind"]) == (201, "SelfSubjectAccessReview")


def test_a_watch_of_tables_says_where_what_existed_has_ended(hub: RunningHub) -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1"
    _, _, lines = hub.request("GET", f"/api/v1/namespaces?{query}", None, {"Accept": table})
    (marked,) = [each for each in map(json.loads, lines.splitlines()) if each["type"] == "BOOKMARK"]
    (row,) = marked["object"]["rows"]
    assert row["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
