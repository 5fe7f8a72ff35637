"""What `muster clusterset` answers about membership: who is in a set, which sets have a cluster, and why. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from muster.cli.inputs.fields import text_in
from muster.errors import InvalidObjectError
from muster.selectors.labels import labels_of
from muster.selectors.membership import DEFAULT_KEY, ExclusiveMembership, membership
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.selectors.membership import Membership


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A cluster that somebody probably wanted to be a member."""

    cluster: str
    why: str


class Members(msgspec.Struct, frozen=True, rename="camel"):
    """Who is in a set. `key` is its exclusive key; empty for a set by label selector."""

    set: str
    key: str
    rule: str
    members: tuple[str, ...]
    near_misses: tuple[NearMiss, ...]


@dataclass(frozen=True, slots=True)
class InSet:
    """A set that has the cluster. `key` is empty for a set by label selector."""

    set: str
    key: str
    why: str


@dataclass(frozen=True, slots=True)
class WithoutSet:
    """A key by which no set has the cluster."""

    key: str
    why: str


@dataclass(frozen=True, slots=True)
class Unusable:
    """A set that cannot be evaluated."""

    set: str
    why: str


@dataclass(frozen=True, slots=True)
class SetsOfCluster:
    """All sets of a cluster: one at most for each exclusive key, and any number by label selector."""

    cluster: str
    sets: tuple[InSet, ...]
    without: tuple[WithoutSet, ...]
    unusable: tuple[Unusable, ...]


def members_of(cluster_set: JsonMapping, clusters: Iterable[JsonMapping]) -> Members:
    """Raises InvalidObjectError if the set cannot be evaluated."""
    rule = membership(cluster_set)
    names, near = [], []
    for cluster in clusters:
        name = str(cluster["metadata"]["name"])
        if rule.match(cluster):
            names.append(name)
        elif isinstance(rule, ExclusiveMembership):
            value = text_in(labels_of(cluster), rule.key)
            if value.lower() == rule.set_name:
                near.append(NearMiss(name, f"its label is {rule.key}={value}, and values are case-sensitive"))
    near.sort(key=lambda each: each.cluster)
    key = rule.key if isinstance(rule, ExclusiveMembership) else ""
    return Members(str(cluster_set["metadata"]["name"]), key, rule_text(rule), tuple(sorted(names)), tuple(near))


def sets_of(cluster: JsonMapping, cluster_sets: Iterable[JsonMapping]) -> SetsOfCluster:
    """Every set with its rule; a set that cannot be evaluated is named apart."""
    found: list[InSet] = []
    unusable: list[Unusable] = []
    names_by_key: dict[str, set[str]] = {DEFAULT_KEY: set()}
    for each in cluster_sets:
        name = str(each["metadata"]["name"])
        try:
            rule = membership(each)
        except InvalidObjectError as error:
            unusable.append(Unusable(name, str(error)))
            continue
        key = rule.key if isinstance(rule, ExclusiveMembership) else ""
        if key:
            names_by_key.setdefault(key, set()).add(name)
        if rule.match(cluster):
            found.append(InSet(name, key, rule_text(rule)))
    labels = labels_of(cluster)
    taken = {each.key for each in found}
    without = [
        WithoutSet(key, _why_without(key, text_in(labels, key), names))
        for key, names in names_by_key.items()
        if key not in taken
    ]
    return SetsOfCluster(
        str(cluster["metadata"]["name"]),
        tuple(sorted(found, key=lambda each: (not each.key, each.key, each.set))),
        tuple(sorted(without, key=lambda each: each.key)),
        tuple(sorted(unusable, key=lambda each: each.set)),
    )


def rule_text(rule: Membership) -> str:
    """How a set has its members, in a few words."""
    if isinstance(rule, ExclusiveMembership):
        return f"label {rule.key}={rule.set_name}"
    if rule.requirements.nothing:
        return "a label selector that selects nothing"
    if rule.is_empty:
        return "a label selector that selects every cluster"
    return f"label selector {','.join(str(each) for each in rule.requirements.requirements)}"


def _why_without(key: str, value: str, names: set[str]) -> str:
    if not value:
        return f"the label {key} is missing"
    meant = f"; {value.lower()} is one, and values are case-sensitive" if value.lower() in names else ""
    return f"label {key}={value} names no set of this key{meant}"
