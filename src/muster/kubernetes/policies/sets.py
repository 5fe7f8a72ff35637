"""Cluster sets: who may create them by which key (`managedclustersets/exclusiveKey`), and who may bind them to a
namespace (`managedclustersets/bind`).

Which clusters a new set takes in is a list, and which pairs of key and name make sense is somebody's ConfigMap: those
are asked by a webhook.
"""

from __future__ import annotations

from muster.api.managed_cluster import GROUP
from muster.clustersets.permissions import bind, use_key
from muster.kubernetes.policies.expressions import allowed, hole, is_exclusive, key_of, quoted, refusal
from muster.kubernetes.policies.policy import Matched, Validation, permission_policy
from muster.selectors.membership import DEFAULT_KEY
from muster.values.json import JsonObject


def exclusive_key() -> list[JsonObject]:
    """A set that begins to have members by a key other than the default one."""
    key = key_of("object")
    permission = use_key(hole("variables.key"))
    begins = f"{is_exclusive('object')} && {key} != {quoted(DEFAULT_KEY)}"
    had_it = f"oldObject != null && {is_exclusive('oldObject')} && {key_of('oldObject')} == {key}"
    return permission_policy(
        "muster-exclusive-key",
        Matched({GROUP: ("managedclustersets",)}, conditions={"begins": f"{begins} && !({had_it})"}),
        Validation(
            allowed(permission, "variables.key"),
            "cannot create a ManagedClusterSet with this exclusiveKey",
            refusal(permission),
        ),
        variables={"key": key},
    )


def binding() -> list[JsonObject]:
    """A binding of a set. Where the kind is not ours nothing else keeps a binding at the set it was made for."""
    bound = "has({0}.spec) && has({0}.spec.clusterSet)"
    name = "object.spec.clusterSet"
    permission = bind(hole(name))
    new = (
        f"{bound.format('object')} && !(oldObject != null && {bound.format('oldObject')} && "
        f"oldObject.spec.clusterSet == {name})"
    )
    return permission_policy(
        "muster-bind",
        Matched({GROUP: ("managedclustersetbindings",)}, conditions={"binds": new}),
        Validation(allowed(permission, name), "is not allowed to bind the cluster set", refusal(permission)),
    )
