"""What changed classifications and agents would do to the labels of agents, before anything is written.

`muster plan` prints it. What is there is settled first, so that only what the change brings is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.classification.names import LABEL_PREFIX
from muster.classification.one_shot import Hosts
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from muster.classification.status import Report


@dataclass(frozen=True, slots=True)
class LabelChange:
    """One label of one agent; None where there is none."""

    namespace: str
    agent: str
    key: str  # without the prefix
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ClassificationChange:
    """How a classification would fare; `before` is None for a new one, `after` for one that goes."""

    namespace: str
    name: str
    before: Report | None
    after: Report | None


@dataclass(frozen=True, slots=True)
class LabelPreview:
    """Everything that would be different, by namespace and name."""

    classifications: tuple[ClassificationChange, ...]
    labels: tuple[LabelChange, ...]


def preview_labels(
    present: Iterable[JsonMapping],
    changes: Iterable[JsonMapping],
    gone: Iterable[JsonMapping] = (),
    *,
    trusting: bool = False,
) -> LabelPreview:
    """What is changed or new, and what goes. Objects of other kinds are passed over.

    Raises InvalidObjectError for a label that cannot be, except in what is present on a server that is trusted.
    """
    hosts = Hosts(trusting=trusting)
    there, new, going = list(present), list(changes), list(gone)
    # Agents first: a classification without a namespace counts for those that there are.
    _each(there, "Agent", hosts.put_agent)
    _each(there, "AgentClassification", hosts.put_classification)
    hosts.settle()
    labels_before, before = hosts.labels(), hosts.reports()
    hosts.trusting = False
    _each(new, "Agent", hosts.change_agent)
    _each(new, "AgentClassification", hosts.put_classification)
    _each(going, "Agent", hosts.remove_agent)
    _each(going, "AgentClassification", hosts.remove_classification)
    hosts.settle()
    after = hosts.reports()
    return LabelPreview(
        tuple(
            ClassificationChange(*place, before.get(place), after.get(place))
            for place in sorted(before.keys() | after.keys())
            if before.get(place) != after.get(place)
        ),
        tuple(_label_changes(labels_before, hosts.labels())),
    )


def _each(objects: Iterable[JsonMapping], kind: str, put: Callable[[JsonMapping], None]) -> None:
    for obj in objects:
        if obj.get("kind") == kind:
            put(obj)


def _label_changes(
    before: Mapping[tuple[str, str], Mapping[str, str]], after: Mapping[tuple[str, str], Mapping[str, str]]
) -> Iterable[LabelChange]:
    for place, labels in sorted(after.items()):
        had = before.get(place, {})
        for key in sorted(had.keys() | labels.keys()):
            if had.get(key) != labels.get(key):
                yield LabelChange(*place, key.removeprefix(LABEL_PREFIX), had.get(key), labels.get(key))
