"""Stored objects: reading them, showing them in a version, encoding them so that storage can splice the revision in.

The one place that knows what is decoded and what is passed on as bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, overload

import msgspec

from muster.api.codec import encode_split
from muster.hub import status
from muster.hub.patches.managed_fields import Versions
from muster.hub.patches.structure import object_type
from muster.hub.storage import Key
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.resource import Resource
    from muster.hub.requests import Target
    from muster.hub.storage import Record

MAX_BYTES = 3 * 1024 * 1024  # of a stored object: no patch may grow one beyond what could be sent at once
MAX_DEPTH = 128  # of nesting, for the same reason

_VALUE = attrgetter("value")
_decoder = msgspec.json.Decoder(JsonObject)
_encoder = msgspec.json.Encoder()
_sorted_encoder = msgspec.json.Encoder(order="sorted")


class _Deletion(msgspec.Struct, gc=False):
    deletionTimestamp: str | None = None  # noqa: N815 - the name in the object


class _Deletable(msgspec.Struct, gc=False):
    metadata: _Deletion


_read_deletion = msgspec.json.Decoder(_Deletable).decode


def decode(value: bytes) -> JsonObject:
    return _decoder.decode(value)


def encode(obj: JsonObject) -> bytes:
    return _encoder.encode(obj)


def is_deleting(record: Record) -> bool:
    return _read_deletion(record.value).metadata.deletionTimestamp is not None


def key_of(target: Target, name: str = "") -> Key:
    namespace = target.namespace if target.resource.namespaced else ""
    return Key(target.resource.home.key, namespace, name or target.name)


def is_shown_as_stored(target: Target) -> bool:
    resource = target.resource
    return resource.stored_as_shown and (resource.convert is None or target.version is resource.home.storage_version)


def shown(value: bytes, target: Target) -> bytes:
    """Stored bytes in the version that was asked for: the same bytes when that is how the kind is stored."""
    if is_shown_as_stored(target):
        return value
    return encode(target.resource.to_version(decode(value), target.version))


class ShownObjects(Sequence[bytes]):
    """The values of records in the version that was asked for, each made when it is looked at and kept by nobody."""

    __slots__ = ("_records", "_target")

    def __init__(self, records: Sequence[Record], target: Target) -> None:
        self._records = records
        self._target = target

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[bytes]:
        if is_shown_as_stored(self._target):
            return map(_VALUE, self._records)
        return (shown(record.value, self._target) for record in self._records)

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes]: ...

    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(place, slice):
            return ShownObjects(self._records[place], self._target)
        return shown(self._records[place].value, self._target)


def stored_form(target: Target, obj: JsonObject) -> tuple[bytes, bytes]:
    """An object as storage takes it: before and after its revision. Raises 413 if it has become too large."""
    head, tail = encode_split(target.resource.to_storage(obj))
    if len(head) + len(tail) > MAX_BYTES:
        raise status.too_large(MAX_BYTES)
    return head, tail


def is_too_deep(obj: JsonObject) -> bool:
    """Whether lists and objects are nested deeper than anything we keep. Level by level: every patch pays for it."""
    level: list[Json] = [obj]
    for _ in range(MAX_DEPTH):
        level = [
            below
            for value in level
            for below in (value.values() if value.__class__ is dict else value)
            if below.__class__ is dict or below.__class__ is list
        ]
        if not level:
            return False
    return True


def with_revision(value: bytes, revision: int) -> bytes:
    """Stored bytes with another resourceVersion: the last matching state of an object that a watcher loses sight of."""
    head, tail = encode_split(decode(value))
    return b"%b%d%b" % (head, revision, tail)


def same(left: JsonObject, right: JsonObject) -> bool:
    """Whether two objects are the same JSON. Equality alone would take true for 1."""
    return left == right and _sorted_encoder.encode(left) == _sorted_encoder.encode(right)


@lru_cache(maxsize=2048)
def merge_versions(resource: Resource) -> Versions:
    """The merge types of a kind's versions, and of those of its family, compiled once."""
    kinds = (resource,) if resource.family is None else resource.family()
    served = {kind.api_version(version): (kind, version) for kind in kinds for version in kind.versions}
    types = {name: object_type(version.schema) for name, (_, version) in served.items()}
    zero = {name: version.zero for name, (_, version) in served.items()}

    def convert(obj: JsonObject, name: str) -> JsonObject:
        kind, version = served[name]
        return kind.to_version(obj, version)

    return Versions(types, convert, resource.builtin, zero)
