"""Where labels, claims, taints, versions and the time of deletion stand in the JSON of each object, so that a column of
one label reads the labels and not the rest of the object.

Whoever loads many objects reads their names; this comes out of the same pass. A section is a view of the object's own
bytes. It is looked up again after a change, when a column is next filled. What is not as expected here (an object
without labels, claims in another form) is left to extraction.py, which looks at whole objects and is always right.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from types import NoneType
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from muster.fleet.claim_lists import OtherwiseWrittenError, claims_named
from muster.fleet.extraction import can_name_a_field, extractor
from muster.fleet.shapes import Shape
from muster.fleet.spans import span
from muster.selectors.paths import GONE_WHEN_EMPTY, LABELS, key_path, project
from muster.values.json import Json
from muster.values.paths import PRESENT, Where, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from muster.fleet.columns import Column
    from muster.selectors.paths import Path

DELETION: Final = key_path("metadata", "deletionTimestamp")
_LABELS: Final = key_path("metadata", LABELS)
_CLAIMS: Final = key_path("status", "clusterClaims")
_TAINTS: Final = key_path("spec", "taints")
_VERSION: Final = key_path("status", "version")
_KINDS: Final = (_LABELS, _CLAIMS, DELETION, _TAINTS, _VERSION)
_NO_LABELS: Final = (1,)  # how far the path led, as `project` says it
_NO_LABEL: Final = (2,)
_NO_TEXT: Final = (2,)
_NO_CLAIM: Final = b"[]"
_NOT_THERE: Final = (1,)
_UNREADABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)
_UNKNOWN: Final = b"?"  # what a line says of a section that is None; no JSON does

_Section: TypeAlias = Raw | bytes | UnsetType | None
"""UNSET: the object has no such section. None: nobody has looked since it changed."""
_Read: TypeAlias = Callable[[Sequence[Raw | bytes]], list[Hashable]]
"""From sections to what a column holds. Raises one of _UNREADABLE where one of them is not as expected."""


class _Name(Struct, gc=False):
    name: str


class _Named(Struct, gc=False):
    metadata: _Name


_SHAPE: Final = msgspec.json.Decoder(Shape)
_NAMED: Final = msgspec.json.Decoder(_Named)
_LABEL: Final = attrgetter("label")
_TEXT: Final = attrgetter("text")
_ANY: Final = msgspec.json.Decoder()


class Found(Struct, gc=False):
    """One pass over an object."""

    name: str
    labels: _Section = UNSET
    claims: _Section = UNSET
    deletion: _Section = None  # None: look at the whole object
    taints: _Section = None
    version: _Section = UNSET


def find_sections(encoded: bytes, shape: Shape | None = None) -> Found:
    """Raises msgspec's errors when there is no name; whatever else the object holds will do. `shape` is what somebody
    has found of it before."""
    if shape is not None and (name := shape.metadata.name) is not UNSET:
        return _found(name, shape)
    try:
        shape = _SHAPE.decode(encoded)
    except msgspec.ValidationError:  # a status that is no object, for example
        return Found(_NAMED.decode(encoded).metadata.name)
    name = shape.metadata.name
    return _found(_NAMED.decode(encoded).metadata.name if name is UNSET else name, shape)


def _found(name: str, shape: Shape) -> Found:
    metadata, spec, status = shape.metadata, shape.spec, shape.status
    taints = None if spec is UNSET else spec.taints
    if status is UNSET:
        return Found(name, metadata.labels, UNSET, metadata.deletion, taints)
    return Found(name, metadata.labels, status.claims, metadata.deletion, taints, status.version)


class Sections:
    """The sections of all rows."""

    def __init__(self) -> None:
        self._labels: list[_Section] = []
        self._claims: list[_Section] = []
        self._deletion: list[_Section] = []
        self._taints: list[_Section] = []
        self._versions: list[_Section] = []
        self._kinds = (self._labels, self._claims, self._deletion, self._taints, self._versions)

    def copy(self) -> Sections:
        copied = Sections()
        for own, others in zip(copied._kinds, self._kinds, strict=True):
            own[:] = others
        return copied

    def rearrange(self, order: Sequence[int]) -> None:
        """Only these rows, in this order. One list after the other: of a million rows each is large."""
        for sections in self._kinds:
            sections[:] = [sections[row] for row in order]

    def append(self, found: Found | None = None) -> None:
        """There is one more row."""
        self._labels.append(None if found is None else found.labels)
        self._claims.append(None if found is None else found.claims)
        self._deletion.append(None if found is None else found.deletion)
        self._taints.append(None if found is None else found.taints)
        self._versions.append(None if found is None else found.version)

    def forget(self, row: int) -> None:
        """The object in a row is another one now."""
        self._labels[row] = self._claims[row] = self._deletion[row] = self._taints[row] = None
        self._versions[row] = None

    def put(self, row: int, found: Found) -> None:
        self._labels[row], self._claims[row] = found.labels, found.claims
        self._deletion[row], self._taints[row] = found.deletion, found.taints
        self._versions[row] = found.version

    def lines(self, rows: Sequence[int], encoded: Sequence[bytes | None]) -> list[list[bytes]]:
        """The sections of these rows, each kind in lines for `SectionReader.values_of_lines`."""
        self._look_up([row for row in rows if self._labels[row] is None], encoded)
        return [[_line(sections[row]) for row in rows] for sections in self._kinds]

    def reader(self, path: Path) -> Callable[[NDArray[np.intp], Sequence[bytes | None]], list[Hashable]]:
        """A function from rows, in ascending order, and the objects in all rows to what a column of the path holds for
        them."""
        reader = SectionReader(path)
        if reader.kind is None:
            return lambda rows, encoded: reader.whole(_there(encoded, rows.tolist()))
        return self.read_by(reader)

    def read_by(self, reader: SectionReader) -> Callable[[NDArray[np.intp], Sequence[bytes | None]], list[Hashable]]:
        """The same, where there is such a section."""
        sections = self._kinds[reader.kind or 0]

        def values(rows: NDArray[np.intp], encoded: Sequence[bytes | None]) -> list[Hashable]:
            at_hand = _taken(sections, rows)
            if NoneType in set(map(type, at_hand)):
                self._look_up([row for row in rows.tolist() if sections[row] is None], encoded)
                at_hand = _taken(sections, rows)
            return reader.values(at_hand, lambda at: _there(encoded, rows[at].tolist()))

        return values

    def _look_up(self, rows: Iterable[int], encoded: Sequence[bytes | None]) -> None:
        for row in rows:
            obj = encoded[row]
            if obj is None:
                continue
            try:
                self.put(row, find_sections(obj))
            except _UNREADABLE:  # looked at as a whole, where it is contained
                self._labels[row] = self._claims[row] = self._versions[row] = UNSET


class SectionReader:
    """What a column of one path holds, from sections, and from whole objects where these do not say."""

    def __init__(self, path: Path) -> None:
        self.whole = extractor(path)
        place, self._read = _section_reader(path)
        self.kind = None if self._read is None else _KINDS.index(place)  # None: look at whole objects
        self._missing = _NOT_THERE if place in (DELETION, _TAINTS) else None

    def values_of_lines(self, lines: Sequence[bytes], objects: Callable[[list[int]], list[bytes]]) -> list[Hashable]:
        """From the lines of some rows; `objects` are those at some of their places."""
        is_plain = b"" not in lines and _UNKNOWN not in lines
        return self.values(lines if is_plain else [_section(line) for line in lines], objects)

    def values(self, at_hand: Sequence[_Section], objects: Callable[[list[int]], list[bytes]]) -> list[Hashable]:
        """The same from sections."""
        kinds, missing = set(map(type, at_hand)), self._missing
        if kinds == {UnsetType} and missing is not None:
            return [missing] * len(at_hand)
        raws = [section for section in at_hand if section is not None and section is not UNSET]
        try:
            found = self._read(raws) if raws and self._read is not None else []
        except _UNREADABLE:
            return self.whole(objects(list(range(len(at_hand)))))
        if len(found) == len(at_hand):
            return found
        read_here = iter(found)
        merged = [missing if each is None or each is UNSET else next(read_here) for each in at_hand]
        if missing is None or NoneType in kinds:  # some are not known by their sections
            unknown = [at for at, each in enumerate(at_hand) if each is None or (each is UNSET and missing is None)]
            for at, value in zip(unknown, self.whole(objects(unknown)), strict=True):
                merged[at] = value
        return merged


def _line(section: _Section) -> bytes:
    if section is UNSET:
        return b""
    line = _UNKNOWN if section is None else bytes(section)
    return _UNKNOWN if b"\n" in line else line


def _section(line: bytes) -> _Section:
    return UNSET if not line else None if line == _UNKNOWN else line


def _taken(sections: list[_Section], rows: NDArray[np.intp]) -> list[_Section]:
    together = span(rows)
    return sections[together] if together is not None else [sections[row] for row in rows.tolist()]


def _there(encoded: Sequence[bytes | None], rows: Iterable[int]) -> list[bytes]:
    return [obj for row in rows if (obj := encoded[row]) is not None]


def _section_reader(path: Path) -> tuple[Path, _Read | None]:
    """Of which section, and how. None: look at whole objects."""
    if not all(can_name_a_field(step) for step in path if isinstance(step, str)):
        return path, None
    match path[:2], path[2:]:
        case (_, ()) if path in (DELETION, _TAINTS):
            return path, _whole_section if path not in GONE_WHEN_EMPTY else _whole_section_unless_empty
        case (place, (str() as key,)) if place == _LABELS:
            return place, _label_reader(key)
        case (place, (str() as key, last)) if place == _LABELS and last is PRESENT:
            return place, _label_presence(key)
        case (place, (Where(field="name", value=name),)) if place == _CLAIMS:
            return place, _claim_reader(name)
        case (place, (str() as key,)) if place == _VERSION:
            return place, _text_reader(key, _NO_TEXT if path in GONE_WHEN_EMPTY else "")
    return path, None


def _whole_section(raws: Sequence[Raw | bytes]) -> list[Hashable]:
    return [_value(_ANY.decode(raw)) for raw in raws]


def _whole_section_unless_empty(raws: Sequence[Raw | bytes]) -> list[Hashable]:
    return [_value(value) if (value := _ANY.decode(raw)) else _NOT_THERE for raw in raws]


def _value(value: Json) -> Hashable:
    return value if type(value) is str else frozen(value)


def _label_reader(key: str) -> _Read:
    shape = msgspec.defstruct("Labels", [("label", Json | UnsetType, UNSET)], rename={"label": key}, gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines

    def read(raws: Sequence[Raw | bytes]) -> list[Hashable]:
        values: list[Hashable] = list(map(_LABEL, decode_lines(_lines(raws))))
        if len(values) == len(raws) and set(map(type, values)) == {str}:
            return values
        return [
            value if type(value) is str else _absent(raw) if value is UNSET else frozen(value)
            for value, raw in zip(values, raws, strict=True)
        ]

    return read


def without_deletion(column: Column) -> NDArray[np.bool_]:
    """Rows whose object is not on its way out, by the column of DELETION."""
    missing = column.code(project({"metadata": {"name": ""}}, DELETION))
    null = column.code(project({"metadata": {"deletionTimestamp": None}}, DELETION))
    there: NDArray[np.bool_] = (column.codes == missing) | (column.codes == null)
    there.flags.writeable = False
    return there


def _label_presence(key: str) -> _Read:
    shape = msgspec.defstruct("Labels", [("label", Raw | UnsetType, UNSET)], rename={"label": key}, gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines

    def read(raws: Sequence[Raw | bytes]) -> list[Hashable]:
        found = decode_lines(_lines(raws))
        return [
            _absent(raw) if labels.label is UNSET else True  # type: ignore[attr-defined]
            for labels, raw in zip(found, raws, strict=True)
        ]

    return read


def _absent(labels: Raw | bytes) -> Hashable:
    return _NO_LABEL if len(labels) > 2 and bytes(labels)[1:-1].strip() else _NO_LABELS


def _text_reader(key: str, empty: Hashable) -> _Read:
    """Of something that is a text wherever it is ordinary. `empty` is what a column holds of one with nothing in it."""
    shape = msgspec.defstruct("Texts", [("text", str)], rename={"text": key}, gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines

    def read(raws: Sequence[Raw | bytes]) -> list[Hashable]:
        found: list[Hashable] = list(map(_TEXT, decode_lines(_lines(raws))))
        if len(found) != len(raws):  # some are written on several lines
            raise OtherwiseWrittenError
        return [empty if each == "" else each for each in found] if "" in found else found

    return read


def _lines(raws: Sequence[Raw | bytes]) -> bytes:
    return b"\n".join(raws)


def _claim_reader(name: str) -> _Read | None:
    written = msgspec.json.encode(name)
    if b"\\" in written:
        return None
    value_of: dict[bytes, Hashable] = {}

    def read(raws: Sequence[Raw | bytes]) -> list[Hashable]:
        lists, claims = claims_named(written[1:-1], raws)
        if (lists[1:] == lists[:-1]).any():
            raise OtherwiseWrittenError  # several of one name
        for claim in set(claims) - value_of.keys():
            value_of[claim] = frozen([_ANY.decode(claim)])
        values = list(map(value_of.__getitem__, claims))
        if len(values) == len(raws):
            return values
        found: list[Hashable] = [_NO_CLAIM] * len(raws)
        for number, value in zip(lists.tolist(), values, strict=True):
            found[number] = value
        return found

    return read
