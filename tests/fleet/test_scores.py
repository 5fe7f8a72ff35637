"""Scores end in the order of their times, and nobody looks at those that do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from muster.fleet import Score, ScoreTable

START = datetime(2026, 1, 1, tzinfo=UTC)
PLACES = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"))
SECONDS = st.integers(0, 12)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), PLACES, st.none() | SECONDS),
        st.tuples(st.just("remove"), PLACES),
        st.tuples(st.just("time"), SECONDS),
    ),
    max_size=40,
)


def at(seconds: int) -> datetime:
    return START + timedelta(seconds=seconds)


def until(seconds: int | None) -> Score:
    return Score((), None if seconds is None else at(seconds))


@given(events=EVENTS)
def test_whatever_is_written_and_whichever_way_time_goes_the_endings_are_those_of_a_look_at_every_score(
    events: list[tuple[object, ...]],
) -> None:
    table, scores, now = ScoreTable(), dict[tuple[str, str], Score](), START
    table.advance(now)
    for event in events:
        match event:
            case ("put", (str(cluster), str(name)), int() | None as seconds):
                scores[cluster, name] = until(seconds)
                table.put(cluster, name, scores[cluster, name])
            case ("remove", (str(cluster), str(name))):
                scores.pop((cluster, name), None)
                table.remove(cluster, name)
            case ("time", int(seconds)):
                before, now = now, at(seconds)
                ended = [place for place, score in scores.items() if score.expired(now) and not score.expired(before)]
                assert sorted(table.advance(now)) == sorted(ended)
        ahead = [score.valid_until for score in scores.values() if score.valid_until and not score.expired(now)]
        assert table.next_expiry() == min(ahead, default=None)


def test_only_scores_that_end_are_looked_at() -> None:
    class Counted(ScoreTable):
        looks = 0

        def get(self, cluster: str, name: str) -> Score | None:
            self.looks += 1
            return super().get(cluster, name)

    table = Counted()
    table.advance(START)
    for number in range(5_000):
        table.put(f"c{number}", "usage", until(number))
    table.looks = 0
    assert table.advance(at(3)) == [("c0", "usage"), ("c1", "usage"), ("c2", "usage")]
    assert table.next_expiry() == at(3)
    assert table.looks == 4


def test_scores_that_are_written_again_and_again_leave_nothing_behind() -> None:
    table = ScoreTable()
    table.advance(START)
    for seconds in range(1_000):
        table.put("a", "usage", until(10 + seconds))
    assert len(table._ending) <= 2 * 64
    assert table.next_expiry() == at(1_009)
