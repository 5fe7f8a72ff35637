"""Labels that another program takes off."""

from __future__ import annotations

from muster.client.heads import Place
from muster.controllers.hosts.contests import PAUSE, Contests

HOST = Place("nfd", "nodefeatures/n1")


class Watch:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def taken_off(contests: Contests, watch: Watch, seconds: float) -> float:
    """The record goes after a while; what putting it back has to wait for."""
    watch.now += seconds
    pause = contests.pause(HOST, "r")
    if not pause:
        contests.wrote(HOST, "r")
    return pause


def test_labels_are_put_back_three_times_and_then_left_off_for_an_hour() -> None:
    watch = Watch()
    contests = Contests(watch)
    assert contests.pause(HOST, "r") == 0.0
    contests.wrote(HOST, "r")
    assert [taken_off(contests, watch, 60) for _ in range(4)] == [0.0, 0.0, 0.0, PAUSE]
    assert taken_off(contests, watch, 600) == PAUSE - 600
    assert taken_off(contests, watch, PAUSE) == 0.0


def test_labels_that_go_now_and_then_are_always_put_back() -> None:
    watch = Watch()
    contests = Contests(watch)
    contests.wrote(HOST, "r")
    assert [taken_off(contests, watch, 400) for _ in range(20)] == [0.0] * 20


def test_writes_that_fail_and_other_labels_are_no_contest() -> None:
    watch = Watch()
    contests = Contests(watch)
    for _ in range(10):
        assert contests.pause(HOST, "r") == 0.0  # it was never written
    contests.wrote(HOST, "r")
    for _ in range(10):
        assert contests.pause(HOST, "r") == 0.0  # taken off once, and every write since then was refused
    for number in range(10):
        contests.wrote(HOST, str(number))
        assert contests.pause(HOST, str(number + 1)) == 0.0
    contests.wrote(HOST, None)
    contests.forget(HOST)
    assert contests.pause(HOST, "r") == 0.0
