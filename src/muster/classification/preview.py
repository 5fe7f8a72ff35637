"""What changed classifications and agents would do to the labels of agents, before anything is written.

`muster plan` prints it. What is there is settled first, so that only what the change brings is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.classification.names import LABEL_PREFIX
from muster.classification.one_shot import Hosts, agent_read, classification_read
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from muster.api.agent import Agent
    from muster.api.agent_classification import AgentClassification
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
    for agent in _agents(there):
        hosts.put_agent(agent)
    for classification in _classifications(there, trusting=trusting):
        hosts.put_classification(classification)
    hosts.settle()
    labels_before, before = hosts.labels(), hosts.reports()
    hosts.trusting = False
    for agent in _agents(new):
        hosts.change_agent(agent)
    for classification in _classifications(new):
        hosts.put_classification(classification)
    for agent in _agents(going):
        hosts.remove_agent(agent)
    for classification in _classifications(going, trusting=True):
        hosts.remove_classification(classification)
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


def _agents(objects: Iterable[JsonMapping]) -> Iterator[Agent]:
    return (agent_read(obj) for obj in objects if obj.get("kind") == "Agent")


def _classifications(objects: Iterable[JsonMapping], *, trusting: bool = False) -> Iterator[AgentClassification]:
    named = (obj for obj in objects if obj.get("kind") == "AgentClassification")
    return (classification_read(obj, trusting=trusting) for obj in named)


def _label_changes(
    before: Mapping[tuple[str, str], Mapping[str, str]], after: Mapping[tuple[str, str], Mapping[str, str]]
) -> Iterable[LabelChange]:
    for place, labels in sorted(after.items()):
        had = before.get(place, {})
        for key in sorted(had.keys() | labels.keys()):
            if had.get(key) != labels.get(key):
                yield LabelChange(*place, key.removeprefix(LABEL_PREFIX), had.get(key), labels.get(key))
