"""One object never changes what is said of another, and what it holds keeps no column or mask from being filled."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.fleet import Fleet
from muster.fleet.extraction import extractor
from muster.selectors import Verdict
from muster.selectors.cel import CelLimits, cel_compiler
from muster.selectors.labels import compile_claim_selector, compile_label_selector
from muster.selectors.match import failed, yes
from muster.selectors.paths import claim_path, key_path, label_path, project
from tests.builders import a_cluster

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.selectors import Match, Selector

AMAZON = compile_label_selector({"matchLabels": {"cloud": "Amazon"}})
CLAIM = 'managedCluster.status.clusterClaims.exists(c, c.name == "wanted" && c.value == "yes")'
MANY_CLAIMS = 20_000  # with a tenth of the usual budget


def encoded(obj: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(obj)


def verdicts(fleet: Fleet, selector: Selector) -> dict[str, int]:
    found = fleet.mask(selector).verdicts
    return {fleet.name(row): int(found[row]) for row in fleet.rows().tolist()}


# ------------------------------------------------------------------------------------------------------------- budgets


def claiming(name: str, others: int) -> bytes:
    claims = {f"other-{number}": "x" for number in range(others)}
    return encoded(a_cluster(name, claims={**claims, "wanted": "yes"}))


@pytest.mark.parametrize("names", [("big", "small"), ("small", "big")])
@pytest.mark.parametrize("at_once", [True, False])
def test_the_claims_of_one_cluster_do_not_turn_the_verdict_on_another(names: tuple[str, str], at_once: bool) -> None:
    objects = {"big": claiming("big", MANY_CLAIMS), "small": claiming("small", 2)}
    (selector,) = cel_compiler(limits=CelLimits(expression=100_000, cluster=1_000_000))([CLAIM])
    fleet = Fleet()
    if at_once:
        fleet.put_many(objects[name] for name in names)
    else:
        fleet.mask(selector)
        for name in names:
            fleet.put(objects[name])
    alone = {name: int(selector.match(json.loads(text)).verdict) for name, text in objects.items()}
    assert verdicts(fleet, selector) == alone == {"big": Verdict.ERROR, "small": Verdict.YES}


def test_a_budget_that_one_cluster_exhausts_is_not_remembered_for_those_that_look_the_same() -> None:
    (selector,) = cel_compiler(limits=CelLimits(expression=300, cluster=300))([CLAIM])
    fleet = Fleet()
    fleet.put_many([claiming("a", 100), *(claiming(f"b{number}", 2) for number in range(20))])
    found = verdicts(fleet, selector)
    assert found.pop("a") == Verdict.ERROR
    assert set(found.values()) == {Verdict.YES}
    fleet.put(claiming("c", 2))
    assert verdicts(fleet, selector)["c"] == Verdict.YES


NESTED = (
    'managedCluster.status.clusterClaims.exists(c, c.name.startsWith("wanted") && '
    'managedCluster.status.clusterClaims.exists(d, d.name == "wanted" && d.value == "yes"))'
)
LATE = (
    'managedCluster.status.clusterClaims.exists(c, managedCluster.status.clusterClaims.all(d, d.name != "x") && '
    'c.name == "wanted")'
)
TWICE = (
    'managedCluster.status.clusterClaims.exists(c, c.name == "wanted" && '
    'managedCluster.status.clusterClaims.all(d, d.name != "x" || d.value == "y"))'
)


LIGHT = (
    'managedCluster.status.clusterClaims.exists(c, !c.value.contains("x") && c.value != "other" && c.name == "wanted")'
)


@pytest.mark.parametrize("text", [CLAIM, NESTED, LATE, TWICE, LIGHT])
@pytest.mark.parametrize("names", [("big", "small"), ("small", "big")])
@pytest.mark.parametrize("at_once", [True, False])
def test_the_verdict_on_a_cheap_cluster_does_not_hide_that_another_exceeds_its_budget(
    text: str, names: tuple[str, str], at_once: bool
) -> None:
    """Both look the same to the expression: what differs is only how many claims there are that it passes by."""
    objects = {"big": claiming("big", 700), "small": claiming("small", 2)}
    assert len(objects["big"]) < 64 * 1024
    (selector,) = cel_compiler(limits=CelLimits(expression=4_000, cluster=4_000))([text])
    fleet = Fleet()
    if at_once:
        fleet.put_many(objects[name] for name in names)
    else:
        fleet.mask(selector)
        for name in names:
            fleet.put(objects[name])
    assert verdicts(fleet, selector) == {"big": Verdict.ERROR, "small": Verdict.YES}


def test_an_expression_that_passes_claims_by_exceeds_even_the_usual_budget_on_its_own_cluster_only() -> None:
    objects = {"big": claiming("big", 700), "small": claiming("small", 2)}
    (selector,) = cel_compiler()([LATE])
    fleet = Fleet()
    fleet.put_many(objects.values())
    assert verdicts(fleet, selector) == {"big": Verdict.ERROR, "small": Verdict.YES}


@pytest.mark.parametrize("others", [(2, 700), (700, 2)])
def test_claims_that_come_and_go_count_although_the_expression_leaves_them_out(others: tuple[int, int]) -> None:
    (selector,) = cel_compiler(limits=CelLimits(expression=4_000, cluster=4_000))([CLAIM])
    expected = {2: Verdict.YES, 700: Verdict.ERROR}
    fleet = Fleet()
    fleet.put_many([claiming("a", others[0]), claiming("b", 2)])
    fleet.subscribe("p", [selector], [])
    assert verdicts(fleet, selector)["a"] == expected[others[0]]
    assert fleet.put(claiming("a", others[1])) == frozenset({"p"})
    assert verdicts(fleet, selector) == {"a": expected[others[1]], "b": Verdict.YES}


def test_claims_that_an_expression_leaves_out_are_not_evaluated_again_while_they_fit_the_budget() -> None:
    class Counting:
        def __init__(self, selector: Selector) -> None:
            self.selector, self.count = selector, 0
            self.reads, self.is_empty = selector.reads, False

        def match(self, obj: Mapping[str, Any]) -> Match:
            self.count += 1
            return self.selector.match(obj)

    counting = Counting(cel_compiler()([CLAIM])[0])
    fleet = Fleet()
    fleet.put_many(claiming(f"c{number}", 2 + number) for number in range(50))
    assert set(verdicts(fleet, counting).values()) == {Verdict.YES}
    for number in range(50):
        fleet.put(claiming(f"c{number}", 60 - number))
    assert set(verdicts(fleet, counting).values()) == {Verdict.YES}
    assert counting.count == 1


_CLAIM_NAMES = st.sampled_from(["wanted", "x", "other", "w" * 40, ""])
_CLAIMS = st.lists(
    st.tuples(_CLAIM_NAMES, st.sampled_from(["yes", "no", "y", ""]), st.integers(1, 40)), min_size=0, max_size=6
)


@pytest.mark.parametrize("text", [CLAIM, NESTED, LATE, TWICE, LIGHT, f"!({CLAIM})", f"{CLAIM} || {TWICE}"])
@settings(max_examples=40)
@given(fleets=st.lists(_CLAIMS, min_size=1, max_size=6), limit=st.integers(20, 3_000))
def test_every_row_has_the_verdict_that_its_own_object_gives(
    text: str, fleets: list[list[tuple[str, str, int]]], limit: int
) -> None:
    (selector,) = cel_compiler(limits=CelLimits(expression=limit, cluster=limit))([text])
    objects = []
    for number, claims in enumerate(fleets):
        cluster = a_cluster(f"c{number}")
        cluster["status"]["clusterClaims"] = [
            {"name": name, "value": value} for name, value, times in claims for _ in range(times)
        ]
        objects.append(cluster)
    fleet = Fleet()
    fleet.put_many(map(encoded, objects[::2]))
    fleet.mask(selector)
    for obj in objects:
        fleet.put(encoded(obj))
    own = {obj["metadata"]["name"]: int(selector.match(obj).verdict) for obj in objects}
    assert verdicts(fleet, selector) == own


class Odd:
    """Fails alone on some objects, by what it does not say it reads."""

    is_empty = False
    reads = AMAZON.reads

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def match(self, obj: Mapping[str, Any]) -> Match:
        if (obj.get("spec") or {}).get("odd"):
            if self._error is not None:
                raise self._error
            return failed("the budget is exhausted", alone=True)
        return yes("fits")


@pytest.mark.parametrize("error", [None, KeyError("x"), RecursionError(), OverflowError()])
@settings(max_examples=25)
@given(odd=st.lists(st.booleans(), min_size=1, max_size=12))
def test_a_failure_that_belongs_to_one_object_is_said_of_no_other(error: Exception | None, odd: list[bool]) -> None:
    fleet, selector = Fleet(), Odd(error)
    objects = [a_cluster(f"c{number:02}", {"cloud": "Amazon"}) for number in range(len(odd))]
    for obj, is_odd in zip(objects, odd, strict=True):
        obj["spec"]["odd"] = is_odd
    fleet.put_many(map(encoded, objects))
    found = verdicts(fleet, selector)
    good = {obj["metadata"]["name"] for obj, is_odd in zip(objects, odd, strict=True) if not is_odd}
    assert all(found[name] == Verdict.YES for name in good)
    if not good:
        assert set(found.values()) == {Verdict.ERROR}


# ------------------------------------------------------------------------------------------------- changes in a pause


@pytest.mark.parametrize("when", range(1, 8))
def test_a_cluster_removed_while_a_mask_fills_keeps_no_verdict(when: int) -> None:
    for gone in range(6):
        fleet = Fleet()
        fleet.put_many(encoded(a_cluster(f"c{number}", {"cloud": "Amazon", "n": str(number)})) for number in range(6))
        several = compile_label_selector(
            {
                "matchLabels": {"cloud": "Amazon"},
                "matchExpressions": [{"key": "n", "operator": "NotIn", "values": ["9"]}],
            }
        )
        fleet.subscribe("p", [several], [], lazily=True)
        row = fleet.row(f"c{gone}")
        for step, _ in enumerate(fleet.steps("p"), start=1):
            if step == when:
                fleet.remove(f"c{gone}")
        if f"c{gone}" in fleet:
            fleet.remove(f"c{gone}")
        assert row is not None
        assert fleet.mask(several).verdicts[row] == Verdict.NO
        assert int(fleet.mask(several).selected.sum()) == 5


def test_work_that_comes_while_somebody_pauses_is_not_lost() -> None:
    fleet = Fleet()
    fleet.put_many(encoded(a_cluster(f"c{number}", {"cloud": f"x{number}"})) for number in range(4))
    fleet.subscribe("slow", [AMAZON], [], lazily=True)
    first = fleet.steps("slow")
    next(first)  # pauses somewhere in the middle
    for _ in fleet.steps("slow"):
        pass  # another one does the rest
    fleet.defer(AMAZON)
    fleet.put(encoded(a_cluster("c1", {"cloud": "Amazon"})))
    for _ in first:
        pass
    assert verdicts(fleet, AMAZON)["c1"] == Verdict.YES


# --------------------------------------------------------------------------------------------- JSON in other spellings


def test_json_as_go_escapes_it_is_the_same_value() -> None:
    spelled = (
        rb'{"metadata":{"name":"a","labels":{"l":"\u003c&\u2028"}},"status":{"clusterClaims":'
        rb'[{"name":"c\u0026d","value":"x \u003c y \u0026 z\u2028"},{"name":"e","value":"1"}]}}'
    )
    plain = msgspec.json.encode(json.loads(spelled))
    assert spelled != plain
    paths = [
        claim_path("c&d"),
        claim_path("e"),
        label_path("l"),
        key_path("status", "clusterClaims"),
        key_path("status"),
    ]
    for path in paths:
        expected = project(json.loads(spelled), path)
        assert extractor(path)([spelled, plain]) == [expected, expected]


def test_another_claim_in_gos_spelling_wakes_nobody() -> None:
    fleet = Fleet()
    claims = r'{"name":"r","value":"a\u0026b\u003c"},{"name":"beat","value":"%s"}'
    spelled = '{"metadata":{"name":"a"},"status":{"clusterClaims":[' + claims + "]}}"
    fleet.put_many([(spelled % "1").encode()])
    fleet.subscribe("p", [compile_claim_selector({"matchLabels": {"r": "x"}})], [claim_path("r")])
    assert fleet.put((spelled % "2").encode()) == frozenset()
    assert fleet.put(msgspec.json.encode(json.loads(spelled % "3"))) == frozenset()


# ------------------------------------------------------------------------------------------ objects that cannot be read


@pytest.mark.parametrize("spec", ["[" * 5000 + "]" * 5000, "1e400", "1" * 4301])
def test_an_object_that_cannot_be_read_leaves_its_last_good_state(spec: str) -> None:
    fleet = Fleet()
    fleet.put_many([encoded(a_cluster("a", {"cloud": "Amazon"})), encoded(a_cluster("b", {"cloud": "Amazon"}))])
    fleet.subscribe("p", [AMAZON], [])
    before = fleet.load(fleet.row("a") or 0)
    bad = f'{{"metadata": {{"name": "a", "labels": {{"cloud": "Azure"}}}}, "spec": {spec}}}'.encode()
    with pytest.raises((RecursionError, msgspec.MsgspecError)):
        fleet.put(bad)
    assert fleet.load(fleet.row("a") or 0) == before
    assert verdicts(fleet, AMAZON) == {"a": Verdict.YES, "b": Verdict.YES}
    assert fleet.put(encoded(a_cluster("a", {"cloud": "Azure"}))) == {"p"}


def test_a_number_that_is_out_of_range_concerns_its_own_cluster_only() -> None:
    fleet = Fleet()
    odd = b'{"metadata": {"name": "odd", "labels": {"cloud": "Amazon"}}, "spec": {"x": 1e999}}'
    fleet.put_many([odd, encoded(a_cluster("b", {"cloud": "Amazon"}))])
    assert verdicts(fleet, AMAZON)["b"] == Verdict.YES
    assert verdicts(fleet, compile_label_selector({"matchLabels": {"cloud": "Azure"}}))["b"] == Verdict.NO
    deep = compile_claim_selector({"matchLabels": {"c": "x"}})
    assert verdicts(fleet, deep)["b"] == Verdict.NO
    assert fleet.put(encoded(a_cluster("odd", {"cloud": "Amazon"}))) is not None
    assert verdicts(fleet, AMAZON)["odd"] == Verdict.YES


# ----------------------------------------------------------------------------------------------------- bounded work


def longest_step(fleet: Fleet, key: str) -> float:
    """Seconds of processor time between two pauses."""
    longest, before = 0.0, time.thread_time()
    for _ in fleet.steps(key):
        now = time.thread_time()
        longest, before = max(longest, now - before), now
    return longest


def test_a_selector_with_a_thousand_labels_is_evaluated_in_slices() -> None:
    labels = {f"l{number}": "x" for number in range(1000)}
    clusters = [a_cluster(f"c{number:04}", {**labels, "n": str(number)}) for number in range(300)]
    fleet = Fleet()
    fleet.put_many(map(encoded, clusters))
    selector = compile_label_selector({"matchLabels": labels})
    assert len(selector.reads) == 1
    fleet.subscribe("set", [selector], [], lazily=True)
    assert longest_step(fleet, "set") < 0.5
    assert int(fleet.mask(selector).selected.sum()) == 300
    fleet.put(encoded(a_cluster("c0000", {**labels, "l500": "y"})))
    assert int(fleet.mask(selector).selected.sum()) == 299


def test_what_a_selector_with_ten_thousand_values_says_is_short() -> None:
    values = [f"v{number}" for number in range(10_000)]
    selector = compile_label_selector({"matchExpressions": [{"key": "a", "operator": "In", "values": values}]})
    reason = selector.match(a_cluster("c", {"a": "x"})).reason
    assert reason.startswith("label a is 'x'; wanted a in (v0,v1,v10,")
    assert reason.endswith(" and 9980 more)")
    assert len(reason) < 300


def test_a_selector_that_reads_very_many_paths_keeps_no_column_of_each() -> None:
    class Wide:
        is_empty = False
        reads = frozenset(label_path(f"l{number}") for number in range(300))

        def match(self, obj: Mapping[str, Any]) -> Match:
            return yes("") if obj["metadata"]["labels"].get("l7") == "x" else failed("")

    fleet, selector = Fleet(), Wide()
    fleet.put_many([encoded(a_cluster("a", {"l7": "x"})), encoded(a_cluster("b"))])
    fleet.subscribe("p", [selector], [])
    assert verdicts(fleet, selector) == {"a": Verdict.YES, "b": Verdict.ERROR}
    assert len(fleet._columns) == 1  # of deletions
    assert fleet.put(encoded(a_cluster("b", {"l7": "x"}))) == {"p"}
    assert fleet.put(encoded(a_cluster("b", {"l7": "x", "other": "1"}))) == frozenset()
    assert verdicts(fleet, selector)["b"] == Verdict.YES


def test_a_change_evaluates_a_bounded_number_of_selectors_at_once() -> None:
    seen: list[str] = []

    class Counting:
        is_empty = False

        def __init__(self, number: int) -> None:
            self.reads = frozenset({label_path("a")})
            self.number = number

        def match(self, obj: Mapping[str, Any]) -> Match:
            seen.append(obj["metadata"]["name"])
            return yes("")

    fleet = Fleet()
    selectors = [Counting(number) for number in range(400)]
    fleet.subscribe("p", selectors, [])
    told = fleet.put(encoded(a_cluster("new", {"a": "1"})))
    assert told == {"p"}
    assert len(seen) == 256
    for _ in fleet.steps("p"):
        pass
    assert len(seen) == 400
    assert all(verdicts(fleet, each) == {"new": Verdict.YES} for each in selectors)
