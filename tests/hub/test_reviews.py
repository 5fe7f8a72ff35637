"""Reviews: answered by the authorizer and the authenticator, never stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.api import RESOURCES
from muster.hub.api import Api
from muster.hub.requests import API_AUDIENCE, AccessRules, Attributes, Decision, ObjectBody, Target, User, WriteOptions
from muster.hub.storage import Store
from tests.hub.a_hub import complaint, story

if TYPE_CHECKING:
    from collections.abc import Sequence

ALICE = User("alice", "2", ("devs", "system:authenticated"))


class Clerk:
    """Lets everybody ask; else allows devs to list clusters."""

    def __init__(self) -> None:
        self.asked: list[tuple[User, Attributes]] = []

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        if attributes.verb == "create" and attributes.resource.endswith("reviews"):
            return Decision(True)
        self.asked.append((user, attributes))
        if "devs" in user.groups and attributes.verb == "list":
            return Decision(True, 'RBAC: allowed by ClusterRoleBinding "mcr" of ClusterRole "mcr" to Group "devs"')
        return Decision(False)

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> list[str]:
        return list(names)

    async def rules(self, user: User, namespace: str) -> AccessRules:
        return AccessRules(({"verbs": ["list"], "apiGroups": ["x"], "resources": [namespace]},))


class Doorman:
    async def authenticate(self, token: str, audience: str = API_AUDIENCE) -> User | None:
        return ALICE if token == "alicetoken" else None


async def review(kind: str, spec: dict[str, Any] | None, clerk: Clerk, namespace: str = "") -> dict[str, Any]:
    resource = next(each for each in RESOURCES.values() if each.kind == kind)
    target = Target(resource, resource.storage_version, namespace)
    store = Store.open(None)
    api = Api(store, clerk, authenticator=Doorman())
    body: dict[str, Any] = {"apiVersion": target.api_version, "kind": kind}
    if spec is not None:
        body["spec"] = spec
    before = store.revision
    try:
        answer = (await api.create(ALICE, target, ObjectBody(body), WriteOptions(field_manager="t"))).decoded()
        assert store.revision == before
    finally:
        await store.close()
    return answer


@story
async def test_a_user_asks_about_itself() -> None:
    asked = {"verb": "list", "group": "g", "resource": "managedclusters"}
    clerk = Clerk()
    answer = await review("SelfSubjectAccessReview", {"resourceAttributes": asked}, clerk)
    assert answer["status"] == {
        "allowed": True,
        "reason": 'RBAC: allowed by ClusterRoleBinding "mcr" of ClusterRole "mcr" to Group "devs"',
    }
    assert answer["spec"] == {"resourceAttributes": asked}
    assert answer["metadata"]["managedFields"][0]["fieldsV1"] == {
        "f:spec": {"f:resourceAttributes": {".": {}, "f:group": {}, "f:resource": {}, "f:verb": {}}}
    }
    assert clerk.asked == [(ALICE, Attributes("list", "g", "", "managedclusters"))]


@story
async def test_somebody_asks_about_another() -> None:
    clerk = Clerk()
    spec = {"user": "bob", "groups": ["ops"], "nonResourceAttributes": {"verb": "get", "path": "/metrics"}}
    assert (await review("SubjectAccessReview", spec, clerk))["status"] == {"allowed": False}
    assert clerk.asked == [(User("bob", "", ("ops",)), Attributes("get", path="/metrics"))]
    local = {"user": "bob", "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}
    answer = await review("LocalSubjectAccessReview", local, clerk, "default")
    assert answer["metadata"]["namespace"] == "default"
    assert answer["status"] == {"allowed": False}


@story
async def test_a_review_that_asks_nothing_is_refused() -> None:
    assert await complaint(review("SelfSubjectAccessReview", {}, Clerk())) == (
        422,
        "Invalid",
        '.authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: null: '
        "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    )


@story
async def test_rules_are_those_of_the_namespace() -> None:
    answer = await review("SelfSubjectRulesReview", {"namespace": "default"}, Clerk())
    assert answer["status"] == {
        "resourceRules": [{"verbs": ["list"], "apiGroups": ["x"], "resources": ["default"]}],
        "nonResourceRules": [],
        "incomplete": False,
    }
    assert (answer["metadata"], answer["spec"]) == ({}, {})


@story
async def test_tokens_and_selves_are_told_who_they_are() -> None:
    answer = await review("TokenReview", {"token": "alicetoken"}, Clerk())
    assert answer["status"] == {
        "authenticated": True,
        "user": {"username": "alice", "uid": "2", "groups": ["devs", "system:authenticated"]},
        "audiences": ["https://kubernetes.default.svc"],
    }
    assert (await review("TokenReview", {"token": "nope"}, Clerk()))["status"] == {
        "user": {},
        "error": "invalid bearer token",
    }
    answer = await review("SelfSubjectReview", None, Clerk())
    assert answer["status"] == {
        "userInfo": {"username": "alice", "uid": "2", "groups": ["devs", "system:authenticated"]}
    }
    assert list(answer["metadata"]) == ["creationTimestamp"]
