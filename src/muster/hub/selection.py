"""Selecting records by label and field, decoding no more of an object than the question needs.

Used by lists and watches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from muster.hub import status
from muster.values.fields import FieldSelector, InvalidFieldSelectorError, parse_field_selector
from muster.values.json import Json, JsonObject
from muster.values.labels import InvalidSelectorError, Operator, parse_selector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.api.resource import Selectable
    from muster.hub.requests import Target
    from muster.hub.storage import Record
    from muster.values.labels import Requirement, Selector

_OF_KEY = ("metadata.name", "metadata.namespace")


class _Labels(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Labelled(msgspec.Struct, gc=False):
    metadata: _Labels


_read_labels = msgspec.json.Decoder(_Labelled).decode
_read_object = msgspec.json.Decoder(JsonObject).decode


class LabelTest:
    """A selector made ready for a hundred thousand objects: what it asks of keys alone is asked of all at once."""

    __slots__ = ("_absent", "_others", "_present", "_unwanted", "_wanted")

    def __init__(self, selector: Selector) -> None:
        by_operator: dict[Operator, list[Requirement]] = {}
        for each in selector.requirements:
            by_operator.setdefault(each.operator, []).append(each)

        def taken(*operators: Operator) -> list[Requirement]:
            return [each for operator in operators for each in by_operator.pop(operator, ())]

        self._present = frozenset(each.key for each in taken(Operator.EXISTS))
        self._absent = frozenset(each.key for each in taken(Operator.DOES_NOT_EXIST))
        wanted = taken(Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS)
        self._wanted = [(each.key, each.values) for each in wanted]
        self._unwanted = [(each.key, each.values) for each in taken(Operator.NOT_IN, Operator.NOT_EQUALS)]
        self._others = [each for left in by_operator.values() for each in left]

    def matches(self, labels: Mapping[str, str]) -> bool:
        for key, values in self._wanted:
            if labels.get(key) not in values:
                return False
        for key, values in self._unwanted:
            if labels.get(key) in values:
                return False
        keys = labels.keys()
        return (
            keys >= self._present
            and keys.isdisjoint(self._absent)
            and all(each.matches(labels) for each in self._others)
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """What a client wants to see of a collection; made by `selection`."""

    labels: LabelTest | None
    keys: FieldSelector | None
    fields: FieldSelector | None
    selectable: Selectable | None = None  # what the kind compares, if not what is at the field's path

    @property
    def everything(self) -> bool:
        return self.labels is None and self.keys is None and self.fields is None

    @property
    def name(self) -> str:
        """The one name that can match, if the client asked for one; empty otherwise."""
        return (self.keys.exact("metadata.name") or "") if self.keys is not None else ""

    def matches(self, record: Record) -> bool:
        if self.keys is not None:
            key = record.key
            if not self.keys.matches(lambda field: key.name if field == "metadata.name" else key.namespace):
                return False
        if self.labels is not None and not self.labels.matches(_read_labels(record.value).metadata.labels or {}):
            return False
        if self.fields is not None:
            obj = _read_object(record.value)
            text = self.selectable or field_text
            return self.fields.matches(lambda field: text(obj, field))
        return True


EVERYTHING = Selection(None, None, None)


def selection(target: Target, label_selector: str, field_selector: str) -> Selection:
    """Compile what the client wrote. Raises 400 with the parser's words."""
    if not label_selector and not field_selector:
        return EVERYTHING
    try:
        labels = LabelTest(parse_selector(label_selector)) if label_selector else None
        fields = parse_field_selector(field_selector)
    except (InvalidSelectorError, InvalidFieldSelectorError) as error:
        raise status.bad_request(str(error)) from None
    supported = {path.removeprefix(".") for path in target.version.selectable_fields}
    for requirement in fields.requirements:
        if requirement.field not in supported and requirement.field not in _OF_KEY:
            raise _unsupported(target, requirement.field, known=bool(supported))
    of_key = tuple(each for each in fields.requirements if each.field in _OF_KEY)
    of_object = tuple(each for each in fields.requirements if each.field not in _OF_KEY)
    return Selection(
        labels,
        FieldSelector(of_key) if of_key else None,
        FieldSelector(of_object) if of_object else None,
        target.version.selectable,
    )


def _unsupported(target: Target, field: str, *, known: bool) -> status.StatusError:
    if target.resource.builtin and not known:
        return status.bad_request(
            f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
        )
    return status.bad_request(f"field label not supported: {field}")


def field_text(obj: Json, path: str) -> str:
    """The value at a dotted path as field selectors compare it; empty if there is none."""
    for name in path.split("."):
        if not isinstance(obj, dict):
            return ""
        obj = obj.get(name)
    match obj:
        case None | dict() | list():
            return ""
        case bool():
            return "true" if obj else "false"
        case _:
            return str(obj)
