"""A scenario for every row of the table of admission rules, played with kubectl by the users of the cluster-set guide.

Each takes a stage (a home, the hub or Kubernetes) and says what is refused and what is not. Names are of the scenario
alone, so that they can be played in any order on one server.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.clustersets import pairs
from muster.placement.guards import PREFIX as GUARDS
from muster.selectors.membership import DEFAULT_KEY
from tests.kubernetes.calling import CLUSTERS, SETS, a_binding, a_cluster, a_rule, a_set
from tests.kubernetes.homes import told

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.values.json import JsonObject
    from tests.kubernetes.homes import Home

NAMESPACE: Final = "table"
SCENARIOS: dict[str, Callable[[Stage], None]] = {}
_WRITE: Final = "create,get,update,patch"


@dataclass(frozen=True, slots=True)
class Stage:
    """A home, and the code with which it refuses what the scenario is about."""

    home: Home
    code: int

    def done(self, user: str, *args: str, obj: JsonObject | None = None) -> str:
        """What kubectl prints where it succeeds, warnings included."""
        result = self.home.kubectl(user).run(*args, stdin=None if obj is None else json.dumps(obj))
        assert result.returncode == 0, f"{user or 'admin'}: kubectl {' '.join(args)}\n{result.stderr}"
        return told(result.stdout + result.stderr)

    def refused(self, user: str, words: str, *args: str, obj: JsonObject | None = None) -> None:
        """It is refused with the code of the rule, in these words."""
        result = self.home.kubectl(user).run(*args, stdin=None if obj is None else json.dumps(obj))
        text = told(result.stderr)
        assert result.returncode, f"{user or 'admin'}: kubectl {' '.join(args)} was not refused\n{result.stdout}"
        assert words in text, f"{words!r} is not in: {text}"
        assert code_of(text) == self.code, text

    def create(self, user: str, obj: JsonObject, *options: str) -> str:
        return self.done(user, "create", "--validate=false", "-f", "-", *options, obj=obj)

    def not_created(self, user: str, words: str, obj: JsonObject, *options: str) -> None:
        self.refused(user, words, "create", "--validate=false", "-f", "-", *options, obj=obj)

    def set(self, name: str, key: str) -> None:
        """A set by the administrator, that guards when this returns."""
        self.home.admin.ok("POST", SETS, a_set(name, exclusiveKey=key))
        self.home.known(key, name)

    def owner(self, user: str, *more: JsonObject) -> None:
        """The user may write clusters that begin in the set `default`, and more."""
        self.home.grant(
            user, a_rule(_WRITE, "managedclusters"), a_rule("create", "managedclustersets/join", "default"), *more
        )


def code_of(text: str) -> int:
    """The code behind what kubectl prints."""
    if "Error from server (Forbidden)" in text:
        return 403
    if "Error from server (BadRequest)" in text:
        return 400
    return 422 if " is invalid: " in text else 0


def plays(rule: str) -> Callable[[Callable[[Stage], None]], Callable[[Stage], None]]:
    def register(scenario: Callable[[Stage], None]) -> Callable[[Stage], None]:
        SCENARIOS[rule] = scenario
        return scenario

    return register


def _join(name: str) -> JsonObject:
    return a_rule("create", "managedclustersets/join", name)


def _of_namespace(version: str, kind: str, name: str, **spec: object) -> JsonObject:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


# --- Clusters -----------------------------------------------------------------------------------------------------


@plays("join-by-key")
def join_by_key(stage: Stage) -> None:
    stage.set("apac", "region")
    stage.owner("dev1")
    stage.home.grant("agent-mc1", _join("apac"), a_rule("get,update,patch", "managedclusters", "mc1"))
    stage.create("dev1", a_cluster("mc1"))
    words = 'user "dev1" cannot add/remove a ManagedCluster to/from ManagedClusterSet "apac"'
    missing = 'create managedclustersets/join.cluster.open-cluster-management.io "apac" (the cluster {} the set apac'
    stage.refused("dev1", words, "label", "managedcluster", "mc1", "region=apac")
    stage.refused("dev1", missing.format("enters"), "label", "managedcluster", "mc1", "region=apac")
    stage.not_created("dev1", words, a_cluster("mc1-born-there", {"region": "apac"}))
    stage.done("dev1", "label", "managedcluster", "mc1", "region=nowhere")  # names no set, and is free
    stage.done("agent-mc1", "label", "--overwrite", "managedcluster", "mc1", "region=apac")
    stage.refused("dev1", missing.format("leaves"), "label", "managedcluster", "mc1", "region-")
    stage.done("dev1", "annotate", "managedcluster", "mc1", "note=whatever")


@plays("join-by-default-key")
def join_by_default_key(stage: Stage) -> None:
    stage.owner("dev1")
    stage.owner("dev2", _join("not-there"))
    stage.create("dev1", a_cluster("by-default-key"))
    words = 'cannot add/remove a ManagedCluster to/from ManagedClusterSet "not-there"'
    enter = ("label", "--overwrite", "managedcluster", "by-default-key", f"{DEFAULT_KEY}=not-there")
    stage.refused("dev1", words, *enter)
    stage.done("dev2", *enter)
    stage.refused("dev1", words, "label", "managedcluster", "by-default-key", f"{DEFAULT_KEY}-")
    # Away from `default` needs it too, and so does a cluster that names no set and thereby begins there.
    stage.home.grant("sre1", a_rule(_WRITE, "managedclusters"), _join("elsewhere"))
    stage.not_created("sre1", 'ManagedClusterSet "default"', a_cluster("by-no-key"))
    stage.create("sre1", a_cluster("by-no-key", {DEFAULT_KEY: "elsewhere"}))


@plays("default-set")
def default_set(stage: Stage) -> None:
    stage.owner("dev1")
    label = ("-o", f"jsonpath={{.metadata.labels.{DEFAULT_KEY.replace('.', chr(92) + '.')}}}")
    for name, labels in (("labelled-not", None), ("labelled-else", {"a": "b"}), ("labelled-empty", {DEFAULT_KEY: ""})):
        stage.create("dev1", a_cluster(name, labels))
        assert stage.done("dev1", "get", "managedcluster", name, *label) == "default"
    stage.done("dev1", "label", "managedcluster", "labelled-else", f"{DEFAULT_KEY}-")
    assert stage.done("dev1", "get", "managedcluster", "labelled-else", *label) == "default"
    # One that goes away is left alone: whoever removes its finalizers must be able to.
    going = a_cluster("going")
    going["metadata"]["finalizers"] = ["table.muster.invalid/hold"]
    stage.home.admin.ok("POST", CLUSTERS, going)
    stage.home.admin.ok("DELETE", f"{CLUSTERS}/going")
    removed = {"metadata": {"labels": {DEFAULT_KEY: None}}}
    assert "labels" not in stage.home.admin.ok("PATCH", f"{CLUSTERS}/going", removed)["metadata"]
    stage.home.admin.ok("PATCH", f"{CLUSTERS}/going", {"metadata": {"finalizers": None}})


@plays("accept")
def accept(stage: Stage) -> None:
    stage.owner("dev1")
    register = "register.open-cluster-management.io"
    stage.owner("sre1", a_rule("update", "managedclusters/accept", "accepted", group=register))
    words = "cannot update the HubAcceptsClient field"
    stage.not_created("dev1", words, a_cluster("accepted", hubAcceptsClient=True))
    stage.create("dev1", a_cluster("accepted"))
    patch = ("patch", "managedcluster", "accepted", "--type", "merge", "-p")
    stage.refused("dev1", words, *patch, '{"spec": {"hubAcceptsClient": true}}')
    stage.done("sre1", *patch, '{"spec": {"hubAcceptsClient": true}}')
    stage.done("dev1", *patch, '{"spec": {"leaseDurationSeconds": 90}}')
    stage.done("dev1", *patch, '{"spec": {"hubAcceptsClient": false}}')


@plays("accept-while-namespace-goes")
def accept_while_namespace_goes(stage: Stage) -> None:
    admin = stage.home.admin
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "going-away"}}
    admin.ok("POST", "/api/v1/namespaces", body)
    hold = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "finalizers": ["muster.invalid/hold"]}}
    admin.ok("POST", "/api/v1/namespaces/going-away/configmaps", hold)
    admin.ok("DELETE", "/api/v1/namespaces/going-away")
    stage.create("", a_cluster("going-away"))
    accepted = (
        "patch",
        "managedcluster",
        "going-away",
        "--type",
        "merge",
        "-p",
        '{"spec": {"hubAcceptsClient": true}}',
    )
    stage.refused("", 'cluster namespace "going-away" is terminating', *accepted)
    admin.ok("PATCH", "/api/v1/namespaces/going-away/configmaps/c", {"metadata": {"finalizers": None}})


@plays("taint-times")
def taint_times(stage: Stage) -> None:
    stage.owner("dev1")
    taint = {"key": "broken", "effect": "NoSelect"}
    stage.create("dev1", a_cluster("tainted", taints=[taint]))
    stored = stage.home.admin.ok("GET", f"{CLUSTERS}/tainted")["spec"]["taints"]
    assert stored[0]["timeAdded"].endswith("Z")
    forged = json.dumps({"spec": {"taints": [{**taint, "timeAdded": "2020-01-01T00:00:00Z"}]}})
    words = 'It is not allowed to set TimeAdded of Taint "broken".'
    stage.refused("dev1", words, "patch", "managedcluster", "tainted", "--type", "merge", "-p", forged)


@plays("addresses")
def addresses(stage: Stage) -> None:
    stage.owner("dev1")
    words = 'url "http://api.example.com" is invalid in client configs'
    stage.not_created(
        "dev1", words, a_cluster("addressed", managedClusterClientConfigs=[{"url": "http://api.example.com"}])
    )
    stage.not_created("dev1", 'url "" is invalid', a_cluster("addressed", managedClusterClientConfigs=[{}]))
    stage.create("dev1", a_cluster("addressed", managedClusterClientConfigs=[{"url": "HTTPS://api.example.com:6443"}]))


@plays("cluster-name")
def cluster_name(stage: Stage) -> None:
    stage.owner("dev1")
    configs = [{"url": "https://api.example.com"}]
    words = "metadata.name format is not correct"
    stage.not_created("dev1", words, a_cluster("a.name.with.dots", managedClusterClientConfigs=configs))
    stage.create("dev1", a_cluster("a.name.with.dots"))
    patch = json.dumps({"spec": {"managedClusterClientConfigs": configs}})
    stage.refused("dev1", words, "patch", "managedcluster", "a.name.with.dots", "--type", "merge", "-p", patch)


# --- Sets ---------------------------------------------------------------------------------------------------------


def _creator(stage: Stage, user: str, *keys: str) -> None:
    """May create sets by these keys, and update every cluster."""
    stage.home.grant(
        user,
        a_rule(_WRITE, "managedclusters,managedclustersets"),
        a_rule("create", "managedclustersets/exclusiveKey", *(keys or ("none",))),
    )


@plays("exclusive-key")
def exclusive_key(stage: Stage) -> None:
    _creator(stage, "dev1")
    _creator(stage, "sre1", "clusterAttribute")
    backup = a_set("backup", exclusiveKey="clusterAttribute")
    words = 'cannot create a ManagedClusterSet with the exclusiveKey "clusterAttribute"'
    stage.not_created("dev1", words, backup)
    stage.create("sre1", backup)
    stage.create("dev1", a_set("by-the-default-key"))
    stage.done("dev1", "label", "managedclusterset", "backup", "changed=by-dev1")  # the key is there already


@plays("take-in")
def take_in(stage: Stage) -> None:
    stage.owner("dev1")
    stage.create("dev1", a_cluster("taken", {"tier": "gold"}))
    rules = (a_rule(_WRITE, "managedclustersets"), a_rule("get", "managedclusters"))
    stage.home.grant("sre1", *rules, a_rule("create", "managedclustersets/exclusiveKey", "tier"))
    words = 'cannot take the ManagedCluster "taken" into the ManagedClusterSet "gold"'
    stage.not_created("sre1", words, a_set("gold", exclusiveKey="tier"))
    stage.create("sre1", a_set("silver", exclusiveKey="tier"))


@plays("pairs")
def pairs_of_key_and_name(stage: Stage) -> None:
    admin = stage.home.admin
    admin.send("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": pairs.NAMESPACE}})
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": pairs.NAME}, "data": {"vendor": "aws, gcp"}}
    admin.ok("POST", f"/api/v1/namespaces/{pairs.NAMESPACE}/configmaps", body)
    _creator(stage, "sre1", "vendor")
    words = f"ConfigMap {pairs.NAMESPACE}/{pairs.NAME} does not allow vendor=us"
    try:
        stage.not_created("sre1", words, a_set("us", exclusiveKey="vendor"))
        stage.create("sre1", a_set("aws", exclusiveKey="vendor"))
    finally:
        admin.ok("DELETE", f"/api/v1/namespaces/{pairs.NAMESPACE}/configmaps/{pairs.NAME}")


@plays("key-immutable")
def key_immutable(stage: Stage) -> None:
    _creator(stage, "sre1", "stays", "comes")
    stage.create("sre1", a_set("kept", exclusiveKey="stays"))
    stage.create("sre1", a_set("keyless"))
    for name, patch in (("kept", '"comes"'), ("kept", "null"), ("kept", '""'), ("keyless", '"comes"')):
        body = f'{{"spec": {{"exclusiveKey": {patch}}}}}'
        stage.refused("sre1", "field is immutable", "patch", "managedclusterset", name, "--type", "merge", "-p", body)
    same = f'{{"spec": {{"exclusiveKey": "{DEFAULT_KEY}"}}}}'  # what it is without being said
    stage.done("sre1", "patch", "managedclusterset", "keyless", "--type", "merge", "-p", same)


@plays("key-is-label-key")
def key_is_label_key(stage: Stage) -> None:
    for key in ("-wrong-", "a/b/c", "UPPER.example.com/x", "x" * 64, "/x", "x/"):
        stage.not_created("", "spec.exclusiveKey: Invalid value", a_set("keyed", exclusiveKey=key))
    stage.create("", a_set("keyed", exclusiveKey="example.com/Key_1"))


@plays("key-without-selector")
def key_without_selector(stage: Stage) -> None:
    selector = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"a": "b"}}}
    words = "may not be set when spec.clusterSelector.selectorType is LabelSelector"
    stage.not_created("", words, a_set("both", exclusiveKey="both", clusterSelector=selector))
    stage.create("", a_set("selecting", clusterSelector=selector))


@plays("set-name")
def set_name(stage: Stage) -> None:
    words = "with an exclusiveKey the name is a label value"
    stage.not_created("", words, a_set("long." * 13 + "x", exclusiveKey="long"))
    stage.create("", a_set("long." * 12 + "xyz", exclusiveKey="long"))
    stage.create("", a_set("long." * 13 + "x"))


@plays("no-cluster-label")
def no_cluster_label(stage: Stage) -> None:
    words = "clusters are selected by exclusiveKey and the name of the set; remove it"
    stage.not_created("", words, a_set("labelled", clusterLabel={"key": "a", "value": "b"}))


@plays("set-selector")
def set_selector(stage: Stage) -> None:
    expression = {"key": "a", "operator": "Perhaps", "values": ["b"]}
    selector = {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [expression]}}
    words = "spec.clusterSelector.labelSelector.matchExpressions[0].operator"
    stage.not_created("", words, a_set("unclear", clusterSelector=selector))


@plays("set-members-told")
def set_members_told(stage: Stage) -> None:
    stage.owner("dev1")
    stage.create("dev1", a_cluster("coming", {"told": "yes"}))
    printed = stage.create("", a_set("yes", exclusiveKey="told"), "--dry-run=server")
    assert "Warning: clusters labelled told=yes become members: 1: coming" in printed


# --- Bindings, placements, classifications, resolutions -----------------------------------------------------------


@plays("bind")
def bind(stage: Stage) -> None:
    write = a_rule(_WRITE, "managedclustersetbindings")
    stage.home.grant("dev1", write)
    stage.home.grant("sre1", write, a_rule("create", "managedclustersets/bind", "bound"))
    words = 'user "dev1" is not allowed to bind cluster set "bound"'
    stage.not_created("dev1", words, a_binding("bound"), "-n", NAMESPACE)
    stage.create("sre1", a_binding("bound"), "-n", NAMESPACE)
    stage.done("dev1", "label", "managedclustersetbinding", "bound", "changed=by-dev1", "-n", NAMESPACE)


@plays("binding-name")
def binding_name(stage: Stage) -> None:
    words = "The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet"
    stage.not_created("", words, a_binding("one", "another"), "-n", NAMESPACE)
    stage.create("", a_binding("one"), "-n", NAMESPACE)
    patch = ("patch", "managedclustersetbinding", "one", "-n", NAMESPACE, "--type", "merge", "-p")
    stage.refused("", words, *patch, '{"spec": {"clusterSet": "another"}}')


def _placement(name: str, expression: str) -> JsonObject:
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": [expression]}}}
    return _of_namespace("cluster.open-cluster-management.io/v1beta1", "Placement", name, predicates=[selector])


@plays("placement-expressions")
def placement_expressions(stage: Stage) -> None:
    stage.not_created("", "celExpressions[0]: Too long", _placement("long", f"'{'x' * 11_000}' == ''"))


def _guarded(name: str, **guards: str) -> JsonObject:
    placement = _of_namespace("cluster.open-cluster-management.io/v1beta1", "Placement", name)
    placement["metadata"]["annotations"] = {
        f"{GUARDS}{guard.replace('_', '-')}": text for guard, text in guards.items()
    }
    return placement


@plays("guards-let-go")
def guards_let_go(stage: Stage) -> None:
    stage.home.grant("dev1", a_rule(_WRITE, "placements"))
    stage.home.grant("sre1", a_rule(_WRITE, "placements"), a_rule("approve", "placements", "guarded"))
    stage.create("dev1", _guarded("guarded", max_removals="5"))  # whoever sets one where there was none is free to
    change = ("annotate", "placement", "guarded", "-n", NAMESPACE, "--overwrite")
    words = 'user "dev1" cannot {}: it needs the permission to "approve" placements'
    loosened = words.format(f"change the guard {GUARDS}max-removals")
    stage.refused("dev1", loosened, *change, f"{GUARDS}max-removals=50")
    stage.refused("dev1", loosened, *change, f"{GUARDS}max-removals-")
    stage.refused("dev1", words.format("approve removals"), *change, f"{GUARDS}approve-removals=3f0c2a9d1b7e64a85c11")
    stage.done("dev1", *change, "note=whatever")
    stage.done("sre1", *change, f"{GUARDS}approve-removals=3f0c2a9d1b7e64a85c11")
    stage.done("sre1", *change, f"{GUARDS}max-removals=50")


@plays("guards-readable")
def guards_readable(stage: Stage) -> None:
    stage.not_created("", f"metadata.annotations[{GUARDS}max-removals]", _guarded("unread", max_removals="some"))
    stage.create("", _guarded("read"))
    args = ("annotate", "placement", "read", "-n", NAMESPACE, f"{GUARDS}max-removals=some")
    stage.refused("", f"metadata.annotations[{GUARDS}max-removals]", *args)


@plays("placement-advice")
def placement_advice(stage: Stage) -> None:
    assert "Warning: placement cannot be scheduled" in stage.create("", _placement("wrong", "no such ((("))


_AGENTS: Final = "agent-install.openshift.io/v1beta1"


def _classification(name: str, key: str, value: str, query: str = ".cpu.count > 8") -> JsonObject:
    return _of_namespace(_AGENTS, "AgentClassification", name, labelKey=key, labelValue=value, query=query)


@plays("classification-label-immutable")
def classification_label_immutable(stage: Stage) -> None:
    stage.create("", _classification("kept", "size", "big"))
    for field in ("labelKey", "labelValue"):
        patch = ("patch", "agentclassification", "kept", "-n", NAMESPACE, "--type", "merge", "-p")
        stage.refused("", f"spec.{field}: Invalid value", *patch, f'{{"spec": {{"{field}": "other"}}}}')
    patch = ("patch", "agentclassification", "kept", "-n", NAMESPACE, "--type", "merge", "-p")
    stage.done("", *patch, '{"spec": {"query": ".cpu.count > 16"}}')


@plays("classification-label")
def classification_label(stage: Stage) -> None:
    for key, value in (("-size", "big"), ("", "big"), ("a/b", "big")):
        stage.not_created("", "spec.labelKey: Invalid value", _classification("wrong", key, value))
    for value in ("-big", "", "QUERYERROR", "x" * 53):
        stage.not_created("", "spec.labelValue: Invalid value", _classification("wrong", "size", value))
    stage.create("", _classification("right", "size", "x" * 52))


@plays("classification-advice")
def classification_advice(stage: Stage) -> None:
    printed = stage.create("", _classification("uncompiled", "size", "big", ".cpu.count >"))
    assert "Warning: spec.query does not compile" in printed


@plays("resolution")
def resolution(stage: Stage) -> None:
    unread = _of_namespace(
        "resolution.muster.dev/v1alpha1", "Resolution", "unread", wants=[{"package": "a", "pin": "1.x"}]
    )
    stage.not_created("", "spec.wants[0]", unread)


@plays("owners")
def owners(stage: Stage) -> None:
    stage.owner("dev1")
    stage.owner("sre1", a_rule("delete", "managedclusters", "owned"))
    stage.create("dev1", a_cluster("owned"))
    namespace = stage.home.admin.ok("GET", f"/api/v1/namespaces/{NAMESPACE}")["metadata"]
    owner = {"apiVersion": "v1", "kind": "Namespace", "name": NAMESPACE, "uid": namespace["uid"]}
    patch = json.dumps({"metadata": {"ownerReferences": [owner]}})
    args = ("patch", "managedcluster", "owned", "--type", "merge", "-p", patch)
    stage.refused("dev1", "cannot set an ownerRef on a resource you can't delete", *args)
    stage.done("sre1", *args)
