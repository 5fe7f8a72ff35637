"""The runner itself: what raises is one failed case, kinds are settled before anything runs, sums are told."""

from __future__ import annotations

import importlib
import inspect
import json
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

from tests.conformance import __main__ as runner
from tests.conformance import results
from tests.conformance.suites import PLAIN, Apart, Rule, Suite, Verdict, by, guarded, judged, keys, unknown_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conformance.results import CaseResult
    from tests.conformance.suites import Kind


def a_suite(**changes: Any) -> Suite[Any, Any]:
    """Cases are `{"id", "want"}`, and we always give 1."""
    parts: dict[str, Any] = {
        "cases": list,
        "name": lambda case: case["id"],
        "classify": lambda _: PLAIN,
        "running": by(lambda _: 1),
        "judge": lambda case, _, ours: Verdict(() if ours == case["want"] else (f"{ours} instead of {case['want']}",)),
        "shape": keys("id want note"),
    }
    return Suite(**{**parts, **changes})


def verdicts(found: Iterator[CaseResult]) -> list[tuple[str, bool]]:
    return [(each.case, each.ok) for each in found]


GOOD = {"id": "good", "want": 1}


def raising(bad: str, usual: Any = 1) -> Callable[..., Any]:
    def work(case: Any, *_: Any) -> Any:
        if case["id"] == bad:
            raise RuntimeError(f"no {case['id']}")
        return usual

    return work


@pytest.mark.parametrize(
    "changes",
    [
        {"running": by(raising("bad"))},
        {"judge": raising("bad", Verdict())},
        {"classify": raising("bad", PLAIN)},
        {"name": raising("bad", "a name")},
        {"raw": raising("bad", {})},
    ],
    ids=["running", "judging", "classifying", "naming", "reading keys"],
)
def test_whatever_raises_is_one_failed_case(changes: dict[str, Any]) -> None:
    found = list(judged(a_suite(**changes), [GOOD, {"id": "bad", "want": 1}, GOOD]))
    assert [each.ok for each in found] == [True, False, True]
    assert "RuntimeError" in found[1].detail
    assert "no bad" in found[1].detail


def test_cases_that_are_no_objects_fail_one_by_one() -> None:
    found = list(judged(a_suite(), [GOOD, None, "text", 3, [], GOOD]))
    assert [each.ok for each in found] == [True, False, False, False, False, True]


def test_a_list_that_breaks_off_fails_once_for_the_rest() -> None:
    def cases(_: Any) -> Iterator[Any]:
        yield GOOD
        raise KeyError("cases")

    assert verdicts(judged(a_suite(cases=cases), None)) == [
        ("good", True),
        ("reading case 2 and those after it", False),
    ]
    assert verdicts(judged(a_suite(cases=lambda data: data["cases"]), {})) == [("reading the file", False)]


def test_a_server_that_does_not_start_or_stop_is_one_failure() -> None:
    data = [GOOD, GOOD]

    @contextmanager
    def never() -> Iterator[Any]:
        if data:
            raise OSError("no port")
        yield lambda _: 1

    @contextmanager
    def unstoppable() -> Iterator[Any]:
        yield lambda _: 1
        raise OSError("still busy")

    assert verdicts(judged(a_suite(running=never), data)) == [("preparing", False)]
    assert verdicts(judged(a_suite(running=unstoppable), [GOOD])) == [("good", True), ("clearing away", False)]


def test_a_key_that_nobody_knows_fails_the_case_and_is_named() -> None:
    found = list(judged(a_suite(), [{**GOOD, "wannt": 2}, GOOD]))
    assert [each.ok for each in found] == [False, True]
    assert "'wannt'" in found[0].detail
    shape = {"expect": keys("a"), "steps": {"expect": keys("b")}}
    assert unknown_keys({"expect": {"a": 1}, "steps": [{"expect": {"b": 1}}, {}]}, shape) == []
    assert unknown_keys({"expect": {"c": 1}, "steps": [{"expect": {"a": 1}}]}, shape) == [
        "the key expect.'c'",
        "the key steps.expect.'a'",
    ]


def test_kinds_are_settled_before_anything_runs_and_see_the_case_alone() -> None:
    order: list[str] = []

    def classify(case: Any) -> Kind:
        order.append(f"classify {case['id']}")
        return Apart("out of scope") if case["id"] == "apart" else Rule("a rule") if case["id"] == "rule" else PLAIN

    def run(case: Any) -> int:
        order.append(f"run {case['id']}")
        return 2

    suite = a_suite(classify=classify, running=by(run))
    found = list(judged(suite, [{"id": name, "want": 1} for name in ("apart", "rule", "plain")]))
    assert order == ["classify apart", "classify rule", "run rule", "classify plain", "run plain"]
    # A wrong result is a failure, whatever the kind; it makes nothing apart, and no rule of it.
    assert [(each.ok, each.rule, each.apart) for each in found] == [
        (True, None, "out of scope"),
        (False, "a rule", None),
        (False, None, None),
    ]


def every_suite() -> list[tuple[str, Suite[Any, Any]]]:
    files = {area: importlib.import_module(f"tests.conformance.{area}").FILES for area in runner.AREAS}
    return [
        (f"{area}/{name}", each)
        for area in runner.AREAS
        for name in files[area]
        for each in runner.runners_of(files[area], name)
        if isinstance(each, Suite)
    ]


@pytest.mark.parametrize(("name", "suite"), every_suite(), ids=lambda value: value if isinstance(value, str) else "")
def test_no_classification_has_a_place_for_a_result(name: str, suite: Suite[Any, Any]) -> None:
    assert len(inspect.signature(suite.classify).parameters) == 1, name
    assert "classify" in [each.name for each in fields(suite)]


@pytest.mark.parametrize(("name", "suite"), every_suite(), ids=lambda value: value if isinstance(value, str) else "")
def test_no_suite_dies_of_a_strange_file(name: str, suite: Suite[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def idle() -> Iterator[Any]:
        yield lambda _: None

    monkeypatch.setitem(suite.__dict__, "running", idle)  # no servers for this
    strange: list[Any] = [{}, [], [{}], [{"id": 1}], {"cases": [{}]}, "", None, 3, [[1]], {"transcripts": [None]}]
    for data in strange:
        for result in suite(data):
            assert isinstance(result, results.CaseResult)


def test_a_guarded_case_fails_alone() -> None:
    assert guarded("good", lambda: results.CaseResult("good")).ok
    nothing: dict[str, str] = {}
    found = guarded("bad", lambda: results.CaseResult(nothing["missing"]))
    assert (found.case, found.ok) == ("bad", False)


def test_a_file_that_is_not_json_is_one_failed_case(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("[{", encoding="utf-8")
    (tmp_path / "odd.json").write_bytes(b'["\xff"]')
    (tmp_path / "good.json").write_text(json.dumps([GOOD]), encoding="utf-8")
    for name, counts in (("broken.json", (0, 1)), ("odd.json", (0, 1)), ("good.json", (1, 0))):
        report = runner.run_file(name, tmp_path / name, [a_suite()])
        assert (report.passed, len(report.failures)) == counts

    def breaks_off(data: Any) -> Iterator[CaseResult]:
        yield results.CaseResult("first")
        raise RuntimeError("in the middle")

    report = runner.run_file("good.json", tmp_path / "good.json", [breaks_off, a_suite()])
    assert (report.passed, len(report.failures)) == (2, 1)


def test_files_are_found_by_name_and_by_shape_of_name() -> None:
    special, usual = a_suite(), a_suite()
    files = {"placement_sequences.json": [special], "placement_*.json": [usual], "old.json": usual}
    assert runner.runners_of(files, "placement_sequences.json") == [special]
    assert runner.runners_of(files, "placement_new.json") == [usual]
    assert runner.runners_of(files, "old.json") == [usual]
    assert runner.runners_of(files, "unheard.json") == ()


def test_the_table_says_what_each_rule_and_reason_took() -> None:
    report = results.FileReport("area/file.json")
    for result in (
        results.CaseResult("1"),
        results.CaseResult("2", rule="a rule"),
        results.CaseResult("3", rule="a rule", ok=False),
        results.CaseResult("4", apart="a reason"),
    ):
        report.add(result)
    area = results.AreaReport("area", {})
    area.add(report)
    assert results.table([area, results.AreaReport("other", {})]) == [
        "area   passed  by rule  apart  failed  rule or reason",
        "area        1        1      1       1",
        "                     1                 a rule",
        "                            1          a reason",
        "other       0        0      0       0",
        "all         1        1      1       1",
    ]
    assert not area.is_good
    assert results.AreaReport("other", {}).is_good
