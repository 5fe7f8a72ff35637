"""Credentials that do not last: they are renewed before they end, and once when the server refuses them."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from muster.client import Client, CredentialsError, load_connection
from muster.client.credentials import Credentials, Renewal
from muster.errors import ApiError, InvalidObjectError
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMESPACES = "/api/v1/namespaces"
# Answers with the first line of a file, and takes that line away: every call has another token.
PLUGIN = """#!/bin/sh
token=$(head -n 1 "$0.tokens"); tail -n +2 "$0.tokens" > "$0.rest"; mv "$0.rest" "$0.tokens"
test -n "$token" || { echo 'nobody is logged in' >&2; exit 3; }
printf '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": %s}' "$token"
"""


@contextmanager
def a_hub(folder: Path) -> Iterator[RunningHub]:
    """A hub that knows two more tokens of its administrator."""
    masters = User("admin", "admin", ("system:masters", AUTHENTICATED))
    with running_hub(state=folder, users={"first-token-of-admin": masters, "second-token-of-admin": masters}) as hub:
        yield hub


def kubeconfig(folder: Path, hub: RunningHub, user: object) -> str:
    path = folder / "config"
    config = {
        "current-context": "hub",
        "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "me"}}],
        "clusters": [{"name": "hub", "cluster": {"server": hub.url}}],
        "users": [{"name": "me", "user": user}],
    }
    path.write_text(json.dumps(config))
    return str(path)


def a_plugin(folder: Path, *answers: dict[str, str]) -> dict[str, object]:
    plugin = folder / "plugin"
    plugin.write_text(PLUGIN)
    plugin.chmod(0o700)
    (folder / "plugin.tokens").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    return {
        "exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "Never"}
    }


def asked(path: str, times: int) -> list[int]:
    """The codes of so many requests over one client."""

    async def ask() -> list[int]:
        codes = []
        async with Client(await load_connection(path=path)) as client:
            for _ in range(times):
                try:
                    codes.append((await client.request("GET", NAMESPACES)).code)
                except ApiError as error:
                    codes.append(error.code)
        return codes

    return asyncio.run(ask())


def test_a_plugin_is_asked_once_for_credentials_without_an_end(tmp_path: Path) -> None:
    with a_hub(tmp_path) as hub:
        user = a_plugin(tmp_path, {"token": "first-token-of-admin"})
        assert asked(kubeconfig(tmp_path, hub, user), 3) == [200, 200, 200]


def test_a_plugin_is_asked_again_before_its_credentials_end(tmp_path: Path) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=2)).isoformat()
    late = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    with a_hub(tmp_path) as hub:
        user = a_plugin(
            tmp_path,
            {"token": "first-token-of-admin", "expirationTimestamp": soon},
            {"token": "second-token-of-admin", "expirationTimestamp": late},
        )
        assert asked(kubeconfig(tmp_path, hub, user), 3) == [200, 200, 200]
        assert (tmp_path / "plugin.tokens").read_text() == ""


def test_refused_credentials_are_renewed_once_and_then_the_refusal_stands(tmp_path: Path) -> None:
    with a_hub(tmp_path) as hub:
        user = a_plugin(tmp_path, {"token": "revoked"}, {"token": "first-token-of-admin"})
        assert asked(kubeconfig(tmp_path, hub, user), 2) == [200, 200]
        user = a_plugin(tmp_path, {"token": "revoked"}, {"token": "revoked-too"}, {"token": "first-token-of-admin"})
        assert asked(kubeconfig(tmp_path, hub, user), 1) == [401]


def test_a_plugin_that_fails_is_named_with_what_it_said(tmp_path: Path) -> None:
    with a_hub(tmp_path) as hub:
        user = a_plugin(tmp_path, {"token": "revoked"})
        with pytest.raises(CredentialsError, match=r"no credentials for http.*plugin.*nobody is logged in"):
            asked(kubeconfig(tmp_path, hub, user), 1)


def test_a_token_file_is_read_again_when_its_token_is_refused(tmp_path: Path) -> None:
    with a_hub(tmp_path) as hub:
        (tmp_path / "token").write_text("revoked\n")
        path = kubeconfig(tmp_path, hub, {"tokenFile": "token"})

        async def ask() -> int:
            async with Client(await load_connection(path=path)) as client:
                (tmp_path / "token").write_text("second-token-of-admin\n")
                return (await client.request("GET", NAMESPACES)).code

        assert asyncio.run(ask()) == 200


def test_a_watch_that_is_refused_finds_new_credentials_the_next_time(tmp_path: Path) -> None:
    with a_hub(tmp_path) as hub:
        user = a_plugin(tmp_path, {"token": "revoked"}, {"token": "first-token-of-admin"})
        path = kubeconfig(tmp_path, hub, user)

        async def watch() -> list[int]:
            codes = []
            async with Client(await load_connection(path=path)) as client:
                for _ in range(2):
                    try:
                        lines = client.watch_lines(NAMESPACES, params={"timeoutSeconds": "1"})
                        await anext(lines)
                        await lines.aclose()  # type: ignore[attr-defined]  # a generator, which is typed as less
                        codes.append(200)
                    except ApiError as error:
                        codes.append(error.code)
            return codes

        assert asyncio.run(watch()) == [401, 200]


def test_many_that_find_credentials_ended_ask_once() -> None:
    calls = []
    now = datetime(2026, 1, 1, tzinfo=UTC)

    async def load() -> Credentials:
        calls.append(1)
        await asyncio.sleep(0)
        return Credentials({"Authorization": "new"}, now + timedelta(hours=1))

    async def ask() -> list[dict[str, str]]:
        renewal = Renewal("server", Credentials({"Authorization": "old"}, now), load, lambda: now)
        return [dict(each.headers) for each in await asyncio.gather(*(renewal.current() for _ in range(5)))]

    assert asyncio.run(ask()) == [{"Authorization": "new"}] * 5
    assert calls == [1]


def test_a_failure_is_not_repeated_at_once() -> None:
    calls = []

    async def load() -> Credentials:
        calls.append(time.monotonic())
        raise InvalidObjectError("", "no")

    async def ask() -> None:
        renewal = Renewal("server", Credentials(until=datetime(2026, 1, 1, tzinfo=UTC)), load)
        for _ in range(3):
            with pytest.raises(CredentialsError, match="no credentials for server: no"):
                await renewal.current()

    asyncio.run(ask())
    assert len(calls) == 1
