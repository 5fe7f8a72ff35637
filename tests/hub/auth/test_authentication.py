"""From the head of a request to a user; and what a role must allow for paths that name no kind we know."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.auth.authentication import PEER, Authentication, path_attributes
from muster.hub.auth.peers import Peer
from muster.hub.auth.tokens import ADMINISTRATOR, ANONYMOUS, TokenAuthenticator
from muster.hub.requests import Attributes, User
from muster.hub.status import StatusError

DORA = User("dora")
FOREVER, LONG_AGO = 4e9, 1.0


def identified(*headers: tuple[bytes, bytes], peer: Peer | None = None, anonymous: bool = False) -> User | int:
    """The user, or the code of the refusal."""
    authentication = Authentication(
        TokenAuthenticator({"secret": ADMINISTRATOR}), AdministratorsOnlyAuthorizer(), anonymous=anonymous
    )
    scope: dict[str, Any] = {"headers": list(headers)} | ({PEER: peer} if peer else {})
    try:
        return asyncio.run(authentication.identify(scope))
    except StatusError as error:
        return error.code


BEARER = (b"authorization", b"Bearer secret")


def test_a_token_is_a_user() -> None:
    assert identified(BEARER) == ADMINISTRATOR
    assert identified((b"authorization", b"bearer  secret ")) == ADMINISTRATOR
    assert identified((b"authorization", b"Bearer wrong")) == 401
    assert identified() == 401


def test_a_certificate_counts_before_a_token_while_it_is_good() -> None:
    assert identified(BEARER, peer=Peer(DORA, FOREVER)) == DORA
    assert identified(BEARER, peer=Peer(DORA, LONG_AGO)) == ADMINISTRATOR
    assert identified(peer=Peer(DORA, LONG_AGO)) == 401


def test_nobody_is_somebody_only_where_that_is_switched_on() -> None:
    assert identified(anonymous=True) == ANONYMOUS
    assert identified((b"authorization", b"Bearer wrong"), anonymous=True) == 401
    assert identified(peer=Peer(DORA, LONG_AGO), anonymous=True) == 401


@pytest.mark.parametrize(
    ("method", "path", "wanted"),
    [
        ("GET", "/metrics", Attributes("get", path="/metrics")),
        ("POST", "/metrics", Attributes("post", path="/metrics")),
        ("GET", "/api", Attributes("get", path="/api")),
        ("GET", "/api/v1", Attributes("get", path="/api/v1")),
        ("GET", "/apis/g.io/v1", Attributes("get", path="/apis/g.io/v1")),
        ("GET", "/api/v1/pods", Attributes("list", resource="pods")),
        ("POST", "/api/v1/pods", Attributes("create", resource="pods")),
        ("DELETE", "/apis/g.io/v1/things", Attributes("deletecollection", "g.io", resource="things")),
        (
            "PUT",
            "/apis/g.io/v1/namespaces/apps/things/a/status",
            Attributes("update", "g.io", resource="things", subresource="status", namespace="apps", name="a"),
        ),
        ("GET", "/api/v1/namespaces/apps/pods", Attributes("list", resource="pods", namespace="apps")),
        ("GET", "/api/v1/watch/pods", Attributes("list", resource="pods")),
        ("GET", "/openapi/v3", Attributes("get", path="/openapi/v3")),
        ("GET", "/apiary/v1/pods", Attributes("get", path="/apiary/v1/pods")),
    ],
)
def test_unknown_kinds_are_resources_all_the_same(method: str, path: str, wanted: Attributes) -> None:
    assert path_attributes(method, path) == wanted
