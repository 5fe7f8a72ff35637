"""The administrator's token and who a token belongs to."""

from __future__ import annotations

import asyncio
import stat
from typing import TYPE_CHECKING

import pytest

from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.auth.tokens import ADMINISTRATOR, TokenAuthenticator, TokenFileError, administrator_token
from muster.hub.requests import AccessRules, Attributes, User

if TYPE_CHECKING:
    from pathlib import Path


def test_a_token_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "admin.token"
    token = administrator_token(path)
    assert administrator_token(path) == token
    assert len(token) >= 43
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "admin.token"
    administrator_token(path)
    path.chmod(0o644)
    with pytest.raises(TokenFileError, match="run: chmod 600"):
        administrator_token(path)


@pytest.mark.parametrize("content", ["", "short", "two words that are quite long", "ü" * 40])
def test_a_file_that_holds_no_token_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "admin.token"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(TokenFileError, match="not a token"):
        administrator_token(path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    administrator_token(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(TokenFileError):
        administrator_token(tmp_path / "link")


def test_only_known_tokens_have_a_user() -> None:
    authenticator = TokenAuthenticator({"secret": ADMINISTRATOR})
    assert asyncio.run(authenticator.authenticate("secret")) is ADMINISTRATOR
    assert asyncio.run(authenticator.authenticate("Secret")) is None
    assert asyncio.run(authenticator.authenticate("")) is None


def test_masters_may_do_everything_and_others_nothing() -> None:
    authorizer = AdministratorsOnlyAuthorizer()
    alice = User("alice", groups=("devs", "system:authenticated"))
    get = Attributes("get", resource="secrets")
    assert asyncio.run(authorizer.authorize(ADMINISTRATOR, get)).allowed
    assert not asyncio.run(authorizer.authorize(alice, get)).allowed
    assert asyncio.run(authorizer.missing(ADMINISTRATOR, "join", "x", ["a"])) == []
    assert asyncio.run(authorizer.missing(alice, "join", "x", ["a", "b"])) == ["a", "b"]
    assert asyncio.run(authorizer.rules(alice, "default")) == AccessRules()
    assert asyncio.run(authorizer.rules(ADMINISTRATOR, "default")).resource_rules[0]["verbs"] == ["*"]
