"""Whose expressions are being evaluated, noted where a supervisor finds it should the process hang or die of them.

The world opens a note for whatever it evaluates in one go; within it, the fleet tells which selector is evaluated, and
the note is refined to the set or the placement that it belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.parts import Identity
from muster.controllers.placements.keys import Key
from muster.controllers.placements.timed_selectors import TimedSelector
from muster.supervision import Notes, Subject

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from muster.controllers.placements.objects import PlacementObjects
    from muster.fleet import Fleet
    from muster.fleet.masks import Mask
    from muster.selectors import Selector
    from muster.supervision import Vitals

_NOBODY: Final = b""  # the note of a change that is nobody's fault until somebody's selector is evaluated on it


class EvaluationNotes:
    """Watches the fleet's masks."""

    def __init__(self, notes: Notes | None, objects: PlacementObjects, fleet: Fleet) -> None:
        self._notes = notes or Notes()
        self._objects = objects
        self._set_of: dict[Selector, str] = {}  # sets by what selects their members
        self._texts: dict[Key, dict[str, bytes]] = {}  # notes, by part
        self._worked_on: Key | None = None
        self._noted_mask: Mask | None = None
        fleet.watcher = self._note_mask

    @property
    def vitals(self) -> Vitals:
        return self._notes.vitals

    def evaluating_change(self) -> AbstractContextManager[None]:
        """Around what a change of a cluster or score makes the fleet evaluate."""
        return self._notes.evaluating(_NOBODY)

    def evaluating(self, key: Key) -> AbstractContextManager[None]:
        """Around everything that is evaluated for a placement in one go."""
        self._worked_on = key
        return self._notes.evaluating(self._text(key))

    def evaluating_set(self, name: str) -> AbstractContextManager[None]:
        """Around everything that is evaluated for a set in one go."""
        return self._notes.evaluating(self._set_text(name))

    def follow_set(self, name: str, rule: Selector) -> None:
        """The members of the set are selected by this from now on."""
        self.forget_set(name)
        self._set_of[rule] = name

    def forget_set(self, name: str) -> None:
        for rule in [rule for rule, owner in self._set_of.items() if owner == name]:
            del self._set_of[rule]

    def forget(self, key: Key) -> None:
        """A placement is another object now, or gone."""
        self._texts.pop(key, None)

    def _note_mask(self, mask: Mask) -> None:
        """A selector is about to be evaluated: for a set, or for one of the placements that have it."""
        if mask is not self._noted_mask or not self._notes.is_refined:
            self._noted_mask = mask
            self._notes.refine(self._user_of(mask))

    def _user_of(self, mask: Mask) -> bytes:
        """The set whose members are selected, or the placement that is worked on, or any that has the selector."""
        selector = mask.selector
        if (name := self._set_of.get(selector)) is not None:
            return self._set_text(name)
        key = self._worked_on
        if key not in mask.subscribers:
            key = next((each for each in mask.subscribers if isinstance(each, Key)), None)
        if key is None:
            return b""  # somebody's question
        return self._text(key, selector.digest if isinstance(selector, TimedSelector) else "")

    def _text(self, key: Key, part: str = "") -> bytes:
        texts = self._texts.setdefault(key, {})
        if part not in texts:
            known = self._objects.placements.get(key)
            identity = Identity(key.name, key.namespace) if known is None else known.obj.metadata
            texts[part] = Subject.of("Placement", identity, part).text()
        return texts[part]

    def _set_text(self, name: str) -> bytes:
        known = self._objects.sets.get(name)
        return Subject.of("ManagedClusterSet", Identity(name) if known is None else known.obj.metadata).text()
