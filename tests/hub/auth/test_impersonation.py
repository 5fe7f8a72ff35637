"""Acting as somebody else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from muster.hub.auth.impersonation import acting_user
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.requests import AccessRules, Attributes, Decision, User
from muster.hub.status import StatusError

if TYPE_CHECKING:
    from collections.abc import Sequence

ALICE = User("alice", groups=("system:authenticated",))
LIST = Attributes("list", "apps.io", "v1", "things", namespace="apps")


class Allowing:
    """Allows what is listed as `verb resource name`, or everything to masters."""

    def __init__(self, *allowed: str) -> None:
        self._allowed = allowed

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        resource = attributes.resource + (f"/{attributes.subresource}" if attributes.subresource else "")
        asked = f"{attributes.verb} {resource} {attributes.name}".strip()
        return Decision("system:masters" in user.groups or asked in self._allowed)

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> list[str]:
        return list(names)

    async def rules(self, user: User, namespace: str) -> AccessRules:
        return AccessRules()


def act(user: User, *headers: tuple[str, str], allowed: Sequence[str] = ()) -> User:
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    return asyncio.run(acting_user(user, raw, Allowing(*allowed), LIST))


def refusal(user: User, *headers: tuple[str, str], allowed: Sequence[str] = ()) -> tuple[int, str]:
    with pytest.raises(StatusError) as caught:
        act(user, *headers, allowed=allowed)
    return caught.value.code, caught.value.message


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


def test_a_service_account_has_its_groups_by_its_name() -> None:
    acting = act(ADMINISTRATOR, ("Impersonate-User", "system:serviceaccount:apps:robot"))
    groups = ("system:serviceaccounts", "system:serviceaccounts:apps", "system:authenticated")
    assert acting == User("system:serviceaccount:apps:robot", groups=groups)


def test_the_anonymous_user_is_not_authenticated() -> None:
    acting = act(ADMINISTRATOR, ("Impersonate-User", "system:anonymous"))
    assert acting.groups == ("system:unauthenticated",)


def test_the_refusal_names_the_narrow_permission_that_would_do() -> None:
    assert refusal(ALICE, ("Impersonate-User", "bob")) == (
        403,
        'things.apps.io is forbidden: User "alice" cannot impersonate-on:user-info:list resource "things" '
        'in API group "apps.io" in the namespace "apps"',
    )


def test_the_plain_verb_on_the_user_is_enough() -> None:
    assert act(ALICE, ("Impersonate-User", "bob"), allowed=["impersonate users bob"]).name == "bob"


def test_the_narrow_permission_needs_both_halves() -> None:
    on, who = "impersonate-on:user-info:list things", "impersonate:user-info users bob"
    assert act(ALICE, ("Impersonate-User", "bob"), allowed=[on, who]).name == "bob"
    assert refusal(ALICE, ("Impersonate-User", "bob"), allowed=[who])[0] == 403
    assert refusal(ALICE, ("Impersonate-User", "bob"), allowed=[on])[0] == 403


@pytest.mark.parametrize(
    ("header", "value"),
    [("Impersonate-Group", "admins"), ("Impersonate-Uid", "1"), ("Impersonate-Extra-Scope", "all")],
)
def test_every_part_of_the_other_identity_needs_permission(header: str, value: str) -> None:
    headers = [("Impersonate-User", "bob"), (header, value)]
    assert refusal(ALICE, *headers, allowed=["impersonate users bob"])[0] == 403


def test_nobody_becomes_a_master_by_the_narrow_permission() -> None:
    allowed = [
        "impersonate-on:user-info:list things",
        "impersonate:user-info users bob",
        "impersonate:user-info groups system:masters",
    ]
    code, message = refusal(
        ALICE, ("Impersonate-User", "bob"), ("Impersonate-Group", "system:masters"), allowed=allowed
    )
    assert (code, message.endswith("impersonating the system:masters group is not allowed")) == (403, True)


def test_an_identity_without_a_name_is_shown_as_a_real_server_shows_it() -> None:
    headers = [("Impersonate-Group", "devs"), ("Impersonate-Group", "ops"), ("Impersonate-Extra-Scope", "a")]
    assert refusal(ADMINISTRATOR, *headers) == (
        400,
        'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs", "ops"}, '
        'Extra:map[string][]string{"scope":[]string{"a"}}} without impersonating a user name',
    )


@pytest.mark.parametrize(
    "headers",
    [
        [("Impersonate-Group", "devs")],
        [("Impersonate-Uid", "1")],
        [("Impersonate-User", "bob"), ("Impersonate-User", "carol")],
        [("Impersonate-User", "bob"), ("Impersonate-Groups", "devs")],
        [("Impersonate-User", "bob\tcarol")],
        [("Impersonate-User", "bob"), *[("Impersonate-Group", f"g{n}") for n in range(65)]],
    ],
    ids=["group alone", "uid alone", "two users", "unknown header", "control character", "too many groups"],
)
def test_headers_that_make_no_sense_are_refused_even_to_administrators(headers: list[tuple[str, str]]) -> None:
    assert refusal(ADMINISTRATOR, *headers)[0] == 400
