"""Tokens for clusters that are about to join."""

from __future__ import annotations

import base64
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from muster.api.secret import BOOTSTRAP_TOKEN
from muster.hub.auth.bootstrap_tokens import BootstrapTokenCleaner, BootstrapTokens
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.requests import User
from muster.hub.storage import Store
from tests.hub.a_guarded_hub import GuardedHub
from tests.hub.a_hub import story

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NOW = datetime(2026, 11, 18, tzinfo=UTC)
TOKEN = "abc123.0123456789abcdef"
GOOD = {
    "token-id": "abc123",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:managedcluster, system:bootstrappers:edge",
    "expiration": "2026-11-18T00:00:01Z",
}


def a_secret(name: str = "abc123", kind: str = BOOTSTRAP_TOKEN, namespace: str = "kube-system", **data: str) -> Any:
    encoded = {key.replace("_", "-"): base64.b64encode(text.encode()).decode() for key, text in data.items()}
    metadata = {"name": f"bootstrap-token-{name}", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind, "data": encoded}


@asynccontextmanager
async def a_hub() -> AsyncIterator[tuple[GuardedHub, BootstrapTokens]]:
    store = Store.open(None)
    authorizer = RbacAuthorizer(store)
    hub = GuardedHub(store, authorizer, [])
    await authorizer.start()
    await hub.api.start()
    try:
        yield hub, BootstrapTokens(store, lambda: NOW)
    finally:
        await hub.api.close()
        await authorizer.close()
        await store.close()


@story
async def test_a_token_is_a_user_and_groups() -> None:
    async with a_hub() as (hub, tokens):
        await hub.create(a_secret(**GOOD))
        assert await tokens.authenticate(TOKEN) == User(
            "system:bootstrap:abc123",
            groups=(
                "system:bootstrappers",
                "system:bootstrappers:edge",
                "system:bootstrappers:managedcluster",
                "system:authenticated",
            ),
        )
        assert await tokens.authenticate(TOKEN, "another-audience") is None
        for wrong in ("abc123.0123456789abcdee", "abc124.0123456789abcdef", f"{TOKEN}0", "ABC123.0123456789abcdef", ""):
            assert await tokens.authenticate(wrong) is None


@pytest.mark.parametrize(
    "change",
    [
        {"expiration": "2026-11-18T00:00:00Z"},
        {"expiration": "some day"},
        {"token-id": "abc124"},
        {"token-secret": "0123456789abcdee"},
        {"token-secret": ""},
        {"usage-bootstrap-authentication": "false"},
        {"usage-bootstrap-authentication": ""},
        {"auth-extra-groups": "system:masters"},
        {"auth-extra-groups": "system:bootstrappers:x,system:open-cluster-management:c1"},
        {"auth-extra-groups": "system:bootstrappers:"},
    ],
)
def test_a_token_that_is_not_meant_or_over_is_nobody(change: dict[str, str]) -> None:
    @story
    async def told() -> None:
        async with a_hub() as (hub, tokens):
            await hub.create(a_secret(**{**GOOD, **change}))
            assert await tokens.authenticate(TOKEN) is None

    told()


@story
async def test_only_secrets_of_the_type_and_the_namespace_count() -> None:
    async with a_hub() as (hub, tokens):
        await hub.create(a_secret(kind="Opaque", **GOOD))
        await hub.create(a_secret(namespace="default", **GOOD))
        assert await tokens.authenticate(TOKEN) is None


@story
async def test_what_has_expired_is_deleted_and_nothing_else() -> None:
    async with a_hub() as (hub, _):
        await hub.create(a_secret(**GOOD))
        await hub.create(a_secret("over00", **{**GOOD, "expiration": "2026-11-17T00:00:00Z"}))
        await hub.create(a_secret("opaque", kind="Opaque", **{**GOOD, "expiration": "2026-11-17T00:00:00Z"}))
        await hub.create(a_secret("always", **{**GOOD, "expiration": ""}))
        cleaner = BootstrapTokenCleaner(hub.api, hub.store, lambda: NOW)
        assert [await cleaner.sweep(), await cleaner.sweep()] == [1, 0]
        left = [record.key.name for record in hub.store.scan("secrets", "kube-system")]
        assert left == ["bootstrap-token-abc123", "bootstrap-token-always", "bootstrap-token-opaque"]
