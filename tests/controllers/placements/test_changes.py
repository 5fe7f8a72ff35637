"""What has changed since a placement was last decided: joined, bounded, and kept where it explains a move."""

from __future__ import annotations

from muster.controllers.placements.changes import MOST_CHANGES, ChangeLog, Noted
from muster.controllers.placements.keys import Key
from muster.placement.explain.causes import Change, Ref

P1 = Key("apps", "p1")


def a_ref(number: int) -> Ref:
    return Ref("ManagedCluster", "", f"c{number}")


def test_several_changes_of_one_object_are_one_from_the_first_state_to_the_last() -> None:
    log = ChangeLog()
    for old, new in ((1, 2), (2, 3)):
        log.note([P1], Noted(a_ref(0), b'{"at":%d}' % old, b'{"at":%d}' % new))
    assert log.take(P1).changes() == [Change(a_ref(0), {"at": 1}, {"at": 3})]
    assert log.take(P1).changes() == []


def test_changes_beyond_the_bound_are_counted_and_what_is_given_back_is_joined() -> None:
    log = ChangeLog()
    for number in range(MOST_CHANGES + 5):
        log.note([P1], Noted(a_ref(number), None, b"{}"))
    taken = log.take(P1)
    assert (len(taken.noted), taken.more) == (MOST_CHANGES, 5)
    log.note([P1], Noted(a_ref(0), b"{}", None))
    log.note([P1], Noted(a_ref(999), None, b"{}"))
    log.give_back(P1, taken)
    joined = log.take(P1)
    assert (len(joined.noted), joined.more) == (MOST_CHANGES, 6)
    assert joined.noted[a_ref(0)] == Noted(a_ref(0), None, None)


def test_what_is_kept_for_longer_is_what_explains_the_move() -> None:
    log = ChangeLog()
    for number in range(6):
        log.note([P1], Noted(a_ref(number), None, b"{}"))
    log.note([P1], Noted(Ref("Placement", "apps", "p1"), b"{}", b"{}"))
    taken = log.take(P1)
    kept = taken.trimmed({"c5"}, {"c1", "c2", "c5"}, 3)
    assert ([ref.name for ref in kept.noted], kept.more) == (["c5", "p1", "c1"], 1)
    del taken.noted[Ref("Placement", "apps", "p1")]
    beside = taken.trimmed(set(), {"z"}, 2)
    assert ([ref.name for ref in beside.noted], beside.more) == (["c0", "c1"], 4)
