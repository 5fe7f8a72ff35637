"""Expressions of other areas, in their environments: celSelectors of OCM, sdk-go's tables, rules of OLM."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any, Final

from muster.cel.costs.charging import charging_of
from muster.cel.environments import environment
from muster.cel.values import OptionalValue
from tests.conformance.cel.errors import is_same_class
from tests.conformance.cel.evaluation import Ours, evaluated, same_type
from tests.conformance.suites import PLAIN, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.conformance.suites import Kind


PANICS: Final = "What panics in Go"
_SCORES_COST: Final = 10  # of a call of scores(), which upstream's record ends before


def _plainly(_: Any) -> Kind:
    return PLAIN


# --- OCM --------------------------------------------------------------------------------------------------------------


def _ocm_cases(data: Any) -> Iterator[dict[str, Any]]:
    scores = {
        score["metadata"]["name"]: score["status"].get("scores", [])
        for score in data["addOnPlacementScores"]
        if score["metadata"]["namespace"] == data["cluster"]["metadata"]["name"]
    }
    cluster = {**data["managedClusterMap"], "@scores": scores}
    for case in data["expressions"]:
        yield {**case, "@cluster": cluster} if isinstance(case, dict) else case


def _run_ocm(case: Mapping[str, Any]) -> Ours:
    env = environment("ocm")
    return evaluated(case["expr"], env, {"managedCluster": case["@cluster"]}, charging_of(env), 1_000_000)


def _classify_ocm(case: Mapping[str, Any]) -> Kind:
    return Rule(PANICS) if (case.get("evalError") or "").startswith("internal error: ") else PLAIN


def _judge_ocm(case: Mapping[str, Any], kind: Kind, ours: Ours) -> Verdict:
    if isinstance(kind, Rule):
        wanted = Ours(None, "no such overload", "runtime", case["outputType"], case["cost"] + _SCORES_COST)
        return Verdict(() if ours == wanted else (f"wanted {wanted}, got {ours}",))
    wrong, remarks, text_ok = _failure(case, ours)
    if text_ok is None:
        if ours.error is not None:
            wrong.append(f"wanted {case['value']!r}, fails in the {ours.phase}: {ours.error}")
        elif not _close(_plain(ours.value), case["value"]):
            wrong.append(f"wanted {case['value']!r}, got {_plain(ours.value)!r}")
        elif "selects" in case and (ours.value is True) != case["selects"]:
            wrong.append(f"wanted selects {case['selects']}, got {ours.value!r}")
    if case.get("outputType") and ours.type is not None and not same_type(case["outputType"], ours.type):
        wrong.append(f"wanted type {case['outputType']}, got {ours.type}")
    cost_ok = None if case.get("cost") is None else ours.cost == case["cost"]
    if cost_ok is False:
        remarks.append(f"wanted cost {case['cost']}, got {ours.cost}")
    return Verdict(tuple(wrong), text_ok, cost_ok, "; ".join(remarks))


def _failure(expect: Mapping[str, Any], ours: Ours) -> tuple[list[str], list[str], bool | None]:
    """What is wrong, what is to be remarked, and whether the text is right; None when no error is expected."""
    for name, phase in (("compileError", "compile"), ("evalError", "runtime")):
        text = expect.get(name)
        if not text:
            continue
        same = ours.error == text
        said = f"wanted {phase} error {text!r}, got {ours.phase} {ours.error or ours.value!r}"
        if ours.error is None or ours.phase != phase or not is_same_class(text, ours.error):
            return [said], [], same
        return [], [] if same else [said], same
    return [], [], None


def _close(ours: Any, wanted: Any) -> bool:
    """Large doubles were recorded with fewer digits."""
    if isinstance(ours, float) and isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return math.isclose(ours, wanted, rel_tol=1e-15)
    return isinstance(ours, bool) == isinstance(wanted, bool) and bool(ours == wanted)


def _plain(value: Any) -> Any:
    """A value as the cases write it when they give no types."""
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list():
            return [_plain(item) for item in value]
        case bool() | int() | float() | str() | None:
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case OptionalValue():
            return _plain(value.content) if value.present else None
        case _:
            return str(value)


OCM_EXPRESSIONS: Final = Suite(
    cases=_ocm_cases,
    name=lambda case: repr(case["expr"][:100]),
    classify=_classify_ocm,
    running=by(_run_ocm),
    judge=_judge_ocm,
    shape=keys("@cluster expr cost outputType selects type value evalError compileError note"),
)

# The scores that sdk-go's tests have in their fixture.
_TABLE_SCORES: Final = {"test-score": [{"name": "cpu", "value": 3}, {"name": "memory", "value": 4}], "fake-score": []}


def _run_table(case: Mapping[str, Any]) -> Ours:
    env = environment("ocm")
    cluster = {**(case.get("cluster") or {"metadata": {"name": "test"}}), "@scores": _TABLE_SCORES}
    return evaluated(case["expr"], env, {"managedCluster": cluster}, charging_of(env), 1_000_000)


def _judge_table(case: Mapping[str, Any], _: Kind, ours: Ours) -> Verdict:
    """sdk-go's own tables: a value, or an error that says a certain thing, or a cost."""
    expect = case["expect"]
    if "cost" in expect:
        same = ours.cost == expect["cost"]  # of a failure too: these say nothing else
        return Verdict(cost_ok=same, remarks="" if same else f"cost {ours.cost} instead of {expect['cost']}")
    compiling = expect.get("compileErrors") or ()
    running = expect.get("runtimeErrorContains") or ""
    if compiling or running:
        phase = "compile" if compiling else "runtime"
        missing = [text for text in (*compiling, running) if text not in (ours.error or "")]
        wrong = (
            () if ours.phase == phase else (f"wanted a {phase} error, got {ours.phase} {ours.error or ours.value!r}",)
        )
        return Verdict(wrong, text_ok=not missing, remarks=f"{ours.error!r} lacks {missing}" if missing else "")
    good = ours.error is None and type(ours.value) is type(expect["value"]) and ours.value == expect["value"]
    return Verdict(() if good else (f"wanted {expect['value']!r}, got {ours.error or ours.value!r}",))


CEL_LIBRARY: Final = Suite(
    cases=lambda data: data["cases"],
    name=lambda case: f"{case['name']}: {case['expr'][:60]}",
    classify=_plainly,
    running=by(_run_table),
    judge=_judge_table,
    shape={
        **dict.fromkeys(keys("name expr source cluster note")),
        "expect": keys("value compileErrors runtimeErrorContains cost"),
    },
)


# --- OLM --------------------------------------------------------------------------------------------------------------


def olm_cases(data: Any) -> Iterator[dict[str, Any]]:
    """`$default` stands for the file's properties."""
    for case in data["cases"]:
        if isinstance(case, dict) and case.get("properties") == "$default":
            yield {**case, "properties": data["defaultProperties"]}
        else:
            yield case


def _run_olm(case: Mapping[str, Any]) -> Ours:
    env = environment("olm")
    readable = [{} if _unreadable(item) else _with_doubles(item) for item in case["properties"]]
    return evaluated(case["rule"], env, {"properties": readable}, charging_of(env))


def _judge_olm(case: Mapping[str, Any], _: Kind, ours: Ours) -> Verdict:
    expect = case["expect"]
    if expect.get("compileError") and ours.phase != "compile" and ours.type not in (None, "bool"):
        # OLM itself refuses a rule that is not boolean, in its own words; CEL compiles it.
        said = "cel expressions must have type Bool" in expect["compileError"]
        return Verdict(() if said else (f"wanted {expect['compileError']!r}, got type {ours.type}",))
    wrong, remarks, text_ok = _failure(expect, ours)
    if text_ok is None and (ours.error is not None or (ours.value is True) != expect["matches"]):
        wrong.append(f"wanted {expect}, got {ours}")
    return Verdict(tuple(wrong), text_ok, remarks="; ".join(remarks))


def _with_doubles(value: Any) -> Any:
    """The properties of a bundle are JSON that was read with every number as a double."""
    match value:
        case dict():
            return {key: _with_doubles(item) for key, item in value.items()}
        case list():
            return [_with_doubles(item) for item in value]
        case int() if not isinstance(value, bool):
            return float(value)
        case _:
            return value


def _unreadable(item: Any) -> bool:
    return isinstance(item.get("value"), str) and item["value"].startswith("INVALID-JSON:")


OLM_SHAPE: Final = {
    **dict.fromkeys(keys("id rule properties note")),
    "expect": keys("matches compileError evalError"),
}
OLM_CEL: Final = Suite(
    cases=olm_cases,
    name=lambda case: f"{case['id']} {case['rule'][:90]!r}",
    classify=_plainly,
    running=by(_run_olm),
    judge=_judge_olm,
    shape=OLM_SHAPE,
)
