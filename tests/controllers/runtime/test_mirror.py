"""The mirror of a kind: decodes once, drops what is older, contains what cannot be read, tells what has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from muster.api.config_map import ConfigMap
from muster.api.reading import Reader
from muster.client.heads import Place
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.mirror import Mirror
from muster.errors import InvalidObjectError
from muster.values.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.controllers.runtime.mirror import Stored

READER = Reader(ConfigMap)
BAD_HEAD = (
    b'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "n", "name": "a", "resourceVersion": "2"}, '
)
DEEP = b"[" * 5000 + b"]" * 5000


def encoded(name: str, revision: int | str, data: Any = None, uid: str = "u") -> bytes:
    metadata = {"namespace": "n", "name": name, "resourceVersion": str(revision), "uid": uid}
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {} if data is None else data}
    return msgspec.json.encode(obj)


class Keeper:
    """Keeps what it is shown, in the order in which it is shown."""

    def __init__(self, fails: Callable[[str], object] = lambda _: None) -> None:
        self.kept: dict[str, dict[str, str]] = {}
        self.log: list[str] = []
        self.registry = CollectorRegistry()
        self.unreadable = Unreadable(self.registry)
        self.events: list[tuple[str, str, str]] = []
        self.unreadable.tell_with(lambda about, reason, text, _: self.events.append((about.name, reason, text)))
        self.mirror = Mirror(READER, self._put, self._remove, unreadable=self.unreadable.of("things"))
        self._fails = fails

    def _put(self, new: Stored[ConfigMap]) -> Fault | None:
        name = new.place.name
        if (fault := self._fails(name)) is not None:
            assert isinstance(fault, Fault)
            return fault
        self.log.append(f"+{name}@{new.obj.metadata.resource_version}")
        self.kept[name] = new.obj.data
        return new.fault

    def _remove(self, place: Place) -> None:
        self._fails(f"remove {place.name}")
        self.log.append(f"-{place.name}")
        self.kept.pop(place.name, None)

    def counts(self) -> tuple[float | None, float | None]:
        """Revisions that could not be read so far, and objects that cannot be now."""
        value = self.registry.get_sample_value
        kind = {"kind": "things"}
        return value("muster_unreadable_objects_total", kind), value("muster_unreadable_objects_now", kind)


def test_a_list_and_events_are_shown_once_and_in_order() -> None:
    keeper = Keeper()
    keeper.mirror.replace([encoded("a", 1), encoded("b", 2)], "2")
    keeper.mirror.put(encoded("a", 3, {"x": "1"}))
    keeper.mirror.remove(encoded("b", 4))
    keeper.mirror.replace([encoded("a", 3), encoded("c", 5)], "5")
    assert keeper.log == ["+a@1", "+b@2", "+a@3", "-b", "+c@5"]
    assert keeper.kept == {"a": {"x": "1"}, "c": {}}


def test_a_list_takes_away_what_is_missing_from_it() -> None:
    keeper = Keeper()
    keeper.mirror.replace([encoded("a", 1), encoded("b", 2), encoded("c", 3)], "3")
    keeper.mirror.replace([encoded("b", 2)], "9")
    assert sorted(keeper.log[3:]) == ["-a", "-c"]


def test_older_states_are_dropped_whoever_brings_them() -> None:
    keeper = Keeper()
    keeper.mirror.put_written(encoded("a", 7))
    keeper.mirror.put(encoded("a", 6))
    keeper.mirror.put(encoded("a", 7))
    keeper.mirror.replace([encoded("a", 5)], "7")
    assert keeper.log == ["+a@7"]
    keeper.mirror.put(encoded("a", 10))
    assert keeper.log == ["+a@7", "+a@10"]


def test_revisions_that_are_no_numbers_are_all_taken() -> None:
    keeper = Keeper()
    for revision in ("x", "w", "", "x"):
        keeper.mirror.put(encoded("a", revision))
    assert len(keeper.log) == 4


def test_a_server_that_has_gone_back_is_believed() -> None:
    keeper = Keeper()
    keeper.mirror.replace([encoded("a", 90), encoded("b", 95)], "100")
    keeper.mirror.replace([encoded("a", 40, {"old": "yes"})], "50")  # restored from a copy of itself
    assert keeper.kept == {"a": {"old": "yes"}}
    keeper.mirror.put(encoded("a", 51))
    assert keeper.kept == {"a": {}}


def test_the_answer_to_a_write_does_not_bring_back_what_is_gone() -> None:
    keeper = Keeper()
    keeper.mirror.put(encoded("a", 1))
    keeper.mirror.remove(encoded("a", 5))
    keeper.mirror.put_written(encoded("a", 3))  # it was under way when somebody deleted the object
    assert keeper.kept == {}
    keeper.mirror.put_written(encoded("a", 6))  # and this one has made it anew
    assert keeper.kept == {"a": {}}


def test_what_we_deleted_stays_away_while_the_watch_still_tells_of_earlier_states() -> None:
    keeper = Keeper()
    keeper.mirror.put_written(encoded("a", 5))
    keeper.mirror.remove_written(Place("n", "a"))
    keeper.mirror.put(encoded("a", 4))
    keeper.mirror.put(encoded("a", 5))
    assert keeper.kept == {}
    keeper.mirror.put(encoded("a", 8, uid="another"))
    assert keeper.kept == {"a": {}}


def test_a_keeper_of_many_may_keep_the_account_itself() -> None:
    there: dict[Place, str] = {}

    def put(new: Stored[ConfigMap]) -> None:
        there[new.place] = new.obj.metadata.resource_version

    mirror = Mirror(READER, put, there.pop, places=there.keys)
    mirror.replace([encoded("a", 1), encoded("b", 2)], "2")
    mirror.put(encoded("c", 3))
    mirror.replace([encoded("b", 4), encoded("c", 3)], "5")
    assert there == {Place("n", "b"): "4", Place("n", "c"): "3"}


def test_own_writes_may_be_shown_in_another_way() -> None:
    shown: list[str] = []

    def shows(how: str) -> Callable[[object], None]:
        return lambda _: shown.append(how)

    mirror = Mirror(
        READER,
        shows("put"),
        shows("remove"),
        put_written=shows("put written"),
        remove_written=shows("remove written"),
    )
    mirror.put(encoded("a", 1))
    mirror.put_written(encoded("a", 2))
    mirror.remove_written(Place("n", "a"))
    mirror.remove(encoded("a", 3))
    assert shown == ["put", "put written", "remove written", "remove"]


def test_a_collection_may_be_taken_in_as_a_whole() -> None:
    looked: list[str] = []
    loaded: list[Sequence[bytes]] = []

    def look(new: Stored[ConfigMap]) -> None:
        looked.append(new.place.name)

    mirror = Mirror(READER, lambda _: None, lambda _: None, put_listed=look, listed=loaded.append)
    deep = b'{"metadata": {"namespace": "n", "name": "deep"}, "x": %b}' % DEEP
    mirror.replace([encoded("a", 1), deep, encoded("b", 2)], "3")
    assert looked == ["a", "b"]
    assert loaded == [[encoded("a", 1), encoded("b", 2)]]


def test_a_collection_may_be_taken_in_page_by_page_and_is_there_when_it_is_whole() -> None:
    told: list[object] = []

    class Taking:
        def add(self, objects: Sequence[bytes], /) -> None:
            told.append(list(objects))

        def finish(self) -> None:
            told.append("whole")

    mirror = Mirror(READER, lambda _: None, lambda _: None, put_listed=lambda _: None, loading=Taking)
    listing = mirror.listing("3")
    listing.add([encoded("a", 1), b'{"metadata": {"namespace": "n", "name": "deep"}, "x": %b}' % DEEP])
    listing.add([encoded("b", 2)])
    assert told == [[encoded("a", 1)], [encoded("b", 2)]]
    listing.finish("3")
    assert told[-1] == "whole"


# ------------------------------------------------------------------------------------------------------- containment


@pytest.mark.parametrize(
    "bad",
    [
        BAD_HEAD + b'"x": %b}' % DEEP,
        BAD_HEAD + b'"data": {"k": "\xff"}}',
    ],
)
def test_what_cannot_be_read_leaves_the_last_good_state_and_is_told_once(
    bad: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = Keeper()
    keeper.mirror.put(encoded("a", 1, {"good": "yes"}))
    for _ in range(3):
        keeper.mirror.put(bad)
    keeper.mirror.put(encoded("b", 3))
    assert keeper.kept == {"a": {"good": "yes"}, "b": {}}
    assert keeper.counts() == (1, 1)
    assert [(name, reason) for name, reason, _ in keeper.events] == [("a", "Unreadable")]
    assert len(caplog.records) == 1
    assert caplog.records[0].getMessage().startswith("things n/a cannot be read at revision 2: ")
    keeper.mirror.replace([bad, encoded("b", 3)], "3")  # it is still there, so it stays
    assert "a" in keeper.kept
    keeper.mirror.put(encoded("a", 4))
    assert keeper.counts() == (1, 0)
    assert keeper.kept["a"] == {}


def test_what_could_never_be_read_is_forgotten_when_it_goes() -> None:
    keeper = Keeper()
    deep = b'{"metadata": {"namespace": "n", "name": "deep", "resourceVersion": "1"}, "x": %b}' % DEEP
    keeper.mirror.replace([deep], "1")
    assert keeper.counts() == (1, 1)
    keeper.mirror.replace([], "2")
    assert keeper.counts() == (1, 0)
    assert keeper.log == ["-deep"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (5, "data: expected an object, not a number"),
        ([None], "data: expected an object, not a list"),
        ({"a": 5, "b": "text"}, "data.a: expected a string, not a number"),
    ],
)
def test_what_can_be_read_in_part_is_shown_with_its_fault(data: Any, fault: str) -> None:
    keeper = Keeper()
    keeper.mirror.put(encoded("a", 1, data))
    assert keeper.log == ["+a@1"]
    assert keeper.kept["a"] == ({"b": "text"} if isinstance(data, dict) else {})
    assert keeper.counts() == (1, 1)
    assert fault in keeper.events[0][2]


def test_a_keeper_says_what_it_cannot_use() -> None:
    keeper = Keeper(lambda name: Fault("not a time", "spec.when") if name == "a" else None)
    keeper.mirror.put(encoded("a", 1))
    keeper.mirror.put(encoded("b", 2))
    assert keeper.counts() == (1, 1)
    assert keeper.events == [
        ("a", "Unreadable", "cannot be read: spec.when: not a time; what could be read before stays in use")
    ]


@pytest.mark.parametrize(
    "error", [RecursionError(), OverflowError("x"), MemoryError(), KeyError("k"), InvalidObjectError("spec", "no")]
)
def test_whatever_a_keeper_raises_the_next_object_comes(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    def fail(name: str) -> None:
        if name in ("bad", "remove bad"):
            raise error

    keeper = Keeper(fail)
    keeper.mirror.replace([encoded(name, 1) for name in ("a", "bad", "b")], "1")
    keeper.mirror.put(encoded("bad", 1))
    assert keeper.kept.keys() == {"a", "b"}
    assert keeper.counts() == (1, 1)
    keeper.mirror.remove(encoded("bad", 2))
    assert keeper.counts() == (1, 0)
    assert any("could not be taken out" in each.getMessage() for each in caplog.records)


def test_telling_may_fail_too() -> None:
    keeper = Keeper()

    def tell(*_: object) -> None:
        raise RuntimeError("no")

    keeper.unreadable.tell_with(tell)
    keeper.mirror.put(encoded("a", 1, 5))
    keeper.mirror.put(encoded("b", 2))
    assert keeper.kept.keys() == {"a", "b"}


class Wakened(Keeper):
    """Tells what the watch brought from what we wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.woken: list[str] = []
        self.mirror = Mirror(READER, self._told, self._remove, put_written=self._put)

    def _told(self, new: Stored[ConfigMap]) -> Fault | None:
        self.woken.append(new.obj.metadata.resource_version)
        return self._put(new)


A = Place("n", "a")


@pytest.mark.parametrize("first", [[], [encoded("a", 1)]])
def test_what_we_write_wakes_nobody_though_the_watch_tells_it_before_the_answer(first: Sequence[bytes]) -> None:
    keeper = Wakened()
    keeper.mirror.replace(first, "1")
    keeper.woken.clear()
    with keeper.mirror.writing(A):
        assert keeper.mirror.put(encoded("a", 2, {"x": "y"})) == "2"
        keeper.mirror.put(encoded("b", 3))
        keeper.mirror.put_written(encoded("a", 2, {"x": "y"}))
        assert keeper.kept["a"] == {"x": "y"}
    assert keeper.woken == ["3"]


def test_what_others_wrote_after_us_is_told_when_the_answer_is_there() -> None:
    keeper = Wakened()
    with keeper.mirror.writing(A):
        keeper.mirror.put(encoded("a", 2))
        keeper.mirror.put(encoded("a", 4, {"theirs": "4"}))
        keeper.mirror.put_written(encoded("a", 2))
    assert (keeper.woken, keeper.kept) == (["4"], {"a": {"theirs": "4"}})


def test_what_others_wrote_is_told_when_our_write_fails() -> None:
    keeper = Wakened()

    def fail() -> None:
        with keeper.mirror.writing(A):
            keeper.mirror.put(encoded("a", 2, {"theirs": "2"}))
            raise TimeoutError

    with pytest.raises(TimeoutError):
        fail()
    assert (keeper.woken, keeper.kept) == (["2"], {"a": {"theirs": "2"}})


def test_what_is_deleted_while_we_write_it_stays_away() -> None:
    keeper = Wakened()
    keeper.mirror.put(encoded("a", 1))
    with keeper.mirror.writing(A):
        keeper.mirror.put(encoded("a", 2))
        keeper.mirror.remove(encoded("a", 3))
        keeper.mirror.put_written(encoded("a", 2))
    assert keeper.kept == {}


def test_what_a_new_list_has_not_stays_away_though_we_write_it() -> None:
    keeper = Wakened()
    with keeper.mirror.writing(A):
        keeper.mirror.put(encoded("a", 2))
        keeper.mirror.replace([], "3")
        keeper.mirror.put_written(encoded("a", 2))
    assert keeper.kept == {}


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 9)), max_size=6),
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(5, 12)), max_size=8),
    st.integers(1, 4),
)
def test_a_list_in_pages_is_the_same_as_one_at_hand(
    before: list[tuple[str, int]], objects: list[tuple[str, int]], size: int
) -> None:
    at_hand, in_pages = Keeper(), Keeper()
    states = [encoded(name, revision) for name, revision in objects]
    for keeper in (at_hand, in_pages):
        for name, revision in before:
            keeper.mirror.put(encoded(name, revision, {"before": "yes"}))
    at_hand.mirror.replace(states, "12")
    listing = in_pages.mirror.listing("12")
    for start in range(0, len(states), size):
        listing.add(states[start : start + size])
    listing.finish("12")
    assert (in_pages.log, in_pages.kept, in_pages.counts()) == (at_hand.log, at_hand.kept, at_hand.counts())


def test_what_we_made_while_a_list_came_is_not_missing_from_it() -> None:
    keeper = Keeper()
    keeper.mirror.replace([encoded("a", 1), encoded("b", 2)], "2")
    listing = keeper.mirror.listing("5")
    listing.add([encoded("a", 1)])
    keeper.mirror.put_written(encoded("c", 6))
    listing.finish("5")
    assert keeper.log == ["+a@1", "+b@2", "+c@6", "-b"]


def test_a_list_that_breaks_off_removes_nothing() -> None:
    keeper = Keeper()
    keeper.mirror.replace([encoded("a", 1), encoded("b", 2)], "2")
    keeper.mirror.listing("5").add([encoded("a", 3)])
    assert set(keeper.kept) == {"a", "b"}
    keeper.mirror.replace([encoded("a", 3)], "5")
    assert set(keeper.kept) == {"a"}
