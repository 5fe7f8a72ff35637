"""The mirror of a kind: between its watch and whoever keeps a state of its objects.

Each change is decoded once, into the struct of `muster.api`; whoever keeps it gets the struct and the JSON it came
from, and keeps of both what it needs. A state older than one that was seen is dropped: the answer to a write of our
own comes before the watch brings it. An object that cannot be read leaves what was known of it and keeps out no other;
of one that can be read in part, whoever keeps it decides what that means. Both are noted, and so is whatever a keeper
raises: it concerns this one object.

Reflectors call it, and controllers with the answers to their own writes. It knows no kind and does no I/O.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

import msgspec

from muster.client.heads import Place, head_of
from muster.controllers.runtime.containment import Unreadable
from muster.errors import InvalidObjectError, MusterError
from muster.values.faults import Fault
from muster.values.json import JsonMapping, JsonObject
from muster.values.revisions import is_newer, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from muster.api.parts import Identity
    from muster.api.reading import Reader, Reading
    from muster.controllers.runtime.containment import UnreadableKind

_LOGGER = logging.getLogger(__name__)
_PLAIN: Final = msgspec.json.Decoder(JsonObject)


class Kind(Protocol):
    """A struct of a kind."""

    @property
    def metadata(self) -> Identity: ...


K = TypeVar("K", bound=Kind)


class Stored(msgspec.Struct, Generic[K], frozen=True, gc=False):
    """An object as the server has it: the struct, the JSON that it was read from, and what of that could not be."""

    obj: K
    encoded: bytes
    place: Place
    faults: tuple[Fault, ...] = ()

    @classmethod
    def of(cls, reader: Reader[K], plain: JsonMapping) -> Stored[K]:
        """An object that comes from a file, as if a server had it. Raises InvalidObjectError for what is none."""
        found = reader.fitted(plain)
        return cls._of(found, b"" if isinstance(found, Fault) else msgspec.json.encode(plain))

    @classmethod
    def read(cls, reader: Reader[K], encoded: bytes) -> Stored[K]:
        """The same from JSON."""
        return cls._of(reader.read(encoded), encoded)

    @classmethod
    def _of(cls, found: Reading[K] | Fault, encoded: bytes) -> Stored[K]:
        if isinstance(found, Fault):
            raise InvalidObjectError(found.path, found.message)
        metadata = found.obj.metadata
        return cls(found.obj, encoded, Place(metadata.namespace, metadata.name), found.faults)

    @property
    def fault(self) -> Fault | None:
        """The first field that could not be read, if any."""
        return self.faults[0] if self.faults else None

    @property
    def fault_in_spec(self) -> Fault | None:
        return next((each for each in self.faults if each.path.startswith("spec")), None)

    def plain(self) -> JsonObject:
        """All of it, for those who compare or copy fields that no struct names."""
        return _PLAIN.decode(self.encoded)


class Loading(Protocol):
    """A collection on its way to whoever takes it in as a whole."""

    def add(self, objects: Sequence[bytes], /) -> None:
        """Some of it."""

    def finish(self) -> None:
        """That is all of it. One that breaks off is never finished."""


class AtHand:
    """A collection for those who want all of it in one list."""

    def __init__(self, take_in: Callable[[Sequence[bytes]], object]) -> None:
        self._take_in = take_in
        self._objects: list[bytes] = []

    def add(self, objects: Sequence[bytes], /) -> None:
        self._objects += objects

    def finish(self) -> None:
        self._take_in(self._objects)


class MirrorListing:
    """A list that a mirror is being told, with what has been there so far."""

    def __init__(
        self,
        take: Callable[[Sequence[bytes], set[Place], Loading | None], None],
        finish: Callable[[str, set[Place], Loading | None], None],
        loading: Loading | None,
    ) -> None:
        self._take = take
        self._finish = finish
        self._loading = loading
        self._there: set[Place] = set()

    def add(self, objects: Sequence[bytes]) -> None:
        self._take(objects, self._there, self._loading)

    def finish(self, revision: str) -> None:
        self._finish(revision, self._there, self._loading)


class Mirror(Generic[K]):
    """Shows one keeper the objects of one kind. A handler of reflectors."""

    def __init__(
        self,
        reader: Reader[K],
        put: Callable[[Stored[K]], Fault | None],
        remove: Callable[[Place], object],
        *,
        put_written: Callable[[Stored[K]], Fault | None] | None = None,
        remove_written: Callable[[Place], object] | None = None,
        put_listed: Callable[[Stored[K]], Fault | None] | None = None,
        listed: Callable[[Sequence[bytes]], object] | None = None,
        loading: Callable[[], Loading] | None = None,
        places: Callable[[], Iterable[Place]] | None = None,
        unreadable: UnreadableKind | None = None,
    ) -> None:
        """`put` says what of an object cannot be used, if anything. `put_written` and `remove_written`
        stand for the others where we wrote ourselves, for those who need not be woken by what they did.

        For collections that are better taken in as a whole: `put_listed` stands for `put` where a list brings an
        object, and `listed` is then told all that can be read; `loading` is told the same page by page.

        Large collections that we do not write to need no second account of what is there: `places` says what the keeper
        has. A watch tells in order, so that nothing it brings is older than what was there.
        """
        self.unreadable = unreadable or Unreadable().of("objects")
        self._read = reader.read
        self._put = put
        self._remove = remove
        self._put_written = put_written or put
        self._remove_written = remove_written or remove
        self._put_listed = put_listed or put
        self._loading = loading if listed is None else partial(AtHand, listed)
        self._places = places
        self._known: dict[Place, str] = {}  # revisions that were taken in
        self._newest = ""  # revision that the watch has told, of any object
        self._held: dict[Place, list[bytes]] = {}  # what the watch has told of objects that we are writing

    def listing(self, revision: str = "") -> MirrorListing:
        """A new list is a put for each object, and in the end a remove for each that is missing."""
        if revision and not is_newer(revision, self._newest) and revision != self._newest:
            # The server has gone back, to a copy of itself: what was newer there is not newer here.
            self._known = dict.fromkeys(self._known, "")
        for held in self._held.values():
            held.clear()  # the list is newer
        return MirrorListing(self._take_listed, self._finish_list, self._loading() if self._loading else None)

    def replace(self, objects: Sequence[bytes], revision: str = "") -> None:
        """A list that is at hand."""
        listing = self.listing(revision)
        listing.add(objects)
        listing.finish(revision)

    def _take_listed(self, objects: Sequence[bytes], there: set[Place], loading: Loading | None) -> None:
        readable = []
        for encoded in objects:
            place, is_readable, _ = self._take(encoded, self._put_listed)
            there.add(place)
            if is_readable:
                readable.append(encoded)
        if loading is not None:
            loading.add(readable)

    def _finish_list(self, revision: str, there: set[Place], loading: Loading | None) -> None:
        known = self._known if self._places is None else self._places()
        for place in {*known, *self.unreadable.places()} - there:
            if not self._came_after(place, revision):
                self._drop(place)
        if loading is not None:
            loading.finish()
        self._newest = revision or self._newest

    def _came_after(self, place: Place, revision: str) -> bool:
        """Whether we have made the object while the list of this revision was on its way."""
        written, listed = number_of(self._known.get(place, "")), number_of(revision)
        return written is not None and listed is not None and written > listed

    def put(self, encoded: bytes) -> str:
        if self._held and (held := self._held.get((head := head_of(encoded)).place)) is not None:
            held.append(encoded)
            self._newest = head.metadata.resourceVersion or self._newest
            return head.metadata.resourceVersion
        return self._take(encoded, self._put, is_told=True)[2]

    @contextmanager
    def writing(self, place: Place) -> Iterator[None]:
        """While we write an object, what the watch tells of it waits for the answer (`put_written`).

        Watches are quicker than answers: without this, nearly everything that we write would wake those who wrote it.
        What is not ours, or newer than ours, is taken in at the end, however that comes.
        """
        held = self._held.setdefault(place, [])
        try:
            yield
        finally:
            self._held.pop(place, None)
            for encoded in held:
                self._take(encoded, self._put)

    def remove(self, encoded: bytes) -> str:
        head = head_of(encoded)
        self._newest = head.metadata.resourceVersion or self._newest
        if held := self._held.get(head.place):
            held.clear()  # states of what is no more
        self._drop(head.place)
        return head.metadata.resourceVersion

    def put_written(self, encoded: bytes) -> None:
        """The answer to a write of our own, unless the watch has told meanwhile that the object is gone."""
        head = head_of(encoded)
        revision = number_of(head.metadata.resourceVersion)
        newest = number_of(self._newest)
        is_there = head.place in self._known or bool(self._held.get(head.place))
        if is_there or revision is None or newest is None or revision > newest:
            self._take(encoded, self._put_written)

    def remove_written(self, place: Place) -> None:
        """We have deleted it. Until the watch says so too, what it still tells of earlier states is older."""
        self._forget(place, self._remove_written)

    def _take(
        self, encoded: bytes, put: Callable[[Stored[K]], Fault | None], *, is_told: bool = False
    ) -> tuple[Place, bool, str]:
        """Where the object is, whether this state of it is in use now, and its revision."""
        found = self._read(encoded)
        if isinstance(found, Fault):
            head = head_of(encoded)
            self.unreadable.note(head, str(found))
            return head.place, False, head.metadata.resourceVersion
        metadata = found.obj.metadata
        place, revision = Place(metadata.namespace, metadata.name), metadata.resource_version
        if is_told and revision:
            self._newest = revision
        if (known := self._known.get(place)) and not is_newer(revision, known):
            return place, revision == known, revision
        new = Stored(found.obj, encoded, place, found.faults)
        fault: Fault | None
        try:
            fault = put(new)
        except Exception as error:  # a bug of ours, and it concerns this object
            self.unreadable.note(head_of(encoded), _named(error), _unexpected(error))
            return place, False, revision
        if self._places is None:
            self._known[place] = revision
        if fault is not None:
            self.unreadable.note(head_of(encoded), str(fault))
        else:
            self.unreadable.clear(place)
        return place, True, revision

    def _drop(self, place: Place) -> None:
        self._known.pop(place, None)
        self._forget(place, self._remove)

    def _forget(self, place: Place, remove: Callable[[Place], object]) -> None:
        self.unreadable.clear(place)
        try:
            remove(place)
        except Exception:  # a bug of ours: there is no object any more that could be to blame
            _LOGGER.exception("%s %s could not be taken out", self.unreadable.kind, place)


AnyMirror = Mirror[Any]  # of whatever kind


def _unexpected(error: Exception) -> Exception | None:
    """The error, if it is a bug of ours and its place in the code is worth knowing."""
    return None if isinstance(error, MusterError | msgspec.MsgspecError | RecursionError) else error


def _named(error: Exception) -> str:
    if isinstance(error, MusterError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
