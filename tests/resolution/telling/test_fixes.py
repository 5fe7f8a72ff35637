"""Fixes that work."""

from __future__ import annotations

from muster.resolution import Resolved, resolve, suggested_fixes
from tests.resolution.builders import (
    DIAMOND,
    a_catalog,
    bundle,
    impossible,
    needs,
)


def test_fixes_are_offered_mildest_first_and_each_works() -> None:
    outcome = impossible("a", "b:stable", catalog=DIAMOND)
    fixes = suggested_fixes(outcome.problem)
    assert [fix.text for fix in fixes] == ["use channel old of b", "drop a", "drop b:stable"]
    assert all(isinstance(resolve(fix.request), Resolved) for fix in fixes)


def test_two_conflicts_need_two_drops() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("x")), bundle("b", "1.0.0", needs("y")), bundle("c", "1.0.0"))
    fixes = suggested_fixes(impossible("a", "b", "c", catalog=catalog).problem)
    assert [fix.text for fix in fixes] == ["drop a and b"]
    assert isinstance(resolve(fixes[0].request), Resolved)


def test_a_range_that_is_too_narrow_is_widened_by_a_version() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("nope")), bundle("a", "2.0.0"))
    outcome = impossible("a@<2.0.0", catalog=catalog)
    assert [fix.text for fix in suggested_fixes(outcome.problem)] == ["allow a 2.0.0"]
