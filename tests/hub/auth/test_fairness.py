"""Nobody takes the hub from the others."""

from __future__ import annotations

import asyncio

import pytest

from muster.hub.auth.fairness import Fairness, UserLimits
from muster.hub.status import StatusError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def refused(fairness: Fairness, user: str = "alice", size: int = 0) -> str:
    with pytest.raises(StatusError) as caught:
        fairness.enter(user, size)
    assert (caught.value.code, caught.value.retry_after) == (429, 1)
    return caught.value.message.rpartition("option ")[2].rstrip(")")


def test_requests_per_second_are_bounded_after_a_burst() -> None:
    clock = Clock()
    fairness = Fairness(UserLimits(requests_per_second=10, burst=3), clock)
    for _ in range(3):
        fairness.enter("alice", 0)
        fairness.leave("alice", 0)
    assert refused(fairness) == "--requests-per-second-per-user"
    fairness.enter("bob", 0)
    clock.now = 0.11
    fairness.enter("alice", 0)
    assert refused(fairness) == "--requests-per-second-per-user"


def test_requests_under_way_are_bounded() -> None:
    fairness = Fairness(UserLimits(requests_in_flight=2))
    fairness.enter("alice", 0)
    fairness.enter("alice", 0)
    assert refused(fairness) == "--requests-in-flight-per-user"
    fairness.enter("bob", 0)
    fairness.leave("alice", 0)
    fairness.enter("alice", 0)


def test_bytes_under_way_are_bounded_though_one_request_always_fits() -> None:
    fairness = Fairness(UserLimits(bytes_in_flight=100))
    fairness.enter("alice", 1000)
    assert refused(fairness, size=1) == "--body-bytes-per-user"
    fairness.leave("alice", 1000)
    fairness.enter("alice", 60)
    fairness.enter("alice", 40)


def test_open_watches_are_bounded() -> None:
    fairness = Fairness(UserLimits(watches=1))
    with fairness.watching("alice"):
        with pytest.raises(StatusError, match="option --watches-per-user"), fairness.watching("alice"):
            pass
        with fairness.watching("bob"):
            pass
    with fairness.watching("alice"):
        pass


def test_no_limit_is_no_limit() -> None:
    fairness = Fairness(UserLimits(0, 0, 0, 0, 0, 0, 0))
    for _ in range(1000):
        fairness.enter("alice", 10**9)


def test_the_memory_of_users_is_bounded() -> None:
    fairness = Fairness(UserLimits())
    fairness.enter("busy", 0)
    for number in range(10_005):
        fairness.enter(f"user{number}", 0)
        fairness.leave(f"user{number}", 0)
    fairness.leave("busy", 0)


def test_answers_that_are_not_read_are_bounded_per_user_and_in_total(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.hub.auth.fairness._PATIENCE", 0.05)

    async def story() -> None:
        fairness = Fairness(UserLimits(answer_bytes=100, all_answer_bytes=250))
        first = await fairness.hold("alice", 1000)  # one alone always fits
        with pytest.raises(StatusError, match="option --answer-bytes-per-user"):
            await fairness.hold("alice", 1)
        with pytest.raises(StatusError, match="option --answer-bytes\\)"):
            await fairness.hold("bob", 1)
        first()
        first()  # twice does no harm
        held = [await fairness.hold(user, 80) for user in ("alice", "bob", "carol")]
        with pytest.raises(StatusError, match="option --answer-bytes\\)"):
            await fairness.hold("dora", 80)
        held.pop()()
        (await fairness.hold("dora", 80))()
        for release in held:
            release()

    asyncio.run(story())


def test_an_answer_waits_a_little_for_others_to_be_read() -> None:
    async def story() -> None:
        fairness = Fairness(UserLimits(answer_bytes=100))
        first = await fairness.hold("alice", 80)
        waiting = [asyncio.create_task(fairness.hold("alice", 40)) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert not any(each.done() for each in waiting)
        first()
        done, left = await asyncio.wait(waiting, timeout=0.5)
        assert (len(done), len(left)) == (2, 1)  # the third has to wait for one of these
        for each in done:
            (await each)()
        (await left.pop())()

    asyncio.run(story())


def test_users_who_have_something_unread_are_not_forgotten() -> None:
    async def story() -> None:
        fairness = Fairness(UserLimits(answer_bytes=100))
        await fairness.hold("slow", 90)
        for number in range(10_005):
            fairness.enter(f"user{number}", 0)
            fairness.leave(f"user{number}", 0)
        assert fairness._accounts["slow"].unread == 90
        assert len(fairness._accounts) < 10_005

    asyncio.run(story())
