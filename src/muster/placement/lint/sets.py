"""Sets and bindings that leave a placement without clusters, and mistakes in them themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import InvalidObjectError
from muster.placement.lint.findings import Finding, close_to, meant
from muster.placement.lint.requirements import contradictions, unmet
from muster.selectors.labels import LabelSelector
from muster.selectors.membership import membership_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
    from muster.placement.lint.fleet_facts import Vocabulary
    from muster.placement.schedule.plan import Plan
    from muster.placement.schedule.sets import Visibility


def visible_sets(plan: Plan, visibility: Visibility, known: Vocabulary) -> Iterator[Finding]:
    """What keeps a placement from seeing any cluster."""
    if not visibility.bound:
        fix = f"create a ManagedClusterSetBinding in namespace {plan.namespace}"
        yield Finding("no-binding", "metadata.namespace", f"no cluster set is bound to namespace {plan.namespace}", fix)
        return
    for index, name in enumerate(plan.cluster_sets):
        if name not in visibility.bound:
            message = f"cluster set {name!r} is not bound to namespace {plan.namespace}"
            create = f"create ManagedClusterSetBinding {plan.namespace}/{name}; {meant(name, visibility.bound)}"
            fix = close_to(name, visibility.bound) or create
            yield Finding("set-not-bound", f"spec.clusterSets[{index}]", message, fix)
    for name, why in visibility.broken:
        yield Finding("empty-sets", "spec.clusterSets", f"cluster set {name} cannot be evaluated: {why}")
    if visibility.eligible and not visibility.broken and known.clusters and not known.grouped.visible(visibility).any():
        names = ", ".join(name for name, _ in visibility.eligible)
        fix = "label clusters into it; `muster explain set` shows its rule"
        yield Finding("empty-sets", "spec.clusterSets", f"no cluster is in {names}", fix)


def lint_set(cluster_set: ManagedClusterSet, known: Vocabulary) -> list[Finding]:
    """A set whose selector cannot be meant."""
    where = "spec.clusterSelector.labelSelector"
    try:
        rule = membership_of(cluster_set)
    except InvalidObjectError as error:
        return [Finding("misconfigured", error.path or "spec.clusterSelector", error.reason)]
    if not isinstance(rule, LabelSelector):
        return []
    written = cluster_set.spec.cluster_selector.label_selector
    found = list(contradictions(rule, where, written))
    return [*found, *unmet(rule, where, written, known)] if known.clusters else found


def lint_binding(binding: ManagedClusterSetBinding, sets: Collection[str]) -> list[Finding]:
    """A binding of a set that is not there."""
    name = binding.spec.cluster_set or binding.metadata.name
    if name in sets:
        return []
    return [Finding("no-such-set", "spec.clusterSet", f"there is no ManagedClusterSet {name!r}", meant(name, sets))]
