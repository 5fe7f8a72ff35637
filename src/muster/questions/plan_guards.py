"""What the guards that come with a plan say of a placement. Guards of placements themselves add theirs here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.fleet_plan import GuardVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.fleet_plan import PlanGuards
    from muster.controllers.placements.preview import PlacementChange

REMOVES: Final = "FailIfRemoves"
EMPTY: Final = "FailIfEmpty"


def verdicts(change: PlacementChange, guards: PlanGuards) -> Iterator[GuardVerdict]:
    """One of each guard that was asked for."""
    where = f"{change.namespace}/{change.name}"
    if guards.fail_if_removes is not None:
        allowed = len(change.lost) < guards.fail_if_removes
        yield GuardVerdict(REMOVES, allowed, f"{where} would lose {len(change.lost)} of {change.before} clusters")
    if guards.fail_if_empty:
        is_empty = not change.after and not change.is_gone and bool(change.before or change.is_new)
        says = "no cluster" if is_empty else f"{change.after} clusters"
        yield GuardVerdict(EMPTY, not is_empty, f"{where} would have {says}")
