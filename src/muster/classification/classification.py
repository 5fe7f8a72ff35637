"""A classification as the rules need it: the label, the query's text, whether it is going. Read from the API object."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from muster.api.agent_classification import AgentClassification, label_causes
from muster.api.reading import Reader
from muster.classification.names import ERROR_PREFIX, LABEL_PREFIX
from muster.values.causes import sentence

CLASSIFICATIONS: Final = Reader(AgentClassification)


@dataclass(frozen=True, slots=True)
class Classification:
    """What is wanted: this label on every agent whose inventory the query accepts."""

    name: str
    label: str  # the whole key, prefix included
    value: str
    query: str
    deleting: bool = False
    held: bool = False  # its query is not to be run: labels that hang on it stay as they are
    fault: str = ""  # what is wrong with the label as it is written now
    usable: bool = True  # whether there is a label to set: the one that is written, or the last good one
    error_value: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "error_value", ERROR_PREFIX + self.value)

    def after(self, before: Classification | None) -> Classification:
        """With the label that it had before, should the one written now be none: a mistake takes no label away."""
        if self.usable or before is None or not before.usable:
            return self
        return replace(self, label=before.label, value=before.value, usable=True)

    def owns(self, value: str | None) -> bool:
        """Whether a value under the key is one that this classification sets."""
        return value is not None and (value == self.value or value == self.error_value)

    def is_twin_of(self, other: Classification) -> bool:
        """The same label, wanted by another classification."""
        return (self.label, self.value) == (other.label, other.value) and self.name != other.name


def read_classification(obj: AgentClassification, *, held: bool = False) -> Classification:
    """From the object as stored. A server without our checks may hold labels that cannot be set; those are a fault."""
    spec = obj.spec
    causes = label_causes(spec.label_key, spec.label_value)
    return Classification(
        name=obj.metadata.name,
        label=LABEL_PREFIX + spec.label_key,
        value=spec.label_value,
        query=spec.query,
        deleting=obj.metadata.is_going,
        held=held,
        fault=sentence(causes) if causes else "",
        usable=not causes,
    )
