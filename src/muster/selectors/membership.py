"""Which clusters are in a cluster set: by exclusive key and set name, or by a label selector.

The rules stand once here; status, placement, admission and explanations ask this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster_set import (
    BY_LABELS,
    DEFAULT_EXCLUSIVE_KEY,
    EXCLUSIVE,
    LEGACY_EXCLUSIVE,
    ManagedClusterSet,
)
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.reasons import Code, Reason, Subject
from muster.selectors.labels import LabelSelector, label_selector, labels_of
from muster.selectors.match import Match, no, yes
from muster.selectors.paths import Path, label_path
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable


DEFAULT_KEY: Final = DEFAULT_EXCLUSIVE_KEY
DEFAULT_SET: Final = "default"
GLOBAL_SET: Final = "global"
EXCLUSIVE_TYPES: Final = ("", EXCLUSIVE, LEGACY_EXCLUSIVE)
SETS: Final = Reader(ManagedClusterSet)


@dataclass(frozen=True, slots=True)
class ExclusiveMembership:
    """Members carry the label `key` with the set's name as value: at most one set per key has a cluster."""

    key: str
    set_name: str

    @property
    def is_empty(self) -> bool:
        return False

    @property
    def reads(self) -> frozenset[Path]:
        return frozenset({label_path(self.key)})

    def match(self, cluster: JsonMapping) -> Match:
        labels = labels_of(cluster)
        if labels.get(self.key) == self.set_name:
            return yes(self._named)
        return no(lambda: self._other(labels.get(self.key)))

    def _named(self) -> Reason:
        return Reason(Code.SET_LABEL_MATCHES, Subject(cluster_set=self.set_name), {"key": self.key})

    def _other(self, actual: str | None) -> Reason:
        subject = Subject(cluster_set=self.set_name)
        return Reason(Code.SET_LABEL_DIFFERS, subject, {"key": self.key}, {"actual": actual})


Membership = ExclusiveMembership | LabelSelector


def membership(cluster_set: JsonMapping) -> Membership:
    """The rule of a set as people write it. Raises InvalidObjectError when it cannot be evaluated."""
    return membership_of(SETS.demanded(cluster_set, "spec"))


def membership_of(cluster_set: ManagedClusterSet) -> Membership:
    """The compiled rule of a set. Raises InvalidObjectError when it cannot be evaluated."""
    spec, selector = cluster_set.spec, cluster_set.spec.cluster_selector
    if selector.selector_type in EXCLUSIVE_TYPES:
        return ExclusiveMembership(spec.effective_key, cluster_set.metadata.name)
    if selector.selector_type != BY_LABELS:
        raise InvalidObjectError(
            "spec.clusterSelector.selectorType", f"selectorType is not right: {selector.selector_type}"
        )
    if spec.exclusive_key:
        raise InvalidObjectError(
            "spec.exclusiveKey", "a set with a LabelSelector is not exclusive; remove one of the two"
        )
    return label_selector(selector.label_selector)


def sets_of(cluster: JsonMapping, cluster_sets: Iterable[JsonMapping]) -> list[str]:
    """Names of the sets that have the cluster, sorted. Raises InvalidObjectError for a set that cannot be evaluated."""
    return sorted(str(each["metadata"]["name"]) for each in cluster_sets if membership(each).match(cluster))
