"""Nobody takes the hub from the others."""

from __future__ import annotations

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
    return caught.value.message.rpartition("limit ")[2].rstrip(")")


def test_requests_per_second_are_bounded_after_a_burst() -> None:
    clock = Clock()
    fairness = Fairness(UserLimits(requests_per_second=10, burst=3), clock)
    for _ in range(3):
        fairness.enter("alice", 0)
        fairness.leave("alice", 0)
    assert refused(fairness) == "users.requestsPerSecond"
    fairness.enter("bob", 0)
    clock.now = 0.11
    fairness.enter("alice", 0)
    assert refused(fairness) == "users.requestsPerSecond"


def test_requests_under_way_are_bounded() -> None:
    fairness = Fairness(UserLimits(requests_in_flight=2))
    fairness.enter("alice", 0)
    fairness.enter("alice", 0)
    assert refused(fairness) == "users.requestsInFlight"
    fairness.enter("bob", 0)
    fairness.leave("alice", 0)
    fairness.enter("alice", 0)


def test_bytes_under_way_are_bounded_though_one_request_always_fits() -> None:
    fairness = Fairness(UserLimits(bytes_in_flight=100))
    fairness.enter("alice", 1000)
    assert refused(fairness, size=1) == "users.bytesInFlight"
    fairness.leave("alice", 1000)
    fairness.enter("alice", 60)
    fairness.enter("alice", 40)


def test_open_watches_are_bounded() -> None:
    fairness = Fairness(UserLimits(watches=1))
    with fairness.watching("alice"):
        with pytest.raises(StatusError, match=r"limit users\.watches"), fairness.watching("alice"):
            pass
        with fairness.watching("bob"):
            pass
    with fairness.watching("alice"):
        pass


def test_no_limit_is_no_limit() -> None:
    fairness = Fairness(UserLimits(0, 0, 0, 0, 0))
    for _ in range(1000):
        fairness.enter("alice", 10**9)


def test_the_memory_of_users_is_bounded() -> None:
    fairness = Fairness(UserLimits())
    fairness.enter("busy", 0)
    for number in range(10_005):
        fairness.enter(f"user{number}", 0)
        fairness.leave(f"user{number}", 0)
    fairness.leave("busy", 0)
