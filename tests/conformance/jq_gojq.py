"""The recorded cases of gojq against muster.jq. gojq's error texts are a column of their own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from muster.jq import Host, InvalidJsonError, Limits, compile_query, from_json, to_json
from muster.jq.builtins import all_names
from tests.conformance.suites import PLAIN, Apart, Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

LIMITS = Limits(steps=20_000_000, cells=20_000_000, outputs=200_000, seconds=60)
HOST = Host(zone=ZoneInfo("America/Los_Angeles"))
"""gojq's own tests run with that local time."""

Case = dict[str, Any]

_OUTSIDE: Mapping[str, str] = {
    "the library has no input": r"(?<![.$\w])inputs?\b(?!\s*:)",
    "the library loads no modules": r"^\s*(?:import|include)\b|\bmodulemeta\b",
    "the library has no environment": r"\$ENV\b|(?<![.$\w])env\b(?!\s*\()",
    "the library has no terminal": r"\b(?:input_filename|input_line_number|debug|stderr)\b|\$__loc__",
}


def outside(case: Case) -> Apart | None:
    """What a query asks of a command and not of a language; an error about a missing module needs none."""
    query = case["query"]
    if "module not found" in (case["error"] or ""):
        return None
    if "halt_error" in query and not case["outputs"] and case["error"] is None:
        return Apart("the library has no terminal")  # what a halt prints
    return next((Apart(reason) for reason, pattern in _OUTSIDE.items() if re.search(pattern, query)), None)


@dataclass(frozen=True)
class Outcome:
    """What one case gave: outputs up to the error, if there was one."""

    outputs: list[Any]
    error: str | None = None
    exhausted: bool = False
    unreadable: bool = False  # an input is not JSON


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
    except InvalidJsonError as fault:
        return Outcome(outputs, fault.message, unreadable=True)
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

NUMBERS = "jq numbers are printed anew"
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


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from leaves(each)
    else:
        yield value


def classify_gojq(case: Case) -> Kind:
    if (apart := outside(case)) is not None:
        return apart
    texts = [leaf for text in case["outputs"] for leaf in leaves(from_json(text)) if isinstance(leaf, str)]
    return Rule(NUMBERS) if any(_renumbered(text) != text and _only_numbers(text) for text in texts) else PLAIN


def _only_numbers(text: str) -> bool:
    """Whether a text is JSON: then its numbers were copied from an input."""
    return _is_json(text) and not text.startswith('"')


def run_gojq(case: Case) -> Outcome:
    inputs = case["inputs"] or (["null"] if case["error"] else [])
    return outcome(case["query"], inputs, case.get("variables"))


def judge_gojq(case: Case, kind: Kind, got: Outcome) -> Verdict:
    expected = [from_json(text) for text in case["outputs"]]

    def excused(ours: Any, theirs: Any) -> bool:
        return (
            isinstance(kind, Rule) and isinstance(ours, str) and isinstance(theirs, str) and ours == _renumbered(theirs)
        )

    wrong = []
    if not alike(got.outputs, expected, excused):
        wrong.append(f"{case['query']!r}: {got.outputs} instead of {case['outputs']}")
    if (got.error is None) != (case["error"] is None):
        wrong.append(f"{case['query']!r}: error {got.error!r} instead of {case['error']!r}")
    text_ok = None
    if case["error"] and got.error:
        text_ok = _text_of(case["error"]) in got.error
    remarks = f"error {got.error!r} instead of {case['error']!r}" if text_ok is False else ""
    return Verdict(tuple(wrong), text_ok, remarks=remarks)


def alike(ours: Any, theirs: Any, excused: Callable[[Any, Any], bool]) -> bool:
    """Equal but for leaves that are excused."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return all(alike(one, two, excused) for one, two in zip(ours, theirs, strict=True))
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        return all(alike(ours[key], theirs[key], excused) for key in ours)
    return same(ours, theirs) or excused(ours, theirs)


GOJQ = Suite(
    cases=list,
    name=lambda case: str(case["name"]),
    classify=classify_gojq,
    running=by(run_gojq),
    judge=judge_gojq,
    shape=keys("name query inputs outputs error errorStage tags variables note"),
)


# ── classification ──────────────────────────────────────────────────────────


def _outcome_cases(data: Any) -> Iterator[Case]:
    for number, case in enumerate(data["cases"]):
        yield {**case, "number": number, "inventories": data["inventories"]} if isinstance(case, dict) else case


def _verdict_on(case: Case) -> tuple[str, str | None]:
    got = outcome(case["query"], [to_json(case["inventories"][case["inventory"]])])
    if got.error is not None or len(got.outputs) != 1:
        return "error", got.error
    return ("true" if got.outputs[0] is True else "false"), None


def _judge_outcome(case: Case, _: Kind, ours: tuple[str, str | None]) -> Verdict:
    expected = case["gojq_0_12_19"]
    if ours[0] == expected:
        return Verdict()
    return Verdict((f"{case['query']!r}: {ours} instead of {expected} ({case.get('detail')})",))


OUTCOMES = Suite(
    cases=_outcome_cases,
    name=lambda case: f"{case['number']}",
    classify=lambda _: PLAIN,
    running=by(_verdict_on),
    judge=_judge_outcome,
    shape=keys("number inventories query inventory gojq_0_12_8 gojq_0_12_19 detail note"),
)


def _builtin_cases(data: Any) -> list[tuple[str, bool]]:
    """Every name that gojq or we have, and whether gojq has it."""
    recorded = data["gojq_0_12_19"]
    kinds = ("defined_in_jq", "native_math", "native_other", "compiler_special")
    expected = {name for kind in kinds for name in recorded[kind]}
    return [(name, name in expected) for name in sorted(expected | set(all_names()))]


BUILTINS = Suite(
    cases=_builtin_cases,
    name=lambda case: case[0],
    classify=lambda _: PLAIN,
    running=by(lambda case: case[0] in set(all_names())),
    judge=lambda case, _, ours: Verdict(() if ours == case[1] else ("ours alone" if ours else "missing",)),
)
