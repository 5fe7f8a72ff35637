"""What was acknowledged, and what was seen of it. Pure bookkeeping: no I/O.

A write that was answered is in the ledger with its revision. One that was cut off may have happened or not; the next
look at its object tells. A watch must show every acknowledged revision that it was there for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Labels = dict[str, str]


@dataclass
class Known:
    """The last acknowledged state of one object, and what may have been written since."""

    labels: Labels | None  # None: gone
    revision: int
    doubtful: list[Labels | None] = field(default_factory=list)


@dataclass
class Ledger:
    """Everything that clients were told about clusters."""

    known: dict[str, Known] = field(default_factory=dict)
    acknowledged: dict[int, str] = field(default_factory=dict)  # revision -> cluster, of writes that a watch must show
    seen: set[int] = field(default_factory=set)
    writes: int = 0

    def answered(self, name: str, labels: Labels | None, revision: int) -> None:
        self.known[name] = Known(labels, revision)
        self.acknowledged[revision] = name
        self.writes += 1

    def cut_off(self, name: str, labels: Labels | None) -> None:
        """No answer: it may be there."""
        self.known.setdefault(name, Known(None, 0)).doubtful.append(labels)

    def lost(self, objects: dict[str, Any]) -> list[str]:
        """Clusters that are neither as acknowledged nor as a later write, which was cut off, would have made them."""
        found = []
        for name, known in self.known.items():
            allowed = [known.labels, *known.doubtful]
            labels = ours(objects[name]["metadata"].get("labels", {})) if name in objects else None
            if labels not in allowed:
                found.append(f"{name}: has {labels}, acknowledged was {known.labels} at {known.revision}")
        return found

    def gaps(self, up_to: int, since: int = 0) -> list[str]:
        """Acknowledged revisions that no watch has shown."""
        return [
            f"revision {revision} of {name}"
            for revision, name in self.acknowledged.items()
            if since < revision <= up_to and revision not in self.seen
        ]


def ours(labels: Labels) -> Labels:
    """The labels that the soak writes; controllers and admission add others."""
    return {key: value for key, value in labels.items() if key in ("colour", "round")}
