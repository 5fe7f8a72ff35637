"""What has been removed lately: times and counts, enough for a sliding window. Pure.

Times are whole seconds and never earlier than what happened, so that what is written down and read again lets no more
go than before. Entries are bounded: neighbours are joined under the later time.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.values.times import later

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, timedelta

MOST_ENTRIES: Final = 64


@dataclass(frozen=True, slots=True, order=True)
class Removed:
    """So many clusters went at that time."""

    at: datetime
    count: int


def removed_within(removed: Iterable[Removed], now: datetime, window: timedelta) -> int:
    """How many went within the window that ends now."""
    start = later(now, -window.total_seconds())
    return sum(each.count for each in removed if each.at > start)


def recorded(
    removed: Iterable[Removed], now: datetime, count: int, keep: timedelta, at: datetime | None = None
) -> tuple[Removed, ...]:
    """With so many more, now or at a later time, and without what no window reaches any more."""
    start = later(now, -keep.total_seconds())
    kept = sorted(each for each in removed if each.at > start)
    if count:
        kept.append(Removed(at or whole_second(now), count))
        kept.sort()
    while len(kept) > MOST_ENTRIES:
        # The two that are nearest to each other become one, which counts for as long as the later of them.
        first = min(range(len(kept) - 1), key=lambda each: kept[each + 1].at - kept[each].at)
        kept[first : first + 2] = [Removed(kept[first + 1].at, kept[first].count + kept[first + 1].count)]
    return tuple(kept)


def without(removed: Iterable[Removed], at: datetime | None, count: int) -> tuple[Removed, ...]:
    """Without so many that were counted at that time, if they stand there by themselves."""
    found = []
    for each in removed:
        taken = min(count, each.count) if each.at == at else 0
        count -= taken
        if each.count > taken:
            found.append(Removed(each.at, each.count - taken))
    return tuple(found)


def missed(known: Iterable[Removed], other: Iterable[Removed]) -> tuple[Removed, ...]:
    """What another memory has more than one: what both know of is not counted twice."""
    counts: Counter[datetime] = Counter()
    for each in other:
        counts[each.at] += each.count
    for each in known:
        counts[each.at] -= each.count
    return tuple(Removed(at, count) for at, count in sorted(counts.items()) if count > 0)


def fits_at(removed: Iterable[Removed], now: datetime, window: timedelta, count: int, most: int) -> datetime | None:
    """When so many more fit into the window; None when they never do."""
    if count > most:
        return None
    inside = sorted(each for each in removed if each.at > later(now, -window.total_seconds()))
    left = sum(each.count for each in inside)
    for each in inside:
        left -= each.count
        if left + count <= most:
            return later(each.at, window.total_seconds())
    return now


def whole_second(moment: datetime) -> datetime:
    """The moment, or the next whole second after it."""
    whole = moment.replace(microsecond=0)
    return whole if whole == moment else later(whole, 1)
