"""Plans written down, had again, compared; and drawn."""

from __future__ import annotations

import pytest

from muster.errors import InvalidObjectError
from muster.resolution import Installed, Request, Resolved, Want, resolve
from muster.resolution.telling.graph import mermaid, svg
from muster.resolution.telling.lock import lock_changes, locked_request, make_lock, read_lock
from tests.resolution.builders import a_catalog, bundle, chosen, needs, wanting

OLD = a_catalog(bundle("a", "1.0.0", needs("d")), bundle("d", "1.0.0"))
NEW = a_catalog(bundle("a", "1.0.0", needs("d")), bundle("d", "1.0.0"), bundle("d", "2.0.0"), bundle("e"))


def outcome_of(*wants: str, catalog: object) -> Resolved:
    outcome = resolve(wanting(*wants)(catalog))
    assert isinstance(outcome, Resolved)
    return outcome


def test_a_lock_reproduces_the_plan_although_the_catalog_has_moved_on() -> None:
    lock = read_lock(make_lock(outcome_of("a", catalog=OLD)).to_json())
    assert chosen(resolve(wanting("a")(NEW))) == ["a.v1.0.0", "d.v2.0.0"]
    assert chosen(resolve(locked_request(wanting("a")(NEW), lock))) == ["a.v1.0.0", "d.v1.0.0"]


def test_what_was_kept_is_kept_again() -> None:
    installed = (Installed("d.v1.0.0", "1.0.0", "d"),)
    want = Want("d", "d", installed="d.v1.0.0")
    request = Request((a_catalog(bundle("d", "3.0.0")),), (want,), installed)
    outcome = resolve(request)
    assert isinstance(outcome, Resolved)
    assert chosen(resolve(locked_request(request, make_lock(outcome)))) == chosen(outcome) == ["d.v1.0.0"]


def test_a_lock_says_when_what_it_names_is_gone_or_has_changed() -> None:
    lock = make_lock(outcome_of("a", catalog=OLD))
    with pytest.raises(InvalidObjectError, match=r"d\.v1\.0\.0 is no longer in channel stable of cat"):
        locked_request(wanting("a")(a_catalog(bundle("a", "1.0.0", needs("d")))), lock)
    with pytest.raises(InvalidObjectError, match=r"d\.v1\.0\.0 has changed in cat"):
        locked_request(
            wanting("a")(a_catalog(bundle("a", "1.0.0", needs("d")), bundle("d", "1.0.0", needs("a")))), lock
        )
    with pytest.raises(InvalidObjectError, match="lockVersion 9 is not known"):
        read_lock({**lock.to_json(), "lockVersion": 9})
    with pytest.raises(InvalidObjectError, match="lock"):
        read_lock({"operators": 3})


def test_two_locks_are_compared_by_package() -> None:
    before, after = make_lock(outcome_of("a", catalog=OLD)), make_lock(outcome_of("d", "e", catalog=NEW))
    assert [str(change) for change in lock_changes(before, after)] == [
        "- a a.v1.0.0 (stable)",
        "~ d d.v1.0.0 (stable) -> d.v2.0.0 (stable)",
        "+ e e.v1.0.0 (stable)",
    ]


def test_a_plan_is_drawn_in_mermaid_and_svg() -> None:
    plan = outcome_of("a", catalog=OLD).plan
    assert mermaid(plan).splitlines() == [
        "flowchart TD",
        '  n0["a.v1.0.0<br/>install"]',
        '  wn0(["a"]) --> n0',
        '  n1["d.v1.0.0<br/>install"]',
        "  n0 --> n1",
    ]
    picture = svg(plan)
    assert picture.startswith("<svg")
    assert picture.count("<rect") == 2
    assert picture.count("<line") == 1
