"""What has changed since each placement was last decided: kept for a moment, so that a move can name its cause.

The world notes an object for exactly those placements that it wakes; a heartbeat wakes nobody and is not noted. Several
changes of one object are one, from the first state to the last. Memory is bounded: what comes beyond is only counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import msgspec

from muster.controllers.placements.keys import Key
from muster.placement.explain.causes import CLUSTER, Change, Ref
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from muster.api.placement import Placement
    from muster.controllers.placements.keys import SetKey
    from muster.controllers.runtime.mirror import Stored

    SpecStates = tuple[Stored[Placement] | None, Stored[Placement]]  # before and after

MOST_CHANGES: Final = 128  # of one placement
MOST_SPECS: Final = 10  # of one placement that are not in its history yet
_MOST_ALTOGETHER: Final = 8192
_DECODER: Final = msgspec.json.Decoder(JsonObject)


@dataclass(frozen=True, slots=True)
class Noted:
    """An object's states, encoded for as long as nobody asks; None where it was not or is not there."""

    ref: Ref
    old: bytes | None
    new: bytes | None
    expired: bool = False

    def change(self) -> Change:
        return Change(self.ref, _decoded(self.old), _decoded(self.new), self.expired)


def _decoded(state: bytes | None) -> JsonObject | None:
    return None if state is None else _DECODER.decode(state)


@dataclass(slots=True)
class Pending:
    """What has changed for one placement. `more` are changes beyond the bound."""

    noted: dict[Ref, Noted] = field(default_factory=dict)
    specs: list[SpecStates] = field(default_factory=list)
    more: int = 0

    def changes(self) -> list[Change]:
        return [each.change() for each in self.noted.values()]

    def trimmed(self, examples: Collection[str], moved: Collection[str], most: int) -> Pending:
        """What is worth keeping for longer: of clusters that will be told about, of no cluster, of others that moved.

        What concerns only clusters that did not move is kept when there is nothing else.
        """
        ranked: dict[int, list[Noted]] = {0: [], 1: [], 2: [], 3: []}
        for each in self.noted.values():
            cluster = each.ref.cluster
            ranked[0 if cluster in examples else 1 if not cluster else 2 if cluster in moved else 3].append(each)
        chosen = [*ranked[0], *ranked[1], *ranked[2]] or ranked[3]
        return Pending({each.ref: each for each in chosen[:most]}, [], self.more + max(len(chosen) - most, 0))


class ChangeLog:
    """By the keys of placements. Sets are woken too, and their counts need no causes."""

    def __init__(self) -> None:
        self._pending: dict[Key, Pending] = {}
        self._count = 0

    def note_cluster(self, told: Iterable[Key | SetKey], name: str, old: bytes | None, new: bytes | None) -> None:
        self.note(told, Noted(Ref(CLUSTER, "", name), old, new))

    def note(self, told: Iterable[Key | SetKey], noted: Noted) -> None:
        for key in told:
            if isinstance(key, Key):
                self._add(self._pending.setdefault(key, Pending()), noted)

    def note_spec(self, key: Key, before: Stored[Placement] | None, placement: Stored[Placement]) -> None:
        """A placement has another spec than before."""
        specs = self._pending.setdefault(key, Pending()).specs
        specs.append((before, placement))
        del specs[:-MOST_SPECS]

    def take_specs(self, key: Key) -> list[SpecStates]:
        """The states that a placement had since this was last asked, each with the one before."""
        pending = self._pending.get(key)
        if pending is None:
            return []
        specs, pending.specs = pending.specs, []
        return specs

    def _add(self, pending: Pending, noted: Noted) -> None:
        known = pending.noted.get(noted.ref)
        if known is not None:
            pending.noted[noted.ref] = replace(noted, old=known.old)
        elif len(pending.noted) >= MOST_CHANGES or self._count >= _MOST_ALTOGETHER:
            pending.more += 1
        else:
            pending.noted[noted.ref] = noted
            self._count += 1

    def take(self, key: Key) -> Pending:
        """Everything so far; from now on it is somebody else's to keep."""
        pending = self._pending.pop(key, None)
        if pending is None:
            return Pending()
        self._count -= len(pending.noted)
        return pending

    def give_back(self, key: Key, taken: Pending) -> None:
        """It did not come to a decision: what has come meanwhile is joined to what was before."""
        since = self.take(key)
        taken.more += since.more
        taken.specs = since.specs
        self._pending[key] = taken
        self._count += len(taken.noted)
        for noted in since.noted.values():
            self._add(taken, noted)
