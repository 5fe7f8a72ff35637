"""Our kinds and our policies on a server, and when they have come into force.

A kube-apiserver reads policies, their parameters, roles and definitions from caches of its own: what was written a
moment ago counts a moment later. Whoever compares verdicts waits with `until_guarded` and `until_known`.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.api.crds import definition
from muster.kubernetes.policies import policies
from muster.kubernetes.settings import DEFAULTS
from tests.kubernetes.calling import CLUSTERS, GROUP, SETS, Caller, a_binding, a_cluster, a_rule, a_set, bindings, grant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from muster.kubernetes.settings import HomeSettings
    from muster.values.json import JsonObject
    from tests.kubernetes.server import Server

PROBER: Final = "prober"
_KEY: Final = "muster.invalid/probe"
_PATIENCE: Final = 120  # seconds; on a busy machine a Pod takes its time


def crds() -> list[JsonObject]:
    """The definitions of our kinds, each with the version that is stored: nobody converts here."""
    found = []
    for resource in RESOURCES.values():
        if resource.builtin or resource.virtual or resource.custom:
            continue
        spec = dict(definition(resource, "")["spec"])
        spec["versions"] = [version for version in spec["versions"] if version["storage"]]
        head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
        found.append({**head, "metadata": {"name": resource.key}, "spec": spec})
    return found


def path_of(obj: JsonObject) -> str:
    """Where an object without a namespace is."""
    kind: str = obj["kind"]
    plural = f"{kind[:-1].lower()}ies" if kind.endswith("y") else f"{kind.lower()}s"
    return f"/apis/{obj['apiVersion']}/{plural}/{obj['metadata']['name']}"


def apply_all(admin: Caller, objects: Iterable[JsonObject]) -> None:
    for each in objects:
        admin.apply(path_of(each), each)


def eventually(
    question: Callable[[], bool], what: str, patience: float = _PATIENCE, pauses: tuple[float, float] = (0.002, 0.1)
) -> float:
    """Wait until something is so; how many seconds that took. The pauses between two questions grow: who asks all the
    time takes the processor from those whom it waits for."""
    started, (pause, longest) = time.monotonic(), pauses
    while not question():
        if time.monotonic() - started > patience:
            raise AssertionError(f"{what}: not after {patience} s")
        time.sleep(pause)
        pause = min(pause * 1.5, longest)
    return time.monotonic() - started


@contextlib.contextmanager
def called(server: Server, user: str = "") -> Iterator[Caller]:
    caller = Caller(server.user(user) if user else server.kubeconfig)
    try:
        yield caller
    finally:
        caller.close()


def labels_by_policy(admin: Caller) -> bool:
    """Whether a policy sets the default label: from Kubernetes 1.36 on; before, our webhook does."""
    found = admin.ok("GET", "/apis/admissionregistration.k8s.io/v1")["resources"]
    return any(each["kind"] == "MutatingAdmissionPolicy" for each in found)


def install(server: Server, settings: HomeSettings = DEFAULTS) -> None:
    """Kinds and policies, in force when this returns."""
    with called(server) as admin:
        definitions = crds()
        apply_all(admin, definitions)
        for each in definitions:
            _until_served(admin, each["spec"])
        labels = labels_by_policy(admin)
        apply_all(admin, (each for each in policies(settings) if labels or not each["kind"].startswith("Mutating")))
        until_guarded(server, admin, labels=labels)


def _until_served(admin: Caller, spec: JsonObject) -> None:
    path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}?limit=1"
    eventually(lambda: admin.send("GET", path).is_allowed, f"{path} is served")


def until_guarded(server: Server, admin: Caller, *, labels: bool = True) -> None:
    """Until every policy refuses what it is there to refuse. `prober` may write, and has none of our permissions but to
    join `default`. `labels`: a policy sets the default label, as from 1.36 on."""
    grant(
        admin,
        PROBER,
        a_rule("create,update,patch,get", "managedclusters,managedclustersets,managedclustersetbindings"),
        a_rule("create", "managedclustersets/join", "default"),
    )
    # For a moment a kind that is served already is not known to the policies yet, and writes of it get a 503.
    eventually(lambda: admin.send("POST", SETS, a_set("probe", exclusiveKey=_KEY)).is_allowed, "sets can be written")
    eventually(lambda: admin.send("POST", CLUSTERS, a_cluster("probe")).is_allowed, "clusters can be written")
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": "probe"}
    with called(server, PROBER) as prober:
        probes: dict[str, Callable[[], bool]] = {
            "muster-join-default-key": lambda: _refused(prober, CLUSTERS, a_cluster("p", {f"{GROUP}/clusterset": "x"})),
            "muster-join": lambda: _refused(prober, CLUSTERS, a_cluster("p", {_KEY: "probe"})),
            "muster-accept": lambda: _refused(prober, CLUSTERS, a_cluster("p", hubAcceptsClient=True)),
            "muster-exclusive-key": lambda: _refused(prober, SETS, a_set("p", exclusiveKey=_KEY)),
            "muster-bind": lambda: _refused(prober, bindings("default"), a_binding("p")),
            "muster-owners": lambda: (
                not prober.send(
                    "PATCH", f"{CLUSTERS}/probe", {"metadata": {"ownerReferences": [owner]}}, dry_run=True
                ).is_allowed
            ),
        }
        for name, probe in probes.items():
            eventually(probe, f"{name} is in force")
        if labels:
            eventually(lambda: _is_defaulted(prober), "muster-default-set is in force")
    admin.ok("DELETE", f"{CLUSTERS}/probe")
    admin.ok("DELETE", f"{SETS}/probe")


def _refused(prober: Caller, path: str, body: JsonObject) -> bool:
    answer = prober.send("POST", path, body, dry_run=True)
    return answer.code == 403 and "ValidatingAdmissionPolicy" in answer.message


def _is_defaulted(prober: Caller) -> bool:
    answer = prober.send("POST", CLUSTERS, a_cluster("p"), dry_run=True)
    return answer.is_allowed and "labels" in answer.body["metadata"]


def until_known(prober: Caller, key: str, name: str, *, guards: bool = True) -> float:
    """Until the policies know that a set of this key and name is there, or is not; how many seconds that took."""

    def question() -> bool:
        return prober.send("POST", CLUSTERS, a_cluster("p", {key: name}), dry_run=True).is_allowed != guards

    told = f"the set {name} by {key} {'guards' if guards else 'is forgotten'}"
    return eventually(question, told, pauses=(0.002, 0.002))  # who measures it asks all the time
