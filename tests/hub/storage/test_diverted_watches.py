"""Watches whose events are handed over while their readers wait: nothing is lost, doubled or out of order by it."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import deque
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.hub.storage import Audience, Rendered, Store, StoreSettings, WatchOverflowError
from tests.hub.storage.stories import PODS, put, story

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.storage import Event, Watch

FOREVER = math.inf


class Turns:
    """Those who have asked for a turn; the test gives it."""

    def __init__(self) -> None:
        self.asked = 0
        self._waiting: deque[Audience] = deque()

    def join(self, audience: Audience) -> None:
        self.asked += 1
        self._waiting.append(audience)

    def give(self, until: float = FOREVER) -> None:
        """One turn to each that waits, until this time; a round that is not over by then goes on in the next one."""
        for _ in range(len(self._waiting)):
            audience = self._waiting.popleft()
            if audience.serve(until):
                self._waiting.append(audience)


class Form:
    """How watches show events here: their revisions, and nothing of those that it hides."""

    def __init__(self, key: object = "all", hides: frozenset[int] = frozenset()) -> None:
        self.key = key
        self.hides = hides
        self.broken = False
        self.too_much = False
        self.made = 0
        self.counted = 0

    def render(self, events: Sequence[Event]) -> Rendered | None:
        if self.broken:
            raise ValueError("no")
        self.made += 1
        shown = [event.record.revision for event in events if event.record.revision not in self.hides]
        return None if self.too_much else Rendered(b"".join(b"%d " % each for each in shown), len(shown))

    def sent(self, events: int) -> None:
        self.counted += events


class Watcher:
    """Reads a watch, and is written to. `willing` and `broken` say what becomes of that."""

    def __init__(self, watch: Watch, turns: Turns, form: Form | None = None) -> None:
        self.watch = watch
        self.form = form or Form()
        self.willing = True
        self.broken = False
        self.taken: list[int] = []
        self.read: list[int] = []
        self.seen: list[int] = []
        watch.divert(self.form, self._write, turns.join)
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        with contextlib.suppress(StopAsyncIteration):
            while True:
                numbers = [event.record.revision for event in await self.watch.batch()]
                self.read.extend(numbers)
                self.seen.extend(numbers)

    def _write(self, data: bytes) -> bool:
        if self.broken:
            raise ValueError("no")
        if self.willing:
            numbers = [int(each) for each in data.split()]
            self.taken.extend(numbers)
            self.seen.extend(numbers)
        return self.willing

    async def end(self) -> None:
        self.watch.close()
        await self.reader


async def settle() -> None:
    for _ in range(4):
        await asyncio.sleep(0)


@story
async def test_what_happens_is_written_and_wakes_no_reader() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        await store.commit([put("a")])
        await store.commit([put("b")])
        assert (turns.asked, watcher.seen) == (1, [])
        turns.give()
        turns.give()
        assert (watcher.taken, watcher.read) == ([2, 3], [])
        await store.commit([put("c")])
        assert turns.asked == 2
        turns.give()
        await watcher.end()
        assert (watcher.taken, watcher.read, watcher.form.counted) == ([2, 3, 4], [], 3)


@story
async def test_what_is_shown_alike_is_made_once_and_counted_for_everybody() -> None:
    async with Store.open(None) as store:
        turns, form = Turns(), Form()
        watchers = [Watcher(store.watch(PODS, None, store.revision), turns, form) for _ in range(5)]
        other = Watcher(store.watch(PODS, None, store.revision), turns, Form("other", hides=frozenset({2})))
        await settle()
        await store.commit([put("a"), put("b")])
        turns.give()
        assert [watcher.taken for watcher in watchers] == [[2, 3]] * 5
        assert other.taken == [3]
        assert (form.made, form.counted, other.form.counted) == (1, 10, 1)
        for watcher in (*watchers, other):
            await watcher.end()


@pytest.mark.parametrize("how", ["unwilling", "broken", "cannot be made", "too much"])
@story
async def test_what_is_not_written_is_for_the_reader_and_comes_before_what_follows(how: str) -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        watcher.willing, watcher.broken = how != "unwilling", how == "broken"
        watcher.form.broken, watcher.form.too_much = how == "cannot be made", how == "too much"
        await store.commit([put("a"), put("b")])
        turns.give()
        await store.commit([put("c")])
        watcher.willing, watcher.broken, watcher.form.broken, watcher.form.too_much = True, False, False, False
        turns.give()
        await settle()
        await store.commit([put("d")])
        turns.give()
        await watcher.end()
        assert watcher.read[:2] == [2, 3]
        assert watcher.seen == [2, 3, 4, 5]


@story
async def test_one_that_cannot_be_written_to_keeps_nobody_else_waiting() -> None:
    async with Store.open(None) as store:
        turns, form = Turns(), Form()
        watchers = [Watcher(store.watch(PODS, None, store.revision), turns, form) for _ in range(3)]
        await settle()
        watchers[1].broken = True
        await store.commit([put("a")])
        turns.give()
        await settle()
        assert [(each.taken, each.read) for each in watchers] == [([2], []), ([], [2]), ([2], [])]
        for watcher in watchers:
            await watcher.end()


@story
async def test_a_round_goes_on_where_it_stopped_and_takes_along_what_happened_meanwhile() -> None:
    async with Store.open(None) as store:
        turns, form = Turns(), Form()
        watchers = [Watcher(store.watch(PODS, None, store.revision), turns, form) for _ in range(3)]
        await settle()
        await store.commit([put("a")])
        turns.give(until=0.0)  # one is served whatever the time
        assert [each.taken for each in watchers] == [[2], [], []]
        await store.commit([put("b")])
        late = Watcher(store.watch(PODS, None, store.revision), turns, form)
        await settle()
        turns.give()
        assert [each.taken for each in watchers] == [[2], [2, 3], [2, 3]]
        assert turns.asked == 2
        turns.give()
        assert [each.taken for each in watchers] == [[2, 3]] * 3
        assert (form.made, form.counted) == (3, 6)  # what the others had been sent was not what the first one missed
        assert late.seen == []  # it began after both
        assert turns.asked == 2
        for watcher in (*watchers, late):
            await watcher.end()


@story
async def test_a_round_takes_along_no_more_than_one_send_may_have() -> None:
    async with Store.open(None) as store:
        turns, form = Turns(), Form()
        watchers = [Watcher(store.watch(PODS, None, store.revision), turns, form) for _ in range(2)]
        await settle()
        await store.commit([put(f"p{index}") for index in range(200)])
        turns.give(until=0.0)
        await store.commit([put(f"q{index}") for index in range(200)])
        turns.give()
        assert [len(each.taken) for each in watchers] == [200, 256]
        turns.give()
        assert [each.taken for each in watchers] == [list(range(2, 402))] * 2
        for watcher in watchers:
            await watcher.end()


@story
async def test_who_leaves_in_the_middle_of_a_round_gets_it_by_its_reader() -> None:
    async with Store.open(None) as store:
        turns, form = Turns(), Form()
        first, second, third = (Watcher(store.watch(PODS, None, store.revision), turns, form) for _ in range(3))
        await settle()
        await store.commit([put("a")])
        turns.give(until=0.0)
        await store.commit([put("b")])
        for each in (first, second):
            each.watch.finish()
        third.watch.close()
        turns.give()
        for each in (first, second, third):
            await each.reader
        assert [(each.taken, each.read) for each in (first, second, third)] == [([2], [3]), ([], [2, 3]), ([], [])]


@story
async def test_when_all_that_see_alike_leave_in_the_middle_of_a_round_the_others_are_still_written_to() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        first, second, third = (Watcher(store.watch(PODS, None, 1), turns, Form(key)) for key in "abc")
        await settle()
        await store.commit([put("a")])
        turns.give(until=0.0)
        await second.end()
        turns.give()
        assert [(each.taken, each.read) for each in (first, second, third)] == [([2], []), ([], []), ([2], [])]
        for each in (first, third):
            await each.end()


@story
async def test_a_round_that_took_long_is_followed_after_a_while() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        served: list[Audience] = []

        def slow(_: bytes) -> bool:
            time.sleep(0.02)
            return True

        watcher.watch.divert(watcher.form, slow, served.append)
        watcher.watch.leave()
        await settle()
        await store.commit([put("a")])
        begun = time.perf_counter()
        assert not served[0].serve(FOREVER)
        assert begun + 0.04 <= served[0].due <= time.perf_counter() + 0.04
        await watcher.end()


@story
async def test_where_much_happens_the_next_round_is_due_at_once() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        served: list[Audience] = []
        watcher.watch.divert(watcher.form, lambda _: True, served.append)
        watcher.watch.leave()
        await settle()
        await store.commit([put(f"p{index}", text="x" * 1000) for index in range(30)])
        assert not served[0].serve(FOREVER)
        assert served[0].due == 0.0
        await watcher.end()


@story
async def test_a_reader_that_is_at_work_reads_on() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await store.commit([put("a")])  # it has not begun to wait
        turns.give()
        await settle()
        await watcher.end()
        assert watcher.seen == [2]


@story
async def test_more_than_fits_into_one_round_gets_another() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        await store.commit([put(f"p{index}") for index in range(300)])
        assert turns.asked == 1
        turns.give()
        assert (len(watcher.taken), turns.asked) == (256, 2)
        turns.give()
        assert watcher.seen == list(range(2, 302))
        await watcher.end()


@story
async def test_one_object_that_is_larger_than_a_round_goes_out_alone() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        await store.commit([put("a"), put("b", text="x" * 100_000), put("c")])
        turns.give()
        assert watcher.taken == [2]
        turns.give()
        assert watcher.taken == [2, 3]
        turns.give()
        assert watcher.taken == [2, 3, 4]
        await watcher.end()


@story
async def test_a_closed_watch_hands_over_nothing() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        await store.commit([put("a")])
        watcher.watch.close()
        turns.give()
        await watcher.end()
        assert watcher.seen == []


@story
async def test_a_watch_that_finishes_has_told_everything() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        await store.commit([put("a")])
        watcher.watch.finish()
        turns.give()
        await watcher.reader
        assert watcher.seen == [2]


@story
async def test_those_who_wait_are_counted_and_closed_with_the_others() -> None:
    store = Store.open(None)
    async with store:
        turns = Turns()
        watchers = [Watcher(store.watch(PODS, None, store.revision), turns) for _ in range(2)]
        await settle()
        assert store.statistics().watches == 2
    for watcher in watchers:
        await watcher.reader


@story
async def test_whoever_is_never_served_is_cut_off_like_a_slow_reader() -> None:
    async with Store.open(None, StoreSettings(watch_events=3)) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        for index in range(5):
            await store.commit([put(f"p{index}")])
        turns.give()
        with pytest.raises(WatchOverflowError):
            await watcher.reader
        assert watcher.seen == []


@story
async def test_whoever_waits_for_too_many_bytes_is_cut_off_and_who_has_been_served_is_not() -> None:
    async with Store.open(None, StoreSettings(watch_bytes=1000)) as store:
        turns, form = Turns(), Form()
        first, second = (Watcher(store.watch(PODS, None, store.revision), turns, form) for _ in range(2))
        await settle()
        await store.commit([put("a", text="x" * 400)])
        turns.give(until=0.0)
        await store.commit([put("b", text="x" * 400)])
        await store.commit([put("c", text="x" * 400)])
        turns.give()
        turns.give()
        with pytest.raises(WatchOverflowError):
            await second.reader
        assert (first.taken, second.seen) == ([2, 3, 4], [])
        await first.end()


@story
async def test_who_has_come_equally_far_costs_a_look_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    after = Audience._after

    def looked(audience: Audience, position: int) -> list[Event]:
        looks.append(position)
        return after(audience, position)

    async with Store.open(None, StoreSettings(watch_events=3)) as store:
        turns, form = Turns(), Form()
        watchers = [Watcher(store.watch(PODS, None, store.revision), turns, form) for _ in range(20)]
        await settle()
        await store.commit([put("a")])
        for _ in range(20):
            turns.give(until=0.0)  # all but the end of the round
        await store.commit([put("b"), put("c")])
        monkeypatch.setattr(Audience, "_after", looked)
        await store.commit([put("d")])
        assert looks == [2]
        monkeypatch.undo()
        turns.give()
        turns.give()
        assert [watcher.taken for watcher in watchers] == [[2, 3, 4, 5]] * 20
        for watcher in watchers:
            await watcher.end()


@story
async def test_whoever_waits_for_what_history_has_dropped_is_cut_off() -> None:
    async with Store.open(None, StoreSettings(history_bytes=1000)) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision), turns)
        await settle()
        for index in range(5):
            await store.commit([put(f"p{index}", text="x" * 400)])
        with pytest.raises(WatchOverflowError):
            await watcher.reader
        assert watcher.seen == []


@story
async def test_a_watch_that_begins_in_the_future_is_told_from_there_on() -> None:
    async with Store.open(None) as store:
        turns = Turns()
        watcher = Watcher(store.watch(PODS, None, store.revision + 2), turns)
        await settle()
        await store.commit([put("a"), put("b"), put("c")])
        turns.give()
        await store.commit([put("d")])
        turns.give()
        assert watcher.taken == [4, 5]
        await watcher.end()


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write two", "part", "round", "refuse", "fail", "too much", "leave", "turn", "come"]),
        st.integers(0, 3),
    ),
    max_size=40,
)


@given(STEPS)
def test_whatever_happens_in_between_every_event_is_seen_once_and_in_order(steps: list[tuple[str, int]]) -> None:
    asyncio.run(_seen_whatever(steps))


async def _seen_whatever(steps: list[tuple[str, int]]) -> None:
    async with Store.open(None) as store:
        turns, forms = Turns(), (Form(), Form("other"))

        def come() -> tuple[int, Watcher]:
            watch = store.watch(PODS, None, store.revision)
            return store.revision, Watcher(watch, turns, forms[len(watchers) % 2])

        watchers: list[tuple[int, Watcher]] = []
        watchers += [come() for _ in range(3)]
        for step, number in steps:
            watcher = watchers[number % len(watchers)][1]
            if step == "write":
                await store.commit([put("a")])
            elif step == "write two":
                await store.commit([put("a"), put("b")])
            elif step == "turn":
                await asyncio.sleep(0)
            elif step == "come":
                watchers.append(come())
            elif step == "leave":
                watcher.watch.leave()
            else:
                watcher.willing, watcher.broken = step != "refuse", step == "fail"
                watcher.form.too_much = step == "too much"
                turns.give(until=0.0 if step == "part" else FOREVER)
                watcher.willing, watcher.broken, watcher.form.too_much = True, False, False
        for _ in range(3):
            await settle()
            turns.give()
        await settle()
        for since, watcher in watchers:
            assert watcher.seen == list(range(since + 1, store.revision + 1))
            await watcher.end()
