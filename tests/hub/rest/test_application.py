"""The application over HTTP: credentials, forms, refusals, caching, compression, limits. A real hub in memory."""

from __future__ import annotations

import gzip
import json
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest

from muster.api import RESOURCES
from muster.hub.rest.limits import Limits
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

OCM = "cluster.open-cluster-management.io"
CLUSTERS = f"/apis/{OCM}/v1/managedclusters"
MERGE = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture(scope="module")
def hub() -> Iterator[RunningHub]:
    limits = Limits(body_bytes=200_000, body_seconds=1.0, watches=3)
    with running_hub(limits=limits) as running:
        yield running


def cluster(name: str, **labels: str) -> bytes:
    metadata = {"name": name, "labels": labels}
    spec = {"hubAcceptsClient": True}
    return json.dumps(
        {"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster", "metadata": metadata, "spec": spec}
    ).encode()


def create(hub: RunningHub, name: str, **labels: str) -> Any:
    code, _, body = hub.request("POST", CLUSTERS, cluster(name, **labels), {"Content-Type": "application/json"})
    assert code == 201, body
    return json.loads(body)


def refusal(answer: tuple[int, dict[str, str], bytes]) -> tuple[int, str, str]:
    code, headers, body = answer
    assert headers["content-type"] == "application/json"
    status = json.loads(body)
    assert (status["kind"], status["status"], status["code"]) == ("Status", "Failure", code)
    return code, status.get("reason", ""), status["message"]


# --- Who may ask ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer wrong", "Basic YTpi", "a-token-for-tests-only", "Bearer \xff"]
)
@pytest.mark.parametrize("path", [CLUSTERS, "/api", "/metrics", "/openapi/v3", "/nope", "/"])
def test_without_a_known_token_nothing_is_told(hub: RunningHub, path: str, authorization: str) -> None:
    answer = hub.request("GET", path, headers={"Authorization": authorization})
    assert refusal(answer) == (401, "Unauthorized", "Unauthorized")


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version", "/version/", "/healthz/ping"])
def test_health_and_version_need_no_token(hub: RunningHub, path: str) -> None:
    assert hub.request("GET", path, headers={"Authorization": ""})[0] == 200


def test_health_lists_its_checks_when_asked(hub: RunningHub) -> None:
    assert hub.request("GET", "/readyz?verbose")[2] == b"[+]ping ok\n[+]shutdown ok\nreadyz check passed\n"
    assert hub.request("GET", "/healthz?verbose&exclude=ping")[2] == (b"[+]ping excluded: ok\nhealthz check passed\n")
    assert hub.request("GET", "/healthz/nope")[0] == 404


def test_somebody_else_has_no_rights(hub: RunningHub) -> None:
    answer = hub.request("GET", "/metrics", headers={"Impersonate-User": "bob"})
    assert refusal(answer) == (403, "Forbidden", 'forbidden: User "bob" cannot get path "/metrics"')


# --- What is answered ------------------------------------------------------------------------------------


def test_unknown_paths_are_plain_text(hub: RunningHub) -> None:
    for path in ("/nope", "/apis/nope.example.com/v1/things", f"{CLUSTERS}/a/b/c/d", "/api/v2"):
        code, headers, body = hub.request("GET", path)
        assert (code, headers["content-type"], body) == (404, "text/plain; charset=utf-8", b"404 page not found\n")


def test_every_answer_carries_an_audit_id_and_forbids_caching(hub: RunningHub) -> None:
    first, second = hub.request("GET", CLUSTERS)[1], hub.request("GET", f"{CLUSTERS}/nope")[1]
    assert first["cache-control"] == second["cache-control"] == "no-cache, private"
    assert len(first["audit-id"]) == 36
    assert first["audit-id"] != second["audit-id"]


def test_documents_that_do_not_change_are_sent_once(hub: RunningHub) -> None:
    accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
    code, headers, _ = hub.request("GET", "/apis", headers=accept)
    assert code == 200
    code, _, body = hub.request("GET", "/apis", headers={**accept, "If-None-Match": headers["etag"]})
    assert (code, body) == (304, b"")


def test_openapi_addresses_carry_a_hash_and_may_be_kept_forever(hub: RunningHub) -> None:
    index = json.loads(hub.request("GET", "/openapi/v3")[2])
    address = index["paths"][f"apis/{OCM}/v1"]["serverRelativeURL"]
    code, headers, _ = hub.request("GET", address)
    assert (code, headers["cache-control"]) == (200, "public, immutable")
    code, headers, _ = hub.request("GET", f"/openapi/v3/apis/{OCM}/v1?hash=OLD")
    assert (code, headers["location"]) == (301, address)
    assert hub.request("GET", "/openapi/v3/apis/nope/v1")[0] == 404


def test_old_clients_find_openapi_v2_in_protobuf(hub: RunningHub) -> None:
    accept = {"Accept": "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}
    code, headers, body = hub.request("GET", "/openapi/v2", headers=accept)
    assert (code, body[:5]) == (200, b"\x0a\x032.0")
    assert b"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" in body
    assert headers["content-type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"


def test_an_object_comes_as_json_yaml_table_or_metadata(hub: RunningHub) -> None:
    create(hub, "forms", a="1")
    path = f"{CLUSTERS}/forms"
    code, headers, body = hub.request("GET", path, headers={"Accept": "application/yaml"})
    assert (code, headers["content-type"]) == (200, "application/yaml")
    assert b"\nkind: ManagedCluster\n" in body
    table = json.loads(hub.request("GET", path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})[2])
    assert table["columnDefinitions"][0]["name"] == "Name"
    assert table["rows"][0]["cells"][:2] == ["forms", True]
    accept = {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}
    partial = json.loads(hub.request("GET", path, headers=accept)[2])
    assert (partial["kind"], partial["metadata"]["labels"], "spec" in partial) == (
        "PartialObjectMetadata",
        {"a": "1"},
        False,
    )
    assert refusal(hub.request("GET", CLUSTERS, headers=accept))[:2] == (406, "NotAcceptable")


@pytest.mark.parametrize(
    ("query", "headers", "pretty"),
    [
        ("", {"Accept": "application/json;pretty=1"}, True),
        ("?pretty=true", {}, True),
        ("", {"User-Agent": "curl/8.0"}, True),
        ("?pretty=false", {"User-Agent": "curl/8.0"}, False),
        ("", {"User-Agent": "kubectl/v1.36.4"}, False),
    ],
)
def test_people_get_indented_json(hub: RunningHub, query: str, headers: dict[str, str], pretty: bool) -> None:
    body = hub.request("GET", f"/api/v1/namespaces/default{query}", headers=headers)[2]
    assert body.startswith(b'{\n  "apiVersion"') == pretty
    assert json.loads(body)["metadata"]["name"] == "default"


def test_an_unknown_include_object_is_refused(hub: RunningHub) -> None:
    answer = hub.request(
        "GET", f"{CLUSTERS}?includeObject=All", headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    )
    assert refusal(answer) == (400, "BadRequest", 'unrecognized includeObject value: "All"')


@pytest.mark.parametrize("query", ["", "?watch=true&timeoutSeconds=1"])
def test_a_deprecated_version_says_so_in_lists_and_watches(hub: RunningHub, query: str) -> None:
    versions = RESOURCES[f"managedclustersets.{OCM}"].versions
    old = next(version for version in versions if version.deprecated)
    headers = hub.request("GET", f"/apis/{OCM}/{old.name}/managedclustersets{query}")[1]
    assert headers["warning"] == f'299 - "{old.deprecated}"'


def test_head_has_no_body(hub: RunningHub) -> None:
    assert hub.request("HEAD", CLUSTERS)[::2] == (200, b"")


def test_a_large_answer_is_compressed_for_those_who_take_it(hub: RunningHub) -> None:
    for number in range(40):
        metadata = {"name": f"large-{number}", "annotations": {"text": "x" * 4000}}
        spec = {"hubAcceptsClient": True}
        body = {"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster", "metadata": metadata, "spec": spec}
        assert hub.request("POST", CLUSTERS, json.dumps(body).encode())[0] == 201
    code, headers, plain = hub.request("GET", CLUSTERS)
    assert (code, "content-encoding" in headers) == (200, False)
    code, headers, packed = hub.request("GET", CLUSTERS, headers={"Accept-Encoding": "gzip, deflate"})
    assert (headers["content-encoding"], headers["vary"]) == ("gzip", "Accept-Encoding")
    assert len(packed) < len(plain) / 10
    assert json.loads(gzip.decompress(packed))["items"] == json.loads(plain)["items"]
    code, headers, _ = hub.request("GET", f"{CLUSTERS}?limit=1", headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in headers


def test_metrics_count_requests_by_verb_resource_and_code(hub: RunningHub) -> None:
    hub.request("GET", f"{CLUSTERS}/not-there")
    code, headers, body = hub.request("GET", "/metrics")
    assert (code, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    labels = f'code="404",group="{OCM}",resource="managedclusters",subresource="",verb="get",version="v1"'
    assert f"apiserver_request_total{{{labels}}}" in body.decode()
    assert "apiserver_request_duration_seconds_bucket" in body.decode()


# --- What is refused ----------------------------------------------------------------------------------------


def unsupported(verb: str, kind: str) -> tuple[int, str, str]:
    return 405, "MethodNotAllowed", f'{verb} is not supported on resources of kind "{kind}"'


DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
NO_ROUTE = (405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("PUT", CLUSTERS, (400, "BadRequest", "name must be provided")),
        ("PATCH", CLUSTERS, (400, "BadRequest", "name must be provided")),
        ("GET", f"{CLUSTERS}/forms/scale", (404, "NotFound", f'managedclusters.{OCM} "forms" not found')),
        ("DELETE", f"{CLUSTERS}/forms/status", unsupported("delete", f"managedclusters.{OCM}")),
        ("PUT", "/api/v1/namespaces", unsupported("update", "namespaces")),
        ("POST", "/api/v1/namespaces/default", unsupported("create", "namespaces")),
        ("OPTIONS", CLUSTERS, unsupported("", f"managedclusters.{OCM}")),
        ("GET", REVIEWS, NO_ROUTE),
        ("POST", f"{DEFINITIONS}/x", unsupported("create", "customresourcedefinitions.apiextensions.k8s.io")),
        ("GET", f"{DEFINITIONS}/x", (404, "NotFound", 'customresourcedefinitions.apiextensions.k8s.io "x" not found')),
    ],
)
def test_methods_that_do_not_fit_are_refused(
    hub: RunningHub, method: str, path: str, expected: tuple[int, str, str]
) -> None:
    assert refusal(hub.request(method, path)) == expected


def test_too_large_a_body_is_refused_and_the_hub_goes_on(hub: RunningHub) -> None:
    code, _, body = hub.request("POST", CLUSTERS, b"x" * 200_001, {"Content-Type": "application/json"})
    status = json.loads(body)
    assert (code, status["reason"], status["message"]) == (
        413,
        "RequestEntityTooLarge",
        "Request entity too large: limit is 200000",
    )
    assert hub.request("GET", "/readyz")[0] == 200


DEEP = b'{"kind":"ManagedCluster","spec":' * 150 + b"1" + b"}" * 150
BOMB = b"a0: &a0 [x]\n" + b"".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n".encode() for n in range(1, 7))


@pytest.mark.parametrize(
    ("content_type", "body", "part"),
    [
        ("application/json", b"[" * 50_000, "nests deeper than 100 levels"),
        ("application/json", DEEP, "nests deeper than 100 levels"),
        ("application/json", b'{"a":"\xff"}', "invalid"),
        ("application/json", b'{"a":NaN}', "invalid character 'N'"),
        ("application/json", b'{"a":1e999}', ""),
        ("application/yaml", BOMB, "once aliases are expanded"),
        ("application/yaml", b"a: !!python/name:os.system x", "cannot read a value with the tag"),
        ("application/yaml", b"\x00\x01", ""),
    ],
)
def test_hostile_bodies_get_a_clear_answer(hub: RunningHub, content_type: str, body: bytes, part: str) -> None:
    code, reason, message = refusal(hub.request("POST", CLUSTERS, body, {"Content-Type": content_type}))
    assert (code, reason) == (400, "BadRequest")
    assert part in message


def test_a_client_that_does_not_finish_its_body_is_told_so(hub: RunningHub) -> None:
    with socket.create_connection((hub.host, hub.port), timeout=10) as slow:
        head = (
            f"POST {CLUSTERS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {hub.token}\r\nContent-Length: 100\r\n\r\n"
        )
        slow.sendall(head.encode() + b"{")
        started = time.monotonic()
        assert slow.recv(1000).startswith(b"HTTP/1.1 408 ")
        assert time.monotonic() - started < 5


def test_endless_headers_end_the_connection(hub: RunningHub) -> None:
    with socket.create_connection((hub.host, hub.port), timeout=10) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        try:
            for _ in range(40):
                client.sendall(b"X: " + b"y" * 4000 + b"\r\n")
            answer = client.recv(1000)
        except OSError:
            answer = b"HTTP/1.1 431"  # closed while we were still sending
        assert answer.startswith(b"HTTP/1.1 431") or answer == b""


def test_garbage_is_not_http_and_the_hub_goes_on(hub: RunningHub) -> None:
    with socket.create_connection((hub.host, hub.port), timeout=10) as client:
        client.sendall(b"\x16\x03\x01\x00\xff\x00\x00 this is TLS, or so\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400")
    assert hub.request("GET", "/readyz")[0] == 200


# --- Built-in kinds -------------------------------------------------------------------------------------------


def test_a_protobuf_body_of_a_built_in_kind_is_read(hub: RunningHub) -> None:
    body = b'k8s\x00\n\x0f\n\x02v1\x12\tNamespace\x12\x10\n\n\n\x08protobuf\x12\x00\x1a\x00\x1a\x00"\x00'
    headers = {
        "Content-Type": "application/vnd.kubernetes.protobuf",
        "Accept": "application/vnd.kubernetes.protobuf,application/json",
    }
    code, answered, text = hub.request("POST", "/api/v1/namespaces", body, headers)
    assert (code, answered["content-type"]) == (201, "application/json"), text
    assert json.loads(text)["metadata"]["name"] == "protobuf"
    assert refusal(hub.request("POST", CLUSTERS, body, headers))[:2] == (415, "UnsupportedMediaType")
    assert refusal(hub.request("POST", "/api/v1/namespaces", b"k8s\x00\xff", headers))[:2] == (400, "BadRequest")


def test_our_kinds_have_definitions(hub: RunningHub) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    listed = json.loads(hub.request("GET", path)[2])
    names = [item["metadata"]["name"] for item in listed["items"]]
    assert f"managedclusters.{OCM}" in names
    assert json.loads(hub.request("GET", f"{path}/managedclusters.{OCM}")[2])["spec"]["names"]["shortNames"] == [
        "mcl",
        "mcls",
    ]
    watched = hub.request("GET", f"{path}?watch=true&timeoutSeconds=1")[2].splitlines()
    assert [json.loads(line)["object"]["metadata"]["name"] for line in watched] == names


def test_more_requests_than_the_limit_are_told_to_come_back() -> None:
    with running_hub(limits=Limits(requests_in_flight=0)) as busy:
        answer = busy.request("GET", CLUSTERS)
        text = (
            "Too many requests, please try again later: more than 0 under way "
            "(setting requestsInFlight, option --requests-in-flight)"
        )
        assert refusal(answer) == (429, "TooManyRequests", text)
        assert answer[1]["retry-after"] == "1"


def test_nothing_a_client_makes_up_becomes_part_of_a_metric(hub: RunningHub) -> None:
    for number in range(30):
        hub.request("GET", f"{CLUSTERS}/a/made-up-{number}")
        hub.request("GET", f"/apis/made-up-{number}/v1/things")
        hub.request("GET", f"/made-up-{number}")
        hub.request("DELETE", f"{CLUSTERS}/a/made-up-{number}/more")
    metrics = hub.request("GET", "/metrics")[2]
    assert b"made-up" not in metrics
    assert b'subresource="other"' in metrics
