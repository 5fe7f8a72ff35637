"""Our Pods are down and the API server still asks them: who has to wait, and who does not. A test per row of the table.

Muster is installed and has run; then its Pods have died. Rows of definitions and policies are tried without Pods in
`test_admission_table`; here are those of webhooks.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Final

import pytest

from muster.kubernetes.rules import RULES, Layer
from muster.placement.guards import PREFIX
from muster.selectors.membership import DEFAULT_KEY
from tests.kubernetes.calling import CLUSTERS, GROUP, SETS, a_binding, a_cluster, a_set, bindings
from tests.kubernetes.installing import eventually
from tests.kubernetes.pods import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.values.json import JsonObject
    from tests.kubernetes.calling import Answer, Caller
    from tests.kubernetes.server import Server

pytestmark = pytest.mark.timeout(400)  # the first test installs
PLACEMENTS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placements"
_AGENTS: Final = "agent-install.openshift.io/v1beta1"
_RESOLUTIONS: Final = "resolution.muster.dev/v1alpha1"


@pytest.fixture(scope="module")
def abandoned(server: Server) -> Iterator[Caller]:
    with installed(server) as home:
        admin = home.admin
        admin.ok("POST", SETS, a_set("before"))
        admin.ok("POST", CLUSTERS, a_cluster("before"))
        admin.ok("POST", CLUSTERS, a_cluster("going-away"))
        home.pods[0].signal_all(signal.SIGKILL)
        gone = a_set("p")
        eventually(lambda: admin.send("POST", SETS, gone, dry_run=True).code == 500, "nobody answers")
        yield admin


def _of(version: str, kind: str, name: str, **spec: object) -> JsonObject:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _refused(answer: Answer) -> None:
    assert (answer.code, "failed calling webhook" in answer.message) == (500, True), answer


def _stored(answer: Answer) -> JsonObject:
    assert answer.is_allowed, answer.message
    assert [each for each in answer.warnings if "Warning:" in each] == []
    return answer.body


def _take_in(admin: Caller) -> None:
    _refused(admin.send("POST", SETS, a_set("late", exclusiveKey="tier")))
    # One that is there can be written as long as no membership begins; and deleted, whatever it is.
    admin.ok("PATCH", f"{SETS}/before", {"metadata": {"labels": {"a": "b"}}})
    begins = {"spec": {"clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {}}}}
    _refused(admin.send("PATCH", f"{SETS}/before", begins))


def _accepted(admin: Caller) -> None:
    namespace = {"metadata": {"name": "going-away", "finalizers": []}, "spec": {"finalizers": ["kubernetes"]}}
    admin.ok("POST", "/api/v1/namespaces", namespace)
    admin.ok("DELETE", "/api/v1/namespaces/going-away")  # and stays Terminating, as nobody empties it here
    _stored(admin.send("PATCH", f"{CLUSTERS}/going-away", {"spec": {"hubAcceptsClient": True}}))


def _taints(admin: Caller) -> None:
    missing, forged = (
        {"key": "a", "effect": "NoSelect"},
        {"key": "b", "effect": "NoSelect", "timeAdded": "2020-01-01T00:00:00Z"},
    )
    stored = _stored(admin.send("POST", CLUSTERS, a_cluster("tainted", taints=[missing, forged])))
    assert stored["spec"]["taints"] == [missing, forged]


def _selector(admin: Caller) -> None:
    """A new one waits for another reason; in one that selects by labels already, nobody looks at the labels."""
    expression = {"key": "a", "operator": "Perhaps", "values": ["b"]}
    selector = {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [expression]}}
    _stored(admin.send("PATCH", f"{SETS}/global", {"spec": {"clusterSelector": selector}}))


def _placement(name: str, expression: str) -> JsonObject:
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": [expression]}}}
    return _of(f"{GROUP}/v1beta1", "Placement", name, predicates=[selector])


def _expressions(admin: Caller) -> None:
    _stored(admin.send("POST", PLACEMENTS, _placement("long", f"'{'x' * 11_000}' == ''")))


def _advice(admin: Caller) -> None:
    _stored(admin.send("POST", PLACEMENTS, _placement("wrong", "no such (((")))


def _guards(admin: Caller) -> None:
    body = _of(f"{GROUP}/v1beta1", "Placement", "unread")
    body["metadata"]["annotations"] = {f"{PREFIX}max-removals": "some"}
    _stored(admin.send("POST", PLACEMENTS, body))


def _classification(admin: Caller) -> None:
    body = _of(_AGENTS, "AgentClassification", "uncompiled", labelKey="size", labelValue="big", query=".cpu.count >")
    _stored(admin.send("POST", f"/apis/{_AGENTS}/namespaces/default/agentclassifications", body))


def _resolution(admin: Caller) -> None:
    body = _of(_RESOLUTIONS, "Resolution", "unread", wants=[{"package": "a", "pin": "1.x"}])
    _stored(admin.send("POST", f"/apis/{_RESOLUTIONS}/namespaces/default/resolutions", body))


DOWN: Final[dict[str, Callable[[Caller], None]]] = {
    "accept-while-namespace-goes": _accepted,
    "taint-times": _taints,
    "take-in": _take_in,
    "pairs": _take_in,
    "set-selector": _selector,
    "set-members-told": lambda admin: _refused(admin.send("POST", SETS, a_set("told"), dry_run=True)),
    "placement-expressions": _expressions,
    "placement-advice": _advice,
    "guards-readable": _guards,
    "classification-advice": _classification,
    "resolution": _resolution,
}


def test_every_webhook_of_the_table_is_tried_here() -> None:
    assert sorted(DOWN) == sorted(each.id for each in RULES if each.layer is Layer.WEBHOOK)


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.parametrize("rule", DOWN)
def test_a_webhook_that_nobody_answers(rule: str, abandoned: Caller) -> None:
    DOWN[rule](abandoned)


@pytest.mark.e2e
@pytest.mark.slow
def test_nobody_else_waits_for_our_pods(abandoned: Caller) -> None:
    labels = {"metadata": {"labels": {"a": "b"}}}
    made = abandoned.ok("POST", CLUSTERS, a_cluster("new"))
    abandoned.ok("PATCH", f"{CLUSTERS}/before", labels | {"spec": {"hubAcceptsClient": True}})
    abandoned.ok("POST", bindings("default"), a_binding("before"))
    abandoned.ok("POST", PLACEMENTS, _of(f"{GROUP}/v1beta1", "Placement", "p", numberOfClusters=1))
    # Status, heartbeats, namespaces and leases.
    abandoned.ok("PATCH", f"{CLUSTERS}/before/status", {"status": {"version": {"kubernetes": "v1"}}})
    abandoned.ok("PATCH", f"{SETS}/before/status", {"status": {"conditions": []}})
    abandoned.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "new"}})
    lease = {"metadata": {"name": "heartbeat"}, "spec": {"holderIdentity": "agent"}}
    abandoned.ok("POST", "/apis/coordination.k8s.io/v1/namespaces/new/leases", lease)
    abandoned.ok("DELETE", f"{CLUSTERS}/new")
    # From Kubernetes 1.36 on a policy sets the default label; before, nobody does.
    named = made["metadata"].get("labels", {}).get(DEFAULT_KEY)
    resources = abandoned.ok("GET", "/apis/admissionregistration.k8s.io/v1")["resources"]
    assert named == ("default" if any(each["kind"] == "MutatingAdmissionPolicy" for each in resources) else None)


@pytest.mark.e2e
@pytest.mark.slow
def test_a_set_can_be_deleted_without_us(abandoned: Caller) -> None:
    abandoned.ok("DELETE", f"{SETS}/before")
