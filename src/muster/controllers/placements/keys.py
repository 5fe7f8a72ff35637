"""What the placement controllers' queues hold: placements, and cluster sets whose members have changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable


class Key(NamedTuple):
    """A placement."""

    namespace: str
    name: str


class SetKey(NamedTuple):
    """A cluster set, whose members have changed."""

    set_name: str


Woken: TypeAlias = frozenset[Key | SetKey]
"""Those who have work to do after a change."""


def woken(readers: Iterable[Hashable]) -> Woken:
    """The placements and sets among the readers of the fleet; dry runs read it too, and have no work to do."""
    return frozenset(key for key in readers if isinstance(key, Key | SetKey))
