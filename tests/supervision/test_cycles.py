"""The collector looks at everything only in quiet moments."""

from __future__ import annotations

import asyncio
import gc

import pytest

from muster.supervision import cycles


def _looks(busy: list[bool], patience: int, turns: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """At which pauses the collector looked; `busy` is the answer after each pause, the last one for ever."""
    pauses = 0
    looked: list[int] = []

    async def pause(_: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses > turns:
            raise asyncio.CancelledError

    monkeypatch.setattr(asyncio, "sleep", pause)
    monkeypatch.setattr(gc, "collect", lambda: looked.append(pauses))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cycles.collect_now_and_then(lambda: busy[min(pauses, len(busy)) - 1], 60, patience))
    return looked


def test_a_quiet_hub_is_looked_at_once_per_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _looks([False], 300, 3, monkeypatch) == [1, 2, 3]


def test_heavy_work_puts_a_look_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _looks([True, True, True, False], 300, 4, monkeypatch) == [4]


def test_heavy_work_without_end_does_not_put_it_off_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _looks([True], 5, 6, monkeypatch) == [6]


def test_python_never_looks_at_everything_by_itself() -> None:
    before = gc.get_threshold()
    try:
        cycles.freeze_loaded_objects()
        assert gc.get_threshold()[2] >= 1_000_000
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def test_a_process_that_loads_much_is_looked_at_by_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[tuple[int, ...]] = []
    monkeypatch.setattr(gc, "set_threshold", lambda *given: set_to.append(given))

    async def loading() -> set[asyncio.Task[None]]:
        async with cycles.seldom(lambda: False):
            during = asyncio.all_tasks()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return during

    assert len(asyncio.run(loading())) == 2  # we, and who looks now and then
    assert set_to == [(10_000, 10, 1_000_000)]
