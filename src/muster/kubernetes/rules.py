"""Which admission rule holds where: on the hub, on Kubernetes, and there while our Pods are down.

One list, for the table in docs/reference/admission.md (`python -m muster.kubernetes.rules` prints it), for commands
that tell what is enforced, and for the tests, which try every entry on both homes. It enforces nothing itself.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from muster.clustersets import pairs
from muster.selectors.membership import DEFAULT_KEY


class Layer(StrEnum):
    """What enforces a rule on Kubernetes, from the closest to the data outwards."""

    DEFINITION = "definition"  # x-kubernetes-validations of our CustomResourceDefinition
    POLICY = "policy"  # a ValidatingAdmissionPolicy or MutatingAdmissionPolicy
    WEBHOOK = "webhook"  # our Pods


@dataclass(frozen=True, slots=True)
class AdmissionRule:
    """One rule. `hub` and `kubernetes` are the code of a refusal; 0: nothing is refused, something is told or set.

    `by` is the policy, or where in the definition; `down` says what happens without our Pods, where that is not simply
    that the rule holds.
    """

    id: str
    kind: str
    text: str
    layer: Layer
    by: str
    hub: int
    kubernetes: int
    down: str = ""

    @property
    def fails_closed(self) -> bool:
        """Whether such a write is refused while our Pods are down."""
        return self.layer is Layer.WEBHOOK and self.down == _CLOSED


_CLUSTER, _SET, _BINDING = "ManagedCluster", "ManagedClusterSet", "ManagedClusterSetBinding"
_CLOSED: Final = "no set can be created, or begin to have members by a key, until one is back; other writes go on"
_ADVICE: Final = "stored without the warning"

RULES: Final = (
    AdmissionRule(
        "join-by-key",
        _CLUSTER,
        "`create` on `managedclustersets/join` for every set with an `exclusiveKey` that it enters or leaves",
        Layer.POLICY,
        "muster-join",
        403,
        403,
    ),
    AdmissionRule(
        "join-by-default-key",
        _CLUSTER,
        f"the same for the sets that its label `{DEFAULT_KEY}` named and names, whether or not there are such sets",
        Layer.POLICY,
        "muster-join-default-key",
        403,
        403,
    ),
    AdmissionRule(
        "default-set",
        _CLUSTER,
        f"without a label `{DEFAULT_KEY}` it gets the value `default`",
        Layer.POLICY,
        "muster-default-set",
        0,
        0,
        "holds; before Kubernetes 1.36 a webhook sets the label, and without our Pods a cluster is in no set until it "
        "is written again",
    ),
    AdmissionRule(
        "accept",
        _CLUSTER,
        "accepting it (`hubAcceptsClient` becomes true): `update` on `managedclusters/accept` in "
        "`register.open-cluster-management.io`",
        Layer.POLICY,
        "muster-accept",
        403,
        403,
    ),
    AdmissionRule(
        "accept-while-namespace-goes",
        _CLUSTER,
        "it is not accepted while the namespace of its name is going away",
        Layer.WEBHOOK,
        "advice.muster.dev",
        403,
        403,
        "accepted; its agent finds the namespace gone and tries again",
    ),
    AdmissionRule(
        "taint-times",
        _CLUSTER,
        "`timeAdded` of a taint is the server's: set when the taint is new, refused from clients",
        Layer.WEBHOOK,
        "defaults.muster.dev",
        400,
        400,
        "stored as written; our controller sets times that are missing when it is back",
    ),
    AdmissionRule(
        "addresses",
        _CLUSTER,
        "addresses in `managedClusterClientConfigs` are HTTPS",
        Layer.DEFINITION,
        "spec.managedClusterClientConfigs",
        400,
        422,
    ),
    AdmissionRule(
        "cluster-name",
        _CLUSTER,
        "a cluster with addresses has a name that a namespace can have",
        Layer.DEFINITION,
        "metadata.name",
        400,
        422,
    ),
    AdmissionRule(
        "exclusive-key",
        _SET,
        "a set by a key of its own: `create` on `managedclustersets/exclusiveKey` named by the key",
        Layer.POLICY,
        "muster-exclusive-key",
        403,
        403,
    ),
    AdmissionRule(
        "take-in",
        _SET,
        "a set that begins to have members by a key: `update` on every cluster that carries the label already",
        Layer.WEBHOOK,
        "sets.permissions.muster.dev",
        403,
        403,
        _CLOSED,
    ),
    AdmissionRule(
        "pairs",
        _SET,
        f"the pair of key and name is one that the ConfigMap `{pairs.NAME}` in `{pairs.NAMESPACE}` allows",
        Layer.WEBHOOK,
        "sets.permissions.muster.dev",
        403,
        403,
        _CLOSED,
    ),
    AdmissionRule(
        "key-immutable", _SET, "`exclusiveKey` does not change", Layer.DEFINITION, "spec.exclusiveKey", 422, 422
    ),
    AdmissionRule(
        "key-is-label-key",
        _SET,
        "`exclusiveKey` can be the key of a label",
        Layer.DEFINITION,
        "spec.exclusiveKey",
        422,
        422,
    ),
    AdmissionRule(
        "key-without-selector",
        _SET,
        "`exclusiveKey` does not stand beside a `LabelSelector`",
        Layer.DEFINITION,
        "spec.exclusiveKey",
        422,
        422,
    ),
    AdmissionRule(
        "set-name",
        _SET,
        "the name of a set by a key of its own has at most 63 characters",
        Layer.DEFINITION,
        "metadata.name",
        422,
        422,
    ),
    AdmissionRule(
        "no-cluster-label", _SET, "`clusterLabel` is not used", Layer.DEFINITION, "spec.clusterLabel", 422, 422
    ),
    AdmissionRule(
        "set-selector",
        _SET,
        "a `labelSelector` that can be evaluated",
        Layer.WEBHOOK,
        "advice.muster.dev",
        422,
        422,
        "stored; the condition `ClusterSetUsable` tells, and the last good members stay",
    ),
    AdmissionRule(
        "set-members-told",
        _SET,
        "a dry run of creating one names the clusters that come (a warning)",
        Layer.WEBHOOK,
        "sets.permissions.muster.dev",
        0,
        0,
        _CLOSED,
    ),
    AdmissionRule(
        "bind",
        _BINDING,
        "creating it: `create` on `managedclustersets/bind` for the set",
        Layer.POLICY,
        "muster-bind",
        403,
        403,
    ),
    AdmissionRule(
        "binding-name", _BINDING, "its name is that of the set", Layer.DEFINITION, "spec.clusterSet", 400, 422
    ),
    AdmissionRule(
        "placement-expressions",
        "Placement",
        "no CEL expression is over the limits of length and cost",
        Layer.WEBHOOK,
        "advice.muster.dev",
        422,
        422,
        "stored; the placement's conditions tell, and its evaluation has the same limits",
    ),
    AdmissionRule(
        "guards-let-go",
        "Placement",
        "approving removals, and changing or removing a guard that is there: `approve` on the placement",
        Layer.POLICY,
        "muster-approve",
        403,
        403,
    ),
    AdmissionRule(
        "guards-readable",
        "Placement",
        "what its annotations say about guards can be read",
        Layer.WEBHOOK,
        "advice.muster.dev",
        422,
        422,
        "stored; a guard that cannot be read holds everything back, and the placement's conditions tell",
    ),
    AdmissionRule(
        "placement-advice",
        "Placement",
        "what cannot be scheduled is stored with a warning",
        Layer.WEBHOOK,
        "advice.muster.dev",
        0,
        0,
        _ADVICE,
    ),
    AdmissionRule(
        "classification-label-immutable",
        "AgentClassification",
        "`labelKey` and `labelValue` do not change",
        Layer.DEFINITION,
        "spec.labelKey, spec.labelValue",
        422,
        422,
    ),
    AdmissionRule(
        "classification-label",
        "AgentClassification",
        "`labelKey` and `labelValue` can be a label, in the form for failed queries too",
        Layer.DEFINITION,
        "spec.labelKey, spec.labelValue",
        422,
        422,
    ),
    AdmissionRule(
        "classification-advice",
        "AgentClassification",
        "a query that does not compile is stored with a warning",
        Layer.WEBHOOK,
        "advice.muster.dev",
        0,
        0,
        _ADVICE,
    ),
    AdmissionRule(
        "resolution",
        "Resolution",
        "its ranges, versions and constraints can be read",
        Layer.WEBHOOK,
        "advice.muster.dev",
        422,
        422,
        "stored; its conditions tell",
    ),
    AdmissionRule(
        "owners",
        "each of our kinds",
        "changing `metadata.ownerReferences` needs `delete` on the object",
        Layer.POLICY,
        "muster-owners",
        403,
        403,
    ),
)

_HEAD: Final = """\
| kind | rule | hub | on Kubernetes | while our Pods are down |
|---|---|---|---|---|
"""


def table() -> str:
    """The table of the reference page."""
    return _HEAD + "".join(_row(each) for each in RULES)


def _row(rule: AdmissionRule) -> str:
    where = f"{rule.layer} `{rule.by}`" if rule.layer is not Layer.DEFINITION else f"{rule.layer}, {rule.by}"
    code = f" ({rule.kubernetes})" if rule.kubernetes else ""
    return f"| {rule.kind} | {rule.text} | {rule.hub or '–'} | {where}{code} | {rule.down or 'holds'} |\n"


if __name__ == "__main__":
    sys.stdout.write(table())
