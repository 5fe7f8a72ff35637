"""Whether a stored object carries a label, without decoding the object: for questions about a whole fleet.

Admission asks it of every cluster when a set is created, and of what is written while it asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.hub.storage import Record


class _Metadata(msgspec.Struct, gc=False):
    labels: JsonObject | None = None


class _Object(msgspec.Struct, gc=False):
    metadata: _Metadata


_decode = msgspec.json.Decoder(_Object).decode


class LabelSearch:
    """Whether the bytes of an object carry `key: value` as a label."""

    __slots__ = ("_key", "_text", "_value")

    def __init__(self, key: str, value: str) -> None:
        self._key = key
        self._value = value
        # Objects are stored without spaces (`muster.api.codec`), so nothing carries the label without this text.
        self._text = msgspec.json.encode({key: value})[1:-1]

    def __call__(self, stored: bytes) -> bool:
        return self._text in stored and self._is_label(stored)

    def names(self, records: Iterable[Record]) -> list[str]:
        """The names of those that carry it. The search is written out here: a call for each would be half the time."""
        text = self._text
        return [record.key.name for record in records if text in record.value and self._is_label(record.value)]

    def _is_label(self, stored: bytes) -> bool:
        """The text may stand in an annotation or anywhere else."""
        return (_decode(stored).metadata.labels or {}).get(self._key) == self._value
