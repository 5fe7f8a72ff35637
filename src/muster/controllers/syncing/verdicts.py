"""What a look means for a cluster: the conditions it gets, what its status says, when it is looked at next. Pure.

A cluster whose server cannot be reached is lost after two looks and some seconds, and not sooner: connections break.
One that answers and does not let us read is alive: wrong credentials of ours move no decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api.registration import JOINED
from muster.collecting.troubles import Trouble, TroubleError
from muster.importing.found import IMPORTED, State
from muster.importing.sources import AVAILABLE
from muster.values.messages import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SYNCED: Final = "Synced"
_FIRST_PAUSE: Final = 5.0
_ALIVE: Final = ("True", "ManagedClusterAvailable", "Managed cluster is available")
_MOST_TOLD: Final = 10

Texts = tuple[str, str, str]  # status, reason, message


@dataclass(frozen=True, slots=True)
class Patience:
    """When a cluster counts as lost: after so many looks that failed one after the other, over so many seconds."""

    looks: int = 2
    seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Failures:
    """Looks that failed one after the other."""

    count: int = 0
    since: float = 0.0  # by the monotonic clock

    def another(self, now: float) -> Failures:
        return Failures(self.count + 1, self.since if self.count else now)

    def are_enough(self, now: float, patience: Patience) -> bool:
        return self.count >= patience.looks and now - self.since >= patience.seconds


NONE: Final = Failures()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be written. Without conditions nothing is said: it is too early."""

    conditions: Mapping[str, Texts]
    state: State
    is_alive: bool  # its lease is renewed


def of_success(state: State, unread: Sequence[str], notes: Sequence[str]) -> Verdict:
    """A full look."""
    told = [f"not read: {each}" for each in unread] + list(notes)
    reason = "PartlySynced" if told else "Synced"
    message = listed(told, separator="; ", most=_MOST_TOLD) if told else "Everything was read"
    joined = ("True", IMPORTED, "Managed cluster was imported")
    return Verdict({AVAILABLE: _ALIVE, SYNCED: ("True", reason, message), JOINED: joined}, state, True)


def of_heartbeat(synced: Texts | None) -> Verdict:
    """A short look: the last full one says what was read; a trouble that is over is not said any more."""
    conditions = {AVAILABLE: _ALIVE}
    if synced is not None and synced[0] != "True":
        conditions[SYNCED] = ("True", "Synced", "The cluster answers again")
    return Verdict(conditions, State(), True)


def of_failure(error: TroubleError, failures: Failures, now: float, patience: Patience) -> Verdict:
    """A look that failed. What was read before stays."""
    trouble = error.trouble
    conditions = {SYNCED: ("False", trouble.value, str(error))}
    if trouble.is_alive or trouble is Trouble.NO_ACCESS:
        return Verdict(conditions, State(), trouble.is_alive)
    if not failures.are_enough(now, patience):
        return Verdict({}, State(), False)
    if trouble is Trouble.UNHEALTHY:
        conditions[AVAILABLE] = ("False", "ManagedClusterKubeAPIServerUnavailable", str(error))
    else:
        conditions[AVAILABLE] = ("Unknown", f"ManagedCluster{trouble.value}", str(error))
    return Verdict(conditions, State(), False)


def pause_after(failures: Failures, every: float) -> float:
    """Seconds until the next look: soon after a failure, then more seldom, never more seldom than at healthy ones."""
    return min(_FIRST_PAUSE * 2.0 ** min(failures.count - 1, 16), every) if failures.count else every
