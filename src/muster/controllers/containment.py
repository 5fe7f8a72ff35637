"""One object that cannot be read stops nothing: its last good state stays, it is counted and named, the next one comes.

Feeds take every object in through a guard. Whatever that raises concerns this one object: it is logged once for each of
its revisions, with an event on the object, until it can be read again or is gone.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import msgspec
from prometheus_client import Counter, Gauge

from muster.client.heads import head_of
from muster.errors import MusterError
from muster.values.names import place_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prometheus_client import CollectorRegistry

    from muster.client.heads import Head
    from muster.client.reflector import Handler

_LOGGER = logging.getLogger(__name__)
REASON: Final = "Unreadable"
Place = tuple[str, str]


class _Held(NamedTuple):
    """An object that is set aside: in which revision, and why."""

    head: Head
    text: str


class Unreadable:
    """All objects that could not be read, by kind. Metrics count them; `tell_with` lets them be told on the objects."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._held: dict[str, dict[Place, _Held]] = {}
        self._tell: Callable[[dict[str, Any], str, str, str], None] | None = None
        self._seen: Counter | None = None
        self._now: Gauge | None = None
        if registry is not None:
            self._seen = Counter(
                "muster_unreadable_objects",
                "Revisions of objects that could not be read, wholly or in part.",
                ("kind",),
                registry=registry,
            )
            self._now = Gauge(
                "muster_unreadable_objects_now",
                "Objects whose newest revision could not be read, wholly or in part.",
                ("kind",),
                registry=registry,
            )

    def guard(self, kind: str) -> Guard:
        """For the objects of one kind."""
        held = self._held.setdefault(kind, {})
        if self._seen is not None and self._now is not None:
            self._seen.labels(kind)  # who looks at rates must see the zero
            self._now.labels(kind).set_function(lambda: len(held))
        return Guard(self, kind, held)

    def tell_with(self, tell: Callable[[dict[str, Any], str, str, str], None]) -> None:
        """From now on somebody writes events: those who lead. What is set aside already is told at once."""
        self._tell = tell
        for kind, objects in self._held.items():
            for each in objects.values():
                self._say(kind, each)

    def note(self, kind: str, head: Head, error: BaseException) -> None:
        text = str(error) if isinstance(error, MusterError | msgspec.MsgspecError) else _named(error)
        known = self._held[kind].get(head.place)
        held = self._held[kind][head.place] = _Held(head, text)
        if known is not None and known.head.metadata.resourceVersion == head.metadata.resourceVersion:
            return
        if self._seen is not None:
            self._seen.labels(kind).inc()
        is_ours = not isinstance(error, MusterError | msgspec.MsgspecError | RecursionError)
        _LOGGER.warning(
            "%s %s cannot be read at revision %s: %s; what could be read before stays in use",
            kind,
            head,
            head.metadata.resourceVersion or "?",
            text,
            exc_info=error if is_ours else None,
        )
        self._say(kind, held)

    def _say(self, kind: str, held: _Held) -> None:
        head = held.head
        if self._tell is None or not head.kind or not head.metadata.name:
            return
        about = {"apiVersion": head.apiVersion, "kind": head.kind, "metadata": msgspec.to_builtins(head.metadata)}
        try:
            self._tell(about, REASON, f"cannot be read: {held.text}; what could be read before stays in use", "Warning")
        except Exception:  # telling is not worth more than what it tells of
            _LOGGER.exception("%s %s: the event could not be recorded", kind, head)


class Guard:
    """Takes in the objects of one kind, one at a time, and contains what that raises."""

    def __init__(self, unreadable: Unreadable, kind: str, held: dict[Place, _Held]) -> None:
        self._unreadable = unreadable
        self._kind = kind
        self._held = held

    def take(self, encoded: bytes, take: Callable[[bytes], object]) -> None:
        """Hand an object to whoever takes it in."""
        try:
            take(encoded)
        except Exception as error:  # whatever it is, it concerns this object
            self._unreadable.note(self._kind, head_of(encoded), error)
        else:
            if self._held:
                self._held.pop(head_of(encoded).place, None)

    def drop(self, place: Place, drop: Callable[[], object]) -> None:
        """The object in this place is gone."""
        self._held.pop(place, None)
        try:
            drop()
        except Exception:  # a bug of ours: there is no object any more that could be to blame
            _LOGGER.exception("%s %s could not be taken out", self._kind, place_text(*place))


class Guarded(Protocol):
    """A feed that takes objects in behind a guard, which can be exchanged. It is a handler of a reflector."""

    guard: Guard

    def replace(self, objects: Sequence[bytes]) -> None: ...

    def put(self, encoded: bytes) -> None: ...

    def remove(self, encoded: bytes) -> None: ...


def unguarded() -> Guard:
    """For feeds that nobody measures."""
    return Unreadable().guard("objects")


class Contained:
    """Any handler behind a guard. A list that it cannot take as a whole is handed to it object by object."""

    def __init__(self, handler: Handler, guard: Guard) -> None:
        self._handler = handler
        self._guard = guard

    def replace(self, objects: Sequence[bytes]) -> None:
        try:
            self._handler.replace(objects)
        except Exception as error:  # one of them, and it is not known which
            _LOGGER.warning("a list is taken in object by object: %s", _named(error))
            for encoded in objects:
                self.put(encoded)

    def put(self, encoded: bytes) -> None:
        self._guard.take(encoded, self._handler.put)

    def remove(self, encoded: bytes) -> None:
        self._guard.drop(head_of(encoded).place, lambda: self._handler.remove(encoded))


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
