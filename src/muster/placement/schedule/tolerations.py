"""Taints, tolerations and time: whether a taint keeps a cluster out, and until when it does not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from muster.api import managed_cluster
from muster.api.reading import Reader
from muster.values.times import FIRST, Fault, later, parse_time

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from datetime import datetime

    from muster.api import placement

NO_SELECT: Final = "NoSelect"
NO_SELECT_IF_NEW: Final = "NoSelectIfNew"
PREFER_NO_SELECT: Final = "PreferNoSelect"
_TAINTS: Final = Reader(managed_cluster.ManagedClusterSpec)


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str
    effect: str
    added: datetime | None
    fault: str = ""  # why it cannot be told when it was added

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True)
class Toleration:
    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None

    def matches(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator:
            case "" | "Equal":
                return self.value == taint.value
            case "Exists":
                return True
            case _:
                return False

    def expires(self, taint: Taint) -> datetime | None:
        """When it stops tolerating the taint; None for never. Without a time of adding it ended long ago."""
        if self.seconds is None:
            return None
        return FIRST if taint.added is None else later(taint.added, self.seconds)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How a cluster's taints stand against a placement's tolerations."""

    blocked_by: Taint | None = None
    until: datetime | None = None  # the earliest moment at which a toleration in use ends
    disliked: bool = False  # carries a PreferNoSelect taint that nothing tolerates


def tolerance(taints: Iterable[Taint], tolerations: Iterable[Toleration], now: datetime, *, decided: bool) -> Tolerance:
    """Every taint must be tolerated; NoSelectIfNew does not concern clusters that are already decided.

    Whether a toleration has ended cannot be told where the time of the taint cannot be read. Then the cluster neither
    comes nor goes: what is decided stays decided.
    """
    wanted = tuple(tolerations)
    until: datetime | None = None
    disliked = False
    for taint in taints:
        if taint.effect == NO_SELECT_IF_NEW and decided:
            continue  # whatever a toleration says, and whenever it ends
        tolerated = False
        for toleration in wanted:
            if not toleration.matches(taint):
                continue
            expiry = toleration.expires(taint)
            if taint.fault and expiry is not None:
                tolerated = decided
                if decided:
                    break
            elif expiry is None or now < expiry:
                tolerated = True
                if expiry is not None and taint.effect != PREFER_NO_SELECT:
                    until = expiry if until is None else min(until, expiry)
                break
        if tolerated:
            continue
        if taint.effect == PREFER_NO_SELECT:
            disliked = True
        else:
            return Tolerance(blocked_by=taint)
    return Tolerance(until=until, disliked=disliked)


def taints_of(projection: Hashable) -> tuple[Taint, ...]:
    """From the projection of `spec.taints`: JSON when there are any."""
    return _parsed(projection) if isinstance(projection, bytes) else ()


def without_times(projection: Hashable) -> tuple[Taint, ...]:
    """The same without when they were added: many clusters differ in nothing else, and a time takes long to read."""
    if not isinstance(projection, bytes):
        return ()
    return tuple(Taint(each.key, each.value, each.effect, None) for each in _given(projection))


@lru_cache(maxsize=65536)
def _parsed(encoded: bytes) -> tuple[Taint, ...]:
    return tuple(map(taint_of, _given(encoded)))


def _given(encoded: bytes) -> Iterable[managed_cluster.Taint]:
    found = _TAINTS.read(b'{"taints":%b}' % encoded)
    return () if isinstance(found, Fault) else found.obj.taints


def taint_of(given: managed_cluster.Taint) -> Taint:
    """A taint with its time as a value, or what is wrong with it."""
    added = parse_time(given.time_added) if given.time_added else None
    return Taint(
        key=given.key,
        value=given.value,
        effect=given.effect,
        added=None if isinstance(added, Fault) else added,
        fault=str(added) if isinstance(added, Fault) else "",
    )


def toleration_of(given: placement.Toleration) -> Toleration:
    return Toleration(given.key, given.operator, given.value, given.effect, given.toleration_seconds)


def toleration_fault(toleration: Toleration) -> str | None:
    """What is wrong with a toleration, in OCM's words."""
    if not toleration.key and toleration.operator != "Exists":
        return "If the key is empty, operator must be Exists."
    if toleration.operator == "Exists" and toleration.value:
        return "If the operator is Exists, the value should be empty."
    return None
