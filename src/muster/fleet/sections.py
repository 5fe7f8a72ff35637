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
from muster.fleet.extraction import Extractor, can_name_a_field, extractor
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
_NO_LABELS: Final = (1,)  # how far the path led, as `project` says it
_NO_LABEL: Final = (2,)
_NO_CLAIM: Final = b"[]"
_NOT_THERE: Final = (1,)
_UNREADABLE: Final = (msgspec.MsgspecError, ValueError, RecursionError)

_Section: TypeAlias = Raw | UnsetType | None
"""UNSET: the object has no such section. None: nobody has looked since it changed."""
_Read: TypeAlias = Callable[[list[Raw]], list[Hashable]]
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

    def copy(self) -> Sections:
        copied = Sections()
        copied._labels, copied._claims = list(self._labels), list(self._claims)
        copied._deletion, copied._taints = list(self._deletion), list(self._taints)
        copied._versions = list(self._versions)
        return copied

    def rearrange(self, order: Sequence[int]) -> None:
        """Only these rows, in this order. One list after the other: of a million rows each is large."""
        for sections in (self._labels, self._claims, self._deletion, self._taints, self._versions):
            sections[:] = [sections[row] for row in order]

    def append(self, found: Found | None = None) -> None:
        """There is one more row."""
        self._labels.append(None if found is None else found.labels)
        self._claims.append(None if found is None else found.claims)
        self._deletion.append(None if found is None else found.deletion)
        self._taints.append(None if found is None else found.taints)
        self._versions.append(None if found is None else found.version)

    def extend(self, found: Sequence[Found]) -> None:
        """There are these rows more."""
        self._labels += [each.labels for each in found]
        self._claims += [each.claims for each in found]
        self._deletion += [each.deletion for each in found]
        self._taints += [each.taints for each in found]
        self._versions += [each.version for each in found]

    def forget(self, row: int) -> None:
        """The object in a row is another one now."""
        self._labels[row] = self._claims[row] = self._deletion[row] = self._taints[row] = None
        self._versions[row] = None

    def put(self, row: int, found: Found) -> None:
        self._labels[row], self._claims[row] = found.labels, found.claims
        self._deletion[row], self._taints[row] = found.deletion, found.taints
        self._versions[row] = found.version

    def reader(self, path: Path) -> Callable[[NDArray[np.intp], Sequence[bytes | None]], list[Hashable]]:
        """A function from rows, in ascending order, and the objects in all rows to what a column of the path holds for
        them."""
        whole = extractor(path)
        place, read = _section_reader(path)
        if read is None:
            return lambda rows, encoded: whole(_there(encoded, rows.tolist()))
        return self._reader(place, read, whole)

    def labels_reader(
        self, paths: Sequence[Path]
    ) -> Callable[[NDArray[np.intp], Sequence[bytes | None]], list[list[Hashable]]]:
        """The same for several labels, which are read in one go: what the columns hold, one after the other."""
        if len(paths) < 2:
            each_alone = [self.reader(path) for path in paths]
            return lambda rows, encoded: [read(rows, encoded) for read in each_alone]
        wholes = [extractor(path) for path in paths]

        def whole(objects: Sequence[bytes]) -> list[Hashable]:
            return list(zip(*(each(objects) for each in wholes), strict=True))

        rowwise = self._reader(_LABELS, _labels_reader([str(path[2]) for path in paths]), whole)

        def values(rows: NDArray[np.intp], encoded: Sequence[bytes | None]) -> list[list[Hashable]]:
            found: list[tuple[Hashable, ...]] = rowwise(rows, encoded)  # type: ignore[assignment]  # made so above
            return list(map(list, zip(*found, strict=True))) if found else [[] for _ in paths]

        return values

    def _reader(
        self, place: Path, read: _Read, whole: Extractor
    ) -> Callable[[NDArray[np.intp], Sequence[bytes | None]], list[Hashable]]:
        missing = _NOT_THERE if place in (DELETION, _TAINTS) else None
        every = {_LABELS: self._labels, _CLAIMS: self._claims, _VERSION: self._versions}
        every |= {DELETION: self._deletion, _TAINTS: self._taints}
        sections = every[place]

        def values(rows: NDArray[np.intp], encoded: Sequence[bytes | None]) -> list[Hashable]:
            at_hand = _taken(sections, rows)
            kinds = set(map(type, at_hand))
            if NoneType in kinds:
                self._look_up([row for row in rows.tolist() if sections[row] is None], encoded)
                at_hand = _taken(sections, rows)
                kinds = set(map(type, at_hand))
            if kinds == {UnsetType} and missing is not None:
                return [missing] * len(at_hand)
            raws = at_hand if kinds == {Raw} else [section for section in at_hand if type(section) is Raw]
            try:
                found = read(raws) if raws else []  # type: ignore[arg-type]  # that all are Raw is in `kinds`
            except _UNREADABLE:
                return whole(_there(encoded, rows.tolist()))
            if len(found) == len(at_hand):
                return found
            read_here = iter(found)
            merged = [next(read_here) if type(section) is Raw else missing for section in at_hand]
            if missing is None or NoneType in kinds:  # some are not known by their sections
                unknown = [at for at, each in enumerate(at_hand) if each is None or (each is UNSET and missing is None)]
                for at, value in zip(unknown, whole(_there(encoded, rows[unknown].tolist())), strict=True):
                    merged[at] = value
            return merged

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
            return place, _text_reader(key)
    return path, None


def _whole_section(raws: list[Raw]) -> list[Hashable]:
    return [_value(_ANY.decode(raw)) for raw in raws]


def _whole_section_unless_empty(raws: list[Raw]) -> list[Hashable]:
    return [_value(value) if (value := _ANY.decode(raw)) else _NOT_THERE for raw in raws]


def _value(value: Json) -> Hashable:
    return value if type(value) is str else frozen(value)


def _label_reader(key: str) -> _Read:
    shape = msgspec.defstruct("Labels", [("label", Json | UnsetType, UNSET)], rename={"label": key}, gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines

    def read(raws: list[Raw]) -> list[Hashable]:
        values: list[Json] = list(map(_LABEL, decode_lines(_lines(raws))))
        if len(values) != len(raws):  # some are written on several lines
            raise OtherwiseWrittenError
        return list(_labels(values, raws))

    return read


def without_deletion(column: Column) -> NDArray[np.bool_]:
    """Rows whose object is not on its way out, by the column of DELETION."""
    missing = column.code(project({"metadata": {"name": ""}}, DELETION))
    null = column.code(project({"metadata": {"deletionTimestamp": None}}, DELETION))
    there: NDArray[np.bool_] = (column.codes == missing) | (column.codes == null)
    there.flags.writeable = False
    return there


def is_label(path: Path) -> bool:
    """Whether columns of such paths are filled together, by `Sections.labels_reader`."""
    return (
        len(path) == len(_LABELS) + 1
        and path[:-1] == _LABELS
        and isinstance(path[-1], str)
        and can_name_a_field(path[-1])
    )


def _labels_reader(keys: Sequence[str]) -> _Read:
    """Of several labels together."""
    names = [f"label{number}" for number in range(len(keys))]
    fields = [(name, Json | UnsetType, UNSET) for name in names]
    shape = msgspec.defstruct("Labels", fields, rename=dict(zip(names, keys, strict=True)), gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines
    labels_of = attrgetter(*names)

    def read(raws: list[Raw]) -> list[Hashable]:
        found: list[tuple[Json, ...]] = list(map(labels_of, decode_lines(_lines(raws))))
        if len(found) != len(raws):  # some are written on several lines
            raise OtherwiseWrittenError
        return list(zip(*(_labels(values, raws) for values in zip(*found, strict=True)), strict=True))

    return read


def _labels(values: Sequence[Json], raws: list[Raw]) -> Sequence[Hashable]:
    """What a column of one label holds."""
    if set(map(type, values)) == {str}:
        return values
    return [each if type(each) is str else _label(each, raw) for each, raw in zip(values, raws, strict=True)]


def _label(value: Json, labels: Raw) -> Hashable:
    return value if type(value) is str else _absent(labels) if value is UNSET else frozen(value)


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


def _text_reader(key: str) -> _Read:
    """Of something that is a text wherever it is ordinary."""
    shape = msgspec.defstruct("Texts", [("text", str)], rename={"text": key}, gc=False)
    decode_lines = msgspec.json.Decoder(shape).decode_lines

    def read(raws: list[Raw]) -> list[Hashable]:
        found: list[Hashable] = list(map(_TEXT, decode_lines(_lines(raws))))
        if len(found) != len(raws):  # some are written on several lines
            raise OtherwiseWrittenError
        return found

    return read


def _lines(raws: list[Raw]) -> bytes:
    return b"\n".join(raws)


def _claim_reader(name: str) -> _Read | None:
    written = msgspec.json.encode(name)
    if b"\\" in written:
        return None
    value_of: dict[bytes, Hashable] = {}

    def read(raws: list[Raw]) -> list[Hashable]:
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
