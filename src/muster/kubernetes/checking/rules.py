"""Rules of the hub, and where each can be enforced on Kubernetes: in a definition, by a policy, by a webhook.

One table for `muster kubernetes check`; docs/reference/kubernetes.md shows the same. It names policies and webhooks
that `muster.kubernetes.policies` and `muster.kubernetes.serving` make, and a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_SETS: Final = "managedclustersets.cluster.open-cluster-management.io"
_CLUSTERS: Final = "managedclusters.cluster.open-cluster-management.io"
_BINDINGS: Final = "managedclustersetbindings.cluster.open-cluster-management.io"
_CLASSIFICATIONS: Final = "agentclassifications.agent-install.openshift.io"
_PLACEMENTS: Final = "placements.cluster.open-cluster-management.io"
_GUARD: Final = "sets.permissions.muster.dev"
_CLUSTER_GUARD: Final = "clusters.permissions.muster.dev"
_BINDING_GUARD: Final = "bindings.permissions.muster.dev"
_PLACEMENT_GUARD: Final = "placements.permissions.muster.dev"
_ADVICE: Final = "advice.muster.dev"
_DEFAULTS: Final = "defaults.muster.dev"
#: Open Cluster Management's own webhooks.
_THEIRS: Final = "admission.cluster.open-cluster-management.io"

#: What cannot be done while nobody answers a webhook that fails closed.
REFUSED_BY: Final = {
    _GUARD: "sets cannot be created",
    _CLUSTER_GUARD: "clusters cannot be created or moved",
    _BINDING_GUARD: "sets cannot be bound",
    _PLACEMENT_GUARD: "guards of placements cannot be loosened",
}


@dataclass(frozen=True, slots=True)
class Stated:
    """A rule of a definition: where in its schema it stands, and a part of its message."""

    place: tuple[str, ...]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that is refused or filled in, and what a user would notice if nobody did."""

    name: str
    about: str  # the kind; where that is not served there is nothing to enforce
    without: str
    field: tuple[str, ...] = ()  # where a definition does not have it, there is nothing to enforce
    definition: Stated | None = None
    policies: tuple[str, ...] = ()  # all of them together
    webhooks: tuple[str, ...] = ()  # each of them by itself
    upstream: str = ""  # the webhook of Open Cluster Management that does the same
    guards: bool = False  # it is about permissions: without it nobody is safe from somebody else


RULES: Final = (
    Rule(
        "clusters join and leave sets by permission",
        _CLUSTERS,
        "anybody who may patch a cluster can move it into any set",
        policies=("muster-join-default-key", "muster-join"),
        webhooks=(_CLUSTER_GUARD,),
        upstream=f"managedclustervalidators.{_THEIRS}",
        guards=True,
    ),
    Rule(
        "clusters are accepted by permission",
        _CLUSTERS,
        "anybody who may patch a cluster can accept it",
        policies=("muster-accept",),
        webhooks=(_CLUSTER_GUARD,),
        upstream=f"managedclustervalidators.{_THEIRS}",
        guards=True,
    ),
    Rule(
        "sets are bound to namespaces by permission",
        _BINDINGS,
        "anybody who may create bindings can use every set",
        policies=("muster-bind",),
        webhooks=(_BINDING_GUARD,),
        upstream=f"managedclustersetbindingvalidators.{_THEIRS}",
        guards=True,
    ),
    Rule(
        "exclusive keys are used by permission",
        _SETS,
        "anybody who may create sets can use every exclusive key",
        policies=("muster-exclusive-key",),
        webhooks=(_GUARD,),
        field=("spec", "exclusiveKey"),
        guards=True,
    ),
    Rule(
        "guards of placements let go by permission",
        _PLACEMENTS,
        "anybody who may patch a placement can loosen its guards",
        policies=("muster-approve",),
        webhooks=(_PLACEMENT_GUARD,),
        guards=True,
    ),
    Rule(
        "owners are named by permission",
        _PLACEMENTS,
        "an object can be given an owner by somebody who may not delete it",
        policies=("muster-owners",),
        webhooks=(_ADVICE,),
        guards=True,
    ),
    Rule(
        "a new set takes in clusters by permission",
        _SETS,
        "clusters that carry the label of a new set are its members without anybody's leave",
        webhooks=(_GUARD,),
        guards=True,
    ),
    Rule(
        "keys and names of sets go in pairs",
        _SETS,
        "the ConfigMap clusterset-validation has no effect",
        webhooks=(_GUARD,),
        guards=True,
    ),
    Rule(
        "an exclusive key cannot be changed",
        _SETS,
        "whoever changes a set's exclusive key moves clusters without asking",
        definition=Stated((), "immutable"),
        field=("spec", "exclusiveKey"),
    ),
    Rule(
        "an exclusive key is the key of a label",
        _SETS,
        "a set with a key that no label can have stays empty",
        definition=Stated(("spec", "exclusiveKey")),
        field=("spec", "exclusiveKey"),
    ),
    Rule(
        "an exclusive key does not go with a label selector",
        _SETS,
        "a set says two things about its members, and one counts",
        definition=Stated(("spec",), "may not be set when"),
        field=("spec", "exclusiveKey"),
    ),
    Rule(
        "clusterLabel is refused",
        _SETS,
        "a set with clusterLabel is taken for one by the default label",
        definition=Stated(("spec",), "clusters are selected by exclusiveKey"),
        field=("spec", "clusterLabel"),
    ),
    Rule(
        "a binding is named as its set",
        _BINDINGS,
        "a binding with another name has no effect",
        definition=Stated((), "same name"),
        upstream=f"managedclustersetbindingvalidators.{_THEIRS}",
    ),
    Rule(
        "addresses of clusters are HTTPS",
        _CLUSTERS,
        "credentials of clusters may be sent in the clear",
        definition=Stated(("spec", "managedClusterClientConfigs", "[]"), "url"),
        upstream=f"managedclustervalidators.{_THEIRS}",
    ),
    Rule(
        "the label of a classification cannot be changed",
        _CLASSIFICATIONS,
        "labels of an earlier key stay on hosts",
        definition=Stated(("spec", "labelKey")),
    ),
    Rule(
        "a cluster in no set is in the set default",
        _CLUSTERS,
        "such clusters are in no set until somebody labels them",
        policies=("muster-default-set",),
        webhooks=(_DEFAULTS,),
        upstream=f"managedclustermutators.{_THEIRS}",
    ),
    Rule(
        "taints have the time at which they were added",
        _CLUSTERS,
        "the controllers stamp missing times a moment later",
        webhooks=(_DEFAULTS,),
        upstream=f"managedclustermutators.{_THEIRS}",
    ),
    Rule(
        "expressions and queries are checked when they are written",
        _PLACEMENTS,
        "mistakes in placements, classifications and resolutions show in their conditions only",
        webhooks=(_ADVICE,),
    ),
)
