"""The structs of a reason. They travel as JSON as they are: in answers over HTTP, in `-o json`, to other languages."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - msgspec reads annotations at run time
from typing import TYPE_CHECKING

import msgspec

from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from typing import Any


Parameter = str | int | bool | tuple[str, ...]
Held = str | None


class Subject(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    """What a reason is about; what does not apply is left out.

    A reason with a `cluster` is about that one; its `values` are what that cluster holds. One with a `check` stands
    below the name of the check, and one with a `stage` stands alone, so that the stage has to be said.
    """

    stage: str = ""
    check: str = ""
    predicate: int = 0  # from 1
    requirement: str = ""  # of a label or claim selector, as it was written
    expression: str = ""
    position: int | None = None  # in the expression, in code points
    field: str = ""  # of the placement
    cluster: str = ""
    cluster_set: str = ""
    package: str = ""  # of operators, with one of its channels or bundles
    channel: str = ""
    bundle: str = ""


NOTHING = Subject()


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why. What may have to be hidden is told by where it stands.

    `parameters` are what authors wrote and we counted: for everybody who may ask. `values` are what objects hold, and
    texts that may quote it; None for what is not there. `clusters` are names of clusters beside the subject. `parts`
    are the reasons that this one is made of. A value or name that a reader may not see is left out.
    """

    code: str  # a Code; servers that are newer than we are may say others
    subject: Subject = NOTHING
    parameters: Mapping[str, Parameter] = {}
    values: Mapping[str, Held] = {}
    clusters: Mapping[str, str] = {}
    parts: tuple[Reason, ...] = ()

    def __hash__(self) -> int:
        maps = (_items(self.parameters), _items(self.values), _items(self.clusters))
        return hash((self.code, self.subject, maps, self.parts))

    def about(self, **fields: Any) -> Reason:
        """The same with more said about the subject."""
        return msgspec.structs.replace(self, subject=msgspec.structs.replace(self.subject, **fields))


def _items(mapping: JsonMapping) -> tuple[tuple[str, Json], ...]:
    return tuple(mapping.items())
