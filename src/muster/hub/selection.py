"""Selecting records by label and field, decoding no more of an object than the question needs.

Used by lists and watches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from muster.hub import status
from muster.values.fields import FieldSelector, InvalidFieldSelectorError, parse_field_selector
from muster.values.labels import InvalidSelectorError, parse_selector

if TYPE_CHECKING:
    from muster.hub.requests import Target
    from muster.hub.storage import Record
    from muster.values.labels import Selector

_OF_KEY = ("metadata.name", "metadata.namespace")


class _Labels(msgspec.Struct, gc=False):
    labels: dict[str, str] | None = None


class _Labelled(msgspec.Struct, gc=False):
    metadata: _Labels


_read_labels = msgspec.json.Decoder(_Labelled).decode
_read_object = msgspec.json.Decoder(dict[str, Any]).decode


@dataclass(frozen=True, slots=True)
class Selection:
    """What a client wants to see of a collection; made by `selection`."""

    labels: Selector | None
    keys: FieldSelector | None
    fields: FieldSelector | None

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
            return self.fields.matches(lambda field: field_text(obj, field))
        return True


EVERYTHING = Selection(None, None, None)


def selection(target: Target, label_selector: str, field_selector: str) -> Selection:
    """Compile what the client wrote. Raises 400 with the parser's words."""
    if not label_selector and not field_selector:
        return EVERYTHING
    try:
        labels = parse_selector(label_selector) if label_selector else None
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
    )


def _unsupported(target: Target, field: str, *, known: bool) -> status.StatusError:
    if target.resource.builtin and not known:
        return status.bad_request(
            f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
        )
    return status.bad_request(f"field label not supported: {field}")


def field_text(obj: Any, path: str) -> str:
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
