"""Hosts whose labels another program takes off again: after a few times they are left alone for a while.

NFD's worker writes its NodeFeatures anew with the labels that it knows, every minute. Whoever puts labels back each
time writes as often as it does, for nothing. The clock is given; it knows no kind and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.client.heads import Place

PAUSE: Final = 3600.0  # seconds for which a host is left alone
_WINDOW: Final = 600.0  # seconds in which labels may be taken off so often
_MOST: Final = 3


@dataclass(slots=True)
class _Contest:
    wanted: str
    since: float
    stands: bool = True  # as far as we know
    times: int = 0
    until: float = 0.0


class Contests:
    """What was written to hosts last, and how often it has gone."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._known: dict[Place, _Contest] = {}

    def wrote(self, host: Place, wanted: str | None) -> None:
        """A record of labels has been written."""
        known = self._known.get(host)
        if wanted is None:
            self._known.pop(host, None)
        elif known is None or known.wanted != wanted:
            self._known[host] = _Contest(wanted, self._now())
        else:
            known.stands = True

    def pause(self, host: Place, wanted: str | None) -> float:
        """Seconds to wait before a record is written to a host that carries none; 0 to write it now.

        Where it is the record that was written last, somebody has taken it off.
        """
        now, known = self._now(), self._known.get(host)
        if known is None or known.wanted != wanted:
            return 0.0
        if now < known.until:
            return known.until - now
        if known.until or now - known.since > _WINDOW:
            known.since, known.times, known.until = now, 0, 0.0
        if known.stands:
            known.stands = False
            known.times += 1
        if known.times > _MOST:
            known.until = now + PAUSE
            return PAUSE
        return 0.0

    def forget(self, host: Place) -> None:
        self._known.pop(host, None)
