"""Acting as somebody else."""

from __future__ import annotations

import asyncio

import pytest

from muster.hub.auth.impersonation import acting_user
from muster.hub.auth.masters import MastersAuthorizer
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.requests import User
from muster.hub.status import StatusError


def act(user: User, *headers: tuple[str, str]) -> User:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    return asyncio.run(acting_user(user, raw, MastersAuthorizer()))


def test_without_headers_a_user_stays_the_same() -> None:
    assert act(ADMINISTRATOR, ("Accept", "x")) is ADMINISTRATOR


def test_an_administrator_acts_as_anybody_and_loses_all_other_rights() -> None:
    acting = act(
        ADMINISTRATOR,
        ("Impersonate-User", "bob"),
        ("Impersonate-Group", "devs"),
        ("Impersonate-Uid", "7"),
        ("Impersonate-Extra-Example.com%2Fscope", "a"),
        ("Impersonate-Extra-Example.com%2Fscope", "b"),
    )
    assert acting == User("bob", "7", ("devs", "system:authenticated"), {"example.com/scope": ("a", "b")})


def test_others_may_not_act_as_somebody_else() -> None:
    with pytest.raises(StatusError) as caught:
        act(User("alice"), ("Impersonate-User", "bob"))
    assert (caught.value.code, caught.value.message) == (
        403,
        (
            'users "bob" is forbidden: '
            'User "alice" cannot impersonate resource "users" in API group "" at the cluster scope'
        ),
    )


def test_a_group_without_a_user_is_refused() -> None:
    with pytest.raises(StatusError, match="without impersonating a user"):
        act(ADMINISTRATOR, ("Impersonate-Group", "devs"))
