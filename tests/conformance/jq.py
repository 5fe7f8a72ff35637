"""Runs the recorded cases of gojq and jq against muster.jq. gojq's error texts are a column of their own.

jq.json counts where gojq agrees with jq: a case of jq falls under a rule when it is one of the things that gojq, and so
this engine, does otherwise. Rules look at the query and at what jq expects, never at names of cases.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from muster.jq import Host, InvalidJsonError, Limits, compile_query, from_json, to_json
from muster.jq.builtins import all_names
from tests.conformance.jq_classification import run_agentclassification
from tests.conformance.results import CaseResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

LIMITS = Limits(steps=20_000_000, cells=20_000_000, outputs=200_000, seconds=60)
HOST = Host(zone=ZoneInfo("America/Los_Angeles"))
"""gojq's own tests run with that local time."""

GOALS = {"texts": 0.95}

_OUTSIDE = {
    "input": "the library has no input",
    "module": "the library loads no modules",
    "env": "the library has no environment",
    "io": "the library has no terminal",
}


@dataclass(frozen=True)
class Outcome:
    """What one case gave: outputs up to the error, if there was one."""

    outputs: list[Any]
    error: str | None = None
    exhausted: bool = False


def outcome(query: str, inputs: Iterable[str], variables: Mapping[str, str] | None = None) -> Outcome:
    outputs: list[Any] = []
    try:
        bound = {name.removeprefix("$"): from_json(text) for name, text in (variables or {}).items()}
    except InvalidJsonError as fault:
        return Outcome(outputs, fault.message)
    try:
        program = compile_query(query, variables=tuple(bound))
        for text in inputs:
            outputs.extend(program.outputs(from_json(text), variables=bound, limits=LIMITS, host=HOST))
    except BudgetExceededError as error:
        return Outcome(outputs, str(error), exhausted=True)
    except InvalidExpressionError as error:
        return Outcome(outputs, "; ".join(diagnostic.message for diagnostic in error.diagnostics))
    except EvaluationError as error:
        return Outcome(outputs, str(error))
    return Outcome(outputs)


def same(ours: Any, theirs: Any) -> bool:
    """Equal as JSON, numbers by value: `1.0` and `1` are one number."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(same(one, two) for one, two in zip(ours, theirs, strict=True))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    return bool(_number(ours) == _number(theirs)) and isinstance(ours, bool) == isinstance(theirs, bool)


def _number(value: Any) -> Any:
    """Numbers as they are printed: not-a-number is null, infinities are the largest number."""
    return from_json(to_json(value)) if isinstance(value, float) else value


def _text_of(error: str) -> str:
    """gojq's command prints the message behind the query and a caret."""
    return error.rpartition("^  ")[2].removeprefix("compile error: ")


# ── gojq ────────────────────────────────────────────────────────────────────


def run_gojq(data: list[dict[str, Any]]) -> Iterator[CaseResult]:
    for case in data:
        inputs = case["inputs"] or (["null"] if case["error"] else [])
        result = _judged(case["name"], case, outcome(case["query"], inputs, case.get("variables")))
        apart = next((_OUTSIDE[tag] for tag in case.get("tags", ()) if tag in _OUTSIDE), None)
        yield result if result.ok or apart is None else CaseResult(case["name"], apart=apart)


def _judged(name: str, case: dict[str, Any], got: Outcome) -> CaseResult:
    expected = [from_json(text) for text in case["outputs"]]
    ok = same(got.outputs, expected) and (got.error is None) == (case["error"] is None)
    detail = f"{case['query']!r}: {got} instead of {case['outputs']}, {case['error']!r}"
    if ok:
        text_ok = _text_of(case["error"]) in (got.error or "") if case["error"] else None
        return CaseResult(name, detail=detail, text_ok=text_ok)
    for rule, expects in GOJQ_RULES.items():
        if expects(case, got):
            return CaseResult(name, rule=rule, detail=detail)
    return CaseResult(name, ok=False, detail=detail)


_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def _renumbered(text: str) -> str:
    """With every number as we print it."""
    return _NUMBER.sub(lambda number: to_json(from_json(number.group())) if _is_json(number.group()) else "#", text)


def _is_json(text: str) -> bool:
    try:
        from_json(text)
    except InvalidJsonError:
        return False
    return True


def _numbers_printed_anew(case: dict[str, Any], got: Outcome) -> bool:
    """gojq copies the text of numbers that it only passes through; ours are printed from their value."""
    ours = [_renumbered(to_json(output)) for output in got.outputs]
    theirs = [_renumbered(to_json(from_json(text))) for text in case["outputs"]]
    return ours == theirs and (got.error is None) == (case["error"] is None)


def _later_error(case: dict[str, Any], got: Outcome) -> bool:
    """In gojq an error behind the body of a pattern with alternatives still goes back to the next one."""
    return "?//" in case["query"] and got.error is not None


def _too_deep(case: dict[str, Any], got: Outcome) -> bool:
    return got.exhausted and "nested" in (got.error or "")


GOJQ_RULES: Mapping[str, Callable[[dict[str, Any], Outcome], bool]] = {
    "jq numbers are printed anew": _numbers_printed_anew,
    "jq alternatives of patterns end with their body": _later_error,
    "jq values have no depth limit but the budget": _too_deep,
}


# ── jq ──────────────────────────────────────────────────────────────────────

Case = dict[str, Any]

_SENTENCE = re.compile(
    r"^(cannot |expected |invalid |unsupported |array index|repeat string|flatten depth|format not defined)"
    r"|^\S.* cannot be applied|doesn't support"
)
"""How gojq's error texts begin."""

_REGEX_FUNCTIONS = re.compile(r"\b(match|test|capture|scan|splits?|sub|gsub)\(")
_LARGE = 1 << 53


def _alike(ours: Any, theirs: Any, excused: Callable[[Any, Any], bool]) -> bool:
    """Equal but for leaves that are excused."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return all(_alike(one, two, excused) for one, two in zip(ours, theirs, strict=True))
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return all(_alike(ours[key], theirs[key], excused) for key in ours)
    return same(ours, theirs) or excused(ours, theirs)


def _is_sentence(ours: Any, theirs: Any) -> bool:
    return isinstance(ours, str) and isinstance(theirs, str) and _SENTENCE.search(ours) is not None


def _is_large_number(ours: Any, theirs: Any) -> bool:
    """The same number, exact here and rounded there; or a comparison of such numbers."""
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return isinstance(ours, bool) and isinstance(theirs, bool)
    try:
        exact, rounded = int(ours), float(theirs)
    except (TypeError, ValueError):
        return False
    return abs(exact) >= _LARGE and float(exact) == rounded


def _texts_differ(case: Case, got: Outcome, expected: list[Any]) -> bool:
    return got.error is None and _alike(got.outputs, expected, _is_sentence)


def _numbers_differ(case: Case, got: Outcome, expected: list[Any]) -> bool:
    large = any(int(digits) >= _LARGE for digits in re.findall(r"[0-9]{16,}", case["query"] + "".join(case["inputs"])))
    return large and got.error is None and _alike(got.outputs, expected, _is_large_number)


def _string_is_indexed(case: Case, got: Outcome, expected: list[Any]) -> bool:
    def excused(ours: Any, theirs: Any) -> bool:
        letter = ours is None or (isinstance(ours, str) and len(ours) == 1)
        return letter and isinstance(theirs, str) and theirs.startswith("Cannot index string with number")

    return got.error is None and _alike(got.outputs, expected, excused)


def _failed(pattern: str) -> Callable[[Case, Outcome, list[Any]], bool]:
    """gojq fails with such a text where jq gives outputs."""
    return lambda case, got, _expected: case["error"] is None and re.search(pattern, got.error or "") is not None


def _mentions(pattern: str) -> Callable[[Case, Outcome, list[Any]], bool]:
    return lambda case, got, _expected: re.search(pattern, case["query"]) is not None and got.error is None


@dataclass(frozen=True)
class Rule:
    """A way in which gojq, and we with it, differ from jq; `expects` says that we did what gojq does."""

    name: str
    expects: Callable[[Case, Outcome, list[Any]], bool]


RULES = (
    Rule("jq error texts are gojq's", _texts_differ),
    Rule("jq integers are exact", _numbers_differ),
    Rule("jq strings can be indexed", _string_is_indexed),
    Rule(
        "jq builtins that gojq lacks", _failed(r"^(function not defined|variable not defined: \$__|format not defined)")
    ),
    Rule(
        "jq values have no depth limit but the budget",
        lambda _case, got, _expected: got.exhausted and "nested" in (got.error or ""),
    ),
    Rule(
        "jq values have no depth limit but the budget",
        lambda case, _got, expected: "too deep" in (case["query"] + to_json(expected)).lower(),
    ),
    Rule("jq regular expressions are RE2's", _failed(r"regular expression|^(match|test)\(")),
    Rule(
        "jq regular expressions are RE2's",
        lambda case, got, _expected: (
            got.error is None
            and _REGEX_FUNCTIONS.search(case["query"]) is not None
            and re.search(r"\\\\b|[*?]|\(\?|\"\"", case["query"]) is not None
        ),
    ),
    Rule("jq input is plain JSON", _failed(r"^fromjson cannot be applied")),
    Rule("jq grammar is gojq's", _failed(r"^(unexpected|invalid token|invalid escape|unterminated)")),
    Rule("jq refuses more as gojq does", _failed(r"cannot be applied to|^cannot |doesn't support")),
    Rule(
        "jq patterns end with the last one's error",
        lambda case, got, _expected: "?//" in case["query"] and got.error is not None,
    ),
    Rule("jq folds keep their state when an update is empty", _mentions(r"(?s)\b(reduce|foreach)\b.*\bempty\b")),
    Rule("jq not-a-number is the smallest index", _mentions(r"(?s)\[[^\]]*\bnan\b|\bnan\b.*\[")),
    Rule("jq times are gojq's", _mentions(r"strptime|strftime|strflocaltime|mktime|gmtime|localtime|date")),
    Rule(
        "jq faults found when the query runs",
        lambda case, got, _expected: case["errorStage"] == "compile" and got.error is None,
    ),
)


def run_jq(data: list[dict[str, Any]]) -> Iterator[CaseResult]:
    for case in data:
        name = f"{case['suite']}:{case['line']}"
        apart = next((_OUTSIDE[tag] for tag in case.get("tags", ()) if tag in _OUTSIDE), None)
        if apart is not None:
            yield CaseResult(name, apart=apart)
            continue
        try:
            expected = [from_json(text) for text in case["outputs"]]
        except InvalidJsonError:
            expected = None
        yield _judged_by_rules(name, case, expected)


def _judged_by_rules(name: str, case: Case, expected: list[Any] | None) -> CaseResult:
    """As jq does, or by the first rule whose expectation holds."""
    try:
        got = outcome(case["query"], case["inputs"])
    except InvalidJsonError as fault:
        return CaseResult(name, rule="jq input is plain JSON", detail=fault.message)
    if expected is not None and same(got.outputs, expected) and (got.error is None) == (case["error"] is None):
        return CaseResult(name)
    detail = f"{case['query']!r} on {case['inputs']}: {got} instead of {case['outputs']}, {case['error']!r}"
    for rule in RULES:
        if rule.expects(case, got, expected or []):
            return CaseResult(name, rule=rule.name, detail=detail)
    return CaseResult(name, ok=False, detail=detail)


# ── classification ──────────────────────────────────────────────────────────


def run_outcomes(data: dict[str, Any]) -> Iterator[CaseResult]:
    for number, case in enumerate(data["cases"]):
        inventory = to_json(data["inventories"][case["inventory"]])
        got = outcome(case["query"], [inventory])
        if got.error is not None or len(got.outputs) != 1:
            verdict = "error"
        else:
            verdict = "true" if got.outputs[0] is True else "false"
        expected = case["gojq_0_12_19"]
        detail = f"{case['query']!r}: {verdict} instead of {expected} ({got.error}, {case.get('detail')})"
        yield CaseResult(f"{number}", ok=verdict == expected, detail=detail)


def run_builtins(data: dict[str, Any]) -> Iterator[CaseResult]:
    recorded = data["gojq_0_12_19"]
    kinds = ("defined_in_jq", "native_math", "native_other", "compiler_special")
    expected = {name for kind in kinds for name in recorded[kind]}
    ours = set(all_names())
    for name in sorted(expected | ours):
        yield CaseResult(name, ok=name in ours and name in expected, detail="ours alone" if name in ours else "missing")


FILES = {
    "gojq.json": run_gojq,
    "jq.json": run_jq,
    "classify_outcomes.json": run_outcomes,
    "gojq_builtins.json": run_builtins,
    "agentclassification.json": run_agentclassification,
}
