"""ManagedClusterSetBinding: lets the placements of a namespace select from a cluster set."""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.cel_rules import CelRule
from muster.api.managed_cluster import GROUP
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version


class ManagedClusterSetBindingSpec(Part, frozen=True):
    cluster_set: str = ""


class ManagedClusterSetBindingStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()


class ManagedClusterSetBinding(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ManagedClusterSetBindingSpec = ManagedClusterSetBindingSpec()
    status: ManagedClusterSetBindingStatus = ManagedClusterSetBindingStatus()


_SPEC = parts.obj(
    "Which set is bound.",
    properties={
        "clusterSet": parts.string(
            "The set to bind; must equal the binding's own name. Setting it needs the permission to create "
            "managedclustersets/bind.",
            minLength=1,
        )
    },
)
_STATUS = parts.obj("What is known of the binding.", properties={"conditions": parts.CONDITIONS})

OTHER_NAME: Final = "The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet"
_SET: Final = "(has({0}.spec) && has({0}.spec.clusterSet) ? {0}.spec.clusterSet : '')"

MANAGED_CLUSTER_SET_BINDING: Final = Resource(
    group=GROUP,
    kind="ManagedClusterSetBinding",
    plural="managedclustersetbindings",
    singular="managedclustersetbinding",
    list_kind="ManagedClusterSetBindingList",
    namespaced=True,
    short_names=("mclsetbinding", "mclsetbindings"),
    cel_rules=(
        CelRule(
            f"{_SET.format('self')} == self.metadata.name || "
            f"(oldSelf.hasValue() && {_SET.format('oldSelf.value()')} == {_SET.format('self')})",
            OTHER_NAME,
            field=".spec.clusterSet",
            optional_old=True,
        ),
    ),
    versions=(
        Version(
            "v1beta2",
            parts.kind("Opens a cluster set to the placements of a namespace.", _SPEC, _STATUS),
            (
                PrinterColumn("Cluster Set", "string", ".spec.clusterSet"),
                parts.condition_column("Bound", "Bound"),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
