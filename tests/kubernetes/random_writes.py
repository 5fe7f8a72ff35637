"""Random writes by random users, and the two verdicts: the hub's and a kube-apiserver's.

Both servers begin empty with the same roles and get the same writes, so that they stay alike as long as they agree.
Who asks, what is written and by which kind of request are drawn from one seed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from muster.selectors.membership import DEFAULT_KEY
from tests.kubernetes.calling import (
    APPLY,
    CLUSTERS,
    GROUP,
    JSON_PATCH,
    SETS,
    a_binding,
    a_cluster,
    a_rule,
    a_set,
    bindings,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from muster.values.json import JsonObject
    from tests.kubernetes.calling import Answer
    from tests.kubernetes.homes import Home

NAMESPACE: Final = "verdicts"
_CONFLICT: Final = 409
_REGISTER: Final = "register.open-cluster-management.io"
_WRITE: Final = "create,get,update,patch,delete"
_KEYS: Final = ("region", "tier", "example.com/team")
_NAMES: Final = ("apac", "us", "gold", "silver", "red")
_DEFAULTS: Final = ("default", "prod", "apac", "nowhere", "")
_CLUSTERS: Final = ("c0", "c1", "c2", "c3", "c4", "with.dots")
_TIME: Final = "2026-01-01T00:00:00Z"
_BUILT_IN: Final = frozenset({"default", "global"})  # sets that controllers keep
_URLS: Final = ("https://a.example.com:6443", "http://a.example.com", "HTTPS://[::1]", "ftp://x", "https:x", "", "%zz")

ROLES: Final[dict[str, tuple[JsonObject, ...]]] = {
    "everything": (
        a_rule("*", "*"),
        a_rule("update", "managedclusters/accept", group=_REGISTER),
    ),
    "dev1": (a_rule(_WRITE, "managedclusters"), a_rule("create", "managedclustersets/join", "default", "apac")),
    "dev2": (
        a_rule("create,get,update,patch", "managedclusters"),
        a_rule("create", "managedclustersets/join", "default", "gold", "nowhere", "red"),
        a_rule("update", "managedclusters/accept", "c1", "c2", group=_REGISTER),
    ),
    "sre1": (
        a_rule(_WRITE, "managedclusters,managedclustersets"),
        a_rule("create", "managedclustersets/exclusiveKey", "region", "example.com/team"),
        a_rule("create", "managedclustersets/join", "apac", "us", "prod"),
    ),
    "agent-mc1": (
        a_rule("get,update,patch", "managedclusters", "c0"),
        a_rule("patch", "managedclusters/status", "c0"),
        a_rule("create", "managedclustersets/join", "apac"),
    ),
    "maker": (
        a_rule("get,list", "managedclusters"),
        a_rule("create,get,update,patch,delete", "managedclustersets"),
        a_rule("create", "managedclustersets/exclusiveKey", "tier"),
    ),
    "binder": (a_rule(_WRITE, "managedclustersetbindings"), a_rule("create", "managedclustersets/bind", "gold", "us")),
    "joiner": (
        a_rule("create,get,update,patch", "managedclusters"),
        a_rule("create", "managedclustersets/join"),
    ),
}


@dataclass(frozen=True, slots=True)
class RandomWrite:
    """A request, the same for both homes but for what a PUT has to start from."""

    user: str
    method: str
    path: str
    body: Any = None
    content_type: str = ""
    dry_run: bool = False
    changed: Callable[[JsonObject], None] | None = field(default=None, compare=False)  # of a PUT, on what is stored

    def __str__(self) -> str:
        return f"{self.user}: {self.method} {self.path} {self.body}{' (dry run)' if self.dry_run else ''}"

    def sent(self, home: Home) -> Answer:
        user = home.caller(self.user)
        if self.changed is None:
            return user.send(self.method, self.path, self.body, self.content_type, dry_run=self.dry_run)
        while True:
            stored = home.admin.send("GET", self.path)
            if not stored.is_allowed:
                return stored
            self.changed(stored.body)
            answer = user.send(self.method, self.path, stored.body, dry_run=self.dry_run)
            if answer.code != _CONFLICT:  # else controllers have written in between: look again, as anybody would
                return answer


def draw(dice: random.Random) -> RandomWrite:
    """The next write."""
    user = dice.choice(tuple(ROLES))
    dry_run = dice.random() < 0.1
    make = dice.choices((_cluster_write, _set_write, _binding_write), (6, 3, 1))[0]
    return make(dice, user, dry_run)


def _labels(dice: random.Random) -> dict[str, Any]:
    """Some labels, of keys that sets have and of others; None where a merge patch takes one away."""
    labels: dict[str, Any] = {}
    for key in _KEYS:
        if dice.random() < 0.4:
            labels[key] = dice.choice((*_NAMES, "nowhere", ""))
    if dice.random() < 0.4:
        labels[DEFAULT_KEY] = dice.choice(_DEFAULTS)
    if dice.random() < 0.3:
        labels["other"] = dice.choice(_NAMES)
    return labels


def _taint(dice: random.Random) -> dict[str, Any]:
    """One as users may write it, or with a time, which is the server's to say."""
    times = {"timeAdded": _TIME} if dice.random() < 0.3 else {}
    return {"key": dice.choice(("slow", "old")), "effect": dice.choice(("NoSelect", "PreferNoSelect")), **times}


def _cluster_write(dice: random.Random, user: str, dry_run: bool) -> RandomWrite:
    name = dice.choice(_CLUSTERS)
    path = f"{CLUSTERS}/{name}"
    spec: dict[str, Any] = {}
    if dice.random() < 0.2:
        spec["hubAcceptsClient"] = dice.random() < 0.7
    if dice.random() < 0.15:
        spec["managedClusterClientConfigs"] = [{"url": dice.choice(_URLS)} for _ in range(dice.randrange(3))]
    if dice.random() < 0.15:
        spec["taints"] = [_taint(dice)]
    labels = _labels(dice)
    match dice.choices(
        ("create", "merge", "json", "put", "apply", "status", "owners", "delete"), (5, 8, 2, 3, 3, 1, 1, 2)
    )[0]:
        case "create":
            return RandomWrite(user, "POST", CLUSTERS, a_cluster(name, labels, **spec), dry_run=dry_run)
        case "merge":
            changes = {key: None if dice.random() < 0.4 else value for key, value in labels.items()}
            return RandomWrite(user, "PATCH", path, {"metadata": {"labels": changes}, "spec": spec}, dry_run=dry_run)
        case "json":
            patch = [{"op": "replace", "path": "/metadata/labels", "value": labels}]
            return RandomWrite(user, "PATCH", path, patch, JSON_PATCH, dry_run)
        case "put":

            def change(stored: JsonObject) -> None:
                stored["metadata"]["labels"] = labels
                stored["spec"] |= spec

            return RandomWrite(user, "PUT", path, {"labels": labels, "spec": spec}, dry_run=dry_run, changed=change)
        case "apply":
            body = a_cluster(name, labels, **spec)
            return RandomWrite(user, "PATCH", f"{path}?fieldManager={user}&force=true", body, APPLY, dry_run)
        case "status":
            body = {"metadata": {"labels": labels}, "status": {"version": {"kubernetes": f"v1.{dice.randrange(40)}"}}}
            return RandomWrite(user, "PATCH", f"{path}/status", body, dry_run=dry_run)
        case "owners":
            owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": f"u{dice.randrange(2)}"}
            patch_body = {"metadata": {"ownerReferences": dice.choice(([owner], None))}}
            return RandomWrite(user, "PATCH", path, patch_body, dry_run=dry_run)
        case _:
            return RandomWrite(user, "DELETE", path, dry_run=dry_run)


def _set_write(dice: random.Random, user: str, dry_run: bool) -> RandomWrite:
    name = dice.choice((*_NAMES, "prod", "x" * 70))
    path = f"{SETS}/{name}"
    spec: dict[str, Any] = {}
    if dice.random() < 0.8:
        spec["exclusiveKey"] = dice.choice((*_KEYS, *_KEYS, DEFAULT_KEY, "", "-wrong-"))
    if dice.random() < 0.2:
        labels = {"matchLabels": {"a": "b"}}
        spec["clusterSelector"] = dice.choice(
            ({"selectorType": "LabelSelector", "labelSelector": labels}, {"selectorType": "ExclusiveClusterSetLabel"})
        )
    if dice.random() < 0.05:
        spec["clusterLabel"] = {"key": "a", "value": "b"}
    match dice.choices(("create", "merge", "apply", "delete"), (5, 3, 1, 2))[0]:
        case "create":
            return RandomWrite(user, "POST", SETS, a_set(name, **spec), dry_run=dry_run)
        case "merge":
            return RandomWrite(user, "PATCH", path, {"spec": spec}, dry_run=dry_run)
        case "apply":
            body = a_set(name, **spec)
            return RandomWrite(user, "PATCH", f"{path}?fieldManager={user}&force=true", body, APPLY, dry_run)
        case _:
            return RandomWrite(user, "DELETE", path, dry_run=dry_run)


def _binding_write(dice: random.Random, user: str, dry_run: bool) -> RandomWrite:
    user = dice.choice((user, "binder", "binder"))  # hardly anybody else may touch one at all
    name = dice.choice(("gold", "us", "apac"))
    other = dice.choice((name, name, "gold", "nowhere"))
    path = f"{bindings(NAMESPACE)}/{name}"
    match dice.choices(("create", "merge", "delete"), (4, 2, 1))[0]:
        case "create":
            return RandomWrite(user, "POST", bindings(NAMESPACE), a_binding(name, other), dry_run=dry_run)
        case "merge":
            return RandomWrite(user, "PATCH", path, {"spec": {"clusterSet": other}}, dry_run=dry_run)
        case _:
            return RandomWrite(user, "DELETE", path, dry_run=dry_run)


def verdict(answer: Answer) -> str:
    """What a user notices: whether it happened, was forbidden, was wrong, or was about something else."""
    if answer.is_allowed:
        return "allowed"
    return {400: "wrong", 422: "wrong", 403: "forbidden"}.get(answer.code, str(answer.code))


def state_of(home: Home) -> dict[str, Any]:
    """Everything that users wrote, without what a server or a controller adds of its own."""
    found: dict[str, Any] = {}
    for path in (CLUSTERS, SETS, bindings(NAMESPACE)):
        for each in home.admin.ok("GET", path)["items"]:
            metadata, spec = each["metadata"], dict(each.get("spec", {}))
            if path == SETS and metadata["name"] in _BUILT_IN:
                continue
            if taints := [_untimed(taint) for taint in spec.pop("taints", ()) if GROUP not in taint["key"]]:
                spec["taints"] = taints
            kept = {"labels": metadata.get("labels"), "owners": metadata.get("ownerReferences"), "spec": spec}
            found[f"{path}/{metadata['name']}"] = kept
    return found


def _untimed(taint: dict[str, Any]) -> dict[str, Any]:
    """The taint, and whether it has a time; which one it is differs from server to server."""
    return taint | {"timeAdded": bool(taint.get("timeAdded"))}
