"""Where labels, claims and the time of deletion stand in the JSON of each object, so that a column of one label reads
the labels and not the rest of the object.

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

from muster.fleet.claim_lists import OtherwiseWrittenError, scan
from muster.fleet.extraction import Extractor, extractor
from muster.selectors.paths import LABELS, key_path
from muster.values.json import Json
from muster.values.paths import PRESENT, Where, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.selectors.paths import Path

DELETION: Final = key_path("metadata", "deletionTimestamp")
_LABELS: Final = key_path("metadata", LABELS)
_CLAIMS: Final = key_path("status", "clusterClaims")
_NO_LABELS: Final = (1,)  # how far the path led, as `project` says it
_NO_LABEL: Final = (2,)
_NO_CLAIM: Final = b"[]"
_NOT_DELETED: Final = (1,)
_UNREADABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)

_Section: TypeAlias = Raw | UnsetType | None
"""UNSET: the object has no such section. None: nobody has looked since it changed."""
_Read: TypeAlias = Callable[[list[Raw]], list[Hashable]]
"""From sections to what a column holds. Raises one of _UNREADABLE where one of them is not as expected."""


class _Metadata(Struct, gc=False):
    name: str
    labels: Raw | UnsetType = UNSET
    deletion: Raw | UnsetType = msgspec.field(default=UNSET, name="deletionTimestamp")


class _Status(Struct, gc=False):
    claims: Raw | UnsetType = msgspec.field(default=UNSET, name="clusterClaims")


class _Object(Struct, gc=False):
    metadata: _Metadata
    status: _Status | UnsetType = UNSET


class _Name(Struct, gc=False):
    name: str


class _Named(Struct, gc=False):
    metadata: _Name


_OBJECT: Final = msgspec.json.Decoder(_Object)
_NAMED: Final = msgspec.json.Decoder(_Named)
_LABEL: Final = attrgetter("label")
_ANY: Final = msgspec.json.Decoder()


class Found(Struct, gc=False):
    """One pass over an object."""

    name: str
    labels: Raw | UnsetType = UNSET
    claims: Raw | UnsetType = UNSET
    deletion: _Section = None  # None: look at the whole object


def find_sections(encoded: bytes) -> Found:
    """Raises msgspec's errors when there is no name; whatever else the object holds will do."""
    try:
        found = _OBJECT.decode(encoded)
    except msgspec.ValidationError:  # a status that is no object, for example
        return Found(_NAMED.decode(encoded).metadata.name)
    metadata = found.metadata
    claims = UNSET if found.status is UNSET else found.status.claims
    return Found(metadata.name, metadata.labels, claims, metadata.deletion)


class Sections:
    """The sections of all rows."""

    def __init__(self) -> None:
        self._labels: list[_Section] = []
        self._claims: list[_Section] = []
        self._deletion: list[_Section] = []

    def copy(self) -> Sections:
        copied = Sections()
        copied._labels, copied._claims = list(self._labels), list(self._claims)
        copied._deletion = list(self._deletion)
        return copied

    def append(self) -> None:
        """There is one more row."""
        self._labels.append(None)
        self._claims.append(None)
        self._deletion.append(None)

    def forget(self, row: int) -> None:
        """The object in a row is another one now."""
        self._labels[row] = self._claims[row] = self._deletion[row] = None

    def put(self, row: int, found: Found) -> None:
        self._labels[row], self._claims[row], self._deletion[row] = found.labels, found.claims, found.deletion

    def reader(self, path: Path) -> Callable[[list[int], Sequence[bytes | None]], list[Hashable]]:
        """A function from rows, and the objects in all rows, to what a column of the path holds for them."""
        whole = extractor(path)
        place, read = _section_reader(path)
        if read is None:
            return lambda rows, encoded: whole(_there(encoded, rows))
        missing = _NOT_DELETED if place == DELETION else None
        sections = {_LABELS: self._labels, _CLAIMS: self._claims, DELETION: self._deletion}[place]

        def values(rows: list[int], encoded: Sequence[bytes | None]) -> list[Hashable]:
            at_hand = _taken(sections, rows)
            kinds = set(map(type, at_hand))
            if NoneType in kinds:
                self._look_up([row for row in rows if sections[row] is None], encoded)
                at_hand = _taken(sections, rows)
            raws = at_hand if kinds == {Raw} else [section for section in at_hand if type(section) is Raw]
            try:
                found = read(raws)  # type: ignore[arg-type]  # that all are Raw is in `kinds`
            except _UNREADABLE:
                return whole(_there(encoded, rows))
            if len(found) == len(rows):
                return found
            return list(_merged(at_hand, found, missing, whole, [encoded[row] for row in rows]))

        return values

    def _look_up(self, rows: Iterable[int], encoded: Sequence[bytes | None]) -> None:
        for row in rows:
            obj = encoded[row]
            if obj is None:
                continue
            try:
                self.put(row, find_sections(obj))
            except _UNREADABLE:  # looked at as a whole, where it is contained
                self._labels[row] = self._claims[row] = UNSET


def _taken(sections: list[_Section], rows: list[int]) -> list[_Section]:
    if rows and rows[-1] - rows[0] == len(rows) - 1:  # one after the other, as after a load: `rows` has none twice
        return sections[rows[0] : rows[-1] + 1]
    return [sections[row] for row in rows]


def _merged(
    sections: list[_Section],
    found: list[Hashable],
    missing: Hashable | None,
    whole: Extractor,
    encoded: list[bytes | None],
) -> Iterator[Hashable]:
    """What was read, in the order of the objects; where there was nothing to read `missing`, or what the whole object
    says."""
    known = [type(each) is Raw or (missing is not None and each is UNSET) for each in sections]
    read = iter(found)
    others = iter(
        whole([obj for obj, is_known in zip(encoded, known, strict=True) if not is_known and obj is not None])
    )
    for section, is_known in zip(sections, known, strict=True):
        if not is_known:
            yield next(others)
        else:
            yield next(read) if type(section) is Raw else missing


def _there(encoded: Sequence[bytes | None], rows: Iterable[int]) -> list[bytes]:
    return [obj for row in rows if (obj := encoded[row]) is not None]


def _section_reader(path: Path) -> tuple[Path, _Read | None]:
    """Of which section, and how. None: look at whole objects."""
    match path[:2], path[2:]:
        case (_, ()) if path == DELETION:
            return DELETION, lambda raws: [_value(_ANY.decode(raw)) for raw in raws]
        case (place, (str() as key,)) if place == _LABELS:
            return place, _label_reader(key)
        case (place, (str() as key, last)) if place == _LABELS and last is PRESENT:
            return place, _label_presence(key)
        case (place, (Where(field="name", value=name),)) if place == _CLAIMS:
            return place, _claim_reader(name)
    return path, None


def _value(value: Json) -> Hashable:
    return value if type(value) is str else frozen(value)


def _label_reader(key: str) -> _Read:
    shape = msgspec.defstruct("Labels", [("label", Json | UnsetType, UNSET)], rename={"label": key}, gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines

    def read(raws: list[Raw]) -> list[Hashable]:
        values: list[Hashable] = list(map(_LABEL, decode_lines(_lines(raws))))
        if len(values) == len(raws) and set(map(type, values)) == {str}:
            return values
        return [
            value if type(value) is str else _absent(raw) if value is UNSET else frozen(value)
            for value, raw in zip(values, raws, strict=True)
        ]

    return read


def _label_presence(key: str) -> _Read:
    shape = msgspec.defstruct("Labels", [("label", Raw | UnsetType, UNSET)], rename={"label": key}, gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines

    def read(raws: list[Raw]) -> list[Hashable]:
        found = decode_lines(_lines(raws))
        return [
            _absent(raw) if labels.label is UNSET else True  # type: ignore[attr-defined]
            for labels, raw in zip(found, raws, strict=True)
        ]

    return read


def _absent(labels: Raw) -> Hashable:
    return _NO_LABEL if len(labels) > 2 and bytes(labels)[1:-1].strip() else _NO_LABELS


def _lines(raws: list[Raw]) -> bytes:
    return b"\n".join(raws)


def _claim_reader(name: str) -> _Read | None:
    written = msgspec.json.encode(name)
    if b"\\" in written:
        return None
    value_of: dict[bytes, Hashable] = {}

    def read(raws: list[Raw]) -> list[Hashable]:
        numbers, claims = scan(_lines(raws), len(raws)).named(written[1:-1])
        for claim in set(claims) - value_of.keys():
            value_of[claim] = frozen([_ANY.decode(claim)])
        values = [value_of[claim] for claim in claims]
        if len(numbers) != len(set(numbers)):
            raise OtherwiseWrittenError  # several of one name
        if len(numbers) == len(raws):
            return values
        found: list[Hashable] = [_NO_CLAIM] * len(raws)
        for number, value in zip(numbers, values, strict=True):
            found[number] = value
        return found

    return read
