"""Random requests of agents, against a model: an agent touches its own cluster only, and of that what is its own.

    python -m tests.hostile.agent_requests --count 10000 --seed 1

The requests go over HTTP to a hub with roles and admission, as the users that agents are. Some name objects that exist,
with random changes to what is stored, some name others. What happened is read from the store and judged by
`agent_model`, which shares no code with the hub; what was read is judged by where it is.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import http.client
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muster.controllers.registration import objects
from muster.hub.storage import Key
from tests.hostile import agent_model
from tests.hub.rest.running import RunningHub, running_hub
from tests.hub.signing.requests import pem, signing_request

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]
OCM = "cluster.open-cluster-management.io"
PREFIX = "system:open-cluster-management:"
CLUSTERS = ("c1", "c2", "c3")
NAMESPACES = (*CLUSTERS, "default", "kube-system")
CERTIFICATES = "certificates.k8s.io"
ALLOWED_READS = ("certificatesigningrequests",)  # whose list cannot be narrowed by a role; they hold nothing secret
# Where things are: group, version, plural, namespaced, subresources.
KINDS = (
    (OCM, "v1", "managedclusters", False, ("", "", "status", "status", "status")),
    (OCM, "v1beta2", "managedclustersets", False, ("", "join", "bind")),
    (OCM, "v1beta2", "managedclustersetbindings", True, ("",)),
    (OCM, "v1beta1", "placements", True, ("", "status")),
    (OCM, "v1beta1", "placementdecisions", True, ("", "status")),
    (OCM, "v1alpha1", "addonplacementscores", True, ("", "status")),
    (CERTIFICATES, "v1", "certificatesigningrequests", False, ("", "approval", "status")),
    ("coordination.k8s.io", "v1", "leases", True, ("",)),
    ("events.k8s.io", "v1", "events", True, ("",)),
    ("", "v1", "events", True, ("",)),
    ("", "v1", "namespaces", False, ("", "status", "finalize")),
    ("", "v1", "secrets", True, ("",)),
    ("", "v1", "configmaps", True, ("",)),
    ("", "v1", "serviceaccounts", True, ("", "token")),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", False, ("",)),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", False, ("",)),
    ("rbac.authorization.k8s.io", "v1", "rolebindings", True, ("",)),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", False, ("", "status")),
    ("multicluster.x-k8s.io", "v1alpha1", "clusterprofiles", True, ("", "status")),
    (objects.ADDONS, "v1alpha1", "managedclusteraddons", True, ("", "status", "status")),
    (objects.WORKS, "v1", "manifestworks", True, ("", "status", "status")),
)
_OWN = ("managedclusters", "leases", "events", "managedclusteraddons", "manifestworks", "certificatesigningrequests")
_OFTEN = tuple(each for each in KINDS if each[2] in _OWN)
_MERGE, _JSON, _APPLY = "application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"


@dataclass
class Tally:
    """What was asked and what came of it."""

    requests: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def told(self) -> str:
        return (
            f"{self.requests} requests: {dict(sorted(self.codes.items()))}\n"
            f"changes: {dict(sorted(self.changed.items()))}\n"
            f"crossings: {len(self.wrong)}"
        )


class Stage:
    """A hub with three clusters that have joined, and their agents."""

    def __init__(self, hub: RunningHub, dice: random.Random, tally: Tally) -> None:
        self.hub = hub
        self.dice = dice
        self.tally = tally
        self._connection = http.client.HTTPConnection(hub.host, hub.port, timeout=60)
        self._known: dict[Key, bytes] = {}
        self._revision = 0
        self._number = 0

    def begin(self) -> None:
        for definition in (objects.addon_definition(), _work_definition()):
            self._admin("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        for part in objects.PARTS:
            self._admin("/apis/rbac.authorization.k8s.io/v1/clusterroles", objects.shared_role(part))
        for name in CLUSTERS:
            self._let_in(name)
        list(self._changes())

    def _let_in(self, name: str) -> None:
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        self._admin("/api/v1/namespaces", objects.namespace(name))
        self._admin(f"{rbac}/clusterroles", objects.own_role(name, accepted=True))
        self._admin(f"{rbac}/clusterrolebindings", objects.own_binding(name))
        for part in objects.PARTS:
            self._admin(f"{rbac}/namespaces/{name}/rolebindings", objects.part_binding(name, part))
        spec = {"hubAcceptsClient": True, "leaseDurationSeconds": 60, "taints": [{"key": "a", "effect": "NoSelect"}]}
        metadata = {"name": name, "labels": {"region": "eu"}, "finalizers": ["example.com/kept"]}
        cluster = {"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster", "metadata": metadata, "spec": spec}
        self._admin(f"/apis/{OCM}/v1/managedclusters", cluster)
        accepted = [{"type": agent_model.ACCEPTED, "status": "True", "reason": "R", "message": "", **_SINCE}]
        path = f"/apis/{OCM}/v1/managedclusters/{name}/status"
        self._ask("PATCH", path, {"status": {"conditions": accepted}}, {"Content-Type": _MERGE})
        lease = objects.lease(name)
        self._admin(f"/apis/coordination.k8s.io/v1/namespaces/{name}/leases", lease)
        for group, version, plural, kind in (
            (objects.ADDONS, "v1alpha1", "managedclusteraddons", "ManagedClusterAddOn"),
            (objects.WORKS, "v1", "manifestworks", "ManifestWork"),
        ):
            obj = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": "one"}, "spec": {"a": 1}}
            self._admin(f"/apis/{group}/{version}/namespaces/{name}/{plural}", obj)

    def close(self) -> None:
        self._connection.close()

    def _admin(self, path: str, body: Object) -> None:
        code, answer = self._ask("POST", path, body, {})
        assert code == 201, answer

    def _ask(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.hub.token}", "Content-Type": "application/json", **headers}
        self._connection.request(method, path, body=data, headers=sent)
        answer = self._connection.getresponse()
        content = answer.read()
        return answer.status, json.loads(content) if content else None

    # --- One request

    def turn(self) -> None:
        dice = self.dice
        cluster = dice.choice(CLUSTERS)
        agent = {"Impersonate-User": f"{PREFIX}{cluster}:a1", "Impersonate-Group": f"{PREFIX}{cluster}"}
        group, version, plural, namespaced, subresources = dice.choice(_OFTEN if dice.random() < 0.6 else KINDS)
        namespace = (cluster if dice.random() < 0.75 else dice.choice(NAMESPACES)) if namespaced else ""
        name = self._name(group, plural, namespace, cluster)
        prefix = f"/apis/{group}/{version}" if group else f"/api/{version}"
        collection = f"{prefix}/namespaces/{namespace}/{plural}" if namespace else f"{prefix}/{plural}"
        subresource = dice.choice(subresources)
        one = f"{collection}/{name}" + (f"/{subresource}" if subresource else "")
        method = dice.choice(("GET", "POST", "PUT", "PUT", "PATCH", "PATCH", "PATCH", "DELETE"))
        path = collection if method == "POST" and not (subresource and dice.random() < 0.5) else one
        if method in ("GET", "DELETE") and dice.random() < 0.3:
            path = collection
        stored = self._stored(group, plural, namespace, name)
        body, content_type = self._body(method, (group, version, plural), Key(plural, namespace, name), stored, cluster)
        query = "?fieldManager=agent&force=true" if content_type == _APPLY else ""
        code, answer = self._ask(method, f"{path}{query}", body, {**agent, "Content-Type": content_type})
        self.tally.requests += 1
        self.tally.codes[code] += 1
        self._judge(cluster, f"{method} {path} {json.dumps(body)[:300]}")
        if method == "GET" and code == 200:
            self._judge_read(cluster, plural, path, answer)

    def _name(self, group: str, plural: str, namespace: str, cluster: str) -> str:
        dice = self.dice
        key = f"{plural}.{group}" if group else plural
        there = [record.key.name for record in self.hub.store.scan(key, namespace or None)]
        if there and dice.random() < 0.9:
            return cluster if cluster in there and dice.random() < 0.75 else dice.choice(there)
        self._number += 1
        return f"new-{self._number}"

    def _stored(self, group: str, plural: str, namespace: str, name: str) -> Object | None:
        record = self.hub.store.get(Key(f"{plural}.{group}" if group else plural, namespace, name))
        return None if record is None else json.loads(record.value)

    def _body(
        self, method: str, kind_of: tuple[str, str, str], place: Key, stored: Object | None, cluster: str
    ) -> tuple[Any, str]:
        dice, (group, version, plural), namespace, name = self.dice, kind_of, place.namespace, place.name
        if method in ("GET", "DELETE"):
            return None, "application/json"
        if plural == "certificatesigningrequests" and method == "POST":
            return self._a_request(cluster), "application/json"
        kind = _KIND_OF.get(plural, "Thing")
        if plural == "events":
            kind_of_event = {"events.k8s.io": _NEW_EVENT, "": _OLD_EVENT}[group]
            stored = stored or copy.deepcopy(kind_of_event)
            regarded = "regarding" if group else "involvedObject"
            stored[regarded] = {"namespace": namespace, "kind": "Pod", "name": "p"}
        obj = stored or {"metadata": {}, "spec": {}}
        obj = {"apiVersion": f"{group}/{version}" if group else version, "kind": kind, **obj}
        obj["metadata"] = {**obj["metadata"], "name": name}
        changed = copy.deepcopy(obj)
        for _ in range(dice.choice((1, 1, 1, 1, 1, 2))):
            _change(changed, dice)
        if method != "PATCH":
            if method == "POST":
                changed["metadata"].pop("resourceVersion", None)
            return changed, "application/json"
        match dice.choice((_MERGE, _MERGE, _JSON, _APPLY)):
            case "application/json-patch+json":
                parts = [key for key in changed if changed[key] != obj.get(key)] or ["metadata"]
                return [{"op": "add", "path": f"/{key}", "value": changed[key]} for key in parts], _JSON
            case "application/apply-patch+yaml":
                changed["metadata"] = {k: v for k, v in changed["metadata"].items() if k != "managedFields"}
                return changed, _APPLY
            case _:
                patch = {key: value for key, value in changed.items() if value != obj.get(key)}
                if dice.random() < 0.5:
                    patch.setdefault("metadata", {}).pop("resourceVersion", None)
                return patch, _MERGE

    def _a_request(self, cluster: str) -> Object:
        self._number += 1
        other = self.dice.choice(CLUSTERS)
        found = signing_request(f"r-{self._number}", pem(f"{PREFIX}{other}:a1", f"{PREFIX}{other}"))
        labels = {agent_model.LABEL: self.dice.choice((cluster, cluster, other))} if self.dice.random() < 0.9 else {}
        return {**found, "metadata": {"name": f"r-{self._number}", "labels": labels}}

    # --- The verdict

    def _judge(self, cluster: str, request: str) -> None:
        for change in self._changes():
            plural, namespace, name, old, new = change
            self.tally.changed[plural] += 1
            why = agent_model.wrong(cluster, plural, namespace, name, old, new)
            if why:
                self.tally.wrong.append(f"the agent of {cluster}: {why}; by {request}")

    def _changes(self) -> Iterator[tuple[str, str, str, Object | None, Object | None]]:
        """Every object of every kind that is another than when this was last asked."""
        if self.hub.store.revision == self._revision:
            return
        self._revision = self.hub.store.revision
        now: dict[Key, bytes] = {}
        for kind in self.hub.store.statistics().objects:
            now |= {record.key: record.value for record in self.hub.store.scan(kind)}
        for key in {**self._known, **now}:
            before, after = self._known.get(key), now.get(key)
            if before != after:
                old = None if before is None else json.loads(before)
                yield key.resource.partition(".")[0], key.namespace, key.name, old, json.loads(after) if after else None
        self._known = now

    def _judge_read(self, cluster: str, plural: str, path: str, answer: Any) -> None:
        items = answer.get("items") if isinstance(answer, dict) and "items" in answer else [answer]
        for each in items or ():
            metadata = each.get("metadata", {}) if isinstance(each, dict) else {}
            place = metadata.get("namespace") or metadata.get("name")
            if plural not in ALLOWED_READS and place != cluster:
                self.tally.wrong.append(f"the agent of {cluster} has read {path}: {place}")


_SINCE = {"lastTransitionTime": "2026-11-18T00:00:00Z"}
_KIND_OF = {
    "managedclusters": "ManagedCluster",
    "leases": "Lease",
    "events": "Event",
    "managedclusteraddons": "ManagedClusterAddOn",
    "manifestworks": "ManifestWork",
    "namespaces": "Namespace",
    "secrets": "Secret",
    "configmaps": "ConfigMap",
    "clusterroles": "ClusterRole",
    "clusterrolebindings": "ClusterRoleBinding",
    "rolebindings": "RoleBinding",
    "placements": "Placement",
    "managedclustersets": "ManagedClusterSet",
    "certificatesigningrequests": "CertificateSigningRequest",
}
_OLD_EVENT: Object = {"metadata": {}, "involvedObject": {}, "reason": "R", "message": "m", "type": "Normal"}
_NEW_EVENT: Object = {
    "metadata": {},
    "regarding": {},
    "eventTime": "2026-11-18T00:00:00.000000Z",
    "action": "A",
    "reason": "R",
    "type": "Normal",
    "note": "n",
    "reportingController": "example.com/agent",
    "reportingInstance": "i",
}


def _change(obj: Object, dice: random.Random) -> None:
    """One of the things that an agent may want to do to an object, its own or not."""
    metadata = obj.setdefault("metadata", {})
    number = str(dice.randint(0, 9))
    match dice.randint(0, 11):
        case 0:
            metadata["labels"] = {**(metadata.get("labels") or {}), "region": f"r{number}"}
        case 1:
            metadata["annotations"] = {"muster.dev/agent": "true", "note": number}
        case 2:
            metadata["finalizers"] = []
        case 3:
            metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": number}]
        case 4:
            obj["spec"] = {**_map(obj.get("spec")), "hubAcceptsClient": dice.random() < 0.5}
        case 5:
            obj["spec"] = {**_map(obj.get("spec")), "taints": []}
        case 6:
            obj["spec"] = {**_map(obj.get("spec")), "leaseDurationSeconds": int(number) + 1}
        case 7:
            address = {"url": f"https://{number}.example.com"}
            obj["spec"] = {**_map(obj.get("spec")), "managedClusterClientConfigs": [address]}
        case 8:
            condition = {"type": agent_model.ACCEPTED, "status": "False", "reason": "Mine", "message": "", **_SINCE}
            obj["status"] = {**_map(obj.get("status")), "conditions": [condition]}
        case 9:
            kept = [each for each in _map(obj.get("status")).get("conditions") or [] if isinstance(each, dict)]
            kept = [each for each in kept if each.get("type") == agent_model.ACCEPTED]
            said = {"type": "Said", "status": "True", "reason": f"R{number}", "message": "", **_SINCE}
            obj["status"] = {**_map(obj.get("status")), "conditions": [*kept, said]}
        case 10:
            obj["status"] = {**_map(obj.get("status")), "capacity": {"cpu": number}}
        case _:
            obj["spec"] = {**_map(obj.get("spec")), "renewTime": f"2026-11-18T00:00:0{number}.000000Z", "a": number}


def _map(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _work_definition() -> Object:
    text = json.dumps(objects.addon_definition())
    text = text.replace(objects.ADDONS, objects.WORKS).replace("managedclusteraddon", "manifestwork")
    text = text.replace("ManagedClusterAddOn", "ManifestWork").replace("v1alpha1", "v1")
    text = text.replace('"mca", "mcas"', '"mw"')
    found: Object = json.loads(text)
    return found


def run(count: int, seed: int) -> Tally:
    tally = Tally()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        hub = stack.enter_context(running_hub(state=folder))
        stage = Stage(hub, random.Random(seed), tally)
        stack.callback(stage.close)
        stage.begin()
        for _ in range(count):
            stage.turn()
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.agent_requests")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    started = time.monotonic()
    tally = run(asked.count, asked.seed)
    print(f"{tally.told()}; {time.monotonic() - started:.0f} s")
    for each in tally.wrong[:20]:
        print(f"  {each}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
