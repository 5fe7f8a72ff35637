"""`muster.classify`: which labels classifications put on hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.classification import classify as classified_by
from muster.placement.explain.tables import Table, Tabular
from muster.values.arguments import plain_objects

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.classification.one_shot import Classified, ClassifiedAgent, Place
    from muster.classification.status import Report
    from muster.selection import Objects


@dataclass(frozen=True, slots=True, repr=False)
class HostLabels(Tabular):
    """Hosts by namespace and name, with their labels. Prints as a table; notebooks show it as one."""

    _found: Classified

    @property
    def hosts(self) -> tuple[ClassifiedAgent, ...]:
        """Each with the labels that it would carry, what changes, and what every classification says of it."""
        return self._found.agents

    @property
    def reports(self) -> Mapping[Place, Report]:
        """How every classification fares, by namespace and name."""
        return self._found.reports

    def __iter__(self) -> Iterator[ClassifiedAgent]:
        return iter(self.hosts)

    def __len__(self) -> int:
        return len(self.hosts)

    def __repr__(self) -> str:
        return f"<HostLabels: {len(self)} hosts, {len(self.reports)} classifications>"

    def table(self) -> Table:
        """One line for each host."""
        rows = []
        for host in self.hosts:
            name = f"{host.namespace}/{host.name}" if host.namespace else host.name
            labels = ", ".join(f"{key.rpartition('/')[2]}={value}" for key, value in sorted(host.labels.items()))
            changes = ", ".join(
                f"{'-' if value is None else '+'}{key.rpartition('/')[2]}" for key, value in host.changes.items()
            )
            rows.append((name, labels, changes))
        return Table(f"{len(self)} hosts", ("Host", "Labels", "Changes"), tuple(rows))


def classify(hosts: Objects, classifications: Objects | None = None) -> HostLabels:
    """Label hosts: Agents by the AgentClassifications given, or by those among the objects.

    A classification without a namespace counts for every namespace that has hosts. Raises InvalidObjectError for a
    label that cannot be, and for a classification that says too little.

    >>> import muster
    >>> host = {"kind": "Agent", "metadata": {"name": "h1"}, "status": {"inventory": {"cpu": {"count": 64}}}}
    >>> big = {"kind": "AgentClassification", "metadata": {"name": "big"},
    ...        "spec": {"labelKey": "size", "labelValue": "big", "query": ".cpu.count > 8"}}
    >>> print(muster.classify([host, big]))
    1 hosts
    HOST   LABELS     CHANGES
    h1     size=big   +size
    """
    every = plain_objects(hosts, "hosts")
    given = every if classifications is None else plain_objects(classifications, "classifications")
    wanted = [each for each in given if each.get("kind") == "AgentClassification"]
    return HostLabels(classified_by(wanted, [each for each in every if each.get("kind") == "Agent"]))
