"""What a question may range over on Kubernetes: one review for all, then names that roles give, then a clear word."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from muster.hub.question_scopes import Scopes
from muster.hub.requests import User
from muster.hub.status import StatusError
from muster.kubernetes.serving.authorizer import RBAC, ReviewingAuthorizer
from muster.kubernetes.serving.mirrored_objects import MirroredObjects
from muster.kubernetes.serving.reviews import AccessReviews
from tests.builders import a_cluster
from tests.kubernetes.fakes import FakeServer

if TYPE_CHECKING:
    from muster.questions.asked import Scope

OCM = "cluster.open-cluster-management.io"
CLUSTERS = f"managedclusters.{OCM}"
SETS = f"managedclustersets.{OCM}"
TENANT = User("tenant", groups=("tenants",))


def a_role(*names: str, verbs: tuple[str, ...] = ("get",)) -> dict[str, Any]:
    rule = {"apiGroups": [OCM], "resources": ["managedclusters"], "verbs": list(verbs), "resourceNames": list(names)}
    return {"kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [rule]}


BOUND = {
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "b"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "tenant"}],
}


def an_authorizer(server: FakeServer, clusters: int, roles: tuple[dict[str, Any], ...] | None) -> ReviewingAuthorizer:
    """`roles` None: we may not read them."""
    store = MirroredObjects()
    fleet = [json.dumps(a_cluster(f"c{number}")).encode() for number in range(clusters)]
    store.feeding(CLUSTERS).replace(fleet, "1")
    for resource in ("namespaces", SETS):
        store.feeding(resource).replace([], "1")
    if roles is not None:
        for resource in RBAC:
            kind = {"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding"}.get(
                resource.partition(".")[0], ""
            )
            objects = [json.dumps(each).encode() for each in roles if each["kind"] == kind]
            store.feeding(resource).replace(objects, "1")
    return ReviewingAuthorizer(store, AccessReviews(server.client, 10.0))


def scope_of(authorizer: ReviewingAuthorizer) -> Scope:
    return asyncio.run(Scopes(authorizer.store, authorizer).of_clusters(TENANT))


def test_one_review_is_enough_for_those_who_may_get_everything() -> None:
    server = FakeServer(may=lambda _, verb, resource, name: (verb, resource, name) == ("get", CLUSTERS, ""))
    assert scope_of(an_authorizer(server, 10_000, None)).everything
    assert server.asked.count(("tenant", "get", CLUSTERS, "")) == 1


def test_names_in_roles_count_where_the_server_says_so_too() -> None:
    server = FakeServer(may=lambda _, verb, resource, name: (verb, resource, name) == ("get", CLUSTERS, "c1"))
    found = scope_of(an_authorizer(server, 10_000, (a_role("c1", "c2"), BOUND)))
    assert (found.everything, found.names) == (False, frozenset({"c1"}))
    assert len([each for each in server.asked if each[3]]) == 2, "nobody is asked about ten thousand clusters"


def test_roles_of_others_name_nobody() -> None:
    server = FakeServer(may=lambda *_: False)
    binding = {**BOUND, "subjects": [{"kind": "User", "name": "other", "apiGroup": "rbac.authorization.k8s.io"}]}
    assert scope_of(an_authorizer(server, 50, (a_role("c1"), binding))).names == frozenset()


def test_without_roles_a_small_fleet_is_asked_for_by_name() -> None:
    server = FakeServer(may=lambda _user, _verb, resource, name: (resource, name) == (CLUSTERS, "c7"))
    assert scope_of(an_authorizer(server, 200, None)).names == frozenset({"c7"})


@pytest.mark.parametrize("roles", [None, (a_role(*(f"c{number}" for number in range(201))), BOUND)])
def test_more_names_than_are_asked_for_are_refused_with_a_clear_word(roles: Any) -> None:
    server = FakeServer()
    with pytest.raises(StatusError) as refused:
        scope_of(an_authorizer(server, 201, roles))
    assert refused.value.code == 403
    assert "only up to 200" in str(refused.value)
    assert f"a role that lets tenant get all {CLUSTERS}" in str(refused.value)


def test_a_permission_is_asked_for_again_after_a_while() -> None:
    moment = [0.0]
    server = FakeServer(may=lambda *_: True)
    reviews = AccessReviews(server.client, 10.0, lambda: moment[0])

    async def asked() -> None:
        for at in (0.0, 9.0, 11.0):
            moment[0] = at
            assert await reviews.missing(TENANT, "get", CLUSTERS, ("c1",), most=5) == []

    asyncio.run(asked())
    assert len(server.asked) == 2


def test_another_user_or_group_is_another_question() -> None:
    server = FakeServer(may=lambda user, *_: user == "tenant")
    reviews = AccessReviews(server.client, 10.0)

    async def asked(user: User) -> bool:
        return not await reviews.missing(user, "get", CLUSTERS, ("c1",), most=5)

    async def all_of_them() -> list[bool]:
        others = (User("tenant2"), User("tenant", groups=("x",)), User("tenant", extra={"k": ("v",)}))
        return [await asked(TENANT), *[await asked(each) for each in others]]

    assert asyncio.run(all_of_them()) == [True, False, True, True]
    assert len(server.asked) == 4


def test_an_object_that_nobody_mirrors_is_not_an_absent_one() -> None:
    with pytest.raises(StatusError) as refused:
        list(MirroredObjects().scan(CLUSTERS))
    assert refused.value.code == 503
