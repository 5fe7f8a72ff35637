"""For any roles, bindings and requests the engine decides as the rules of RBAC say, restated here in the plainest way.

The restatement knows no index: it looks at every binding, every subject and every rule, in the words of the Kubernetes
documentation. It shares nothing with the engine but the objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.access import grants
from muster.access.grants import RoleKey
from muster.access.policy import BindingKey, Policy
from muster.access.rules import Rule, allows, uncovered
from muster.hub.requests import Attributes, User

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]

VERBS = ["get", "list", "create", "delete"]
GROUPS = ["", "cluster.io", "rbac.io"]
RESOURCES = ["secrets", "clusters", "clusters/status", "sets", "sets/join"]
NAMES = ["a", "b", "c"]
NAMESPACES = ["apps", "ops"]
LABELS = ["red", "blue"]
URLS = ["/api", "/api/v1", "/metrics", "/healthz/ping"]
USERS = ["alice", "bob", "system:serviceaccount:apps:robot"]
TEAMS = ["devs", "admins"]


def some(values: list[str], *, star: bool = True, least: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([*values, "*"] if star else values), min_size=least, max_size=3)


resource_rules = st.fixed_dictionaries(
    {
        "verbs": some(VERBS, least=1),
        "apiGroups": some(GROUPS, least=1),
        "resources": st.lists(
            st.sampled_from([*RESOURCES, "*", "*/status", "*/join", "clusters/*"]), min_size=1, max_size=3
        ),
        "resourceNames": some(NAMES, star=False),
    }
)
url_rules = st.fixed_dictionaries(
    {
        "verbs": some(VERBS, least=1),
        "nonResourceURLs": st.lists(st.sampled_from([*URLS, "*", "/api/*", "/heal*"]), min_size=1, max_size=3),
    }
)
role_names = st.sampled_from(["r1", "r2", "r3", "r4"])
rules = st.lists(st.one_of(resource_rules, url_rules), max_size=3)
labels = st.dictionaries(st.sampled_from(LABELS), st.just("true"), max_size=2)


@st.composite
def cluster_roles(draw: st.DrawFn) -> Object:
    role: Object = {"metadata": {"name": draw(role_names), "labels": draw(labels)}, "rules": draw(rules)}
    if draw(st.integers(0, 3)) == 0:
        chosen = draw(st.lists(st.sampled_from(LABELS), max_size=2))
        selectors = [{"matchLabels": {label: "true"}} for label in chosen]
        role["aggregationRule"] = {"clusterRoleSelectors": selectors}
    return role


@st.composite
def roles(draw: st.DrawFn) -> Object:
    metadata = {"name": draw(role_names), "namespace": draw(st.sampled_from(NAMESPACES))}
    return {"metadata": metadata, "rules": draw(st.lists(resource_rules, max_size=3))}


subjects = st.lists(
    st.one_of(
        st.builds(lambda name: {"kind": "User", "name": name}, st.sampled_from(USERS)),
        st.builds(lambda name: {"kind": "Group", "name": name}, st.sampled_from(TEAMS)),
        st.builds(
            lambda where: {"kind": "ServiceAccount", "name": "robot", **where},
            st.sampled_from([{"namespace": "apps"}, {"namespace": "ops"}, {}]),
        ),
    ),
    max_size=3,
)


@st.composite
def bindings(draw: st.DrawFn) -> Object:
    namespace = draw(st.sampled_from(["", *NAMESPACES]))
    kind = "ClusterRole" if not namespace else draw(st.sampled_from(["ClusterRole", "Role"]))
    metadata = {"name": draw(st.sampled_from(["b1", "b2", "b3", "b4"]))}
    if namespace:
        metadata["namespace"] = namespace
    return {"metadata": metadata, "roleRef": {"kind": kind, "name": draw(role_names)}, "subjects": draw(subjects)}


users = st.builds(
    lambda name, groups: User(name, groups=tuple(groups)),
    st.sampled_from(USERS),
    st.lists(st.sampled_from(TEAMS), max_size=2, unique=True),
)


@st.composite
def questions(draw: st.DrawFn) -> Attributes:
    verb = draw(st.sampled_from([*VERBS, "watch"]))
    if draw(st.integers(0, 3)) == 0:
        return Attributes(verb, path=draw(st.sampled_from([*URLS, "/api/v2", "/healthz"])))
    resource, _, subresource = draw(st.sampled_from([*RESOURCES, "sets/status"])).partition("/")
    return Attributes(
        verb,
        draw(st.sampled_from(GROUPS)),
        "v1",
        resource,
        subresource,
        draw(st.sampled_from(["", *NAMESPACES])),
        draw(st.sampled_from(["", *NAMES, "z"])),
    )


# --- The rules, restated ----------------------------------------------------------------------------------------------


def rule_allows(rule: Object, asked: Attributes) -> bool:
    if asked.verb not in rule["verbs"] and "*" not in rule["verbs"]:
        return False
    if asked.path:
        for url in rule.get("nonResourceURLs", []):
            if url == asked.path or (url[-1] == "*" and asked.path[: len(url) - 1] == url[:-1]):
                return True
        return False
    if asked.group not in rule.get("apiGroups", []) and "*" not in rule.get("apiGroups", []):
        return False
    written = asked.resource + ("/" + asked.subresource if asked.subresource else "")
    for resource in rule.get("resources", []):
        everywhere = bool(asked.subresource) and resource == "*/" + asked.subresource
        if resource in ("*", written) or everywhere:
            return rule.get("resourceNames", []) == [] or asked.name in rule["resourceNames"]
    return False


def gathered(name: str, all_roles: dict[str, Object], seen: set[str]) -> list[Object]:
    """The rules of a cluster role; an aggregated one has those of the roles it selects and nothing else."""
    if name in seen:
        return []
    seen.add(name)
    role = all_roles[name]
    if "aggregationRule" not in role:
        return list(role["rules"])
    found = []
    for selector in role["aggregationRule"]["clusterRoleSelectors"]:
        for other, candidate in all_roles.items():
            wanted = selector["matchLabels"].items()
            if other != name and all(candidate["metadata"]["labels"].get(key) == value for key, value in wanted):
                found.extend(gathered(other, all_roles, seen))
    return found


def is_named(subject: Object, user: User, namespace: str) -> bool:
    if subject["kind"] == "User":
        return bool(subject["name"] == user.name)
    if subject["kind"] == "Group":
        return subject["name"] in user.groups
    home = subject.get("namespace") or namespace
    return bool(home) and user.name == f"system:serviceaccount:{home}:{subject['name']}"


def is_allowed(
    cluster: dict[str, Object],
    local: dict[tuple[str, str], Object],
    bound: list[Object],
    user: User,
    asked: Attributes,
) -> bool:
    for binding in bound:
        namespace = binding["metadata"].get("namespace", "")
        if namespace and namespace != asked.namespace:
            continue
        if not any(is_named(subject, user, namespace) for subject in binding["subjects"]):
            continue
        name = binding["roleRef"]["name"]
        if binding["roleRef"]["kind"] == "Role":
            found = local[namespace, name]["rules"] if (namespace, name) in local else []
        else:
            found = gathered(name, cluster, set()) if name in cluster else []
        if any(rule_allows(rule, asked) for rule in found):
            return True
    return False


# --- The laws ---------------------------------------------------------------------------------------------------------

changes = st.lists(
    st.one_of(
        st.tuples(st.just("put role"), st.one_of(cluster_roles(), roles())),
        st.tuples(st.just("put binding"), bindings()),
        st.tuples(st.just("remove role"), st.one_of(cluster_roles(), roles())),
        st.tuples(st.just("remove binding"), bindings()),
    ),
    max_size=25,
)


@pytest.fixture(scope="module", params=[grants.MANY_ROLES, 1], ids=["one by one", "in one table"])
def _many_roles(request: pytest.FixtureRequest) -> Iterator[None]:
    """Subjects with many roles are looked up in another way; here one role may already be many."""
    usual, grants.MANY_ROLES = grants.MANY_ROLES, request.param
    yield
    grants.MANY_ROLES = usual


@pytest.mark.slow
@pytest.mark.usefixtures("_many_roles")
@settings(max_examples=150, deadline=None)
@given(changes=changes, asked=st.lists(st.tuples(users, questions()), min_size=1, max_size=10))
def test_after_any_changes_the_engine_decides_as_the_rules_say(
    changes: list[tuple[str, Object]], asked: list[tuple[User, Attributes]]
) -> None:
    policy = Policy()
    cluster: dict[str, Object] = {}
    local: dict[tuple[str, str], Object] = {}
    bound: dict[BindingKey, Object] = {}
    for what, obj in changes:
        namespace, name = obj["metadata"].get("namespace", ""), obj["metadata"]["name"]
        if what == "put role":
            policy.put_role(obj)
            if namespace:
                local[namespace, name] = obj
            else:
                cluster[name] = obj
        elif what == "remove role":
            policy.remove_role(RoleKey(namespace, name))
            local.pop((namespace, name), None)
            if not namespace:
                cluster.pop(name, None)
        elif what == "put binding":
            policy.put_binding(obj)
            bound[BindingKey(namespace, name)] = obj
        else:
            policy.remove_binding(BindingKey(namespace, name))
            bound.pop(BindingKey(namespace, name), None)
    for user, question in asked:
        expected = is_allowed(cluster, local, list(bound.values()), user, question)
        assert (policy.decide(user, question) is not None) == expected, (user, question)
        named = {
            each
            for binding in policy.who_can(question)
            for each in binding.subjects
            if each.name in (user.name, *user.groups)
        }
        held = {("User", user.name), *(("Group", group) for group in user.groups)}
        assert bool(named & held) == expected


@settings(max_examples=300, deadline=None)
@given(owned=rules, wanted=rules, asked=questions())
def test_who_holds_every_part_of_some_rules_may_do_whatever_they_allow(
    owned: list[Object], wanted: list[Object], asked: Attributes
) -> None:
    members = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    have, want = (
        [Rule(*(tuple(rule.get(member, ())) for member in members)) for rule in each] for each in (owned, wanted)
    )
    if uncovered(have, want):
        return
    if any(allows(rule, asked) for rule in want):
        assert any(allows(rule, asked) for rule in have)
