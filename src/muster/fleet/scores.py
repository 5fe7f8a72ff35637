"""What add-ons report about clusters (AddOnPlacementScore), by cluster and name, with their time of expiry."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from muster.api.addon_placement_score import AddOnPlacementScore
from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.values.json import JsonMapping, JsonObject
from muster.values.times import FIRST, Fault, parse_time

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from datetime import datetime

    from muster.api.addon_placement_score import ScoreItem
    from muster.api.managed_cluster import Amount
    from muster.selectors.paths import Path

EXPIRED = "expired"
_PLAIN_DECIMAL = frozenset("0123456789")
_MOST_DIGITS: Final = 19  # of an int64
_SCORES: Final = Reader(AddOnPlacementScore)
_INT64: Final = 2**63
_INT32: Final = 2**31
_FEW: Final = 64
_ENCODE: Final = msgspec.json.Encoder().encode

_Ending: TypeAlias = "tuple[datetime, str, str]"
"""When which score of which cluster ends."""


class Score:
    """One AddOnPlacementScore. Few of many are ever looked at: what expressions and columns see of it is made then."""

    __slots__ = ("_encoded", "_items", "given", "valid_until")

    def __init__(self, given: tuple[ScoreItem, ...], valid_until: datetime | None) -> None:
        self.given = given
        self.valid_until = valid_until
        self._items: tuple[JsonObject, ...] | None = None
        self._encoded: bytes | None = None

    @property
    def items(self) -> tuple[JsonObject, ...]:
        """Name, value, and quantity where the score has one."""
        if self._items is None:
            self._items = tuple(map(_item, self.given))
        return self._items

    @property
    def encoded(self) -> bytes:
        """Of the items: what a column compares."""
        if self._encoded is None:
            self._encoded = _ENCODE(list(map(_worded, self.given)))
        return self._encoded

    def expired(self, now: datetime) -> bool:
        return self.valid_until is not None and now > self.valid_until


def score_of(obj: JsonMapping) -> Score:
    """From an AddOnPlacementScore as people write it. Raises InvalidObjectError when it cannot be read."""
    score, fault = readable_score(_SCORES.demanded(obj, "status"))
    if fault is not None:
        raise InvalidObjectError(fault.path, fault.message)
    return score


def readable_score(obj: AddOnPlacementScore) -> tuple[Score, Fault | None]:
    """As much of an AddOnPlacementScore as can be used, and why the time of its expiry cannot: then it has none."""
    given = obj.status.scores
    until = parse_time(obj.status.valid_until) if obj.status.valid_until else None
    if isinstance(until, Fault):
        return Score(given, None), Fault(until.message, "status.validUntil")
    return Score(given, until), None


def item_values(encoded: Sequence[bytes], name: str) -> Iterator[int]:
    """The value of an item in each of these scores; of two with one name the last counts, and without one it is 0."""
    for items in _VALUES.decode_lines(b"\n".join(encoded)):
        value = 0
        for item in items:
            if item.name == name:
                value = item.value
        yield value


class _Item(msgspec.Struct, gc=False, omit_defaults=True):
    """As expressions see it."""

    name: str
    value: int
    quantity: int | str | None = None


def _worded(given: ScoreItem) -> _Item:
    value, quantity = given.value, given.quantity
    if not -_INT32 <= value < _INT32:
        value = min(max(value, -_INT32), _INT32 - 1)
    if quantity is None:
        return _Item(given.name, value)
    return _Item(given.name, value, _number_or_text(quantity))


def _item(given: ScoreItem) -> JsonObject:
    worded = _worded(given)
    item: JsonObject = {"name": worded.name, "value": worded.value}
    if worded.quantity is not None:
        item["quantity"] = worded.quantity
    return item


def _number_or_text(quantity: Amount) -> int | str:
    """A plain decimal is a number to expressions; anything with a unit, a point or too many digits stays text."""
    if type(quantity) is str and len(quantity) < _MOST_DIGITS and quantity.isascii() and quantity.isdigit():
        return int(quantity)
    text = quantity if isinstance(quantity, str) else msgspec.json.encode(quantity).decode()
    digits = text.removeprefix("-")
    if not 0 < len(digits) <= _MOST_DIGITS or not _PLAIN_DECIMAL.issuperset(digits):
        return text
    number = int(text)
    return number if -_INT64 <= number < _INT64 else text


class _Value(msgspec.Struct, gc=False):
    name: str
    value: int


_VALUES: Final = msgspec.json.Decoder(list[_Value])


class ScoreTable:
    """All scores of the fleet. What ends next is known without looking at the others."""

    def __init__(self) -> None:
        self._by_cluster: dict[str, dict[str, Score]] = {}
        self._ending: list[_Ending] = []  # a heap; with some that have been replaced or removed since
        self._ending_at_most = _FEW
        self.now: datetime = FIRST

    def copy(self) -> ScoreTable:
        """The scores as they are now."""
        copied = ScoreTable()
        copied.now = self.now
        copied._by_cluster = dict(self._by_cluster)  # those of one cluster are replaced, never changed
        copied._ending, copied._ending_at_most = list(self._ending), self._ending_at_most
        return copied

    def get(self, cluster: str, name: str) -> Score | None:
        return self._by_cluster.get(cluster, {}).get(name)

    def put(self, cluster: str, name: str, score: Score) -> None:
        self._by_cluster[cluster] = {**self._by_cluster.get(cluster, {}), name: score}
        if score.valid_until is not None and not score.expired(self.now):
            heappush(self._ending, (score.valid_until, cluster, name))
            if len(self._ending) > self._ending_at_most:
                self._find_endings()

    def remove(self, cluster: str, name: str) -> None:
        left = {each: score for each, score in self._by_cluster.get(cluster, {}).items() if each != name}
        if left:
            self._by_cluster[cluster] = left
        else:
            self._by_cluster.pop(cluster, None)

    def advance(self, now: datetime) -> list[tuple[str, str]]:
        """It is `now`: which scores of which clusters have expired since it was last told."""
        before, self.now = self.now, now
        if now < before:
            self._find_endings()  # some that had expired have not yet
        expired: list[tuple[str, str]] = []
        while self._ending and self._ending[0][0] < now:
            ending = heappop(self._ending)
            if self._stands(ending):
                expired.append(ending[1:])
        return list(dict.fromkeys(expired))

    def next_expiry(self) -> datetime | None:
        """When `advance` will next have something to say."""
        while self._ending and not self._stands(self._ending[0]):
            heappop(self._ending)
        return self._ending[0][0] if self._ending else None

    def _stands(self, ending: _Ending) -> bool:
        until, cluster, name = ending
        score = self.get(cluster, name)
        return score is not None and score.valid_until == until

    def _find_endings(self) -> None:
        """Look at every score: seldom, when those that no longer stand are as many as the others, or time went back."""
        self._ending = [
            (score.valid_until, cluster, name)
            for cluster, scores in self._by_cluster.items()
            for name, score in scores.items()
            if score.valid_until is not None and not score.expired(self.now)
        ]
        heapify(self._ending)
        self._ending_at_most = 2 * len(self._ending) + _FEW

    def of(self, cluster: str) -> dict[str, Score]:
        """All scores of a cluster that have not expired."""
        scores = self._by_cluster.get(cluster, {})
        return {name: score for name, score in scores.items() if not score.expired(self.now)}

    def items_of(self, cluster: str) -> dict[str, tuple[JsonObject, ...]]:
        """What expressions see as `scores(name)`."""
        return {name: score.items for name, score in self.of(cluster).items()}

    def projection(self, cluster: str, path: Path) -> Hashable:
        """What a column over scores holds for a cluster: the items, or why there are none."""
        if len(path) == 1:
            return tuple(sorted((name, score.encoded) for name, score in self.of(cluster).items()))
        score = self.get(cluster, str(path[1]))
        if score is None:
            return None
        return EXPIRED if score.expired(self.now) else score.encoded
