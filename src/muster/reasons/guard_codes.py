"""What the codes of guards mean and carry: a part of the page of codes. The codes stand in `codes.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.reasons.codes import Code, Documented

if TYPE_CHECKING:
    from collections.abc import Mapping

_GUARD: Final = "Guards"
_C = Code

GUARD_CODES: Final[Mapping[Code, Documented]] = {
    _C.REMOVALS_HELD: Documented(
        _GUARD,
        "Clusters that would be removed stay for now. `revoked` of them are in no bound set any more, `gone` of them "
        "are no clusters any more.",
        "",
        "namespace, name, count, decided, names, digest, revoked, gone",
        parts="what holds them, then why some of them would go",
    ),
    _C.HELD_IN_DECISION: Documented(_GUARD, "The decided cluster would be removed, and a guard holds it."),
    _C.WOULD_GO: Documented(_GUARD, "Why these clusters would be removed.", "", "names", parts="why"),
    _C.TOO_MANY_REMOVALS: Documented(
        _GUARD,
        "More clusters would be removed within a time than may be.",
        "",
        "owner, most, window, allowed, removed, asked",
    ),
    _C.TOO_FEW_LEFT: Documented(_GUARD, "Fewer clusters would be left than must be.", "", "owner, fewest, left"),
    _C.REMOVALS_FROZEN: Documented(_GUARD, "Removals are frozen.", "", "owner, until"),
    _C.QUIET_TIME: Documented(
        _GUARD, "Clusters go only when they have been unwanted for some time.", "", "quiet, until"
    ),
    _C.OUTSIDE_HOURS: Documented(_GUARD, "Removals happen only in certain hours.", "", "owner, hours"),
    _C.FLEET_BRAKE: Documented(
        _GUARD,
        "More decisions of the whole fleet would go within a time than may: every placement holds.",
        "",
        "most, window, allowed, removed, asked, decided",
    ),
    _C.GUARD_UNREADABLE: Documented(_GUARD, "A guard cannot be read, and lets nothing go.", "", "owner, fault"),
    _C.GUARD_UNREMEMBERED: Documented(
        _GUARD, "What guards must remember cannot be written down here, so that they let nothing go.", "", "fault"
    ),
    _C.APPROVAL_OUTDATED: Documented(
        _GUARD, "There is an approval, and it names another change.", "", "approved, digest"
    ),
}
