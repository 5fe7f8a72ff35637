"""A hub with a small fleet, users of several rights, and answers from a world of the same objects."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from muster.controllers.hosts.world import AgentWorld
from muster.controllers.placements.preview import settle, world_of
from muster.controllers.resolutions.world import ResolutionWorld
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from muster.questions.observer import Observer
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint
from tests.controllers.questions.answering import NOW, answering
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muster.controllers.placements.world import PlacementWorld

GROUP = "cluster.open-cluster-management.io"
PLACEMENTS = f"/apis/{GROUP}/v1beta1/namespaces/apps/placements"
NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
_RBAC = "/apis/rbac.authorization.k8s.io/v1"
_SEEN = ("visible-1", "visible-2")
_CLUSTERS = [
    a_cluster("visible-1", {"cloud": "Amazon"}),
    a_cluster("visible-2", {"cloud": "Azure"}),
    a_cluster("secret-1", {"cloud": "Amazon"}),
    a_cluster("secret-2", {"cloud": "Azure"}),
    a_cluster("secret-3", {"cloud": "Amazon"}, taints=[a_taint("gpu")]),
]


def wanting(cloud: str, name: str = "p1", label: str = "cloud", **spec: Any) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {label: cloud}}}
    return a_placement(name, predicates=[{"requiredClusterSelector": selector}], **spec)


def asking(expression: str, name: str = "p1", **spec: Any) -> dict[str, Any]:
    selector = {"celSelector": {"celExpressions": [expression]}}
    return a_placement(name, predicates=[{"requiredClusterSelector": selector}], **spec)


@dataclass
class Asker:
    """A hub and its controllers, asked as one user or another."""

    hub: RunningHub
    state: Path

    def send(
        self, method: str, path: str, body: Any = None, user: str = "", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        sent = {"Content-Type": "application/json", **headers}
        if user:
            sent["Impersonate-User"] = user
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        code, answered, answer = self.hub.request(method, path, data, sent)
        return code, answered, json.loads(answer) if answer[:1] == b"{" else answer

    def get(self, name: str, query: str = "", user: str = "") -> Any:
        code, _, answer = self.send("GET", f"{PLACEMENTS}/{name}/explain{query}", user=user)
        assert code == 200, answer
        return answer

    def try_out(self, placement: dict[str, Any], query: str = "", user: str = "") -> Any:
        path = f"{PLACEMENTS}/{placement['metadata']['name']}/explain{query}"
        code, _, answer = self.send("POST", path, placement, user)
        assert code == 200, answer
        return answer


def grant(asker: Asker, user: str, name: str, *rules: dict[str, Any]) -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}
    binding = {
        **role,
        "kind": "ClusterRoleBinding",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    for path, obj in (("clusterroles", {**role, "rules": list(rules)}), ("clusterrolebindings", binding)):
        code, _, answer = asker.send("POST", f"{_RBAC}/{path}", obj)
        assert code == 201, answer


def on(resource: str, *verbs: str, names: tuple[str, ...] = ()) -> dict[str, Any]:
    rule = {"apiGroups": [GROUP], "resources": [resource], "verbs": list(verbs)}
    return rule | {"resourceNames": list(names)} if names else rule


def token_of(user: str) -> str:
    """For those who do not want to impersonate."""
    return f"the-token-of-{user}"


def asked_world() -> PlacementWorld:
    """What the hub has, as controllers would have it."""
    objects = [a_set("global"), a_binding("global"), *_CLUSTERS, wanting("Amazon"), a_placement("everything")]
    world = world_of(objects, NOW)
    settle(world, NOW)
    return world


def _answers(state: Path) -> contextlib.AbstractContextManager[None]:
    hosts, resolutions = AgentWorld(lambda _: None, lambda _: None), ResolutionWorld(lambda _: None, {})
    observer = partial(Observer, hosts=hosts, resolutions=resolutions)
    return answering(state / "controllers.json", asked_world(), observer=observer)


@contextlib.contextmanager
def asked_hub(state: Path) -> Iterator[Asker]:
    """dora may explain, try out and get some clusters; rhea may explain; writer writes and lists; hand only writes."""
    users = {token_of(name): User(name, groups=(AUTHENTICATED,)) for name in ("dora", "nobody")}
    with running_hub(state=state, users=users) as hub, _answers(state):
        asker = Asker(hub, state)
        created = [("/api/v1/namespaces", NAMESPACE)]
        created += [(f"/apis/{GROUP}/v1/managedclusters", each) for each in _CLUSTERS]
        created += [(f"/apis/{GROUP}/v1beta2/managedclustersets", a_set("global"))]
        created += [(f"/apis/{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("global"))]
        created += [(PLACEMENTS, wanting("Amazon")), (PLACEMENTS, a_placement("everything"))]
        for path, obj in created:
            code, _, answer = asker.send("POST", path, obj)
            assert code == 201, answer
        grant(asker, "dora", "explainer", on("placements/explain", "get", "create"))
        grant(asker, "dora", "some-clusters", on("managedclusters", "get", names=_SEEN))
        grant(asker, "rhea", "reader", on("placements/explain", "get"))
        writes = on("placements", "create", "update", "patch")
        grant(asker, "writer", "listing-writer", writes, on("managedclusters", "get", "list"))
        grant(asker, "hand", "blind-writer", writes)
        yield asker
