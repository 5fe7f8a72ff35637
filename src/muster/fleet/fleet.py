"""The in-memory fleet: objects as encoded bytes, columns for the paths that somebody reads, masks for selectors.

A change costs what it changes: only watched paths that differ are compared, only selectors that read them are
evaluated again, for that one object, and only their subscribers are told. Controllers own one fleet; one-shot
commands build theirs from files. No I/O and no clock: time is told by `advance`.

Filling a column or a mask can take long. `steps` does it a bit at a time, so that a caller with other work may pause in
between; whoever asks for a mask that is not filled yet has it filled at once.
"""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from muster.fleet.changes import WatchedPaths
from muster.fleet.columns import Column
from muster.fleet.masks import Mask
from muster.fleet.objects import FIRST_CAPACITY, MOST_PLAIN
from muster.fleet.rows import DECODER, ObjectRows
from muster.fleet.scores import Score, ScoreTable
from muster.fleet.sections import DELETION, without_deletion
from muster.fleet.snapshots import Snapshot
from muster.fleet.steps import exhaust, worked_off
from muster.selectors import Verdict
from muster.selectors.paths import ALL_SCORES, SCORES, WHOLE, project, score_path
from muster.values.json import JsonMapping
from muster.values.paths import Where

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
    from datetime import datetime

    from numpy.typing import NDArray

    from muster.fleet.objects import StoredObjects
    from muster.fleet.shapes import Shape
    from muster.selectors import Selector
    from muster.selectors.paths import Path

_WASTE = 4  # a column is rebuilt when its values outnumber the rows this many times
_NOBODY: frozenset[Hashable] = frozenset()
_NOBODY_LOOKED = repeat(None)
_AT_ONCE = 256  # masks that a change of one object evaluates; the others wait until their subscribers are worked on
MOST_COLUMNS = 64  # by which a mask groups objects; a selector that reads more is evaluated on each


_NEWCOMER = object()  # holds on to masks and columns while a subscription is exchanged


class Fleet(ObjectRows):
    """All objects of one kind that selections are made from."""

    def __init__(self, most_plain: int = MOST_PLAIN) -> None:
        super().__init__(most_plain)
        self.scores = ScoreTable()
        self._columns: dict[Path, Column] = {}
        self._masks: dict[Selector, Mask] = {}
        self._mask_readers: dict[Path, list[Mask]] = {}
        self._path_subscribers: dict[Path, set[Hashable]] = {}
        self._subscriptions: dict[Hashable, tuple[tuple[Selector, ...], tuple[Path, ...]]] = {}
        self._scopes: dict[Hashable, list[Mask]] = {}
        self._watched = WatchedPaths()
        self._unfilled: dict[Path, Iterator[None]] = {}
        self._unevaluated: dict[Selector, Iterator[None]] = {}
        self._deferred: set[Selector] = set()
        self.watcher: Callable[[Mask], None] = lambda _: None  # is told before a selector is evaluated
        self.flips = 0  # verdicts that have changed since the beginning
        self.replaced: bytes | None = None  # the state that the last `put` or `remove` took the place of
        self.expired: list[tuple[str, str]] = []  # scores, by cluster and name, that the last `advance` has ended
        self.column(DELETION)

    # ------------------------------------------------------------------------------------------------- asking

    @property
    def present(self) -> NDArray[np.bool_]:
        """Rows whose object is there and not on its way out."""
        column = self.column(DELETION)
        return column.computed(None, lambda: without_deletion(column))

    def snapshot(self, paths: Iterable[Path] = ()) -> Snapshot:
        """Everything as it is now; columns that are not filled yet are filled at once."""
        objects = self._objects
        there = np.zeros(self._capacity, dtype=np.bool_)
        there[self.rows()] = True
        codes = {path: self.column(path).codes.copy() for path in paths}
        order, sizes = self.in_order(there), objects.sizes.copy()
        snapshot = Snapshot(self._names, objects.stored, order, codes, sizes, objects.plain)
        self._snapshots.add(snapshot)
        return snapshot

    def column(self, path: Path) -> Column:
        """The column of a path, built from the stored objects if it is new, and kept up to date from then on."""
        column = self._open_column(path)
        exhaust(self._unfilled.pop(path, None))
        return column

    def mask(self, selector: Selector) -> Mask:
        """The verdicts of a selector, evaluated now if it is new, and kept up to date from then on."""
        mask = self._open_mask(selector)
        exhaust(self._unevaluated.pop(selector, None))
        return mask

    def verdict(self, selector: Selector, row: int) -> Verdict:
        """On the object in one row; where the mask has still to be evaluated, no other object is looked at."""
        if selector in self._masks and selector not in self._unevaluated:
            return Verdict(int(self._masks[selector].verdicts[row]))
        return _verdict(selector, self._peek(row))

    def _open_column(self, path: Path) -> Column:
        column = self._columns.get(path)
        if column is None:
            column = self._columns[path] = Column(self._capacity)
            self._watched.add(path)
            self._unfilled[path] = self._fill(path, column)
        return column

    def _open_mask(self, selector: Selector) -> Mask:
        mask = self._masks.get(selector)
        if mask is None:
            reads = sorted(selector.reads, key=repr)
            columns: list[Column] | None = None
            if WHOLE in reads or len(reads) > MOST_COLUMNS:
                for path in reads:
                    self._watched.add(path)
            else:
                columns = [self._open_column(path) for path in reads]
            mask = self._masks[selector] = Mask(
                selector, columns, self._capacity, self._peek, lambda: self._objects.sizes
            )
            for path in reads:
                self._mask_readers.setdefault(path, []).append(mask)
            self._unevaluated[selector] = self._fill_mask(mask)
        return mask

    def _fill_mask(self, mask: Mask) -> Iterator[None]:
        yield from self._watched_steps(mask, self._filling(mask))

    def _filling(self, mask: Mask) -> Iterator[None]:
        for path in mask.selector.reads:  # whoever comes to it may have filled them before a load
            yield from worked_off(self._unfilled, path)
        yield from mask.fill(self.rows(), self._holds_object)

    def _watched_steps(self, mask: Mask, steps: Iterator[None]) -> Iterator[None]:
        """The steps; before each of them the watcher is told. An evaluation that fails is begun anew the next time:
        what has ended in the middle must never pass for what has come to its end."""
        try:
            self.watcher(mask)
            for _ in steps:
                yield
                self.watcher(mask)
        except Exception:
            if self._masks.get(mask.selector) is mask:
                self._unevaluated[mask.selector] = self._fill_mask(mask)
            raise

    # ------------------------------------------------------------------------------- what would be, beside what is

    def fork(self, keys: Iterable[Hashable], paths: Iterable[Path] = (), *, own_scores: bool = False) -> Fleet:
        """A fleet with the same objects that can be changed alone: with what these subscribers read, as evaluated so
        far, with columns of these paths, and with these subscribers and no others.

        Scores are shared, and must not be changed there, unless it has its own.
        """
        fork = Fleet()
        fork._take_over_rows(self)
        fork.scores = self.scores.copy() if own_scores else self.scores
        known = [key for key in keys if key in self._subscriptions]
        read = {path for key in known for path in self._subscriptions[key][1]}
        read |= {path for key in known for each in self._subscriptions[key][0] for path in each.reads}
        for path in {DELETION, *read, *paths} & self._columns.keys():
            fork._watched.add(path)
            if path in self._unfilled:
                fork._columns[path] = column = Column(fork._capacity)
                fork._unfilled[path] = fork._fill(path, column)
            else:
                fork._columns[path] = self._columns[path].copy()
        for key in known:
            selectors, own = self._subscriptions[key]
            within = [mask.selector for mask in self._scopes[key]] if key in self._scopes else None
            rest = selectors[: len(selectors) - len(within or ())]
            fork.subscribe(key, rest, own, within, lazily=True)
        for selector in [each for each in fork._masks if each not in self._unevaluated]:
            fork._masks[selector].take_over(self._masks[selector])
            del fork._unevaluated[selector]
        return fork

    def concerned(self, name: str, new: JsonMapping | None) -> Iterator[Hashable | None]:
        """Who would have to know if an object were this one, or gone; with a pause (None) after every evaluation."""
        row = self._row_of.get(name)
        if row is None and new is None:
            return
        masks, paths = list(self._masks.values()), set["Path"]()
        if row is not None and new is not None:
            old = self._peek(row)
            paths = {path for path in self._watched.changed(old, new) if project(old, path) != project(new, path)}
            masks = list({id(mask): mask for path in paths for mask in self._mask_readers.get(path, ())}.values())
        if row is not None:
            told = {key for path in paths for key in self._path_subscribers.get(path, ())}
            yield from self._in_scope(told, row)
        for mask in masks:
            if mask.selector in self._unevaluated or row is None:
                before = Verdict.NO
            else:
                before = Verdict(int(mask.verdicts[row]))
            after = Verdict.NO if new is None else _verdict(mask.selector, new)
            if before is not after or mask.selector in self._unevaluated:
                yield from mask.subscribers
            yield None

    def score_readers(self, name: str) -> frozenset[Hashable]:
        """Who reads the scores of this name, of whatever cluster."""
        told: set[Hashable] = set()
        for path in (score_path(name), ALL_SCORES):
            told |= self._path_subscribers.get(path, _NOBODY)
            for mask in self._mask_readers.get(path, ()):
                told |= mask.subscribers
        return frozenset(told)

    # ------------------------------------------------------------------------------------------- being told

    def subscribe(
        self,
        key: Hashable,
        selectors: Iterable[Selector],
        paths: Iterable[Path],
        within: Iterable[Selector] | None = None,
        *,
        lazily: bool = False,
    ) -> None:
        """Tell `key` whenever a verdict of these selectors or a value at these paths changes.

        With `within`, a value matters only on objects that one of those selectors selects; their verdicts matter too.
        Lazily, nothing is evaluated yet, and only changes after that are told: `steps` does it, or who needs a verdict.
        """
        scope = None if within is None else tuple(within)
        subscription = ((*selectors, *(scope or ())), tuple(paths))
        # What both the old subscription and the new one need must not be dropped in between.
        for selector in subscription[0]:
            self._open_mask(selector).subscribers.add(_NEWCOMER)
        for path in subscription[1]:
            self._path_subscribers.setdefault(path, set()).add(_NEWCOMER)
        self.unsubscribe(key)
        self._subscriptions[key] = subscription
        for selector in subscription[0]:
            subscribers = self._masks[selector].subscribers
            subscribers.discard(_NEWCOMER)
            subscribers.add(key)
        if scope is not None:
            self._scopes[key] = [self._masks[selector] for selector in scope]
        for path in subscription[1]:
            self._open_column(path)
            subscribers = self._path_subscribers[path]
            subscribers.discard(_NEWCOMER)
            subscribers.add(key)
        if not lazily:
            exhaust(self.steps(key))

    def steps(self, key: Hashable) -> Iterator[None]:
        """Fill and evaluate whatever the subscriber needs, with a pause after every bit of work."""
        selectors, paths = self._subscriptions.get(key, ((), ()))
        for path in {*paths, *(path for selector in selectors for path in selector.reads)}:
            yield from worked_off(self._unfilled, path)
        for selector in selectors:
            yield from worked_off(self._unevaluated, selector)

    def defer(self, selector: Selector) -> None:
        """From now on, evaluate a selector not when an object changes but when its subscribers are worked on.

        For selectors that take long: a change then costs its subscribers time, and nobody else.
        """
        if selector in self._masks:
            self._deferred.add(selector)

    def unsubscribe(self, key: Hashable) -> None:
        """Forget a subscriber, and the masks and columns that nobody else needs."""
        selectors, paths = self._subscriptions.pop(key, ((), ()))
        self._scopes.pop(key, None)
        for selector in dict.fromkeys(selectors):
            mask = self._masks[selector]
            mask.subscribers.discard(key)
            if not mask.subscribers:
                del self._masks[selector]
                self._unevaluated.pop(selector, None)
                self._deferred.discard(selector)
                for path in selector.reads:
                    self._mask_readers[path].remove(mask)
        for path in paths:
            self._path_subscribers[path].discard(key)
        self._drop_unread({*paths, *(path for selector in selectors for path in selector.reads)})

    def _drop_unread(self, paths: Collection[Path]) -> None:
        unread = [
            path
            for path in paths
            if not self._mask_readers.get(path) and not self._path_subscribers.get(path) and path != DELETION
        ]
        for path in unread:
            self._columns.pop(path, None)
            self._unfilled.pop(path, None)
            self._mask_readers.pop(path, None)
            self._path_subscribers.pop(path, None)
        if unread:
            self._watched = WatchedPaths({*self._columns, *self._mask_readers})

    # ----------------------------------------------------------------------------------------------- changing

    def put_many(self, objects: Iterable[bytes], shapes: Iterable[Shape | None] = _NOBODY_LOOKED) -> None:
        """Load many objects at once; nobody is told. Columns and masks are made anew when they are next needed.

        `shapes` are what whoever read the objects has found of them, if he has looked.
        """
        loading = self.loading()
        loading.add(objects, shapes)
        loading.finish()

    def put_scores(self, scores: Iterable[tuple[str, str, Score]]) -> None:
        """The same of scores, each with its cluster and name."""
        for cluster, name, score in scores:
            self.scores.put(cluster, name, score)
        self._start_over()

    def _take_in(self, row_of: dict[str, int], objects: StoredObjects) -> None:
        super()._take_in(row_of, objects)
        self._start_over()

    def _start_over(self) -> None:
        # The same maps: whoever is at something of theirs sees that it is begun anew.
        self._unfilled.update({path: self._fill(path, column) for path, column in self._columns.items()})
        self._unevaluated.update({selector: self._fill_mask(mask) for selector, mask in self._masks.items()})

    def put(self, encoded: bytes) -> frozenset[Hashable]:
        """An object is new or changed. Returns who has to know."""
        # Everything that can fail comes before the first change: an object that cannot be read leaves what was.
        new = DECODER.decode(encoded)
        name = new["metadata"]["name"]
        row = self._row_of.get(name)
        if row is None:
            values = self._values_at(name, new, {*self._columns, *self._mask_readers})
            row = self._new_row(name, in_order=True)
            self._store(row, encoded)
            self.replaced = None
            return self._refresh(row, values, evaluate_all=True)
        before = self._objects.at(row)
        values = self._values_at(name, new, self._changed_paths(before or b"", new))
        self.replaced = before
        self._store(row, encoded)
        return self._refresh(row, values)

    def _changed_paths(self, before: bytes, new: JsonMapping) -> Iterable[Path]:
        try:
            return self._watched.changed(DECODER.decode(before), new)
        except (msgspec.MsgspecError, RecursionError):  # it came with many others, and nobody has looked at it so far
            return {*self._columns, *self._mask_readers}

    def remove(self, name: str) -> frozenset[Hashable]:
        """An object is gone. Returns who has to know."""
        row = self._row_of.get(name)
        if row is None:
            return _NOBODY
        self.replaced = self._objects.at(row)
        self._free_row(name, row)
        told: set[Hashable] = set()
        for path, column in self._columns.items():
            column.clear(row)
            told |= self._path_subscribers.get(path, _NOBODY)
        told = self._in_scope(told, row)
        for selector, mask in self._masks.items():
            if selector in self._unevaluated:
                mask.redo.add(row)  # whoever is filling the mask must not take it for one that is still there
            if mask.clear(row):
                self.flips += 1
                told |= mask.subscribers
        return frozenset(told)

    def _in_scope(self, keys: set[Hashable], row: int) -> set[Hashable]:
        """Those of the subscribers to paths whom a change of this object concerns."""
        scopes = self._scopes
        return {key for key in keys if key not in scopes or any(self._may_select(mask, row) for mask in scopes[key])}

    def _may_select(self, mask: Mask, row: int) -> bool:
        return bool(mask.verdicts[row] == Verdict.YES) or mask.selector in self._unevaluated

    def put_score(self, cluster: str, name: str, score: Score) -> frozenset[Hashable]:
        """A score is new or changed. Returns who has to know."""
        self.scores.put(cluster, name, score)
        return self._score_changed(cluster, name)

    def remove_score(self, cluster: str, name: str) -> frozenset[Hashable]:
        self.scores.remove(cluster, name)
        return self._score_changed(cluster, name)

    def advance(self, now: datetime) -> frozenset[Hashable]:
        """It is `now`: scores that have expired since are no longer there. Returns who has to know."""
        self.expired = self.scores.advance(now)
        told: frozenset[Hashable] = _NOBODY
        for cluster, name in self.expired:
            told |= self._score_changed(cluster, name)
        return told

    def _score_changed(self, cluster: str, name: str) -> frozenset[Hashable]:
        row = self._row_of.get(cluster)
        paths = [path for path in (score_path(name), ALL_SCORES) if path in self._columns]
        return self._refresh(row, self._values_at(cluster, {}, paths)) if paths and row is not None else _NOBODY

    def _values_at(self, name: str, obj: JsonMapping, paths: Iterable[Path]) -> list[tuple[Path, Hashable]]:
        """What an object has at these paths; None where nobody keeps a column of it."""
        return [(path, self._projection(name, obj, path) if path in self._columns else None) for path in paths]

    def _refresh(
        self, row: int, values: Iterable[tuple[Path, Hashable]], *, evaluate_all: bool = False
    ) -> frozenset[Hashable]:
        """Bring the columns of these paths up to date for a row, then the masks that read them."""
        told: set[Hashable] = set()
        stale: dict[int, Mask] = {}
        for path, value in values:
            column = self._columns.get(path)
            if column is not None:
                if not column.put(row, value):
                    if isinstance(path[-1], Where):  # what it leaves out has changed, which can count for a budget
                        readers = self._mask_readers.get(path, ())
                        stale.update((id(mask), mask) for mask in readers if mask.rests_on_more(row))
                    continue
                if column.distinct > _WASTE * max(len(self._row_of), FIRST_CAPACITY) and column.forget_unused():
                    for mask in self._mask_readers.get(path, ()):
                        mask.forget()
            told |= self._path_subscribers.get(path, _NOBODY)
            stale.update((id(mask), mask) for mask in self._mask_readers.get(path, ()))
        concerned = list(self._masks.values() if evaluate_all else stale.values())
        flipped = [mask for mask in concerned[:_AT_ONCE] if self._flips(mask, row)]
        flipped += [mask for mask in concerned[_AT_ONCE:] if self._waits(mask, row)]
        told = self._in_scope(told, row)
        for mask in flipped:
            told |= mask.subscribers
        return frozenset(told)

    def _flips(self, mask: Mask, row: int) -> bool:
        """Evaluate a row again now, or have it evaluated later; whether subscribers have to know."""
        selector = mask.selector
        if selector in self._unevaluated or selector in self._deferred:
            return self._waits(mask, row)  # whoever is filling the mask comes back to it
        self.watcher(mask)
        try:
            flips = mask.update(row)
        except Exception:
            # It shows when the subscribers are worked on, and harms nobody else until then.
            return self._waits(mask, row)
        if flips:
            self.flips += 1
            return True
        return False

    def _waits(self, mask: Mask, row: int) -> bool:
        """Have a row evaluated later; whether subscribers have to know, because nobody is at it already."""
        mask.redo.add(row)
        if mask.selector in self._unevaluated:
            return False
        self._unevaluated[mask.selector] = self._watched_steps(mask, mask.catch_up(self._holds_object))
        return True

    def _projection(self, name: str, obj: JsonMapping, path: Path) -> Hashable:
        if path and path[0] == SCORES:
            return self.scores.projection(name, path)
        return project(obj, path)

    def _fill(self, path: Path, column: Column) -> Iterator[None]:
        """Fill a column from the stored objects, with a pause after every chunk."""
        values = self._scores_at(path) if path and path[0] == SCORES else self._objects.values(path)
        try:
            for rows, found in values:
                column.fill(rows, found)
                yield
        except Exception:  # whatever it is, and it goes on: what is filled in part must not pass for a full column
            if self._columns.get(path) is column:
                self._unfilled[path] = self._fill(path, column)
            raise

    def _scores_at(self, path: Path) -> Iterator[tuple[NDArray[np.intp], list[Hashable]]]:
        for rows in self._objects.chunks(self.rows()):
            yield rows, [self.scores.projection(self._names[row], path) for row in rows.tolist()]

    def _grow(self) -> None:
        super()._grow()
        for column in self._columns.values():
            column.grow(self._capacity)
        for mask in self._masks.values():
            mask.grow(self._capacity)


def _verdict(selector: Selector, obj: JsonMapping) -> Verdict:
    """On one object. What cannot be evaluated is an error, as in a mask."""
    try:
        return selector.match(obj).verdict
    except MemoryError:
        raise
    except Exception:
        return Verdict.ERROR
