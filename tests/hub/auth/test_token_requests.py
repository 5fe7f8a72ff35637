"""Tokens that programs ask for."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.hub.auth.kubeconfigs import KubeconfigError, token_credentials, user_kubeconfig
from muster.hub.auth.service_accounts import TokenIssuer, signing_key
from muster.hub.auth.tokens import TokenFileError
from muster.hub.requests import API_AUDIENCE
from tests.hub.auth.guarded import GuardedHub, guarded_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GuardedHub]:
    with guarded_hub(tmp_path_factory.mktemp("state")) as hub:
        hub.ok("admin", "POST", ACCOUNTS, {"kind": "ServiceAccount", "metadata": {"name": "robot"}})
        yield hub


def request(hub: GuardedHub, name: str = "robot", **spec: Any) -> Any:
    return hub.ok("admin", "POST", f"{ACCOUNTS}/{name}/token", {"kind": "TokenRequest", "spec": spec})


def claims(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def test_the_answer_is_the_request_with_a_token(hub: GuardedHub) -> None:
    answer = request(hub)
    token = answer["status"].pop("token")
    assert (answer["kind"], answer["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
    assert answer["metadata"]["name"] == "robot"
    assert answer["spec"] == {"audiences": [API_AUDIENCE], "expirationSeconds": 3600, "boundObjectRef": None}
    said = claims(token)
    assert said["sub"] == "system:serviceaccount:default:robot"
    assert said["exp"] - said["iat"] == 3600
    assert abs(said["iat"] - time.time()) < 60


@pytest.mark.parametrize(
    ("spec", "code", "message"),
    [
        (
            {"expirationSeconds": 599},
            422,
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: '
            "may not specify a duration less than 10 minutes",
        ),
        (
            {"expirationSeconds": (1 << 32) + 1},
            422,
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: '
            "may not specify a duration larger than 2^32 seconds",
        ),
        (
            {"boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": "none"}},
            404,
            'secrets "none" not found',
        ),
        (
            {"boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": "p"}},
            400,
            "cannot bind token to object of type v1, Kind=Pod: only secrets are supported",
        ),
    ],
)
def test_what_cannot_be_granted_is_refused(hub: GuardedHub, spec: dict[str, Any], code: int, message: str) -> None:
    body = {"kind": "TokenRequest", "spec": spec}
    assert hub.refusal("admin", "POST", f"{ACCOUNTS}/robot/token", body) == (code, message)


def test_there_is_no_token_without_an_account_and_no_other_verb(hub: GuardedHub) -> None:
    body = {"kind": "TokenRequest"}
    assert hub.refusal("admin", "POST", f"{ACCOUNTS}/ghost/token", body) == (404, 'serviceaccounts "ghost" not found')
    assert hub.refusal("admin", "GET", f"{ACCOUNTS}/robot/token")[0] == 405
    assert hub.refusal("admin", "POST", f"{ACCOUNTS}/robot/token", b"{")[0] == 400
    assert hub.refusal("admin", "POST", f"{ACCOUNTS}/robot/token", {"kind": "Pod"})[0] == 400
    assert hub.refusal("admin", "POST", f"{ACCOUNTS}/robot/token", {"kind": "TokenRequest", "spec": []})[0] == 400


def test_a_token_bound_to_a_secret_needs_the_secret(hub: GuardedHub) -> None:
    path = "/api/v1/namespaces/default/secrets"
    hub.ok("admin", "POST", path, {"kind": "Secret", "metadata": {"name": "anchor"}})
    token = request(hub, boundObjectRef={"kind": "Secret", "apiVersion": "v1", "name": "anchor"})["status"]["token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert hub.send("", "GET", "/api", headers=headers)[0] == 200
    hub.ok("admin", "DELETE", f"{path}/anchor")
    assert hub.send("", "GET", "/api", headers=headers)[0] == 401


def review(hub: GuardedHub, token: str, *audiences: str) -> Any:
    spec = {"token": token, **({"audiences": list(audiences)} if audiences else {})}
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    return hub.ok("admin", "POST", path, {"kind": "TokenReview", "spec": spec})["status"]


def test_a_review_vouches_for_a_token_only_to_those_it_is_meant_for(hub: GuardedHub) -> None:
    token = request(hub, audiences=["vault", "backup"])["status"]["token"]
    found = review(hub, token, "backup", "other", "vault")
    assert (found["authenticated"], found["audiences"]) == (True, ["backup", "vault"])
    assert found["user"]["username"] == "system:serviceaccount:default:robot"
    unknown = {"user": {}, "error": "invalid bearer token"}
    assert review(hub, token) == unknown
    assert review(hub, token, "other") == unknown
    assert review(hub, "alice-token-0123456789", "vault") == unknown
    assert review(hub, "alice-token-0123456789")["audiences"] == [API_AUDIENCE]


def test_a_key_outlives_a_restart_and_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sa.key"
    issued = TokenIssuer(signing_key(path)).issue("ns", ("a", "1"), ["x"], 60)
    assert TokenIssuer(signing_key(path)).recognized(issued.token) is not None
    assert path.stat().st_mode & 0o777 == 0o600
    path.unlink()
    assert TokenIssuer(signing_key(path)).recognized(issued.token) is None
    path.write_text("no key")
    with pytest.raises(TokenFileError, match="this is not a key"):
        signing_key(path)


def test_a_user_s_kubeconfig_has_the_hub_s_address_and_nobody_else_s_credentials() -> None:
    cluster = {"server": "https://127.0.0.1:1", "certificate-authority-data": "QQ=="}
    hub = {
        "clusters": [{"name": "muster", "cluster": cluster}],
        "users": [{"name": "muster-admin", "user": {"token": "admin-secret"}}],
    }
    made = user_kubeconfig(msgspec.yaml.encode(hub), "alice", token_credentials("t"))
    config = msgspec.yaml.decode(made)
    assert config["users"] == [{"name": "alice", "user": {"token": "t"}}]
    assert config["clusters"] == hub["clusters"]
    assert b"admin-secret" not in made
    other = msgspec.yaml.decode(user_kubeconfig(msgspec.yaml.encode(hub), "a", {}, "https://hub:6443"))
    assert other["clusters"][0]["cluster"]["server"] == "https://hub:6443"
    with pytest.raises(KubeconfigError):
        user_kubeconfig(b"[]", "a", {})
