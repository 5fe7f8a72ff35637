"""Clusters that enter and leave sets: `managedclustersets/join`, and the label of those that name no set.

As `muster.clustersets.moves` has it, in two policies. By the default key a label names its set whether or not there is
one, so that policy looks at labels alone. By other keys the set decides, so that policy is asked once for every set
there is, with the set as its parameter. Whether the write is about that set is a condition of being asked at all: an
API server makes up the words of a refusal before it knows whether there is one, and a condition has none.
"""

from __future__ import annotations

from typing import Final

from muster.api.managed_cluster import GROUP
from muster.clustersets.permissions import join
from muster.kubernetes.policies.expressions import (
    allowed,
    hole,
    is_exclusive,
    label,
    labels_differ,
    quoted,
    refusal,
)
from muster.kubernetes.policies.policy import Matched, Parameters, Validation, mutation_policy, permission_policy
from muster.selectors.membership import DEFAULT_KEY, DEFAULT_SET
from muster.values.json import JsonObject

_SETS: Final = Parameters(f"{GROUP}/v1beta2", "ManagedClusterSet")
_KEY: Final = quoted(DEFAULT_KEY)
_CLUSTERS: Final = {GROUP: ("managedclusters",)}
_RELABELLED: Final = Matched(_CLUSTERS, conditions={"labels-change": labels_differ()})


def join_by_default_key() -> list[JsonObject]:
    """For the sets that the label of the default key named before and names now."""
    return permission_policy(
        "muster-join-default-key",
        _RELABELLED,
        _join("variables.before", _KEY, enters=False, moved="variables.before != variables.after"),
        _join("variables.after", _KEY, enters=True, moved="variables.before != variables.after"),
        variables={"before": label("oldObject", _KEY), "after": label("object", _KEY)},
    )


def join_by_other_keys() -> list[JsonObject]:
    """For one set: whether the cluster comes to carry its label, or to lose it."""
    name, key = "params.metadata.name", "params.spec.exclusiveKey"
    was_in, is_in = (f"{label(obj, key)} == {name}" for obj in ("oldObject", "object"))
    guarded = f"has(params.spec) && has({key}) && {key} != {_KEY} && {is_exclusive('params')}"
    return permission_policy(
        "muster-join",
        Matched(_CLUSTERS, conditions={"moves": f"({labels_differ()}) && {guarded} && ({was_in}) != ({is_in})"}),
        _join(name, key, enters=False, moved="variables.leaves"),
        _join(name, key, enters=True, moved="!variables.leaves"),
        variables={"leaves": was_in},
        parameters=_SETS,
    )


def _join(name: str, key: str, *, enters: bool, moved: str) -> Validation:
    """Who moves a cluster needs the permission for the set; no set has an empty name."""
    verb = "enters" if enters else "leaves"
    shown = DEFAULT_KEY if key == _KEY else hole(key)
    permission = join(hole(name), f"the cluster {verb} the set {hole(name)}: label {shown}={hole(name)}")
    return Validation(
        f"!({moved}) || {name} == '' || {allowed(permission, name)}",
        f"cannot add/remove a ManagedCluster to/from a ManagedClusterSet: the cluster {verb} one",
        refusal(permission),
    )


def default_label() -> list[JsonObject]:
    """A cluster that names no set by the default key is in the set `default`; not one that goes away."""
    return mutation_policy(
        "muster-default-set",
        Matched(
            _CLUSTERS,
            conditions={
                "stays": "!has(object.metadata.deletionTimestamp)",
                "names-no-set": f"{label('object', _KEY)} == ''",
            },
        ),
        f"Object{{metadata: Object.metadata{{labels: {{{_KEY}: {quoted(DEFAULT_SET)}}}}}}}",
    )
