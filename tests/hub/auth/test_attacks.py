"""The attack list: each is tried against a running hub, and refused."""

from __future__ import annotations

import base64
import json
import socket
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from muster.hub.access import TOKENS, AccessSettings
from muster.hub.auth.fairness import UserLimits
from muster.hub.auth.token_file import TokenFile
from muster.hub.rest import protocols
from tests.hub.auth.guarded import (
    OCM,
    RBAC,
    GuardedHub,
    binding,
    binding_path,
    group,
    guarded_hub,
    rule,
    user,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "c3dvcmRmaXNo"  # what nobody but the administrator may see
SECRETS = "/api/v1/namespaces/vault/secrets"
WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedHub]:
    """alice may do nothing, bob edits roles in `apps` and reads clusters, carol is admin of `apps`."""
    with guarded_hub(tmp_path_factory.mktemp("state")) as hub:
        for name in ("apps", "vault"):
            hub.namespace(name)
        hub.ok("admin", "POST", SECRETS, {"kind": "Secret", "metadata": {"name": "s"}, "data": {"p": SECRET}})
        rbac = "rbac.authorization.k8s.io"
        verbs = "get,list,create,update,patch,delete"
        hub.role("role-editor", rule(verbs, "roles,rolebindings,clusterroles,clusterrolebindings", rbac))
        hub.role("reader", rule("get,list,watch", "managedclusters", "cluster.open-cluster-management.io"))
        hub.bind("role-editor", "role-editor", user("bob"))
        hub.bind("reader", "reader", user("bob"))
        hub.bind("carol", "admin", user("carol"), namespace="apps")
        yield hub


def raw_request(hub: GuardedHub, data: bytes) -> bytes:
    """Bytes that no client library would send."""
    with socket.create_connection((hub.running.host, hub.running.port), timeout=10) as connection:
        connection.sendall(data)
        connection.settimeout(5)
        received = b""
        try:
            while piece := connection.recv(65536):
                received += piece
                if b"\r\n\r\n" in received and b"chunked" not in received.lower():
                    break
        except TimeoutError:
            pass
        return received


# --- Reading what one may not -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", ["application/json", TABLE, PARTIAL, "application/yaml"])
@pytest.mark.parametrize(
    "path",
    [
        SECRETS,
        f"{SECRETS}/s",
        "/api/v1/secrets",
        "/api/v1/watch/secrets",
        "/api/v1/watch/namespaces/vault/secrets/s",
        f"{SECRETS}?watch=true&timeoutSeconds=1",
        f"{SECRETS}?watch=1&timeoutSeconds=1&resourceVersion=0&sendInitialEvents=true",
        f"{SECRETS}?fieldSelector=metadata.name%3Ds",
        f"{SECRETS}?limit=1",
        f"{SECRETS}/s?includeObject=Object",
        "/api/v1/secrets?fieldSelector=metadata.namespace%3Dapps",
    ],
)
def test_secrets_are_not_read_in_any_form(hub: GuardedHub, path: str, accept: str) -> None:
    for who in ("alice", "bob", "carol"):
        code, answer = hub.send(who, "GET", path, headers={"Accept": accept})
        # A form that no watch has is refused before anybody asks who wants it.
        assert (code in (403, 406), SECRET in json.dumps(answer)) == (True, False), (who, answer)


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/vault/Secrets",
        "/api/v1/namespaces/vault/SECRETS/s",
        "/API/v1/namespaces/vault/secrets",
        "/api/V1/namespaces/vault/secrets",
        "//api/v1/namespaces/vault/secrets",
        "/api//v1/namespaces/vault/secrets",
        "/api/v1//namespaces/vault/secrets",
        "/api/v1/namespaces//vault/secrets",
        "/api/v1/namespaces/vault/secrets/",
        "/api/v1/namespaces/vault/secrets/s/",
        "/api/v1/namespaces/vault/secrets//",
        "/api/v1/namespaces/apps/../vault/secrets",
        "/api/v1/namespaces/apps/%2e%2e/vault/secrets/s",
        "/api/v1/namespaces/apps%2f..%2fvault/secrets",
        "/api/v1/namespaces/vault%2fsecrets%2fs",
        "/api/v1/namespaces/vault/secrets%00",
        "/api/v1/namespaces/vault/secrets;a=b",
        "/api/v1/namespaces/vault/secrets/s/status",
        "/healthz/../api/v1/namespaces/vault/secrets",
        "/version/../api/v1/secrets",
        "/readyz/%2e%2e/api/v1/secrets",
        "/openapi/v3/../../api/v1/secrets",
        "/api/v1/namespaces/vault/secrets%20",
        "/api/v1/namespaces/vault/%C5%BFecrets",
    ],
)
def test_no_spelling_of_a_path_leads_around_a_role(hub: GuardedHub, path: str) -> None:
    for who in ("alice", "carol"):
        code, answer = hub.send(who, "GET", path)
        assert (code in (400, 403, 404), SECRET in json.dumps(answer)) == (True, False), (who, code, answer)


def protocol_of(token: str) -> Subprotocol:
    """How a browser sends a token."""
    return Subprotocol(f"base64url.bearer.authorization.k8s.io.{unpadded(token.encode())}")


@pytest.mark.parametrize(
    ("headers", "protocols", "code"),
    [
        ({}, None, 401),
        ({"Authorization": "Bearer wrong"}, None, 401),
        ({"Authorization": "Bearer alice-token-0123456789"}, None, 403),
        ({"Authorization": "Bearer alice-token-0123456789", "Impersonate-User": "muster:admin"}, None, 403),
        ({"Authorization": "Bearer alice-token-0123456789"}, "a-token-for-tests-only", 403),
        ({}, "alice-token-0123456789", 403),
    ],
)
def test_a_websocket_is_no_back_door(
    hub: GuardedHub, headers: dict[str, str], protocols: str | None, code: int
) -> None:
    url = f"ws://{hub.running.host}:{hub.running.port}{SECRETS}?watch=true"
    offered = None if protocols is None else [protocol_of(protocols), Subprotocol("base64.binary.k8s.io")]
    with pytest.raises(InvalidStatus) as caught, connect(url, additional_headers=headers, subprotocols=offered):
        pass
    assert caught.value.response.status_code == code


def test_other_methods_on_a_secret_tell_nothing(hub: GuardedHub) -> None:
    patch = {"Content-Type": "application/merge-patch+json"}
    for method, body, headers in (
        ("HEAD", None, {}),
        ("DELETE", {"dryRun": ["All"]}, {}),
        ("PUT", {"kind": "Secret", "metadata": {"name": "s"}}, {}),
        ("PATCH", {}, patch),
        ("PATCH", {}, {"Content-Type": "application/apply-patch+yaml"}),
    ):
        code, answer = hub.send("alice", method, f"{SECRETS}/s?dryRun=All&fieldManager=x", body, headers)
        assert (code, SECRET in json.dumps(answer)) == (403, False)
    code, answer = hub.send("alice", "DELETE", SECRETS)
    assert (code, SECRET in json.dumps(answer)) == (403, False)


def test_a_role_does_not_reach_subresources_nor_its_own_upper_case(hub: GuardedHub) -> None:
    ocm = "cluster.open-cluster-management.io"
    assert hub.may("bob", verb="get", group=ocm, resource="managedclusters")
    assert not hub.may("bob", verb="get", group=ocm, resource="managedclusters", subresource="status")
    assert not hub.may("bob", verb="GET", group=ocm, resource="managedclusters")
    assert not hub.may("bob", verb="get", group=ocm.upper(), resource="managedclusters")
    assert not hub.may("bob", verb="get", group=ocm, resource="ManagedClusters")
    assert not hub.may("bob", verb="get", group=ocm, resource="managedclusters/")


# --- Becoming somebody else -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Impersonate-User": "admin"},
        {"Impersonate-User": "bob", "Impersonate-Group": "system:masters"},
        {"impersonate-user": "system:serviceaccount:apps:robot"},
        {"IMPERSONATE-USER": "muster:admin"},
    ],
)
def test_nobody_acts_as_another_without_permission(hub: GuardedHub, headers: dict[str, str]) -> None:
    for who in ("alice", "bob"):
        code, answer = hub.send(who, "GET", SECRETS, headers=headers)
        assert (code, "impersonate" in answer["message"]) == (403, True)


def test_an_editor_of_a_namespace_impersonates_its_service_accounts_only(hub: GuardedHub) -> None:
    robot = {"Impersonate-User": "system:serviceaccount:apps:robot"}
    body = {"kind": "SelfSubjectReview"}
    code, answer = hub.send("carol", "POST", WHOAMI, body, headers=robot)
    assert (code, answer["status"]["userInfo"]["username"]) == (201, "system:serviceaccount:apps:robot")
    other = {"Impersonate-User": "system:serviceaccount:vault:robot"}
    assert hub.send("carol", "POST", WHOAMI, body, headers=other)[0] == 403
    grouped = {**robot, "Impersonate-Group": "admins"}
    assert hub.send("carol", "POST", WHOAMI, body, headers=grouped)[0] == 403


@pytest.mark.parametrize(
    "header", ["X-Remote-User", "X-Remote-Group", "X-Forwarded-User", "Remote-User", "X-Muster-User", "muster.peer"]
)
def test_headers_of_proxies_make_nobody_anybody(hub: GuardedHub, header: str) -> None:
    assert hub.send("nobody", "GET", SECRETS, headers={header: "system:masters"})[0] == 401
    assert hub.send("alice", "GET", SECRETS, headers={header: "muster:admin"})[0] == 403


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer null",
        "Basic YWRtaW46YWRtaW4=",
        "Bearer alice-token-0123456789 extra",
        "Bearer " + "x" * 9000,
        "Negotiate abc",
    ],
)
def test_what_is_no_token_lets_nobody_in(hub: GuardedHub, value: str) -> None:
    assert hub.send("nobody", "GET", "/api", headers={"Authorization": value or " "})[0] == 401


def test_two_authorization_headers_are_one_too_many(hub: GuardedHub) -> None:
    good = f"Bearer {hub.running.token}".encode()
    request = b"GET /api HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\nAuthorization: " + good + b"\r\n\r\n"
    assert raw_request(hub, request).startswith(b"HTTP/1.1 401")


# --- Tokens -----------------------------------------------------------------------------------------------------------


def whoami(hub: GuardedHub, token: str) -> tuple[int, str]:
    code, answer = hub.send("", "POST", WHOAMI, {"kind": "SelfSubjectReview"}, {"Authorization": f"Bearer {token}"})
    return code, answer["status"]["userInfo"]["username"] if code == 201 else answer["message"]


def test_an_expired_token_is_no_token(hub: GuardedHub) -> None:
    file = TokenFile(hub.state / TOKENS)
    token, _ = file.create("eve", (), timedelta(seconds=1), datetime.now(UTC) - timedelta(seconds=2))
    assert whoami(hub, token) == (401, "Unauthorized")
    token, _ = file.create("eve", (), timedelta(seconds=1))
    deadline = time.monotonic() + 10
    while whoami(hub, token)[0] == 201:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert whoami(hub, token) == (401, "Unauthorized")


def test_a_revoked_token_is_no_token_from_the_next_request_on(hub: GuardedHub) -> None:
    file = TokenFile(hub.state / TOKENS)
    token, known = file.create("eve", ("devs",), None)
    assert whoami(hub, token) == (201, "eve")
    file.revoke(known.id)
    assert whoami(hub, token) == (401, "Unauthorized")


def account_token(hub: GuardedHub, name: str, **spec: Any) -> str:
    path = f"/api/v1/namespaces/apps/serviceaccounts/{name}/token"
    token: str = hub.ok("admin", "POST", path, {"kind": "TokenRequest", "spec": spec})["status"]["token"]
    return token


def unpadded(data: Any) -> str:
    raw = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def test_tokens_of_service_accounts_are_not_forged(hub: GuardedHub) -> None:
    account = {"kind": "ServiceAccount", "metadata": {"name": "forged"}}
    hub.ok("admin", "POST", "/api/v1/namespaces/apps/serviceaccounts", account)
    token = account_token(hub, "forged")
    assert whoami(hub, token) == (201, "system:serviceaccount:apps:forged")
    head, body, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    other = unpadded({**claims, "sub": "system:serviceaccount:vault:root"})
    forgeries = [
        f"{unpadded({'alg': 'none', 'typ': 'JWT'})}.{body}.",
        f"{unpadded({'alg': 'none', 'typ': 'JWT'})}.{body}.{signature}",
        f"{unpadded({'alg': 'HS256', 'typ': 'JWT'})}.{body}.{unpadded(b'x' * 32)}",
        f"{head}.{other}.{signature}",
        f"{head}.{body}.{signature[:-4]}AAAA",
        f"{head}.{body}.",
        f"{head}.{body}.{signature}=",
        f"{head}.{body}.{signature}.",
        f"{head}.{unpadded({**claims, 'exp': claims['exp'] + 10**6})}.{signature}",
    ]
    for forgery in forgeries:
        assert whoami(hub, forgery) == (401, "Unauthorized"), forgery


def test_a_token_ends_with_its_account_and_does_not_come_back_with_a_new_one(hub: GuardedHub) -> None:
    path = "/api/v1/namespaces/apps/serviceaccounts"
    account = {"kind": "ServiceAccount", "metadata": {"name": "phoenix"}}
    hub.ok("admin", "POST", path, account)
    token = account_token(hub, "phoenix")
    assert whoami(hub, token)[0] == 201
    hub.ok("admin", "DELETE", f"{path}/phoenix")
    assert whoami(hub, token)[0] == 401
    hub.ok("admin", "POST", path, account)
    assert whoami(hub, token)[0] == 401


def test_a_token_in_a_secret_ends_with_the_secret(hub: GuardedHub) -> None:
    path = "/api/v1/namespaces/apps/secrets"
    account = {"kind": "ServiceAccount", "metadata": {"name": "old-school"}}
    hub.ok("admin", "POST", "/api/v1/namespaces/apps/serviceaccounts", account)
    annotations = {"kubernetes.io/service-account.name": "old-school"}
    kind = {"kind": "Secret", "type": "kubernetes.io/service-account-token"}
    secret = hub.ok("admin", "POST", path, {**kind, "metadata": {"name": "t", "annotations": annotations}})
    token = base64.b64decode(secret["data"]["token"]).decode()
    assert whoami(hub, token) == (201, "system:serviceaccount:apps:old-school")
    hub.ok("admin", "DELETE", f"{path}/t")
    assert whoami(hub, token)[0] == 401
    assert hub.refusal("admin", "POST", path, {**kind, "metadata": {"name": "t"}}) == (
        422,
        'Secret "t" is invalid: metadata.annotations[kubernetes.io/service-account.name]: Required value',
    )


def test_a_token_for_somebody_else_s_audience_is_none_of_ours(hub: GuardedHub) -> None:
    account = {"kind": "ServiceAccount", "metadata": {"name": "far"}}
    hub.ok("admin", "POST", "/api/v1/namespaces/apps/serviceaccounts", account)
    assert whoami(hub, account_token(hub, "far", audiences=["https://elsewhere"]))[0] == 401


def test_who_may_not_ask_for_a_token_gets_none(hub: GuardedHub) -> None:
    account = {"kind": "ServiceAccount", "metadata": {"name": "guarded"}}
    hub.ok("admin", "POST", "/api/v1/namespaces/vault/serviceaccounts", account)
    path = "/api/v1/namespaces/vault/serviceaccounts/guarded/token"
    for who in ("alice", "bob", "carol"):
        assert hub.refusal(who, "POST", path, {"kind": "TokenRequest"}) == (
            403,
            f'serviceaccounts "guarded" is forbidden: User "{who}" cannot create resource "serviceaccounts/token" '
            'in API group "" in the namespace "vault"',
        )


def test_no_token_and_no_secret_reaches_a_log(
    hub: GuardedHub, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    file = TokenFile(hub.state / TOKENS)
    token, known = file.create("mallory", (), None)
    word = "swordfish-in-a-bottle"
    headers = {"Authorization": f"Bearer {token}", "User-Agent": "curl"}
    hub.send("", "GET", f"/api/v1/secrets?access_token={token}", headers=headers)
    hub.send("", "POST", SECRETS, {"kind": "Secret", "stringData": {"p": word}}, headers)
    hub.send("admin", "POST", SECRETS, {"kind": "Secret", "metadata": {"name": "w"}, "stringData": {"p": word}})
    hub.send("admin", "PUT", f"{SECRETS}/w", {"kind": "Secret", "metadata": {"name": "w"}, "stringData": {"p": word}})
    hub.send("admin", "GET", f"{SECRETS}/w")
    hub.send("admin", "POST", SECRETS, b'{"kind": "Secret", "stringData": {"p": "' + word.encode())
    review = "/apis/authentication.k8s.io/v1/tokenreviews"
    hub.send("admin", "POST", review, {"kind": "TokenReview", "spec": {"token": token}})
    file.revoke(known.id)
    hub.send("", "GET", "/api", headers=headers)
    issued = account_token(hub, "forged")
    time.sleep(0.3)
    shown = capfd.readouterr()
    logged = (hub.state / "audit.log").read_text() + caplog.text + shown.out + shown.err
    assert '"resource":"secrets"' in logged
    assert '"resource":"tokenreviews"' in logged
    for secret in (token, word, base64.b64encode(word.encode()).decode(), issued, hub.running.token, SECRET):
        assert secret not in logged
    assert token not in (hub.state / TOKENS).read_text()


# --- Growing one's own rights -----------------------------------------------------------------------------------------

EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


def test_nobody_writes_a_role_with_more_than_they_have(hub: GuardedHub) -> None:
    role = {"kind": "ClusterRole", "metadata": {"name": "mine"}, "rules": [EVERYTHING]}
    wanted = (
        403,
        'clusterroles.rbac.authorization.k8s.io "mine" is forbidden: user "bob" (groups=["system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
    )
    path = f"{RBAC}/clusterroles"
    assert hub.refusal("bob", "POST", path, role) == wanted
    assert hub.refusal("bob", "PUT", f"{path}/mine", role) == wanted
    apply = {"Content-Type": "application/apply-patch+yaml"}
    full = {"apiVersion": "rbac.authorization.k8s.io/v1", **role}
    assert hub.refusal("bob", "PATCH", f"{path}/mine?fieldManager=x", full, **apply) == wanted
    assert hub.refusal("bob", "POST", f"{path}?dryRun=All", role) == wanted


def test_nobody_adds_to_a_role_what_they_do_not_have(hub: GuardedHub) -> None:
    path = f"{RBAC}/clusterroles/reader"
    more = [rule("get,list,watch", "managedclusters", "cluster.open-cluster-management.io"), rule("get", "secrets")]
    code, message = hub.refusal(
        "bob", "PATCH", path, {"rules": more}, **{"Content-Type": "application/merge-patch+json"}
    )
    assert (code, message.partition("\n")[2]) == (403, '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}')
    patch = [{"op": "add", "path": "/rules/-", "value": EVERYTHING}]
    assert hub.refusal("bob", "PATCH", path, patch, **{"Content-Type": "application/json-patch+json"})[0] == 403


def test_nobody_gathers_roles_by_label_without_having_everything(hub: GuardedHub) -> None:
    path = f"{RBAC}/clusterroles"
    gathering = {"clusterRoleSelectors": [{"matchLabels": {"kubernetes.io/bootstrapping": "rbac-defaults"}}]}
    text = "must have cluster-admin privileges to use the aggregationRule"
    role = {"kind": "ClusterRole", "metadata": {"name": "gather"}, "aggregationRule": gathering}
    assert hub.refusal("bob", "POST", path, role) == (
        403,
        f'clusterroles.rbac.authorization.k8s.io "gather" is forbidden: {text}',
    )
    merge = {"Content-Type": "application/merge-patch+json"}
    assert hub.refusal("bob", "PATCH", f"{path}/reader", {"aggregationRule": gathering}, **merge)[0] == 403


def test_nobody_slips_a_strong_role_into_a_gathering_one(hub: GuardedHub) -> None:
    merge = {"Content-Type": "application/merge-patch+json"}
    label = {"metadata": {"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}}
    assert hub.refusal("bob", "PATCH", f"{RBAC}/clusterroles/cluster-admin", label, **merge)[0] == 403
    role = {"kind": "ClusterRole", "metadata": {"name": "slip", **label["metadata"]}, "rules": [rule("get", "secrets")]}
    assert hub.refusal("bob", "POST", f"{RBAC}/clusterroles", role)[0] == 403


def test_nobody_binds_a_role_that_is_stronger_than_they_are(hub: GuardedHub) -> None:
    for subject in (user("bob"), group("system:authenticated")):
        body = binding("up", "cluster-admin", subject)
        code, message = hub.refusal("bob", "POST", binding_path(), body)
        assert (code, "not currently held" in message) == (403, True)
    local = binding("up", "cluster-admin", user("carol"), namespace="apps")
    assert hub.refusal("carol", "POST", binding_path("apps"), local)[0] == 403
    assert hub.refusal("carol", "POST", binding_path("vault"), local)[0] == 403


def test_nobody_binds_a_role_that_is_yet_to_come(hub: GuardedHub) -> None:
    body = binding("early", "not-yet", user("bob"))
    assert hub.refusal("bob", "POST", binding_path(), body) == (
        404,
        'clusterroles.rbac.authorization.k8s.io "not-yet" not found',
    )


def test_a_binding_keeps_its_role(hub: GuardedHub) -> None:
    hub.bind("steady", "reader", user("alice"))
    merge = {"Content-Type": "application/merge-patch+json"}
    change = {"roleRef": {"name": "cluster-admin"}}
    for who in ("admin", "bob"):
        code, message = hub.refusal(who, "PATCH", f"{binding_path()}/steady", change, **merge)
        assert code in (403, 422)
        assert who != "admin" or message.endswith("cannot change roleRef")
    hub.ok("admin", "DELETE", f"{binding_path()}/steady")


def test_who_has_it_all_in_one_namespace_has_it_there_only(hub: GuardedHub) -> None:
    role = {"kind": "Role", "metadata": {"name": "local"}, "rules": [rule("get", "secrets")]}
    hub.ok("carol", "POST", f"{RBAC}/namespaces/apps/roles", role)
    assert hub.refusal("carol", "POST", f"{RBAC}/namespaces/vault/roles", role)[0] == 403
    assert hub.refusal("carol", "POST", f"{RBAC}/clusterroles", {**role, "kind": "ClusterRole"})[0] == 403


# --- Names on create --------------------------------------------------------------------------------------------------


def test_a_named_create_allows_that_name_and_nothing_else(hub: GuardedHub) -> None:
    hub.role("apac", rule("create", "managedclustersets", "cluster.open-cluster-management.io", names="apac"))
    hub.bind("apac", "apac", user("alice"))
    path = f"{OCM}/v1beta2/managedclustersets"
    kind = {"apiVersion": "cluster.open-cluster-management.io/v1beta2", "kind": "ManagedClusterSet"}
    forbidden = (
        403,
        'managedclustersets.cluster.open-cluster-management.io is forbidden: User "alice" cannot create resource '
        '"managedclustersets" in API group "cluster.open-cluster-management.io" at the cluster scope',
    )
    for metadata in (
        {"name": "emea"},
        {"generateName": "apac"},
        {"name": ["apac"]},
        {"name": "Apac"},
        {},
        None,
        "apac",
    ):
        assert hub.refusal("alice", "POST", path, {**kind, "metadata": metadata}) == forbidden
    twice = json.dumps(kind)[:-1] + ', "metadata": {"name": "apac"}, "metadata": {"name": "emea"}}'
    assert hub.refusal("alice", "POST", path, twice.encode()) == forbidden
    assert hub.refusal("alice", "POST", path, b"{")[0] == 403
    assert hub.ok("alice", "POST", path, {**kind, "metadata": {"name": "apac"}})["metadata"]["name"] == "apac"


# --- The wire ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 5\r\nContent-Length: 50\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 0x5\r\n",
        b" Content-Length: 5\r\n",
        b"Content-Length : 5\r\n",
    ],
)
def test_requests_whose_end_is_doubtful_are_refused(hub: GuardedHub, head: bytes) -> None:
    smuggled = b"GET /api/v1/secrets HTTP/1.1\r\nHost: x\r\n\r\n"
    answer = raw_request(
        hub,
        b"POST /api/v1/namespaces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer alice-token-0123456789\r\n"
        + head
        + b"\r\n0\r\n\r\n"
        + smuggled,
    )
    assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 403", b"")
    assert SECRET.encode() not in answer


def test_a_head_without_end_is_cut_off(hub: GuardedHub) -> None:
    answer = raw_request(hub, b"GET /api HTTP/1.1\r\nX-Long: " + b"a" * 100_000)
    assert answer.startswith((b"HTTP/1.1 431", b"HTTP/1.1 400"))


def test_a_head_that_never_ends_is_cut_off_in_time(hub: GuardedHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocols, "_HEADER_SECONDS", 0.2)
    started = time.monotonic()
    with socket.create_connection((hub.running.host, hub.running.port), timeout=10) as connection:
        connection.sendall(b"GET /api HTTP/1.1\r\nHost: x\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 408")
        assert connection.recv(4096) == b""
    assert time.monotonic() - started < 5


def test_a_user_who_asks_too_much_is_told_to_wait(tmp_path: Path) -> None:
    settings = AccessSettings(users=UserLimits(requests_per_second=1, burst=3))
    with guarded_hub(tmp_path, settings) as hub:
        codes = [hub.send("alice", "GET", "/api")[0] for _ in range(5)]
        assert (codes[:3], codes[-1]) == ([200, 200, 200], 429)
        assert hub.send("bob", "GET", "/api")[0] == 200
        assert [hub.send("admin", "GET", "/api")[0] for _ in range(5)] == [200] * 5


def test_with_strict_names_no_name_allows_a_create(tmp_path: Path) -> None:
    with guarded_hub(tmp_path, AccessSettings(strict_names=True)) as hub:
        hub.role("apac", rule("create", "namespaces", names="apac"))
        hub.bind("apac", "apac", user("alice"))
        namespace = {"kind": "Namespace", "metadata": {"name": "apac"}}
        assert hub.refusal("alice", "POST", "/api/v1/namespaces", namespace)[0] == 403


def test_nobody_is_anonymous_unless_that_is_switched_on(hub: GuardedHub, tmp_path: Path) -> None:
    none = {"Authorization": ""}
    assert hub.send("", "GET", "/api", headers=none)[0] == 401
    assert hub.send("", "GET", "/healthz", headers=none)[0] == 200
    with guarded_hub(tmp_path, AccessSettings(anonymous=True)) as open_hub:
        assert open_hub.send("", "GET", "/api/v1/secrets", headers=none)[1]["message"] == (
            'secrets is forbidden: User "system:anonymous" cannot list resource "secrets" in API group "" '
            "at the cluster scope"
        )
        assert open_hub.send("", "GET", "/api/v1/secrets", headers={"Authorization": "Bearer wrong"})[0] == 401
