"""What guards a placement: the settings of its annotations, and those that the fleet has for all.

Both are texts by the same names: annotations under `placement.muster.dev/`, and keys of the fleet's ConfigMap. A text
that cannot be read is a fault, and a guard with a fault lets nothing go. Layers are never merged: whatever either asks
for must be kept, so that an annotation can only tighten.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from muster.placement.guards.amounts import Amount, parse_amount, parse_duration, parse_number, shown
from muster.placement.guards.hours import Hours, parse_hours
from muster.values.faults import Fault
from muster.values.nearest import nearest
from muster.values.times import LAST, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")
PREFIX: Final = "placement.muster.dev/"
APPROVAL: Final = f"{PREFIX}approve-removals"
MAX_REMOVALS: Final = "max-removals"
WINDOW: Final = "removal-window"
MIN_CLUSTERS: Final = "min-clusters"
FREEZE: Final = "freeze-removals"
QUIET: Final = "quiet-time"
HOURS: Final = "removal-hours"
BRAKE: Final = "brake"
BRAKE_WINDOW: Final = "brake-window"
NAMES: Final = (MAX_REMOVALS, WINDOW, MIN_CLUSTERS, FREEZE, QUIET, HOURS)
ANNOTATIONS: Final = frozenset(f"{PREFIX}{name}" for name in NAMES)
MULTICLUSTER: Final = "multicluster-decisions"
FLEET_NAMES: Final = (*NAMES, BRAKE, BRAKE_WINDOW, MULTICLUSTER)
DEFAULT_WINDOW: Final = timedelta(hours=1)
DEFAULT_BRAKE_WINDOW: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Guard:
    """What one layer asks for; None and zero ask for nothing. `owner` is who says so, for people."""

    owner: str = "the placement"
    max_removals: Amount | None = None
    window: timedelta = DEFAULT_WINDOW
    min_clusters: int | None = None
    frozen_until: datetime | None = None
    quiet: timedelta = timedelta()
    hours: Hours | None = None
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Brake:
    """The most decisions of the whole fleet that may go within a time."""

    most: Amount
    window: timedelta = DEFAULT_BRAKE_WINDOW


@dataclass(frozen=True, slots=True)
class FleetGuards:
    """What holds for every placement: a guard and a brake, each if there is one.

    `multicluster`: whether decisions are written as SIG-Multicluster's PlacementDecisions too; None where that cannot
    be read, and whatever was so before stays.
    """

    guard: Guard | None = None
    brake: Brake | None = None
    multicluster: bool | None = False

    @property
    def keep(self) -> timedelta:
        """For how long removals have to be remembered."""
        windows = [timedelta()]
        windows += [self.guard.window] if self.guard is not None else []
        windows += [self.brake.window] if self.brake is not None else []
        return max(windows)


NO_FLEET_GUARDS: Final = FleetGuards()


@dataclass(slots=True)
class _Texts:
    """Texts by their names, and what could not be read of them. `prefix` is how people know the names."""

    given: Mapping[str, str]
    prefix: str = ""
    faults: list[Fault] = field(default_factory=list)

    def amount(self, name: str) -> Amount | None:
        return self._kept(name, parse_amount(self.given[name])) if name in self.given else None

    def number(self, name: str) -> int | None:
        return self._kept(name, parse_number(self.given[name])) if name in self.given else None

    def duration(self, name: str, default: timedelta) -> timedelta:
        found = self._kept(name, parse_duration(self.given[name])) if name in self.given else None
        return default if found is None else found

    def flag(self, name: str) -> bool | None:
        text = self.given.get(name, "false")
        found = text == "true" if text in ("true", "false") else Fault(f"{shown(text)} is neither true nor false")
        return self._kept(name, found)

    def hours(self, name: str) -> Hours | None:
        return self._kept(name, parse_hours(self.given[name])) if name in self.given else None

    def freeze(self, name: str) -> datetime | None:
        """Until when: for ever with `true`; `false` is no freeze."""
        text = self.given.get(name, "false")
        if text in ("true", "false"):
            return LAST if text == "true" else None
        found = parse_time(text)
        if isinstance(found, Fault):
            found = Fault(f"{shown(text)} is neither true nor false nor a time such as 2030-01-31T12:00:00Z")
        return self._kept(name, found)

    def _kept(self, name: str, found: T | Fault) -> T | None:
        if isinstance(found, Fault):
            self.faults.append(Fault(found.message, f"{self.prefix}{name}"))
            return None
        return found


def placement_guard(annotations: Mapping[str, str]) -> Guard | None:
    """The guard that a placement's annotations describe; None without any."""
    given = {name: annotations[f"{PREFIX}{name}"] for name in NAMES if f"{PREFIX}{name}" in annotations}
    return _guard(_Texts(given, PREFIX), "the placement") if given else None


def fleet_guards(data: Mapping[str, str]) -> FleetGuards:
    """What the fleet's ConfigMap says. A name that is none of ours is a fault: it would guard nothing unnoticed."""
    texts = _Texts(data)
    texts.faults += [Fault(_unknown(name), name) for name in sorted(data.keys() - set(FLEET_NAMES))[:10]]
    most = texts.amount(BRAKE)
    window = texts.duration(BRAKE_WINDOW, DEFAULT_BRAKE_WINDOW)
    brake = None if most is None else Brake(most, window)
    multicluster = texts.flag(MULTICLUSTER)
    is_guarded = texts.faults or any(name in data for name in NAMES)
    return FleetGuards(_guard(texts, "the fleet") if is_guarded else None, brake, multicluster)


def unknown_annotations(annotations: Mapping[str, str]) -> list[Fault]:
    """Annotations under our prefix that mean nothing, with what they may have meant."""
    known = {*ANNOTATIONS, APPROVAL}
    found = sorted(name for name in annotations if name.startswith(PREFIX) and name not in known)
    return [Fault(_unknown(name.removeprefix(PREFIX), known=(*NAMES, "approve-removals")), name) for name in found[:10]]


def _unknown(name: str, known: tuple[str, ...] = FLEET_NAMES) -> str:
    near = nearest(name, known, 1)
    meant = f"; did you mean {near[0]}?" if near else f": there are {', '.join(known)}"
    return f"is no guard{meant}"


def _guard(texts: _Texts, owner: str) -> Guard:
    return Guard(
        owner,
        texts.amount(MAX_REMOVALS),
        texts.duration(WINDOW, DEFAULT_WINDOW),
        texts.number(MIN_CLUSTERS),
        texts.freeze(FREEZE),
        texts.duration(QUIET, timedelta()),
        texts.hours(HOURS),
        tuple(texts.faults),
    )
