"""Tokens of users: made, listed, revoked, and never kept."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from muster.hub.auth.token_file import InvalidTokenError, TokenFile, TokenFileAuthenticator
from muster.hub.auth.tokens import Credentials, TokenFileError
from muster.hub.requests import API_AUDIENCE, User

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def known(path: Path, token: str) -> User | None:
    return asyncio.run(TokenFileAuthenticator(path).authenticate(token))


def test_a_token_makes_a_user_with_its_groups(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token, entry = TokenFile(path).create("alice", ("devs", "ops", "devs"), None)
    assert known(path, token) == User("alice", entry.uid, ("devs", "ops", "system:authenticated"))
    assert known(path, token + "x") is None
    assert known(path, entry.digest) is None


def test_the_file_has_no_token_and_no_reader_but_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token, entry = TokenFile(path).create("alice", (), None)
    text = path.read_text()
    assert token not in text
    assert token.rpartition("-")[2] not in text
    assert entry.digest in text
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_user_keeps_its_uid_from_token_to_token(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "tokens.json")
    _, first = file.create("alice", (), None)
    _, second = file.create("alice", ("devs",), None)
    _, other = file.create("bob", (), None)
    assert first.uid == second.uid != other.uid
    assert [entry.user for entry in file.tokens()] == ["alice", "alice", "bob"]


def test_a_running_hub_learns_of_new_and_revoked_tokens_at_once(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    authenticator = TokenFileAuthenticator(path)
    token, entry = TokenFile(path).create("alice", (), None)

    async def names() -> list[str | None]:
        found = []
        for step in range(2):
            user = await authenticator.authenticate(token)
            found.append(None if user is None else user.name)
            if step == 0:
                assert TokenFile(path).revoke(entry.id) == entry
        return found

    assert asyncio.run(names()) == ["alice", None]
    assert TokenFile(path).revoke(entry.id) is None


def test_a_token_ends_when_it_says(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    past, entry = TokenFile(path).create("alice", (), timedelta(hours=24), NOW)
    assert entry.expires == NOW + timedelta(hours=24)
    assert (entry.is_expired(NOW), entry.is_expired(NOW + timedelta(hours=24))) == (False, True)
    later, _ = TokenFile(path).create("alice", (), timedelta(hours=1))
    assert [known(path, token) is not None for token in (past, later)] == [datetime.now(UTC) < entry.expires, True]


@pytest.mark.parametrize(
    ("user", "groups", "lifetime"),
    [
        ("", (), None),
        (" alice", (), None),
        ("al\nice", (), None),
        ("x" * 300, (), None),
        ("system:anonymous", (), None),
        ("alice", ("",), None),
        ("alice", (), timedelta(0)),
    ],
)
def test_users_nobody_could_be_are_refused(
    tmp_path: Path, user: str, groups: tuple[str, ...], lifetime: timedelta | None
) -> None:
    with pytest.raises(InvalidTokenError):
        TokenFile(tmp_path / "tokens.json").create(user, groups, lifetime)


@pytest.mark.parametrize("content", ["", "[]", '{"tokens": [{"id": "a"}]}', "{"])
def test_a_damaged_file_lets_nobody_in(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokens.json"
    token, _ = TokenFile(path).create("alice", (), None)
    path.write_text(content)
    assert known(path, token) is None
    with pytest.raises(TokenFileError):
        TokenFile(path).tokens()


def test_a_file_that_others_may_write_lets_nobody_in(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token, _ = TokenFile(path).create("alice", (), None)
    path.chmod(0o622)
    assert known(path, token) is None


def test_credentials_ask_each_in_turn_and_refuse_what_is_absurdly_long(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    token, _ = TokenFile(path).create("alice", (), None)

    class Other:
        async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None:
            return User("other") if token == "other" or len(token) > 5000 else None

    both = Credentials(Other(), TokenFileAuthenticator(path))

    async def names() -> list[str | None]:
        users = [await both.authenticate(each) for each in (token, "other", "neither", "x" * 9000)]
        return [None if user is None else user.name for user in users]

    assert asyncio.run(names()) == ["alice", "other", None, None]
