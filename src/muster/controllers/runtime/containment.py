"""Objects that cannot be read, wholly or in part: counted, logged once for each revision, told on the object itself.

Mirrors note them here and take them off again when they can be read, or are gone.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, NamedTuple

from muster.controllers.runtime.events import About

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from prometheus_client import CollectorRegistry, Counter, Gauge

    from muster.client.heads import Head, Place

_LOGGER = logging.getLogger(__name__)
REASON: Final = "Unreadable"


class _Held(NamedTuple):
    """An object that is set aside: in which revision, and why."""

    head: Head
    text: str


class Unreadable:
    """All objects that could not be read, by kind. Metrics count them; `tell_with` lets them be told on the objects."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._held: dict[str, dict[Place, _Held]] = {}
        self._tell: Callable[[About, str, str, str], None] | None = None
        self._seen: Counter | None = None
        self._now: Gauge | None = None
        if registry is not None:
            from prometheus_client import Counter, Gauge  # a server of HTTP comes along

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

    def of(self, kind: str) -> UnreadableKind:
        """Those of one kind."""
        held = self._held.setdefault(kind, {})
        if self._seen is not None and self._now is not None:
            self._seen.labels(kind)  # who looks at rates must see the zero
            self._now.labels(kind).set_function(lambda: len(held))
        return UnreadableKind(self, kind, held)

    def tell_with(self, tell: Callable[[About, str, str, str], None]) -> None:
        """From now on somebody writes events: those who lead. What is set aside already is told at once."""
        self._tell = tell
        for kind, objects in self._held.items():
            for each in objects.values():
                self._say(kind, each)

    def note(self, kind: str, head: Head, text: str, bug: BaseException | None = None) -> None:
        known = self._held[kind].get(head.place)
        held = self._held[kind][head.place] = _Held(head, text)
        if known is not None and known.head.metadata.resourceVersion == head.metadata.resourceVersion:
            return
        if self._seen is not None:
            self._seen.labels(kind).inc()
        _LOGGER.warning(
            "%s %s cannot be read at revision %s: %s; what could be read before stays in use",
            kind,
            head,
            head.metadata.resourceVersion or "?",
            text,
            exc_info=bug,
        )
        self._say(kind, held)

    def _say(self, kind: str, held: _Held) -> None:
        head, metadata = held.head, held.head.metadata
        if self._tell is None or not head.kind or not metadata.name:
            return
        about = About(
            head.apiVersion, head.kind, metadata.name, metadata.namespace, metadata.uid, metadata.resourceVersion
        )
        try:
            self._tell(about, REASON, f"cannot be read: {held.text}; what could be read before stays in use", "Warning")
        except Exception:  # telling is not worth more than what it tells of
            _LOGGER.exception("%s %s: the event could not be recorded", kind, head)


class UnreadableKind:
    """Objects of one kind that could not be read."""

    def __init__(self, unreadable: Unreadable, kind: str, held: dict[Place, _Held]) -> None:
        self.kind = kind
        self._unreadable = unreadable
        self._held = held

    def note(self, head: Head, text: str, bug: BaseException | None = None) -> None:
        """It cannot be read; `bug` is what was raised, where nothing should have been."""
        self._unreadable.note(self.kind, head, text, bug)

    def places(self) -> Iterable[Place]:
        return self._held.keys()

    def clear(self, place: Place) -> None:
        """It can be read again, or is gone."""
        if self._held:
            self._held.pop(place, None)
