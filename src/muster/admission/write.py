"""What a check is given and what it finds. Knows no hub, no HTTP, no storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from muster.api.parts import Identity, PartialObject
from muster.api.reading import Reader
from muster.values.faults import Fault
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from muster.values.causes import Cause


_OBJECTS: Final = Reader(PartialObject)
CREATE, UPDATE, DELETE = "CREATE", "UPDATE", "DELETE"


class Asker(msgspec.Struct, frozen=True):
    """Who writes."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class Write(msgspec.Struct, frozen=True):
    """A write about to happen. `resource` is `plural.group`; no `old` on CREATE, no `new` on DELETE."""

    operation: str
    resource: str
    version: str
    namespace: str
    name: str
    subresource: str
    asker: Asker
    old: JsonObject | None
    new: JsonObject | None
    dry_run: bool
    now: datetime


class World(Protocol):
    """What a check may ask to read. Whoever answers remembers it: the write holds only while the answers do."""

    async def get(self, resource: str, namespace: str, name: str) -> JsonObject | None: ...

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[JsonObject]: ...

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        """Names of the objects of a resource without namespaces that carry a label, in order.

        Whoever answers remembers only that no other object has come to carry it: the rest of the fleet may go on.
        """

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        """Those of `names` the asker may not `verb`; `resource` is `plural.group` or `plural/subresource.group`."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a write is not allowed, as a Status says it. Causes make it a 422 that lists them."""

    code: int
    reason: str
    message: str
    causes: tuple[Cause, ...] = ()
    by_hook: bool = True  # of a kind's own checks, which a Kubernetes server has as webhooks


class Finding(msgspec.Struct, frozen=True):
    """What a check found: another state to go on with, texts for the writer, or a refusal."""

    object: JsonObject | None = None
    warnings: tuple[str, ...] = ()
    refusal: Refusal | None = None


NOTHING = Finding()


def refused(message: str, code: int = 400, reason: str = "BadRequest", *, by_hook: bool = True) -> Finding:
    """The write is refused in these words; `by_hook` as long as it is no server that refuses so by itself."""
    return Finding(refusal=Refusal(code, reason, message, by_hook=by_hook))


def invalid_object(causes: Sequence[Cause]) -> Finding:
    """The write is refused for what its object says."""
    return Finding(refusal=Refusal(422, "Invalid", "", tuple(causes)))


def spec_of(obj: JsonMapping | None) -> JsonObject:
    """The spec of an object as it is written, empty if it has none."""
    spec = None if obj is None else obj.get("spec")
    return spec if isinstance(spec, dict) else {}


def asks_the_same(write: Write) -> bool:
    """Whether an update leaves the spec alone: an object that was stored must stay writable."""
    return write.operation == UPDATE and spec_of(write.new) == spec_of(write.old)


def name_of(write: Write) -> str:
    """The name of the object that is written."""
    return write.name or metadata_of(write.old if write.new is None else write.new).name


def metadata_of(obj: JsonObject | None) -> Identity:
    """What can be said of an object of any kind."""
    found = _OBJECTS.fitted(obj)
    return Identity() if isinstance(found, Fault) else found.obj.metadata
