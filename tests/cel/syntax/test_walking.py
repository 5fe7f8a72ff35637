"""Walks: recursion written as generators."""

from __future__ import annotations

import pytest

from muster.cel.syntax.walking import Walk, finished, run


def _depth(left: int) -> Walk[int]:
    if left == 0:
        return finished(0)
    return _deeper(left)


def _deeper(left: int) -> Walk[int]:
    below: int = yield _depth(left - 1)
    return below + 1


def _fails(left: int) -> Walk[int]:
    if left:
        yield _fails(left - 1)
    raise ValueError(str(left))


def _catches() -> Walk[str]:
    try:
        yield _fails(3)
    except ValueError as error:
        return f"caught {error}"
    return "nothing"


def test_a_walk_may_be_deeper_than_pythons_stack() -> None:
    assert run(_depth(50_000)) == 50_000


def test_a_walk_may_have_nothing_to_visit() -> None:
    assert run(finished(3)) == 3


@pytest.mark.parametrize("levels", [1, 23, 24, 25, 26, 200])
def test_walks_by_calls_and_walks_by_a_stack_meet_in_the_middle(levels: int) -> None:
    assert run(_depth(levels)) == levels
    with pytest.raises(ValueError, match="0"):
        run(_fails(levels))
    assert run(_wrapped(levels)) == "caught 0"


def _wrapped(levels: int) -> Walk[str]:
    found: str = yield (_wrapped(levels - 1) if levels else _catches())
    return found


def test_an_error_travels_outwards() -> None:
    assert run(_catches()) == "caught 0"
    with pytest.raises(ValueError, match="0"):
        run(_fails(2))
