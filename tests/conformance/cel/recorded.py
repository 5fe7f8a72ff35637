"""Recorded evaluations of cel-go, its extensions, Kubernetes and OCM: value, type, error and cost."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from muster.cel.checking.checker import check
from muster.cel.costs.estimate import estimate_cost
from muster.cel.costs.ranges import Range
from muster.cel.syntax.parser import parse
from tests.conformance.cel import rules
from tests.conformance.cel.calls import calls, words
from tests.conformance.cel.environments import (
    case_charging,
    case_environment,
    has_generated_types,
    inferred_environment,
    needs_unbuilt,
    oracle_charging,
    oracle_environment,
    versions_of,
)
from tests.conformance.cel.evaluation import Ours, compared, evaluated
from tests.conformance.cel.messages import MESSAGES, needs_messages
from tests.conformance.cel.values import decode
from tests.conformance.suites import PLAIN, Apart, Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCORES: Final = "scores of a fixture that was not recorded"
LOCALES: Final = "formatting by locale"
UNBUILT: Final = "libraries Muster does not offer"
OWN: Final = "an environment that the test makes for itself"
OBJECTS: Final = "object types recorded by name only"

# Tests of cel-go about functions, overloads and options that they declare or take away; what that was is not recorded.
_OWN_ENVIRONMENTS: Final = re.compile(
    r"TestSubsetStdLib|TestFunctionDecl|TestFunctionDisable|TestCustomEnv|TestEnvFromConfig|TestExtendStdlibFunction"
    r"|TestAbbrevs|TestDefaultUTCTimeZoneDisabled|TestMacroInterop|TestGlobalVars|Example|Binding|TestEvalRecover"
    r"|TestExprDeclToDeclaration|TestCustom|TestContextEval|TestVariadic|TestClear|TestLateBinding|TestFunction"
)
# What a type error says of operands is known from a schema alone.
_OF_TYPES: Final = re.compile(
    r"found no matching overload|undefined field|cannot be range of|unexpected failed resolution"
)
_DOMAIN: Final = re.compile(r"\bdevice\.(attributes|capacity)\[(['\"])(.*?)\2\]")
_SETTING: Final = re.compile(r"%(?:\.\d+)?[fed]")


def classify(case: Mapping[str, Any]) -> Kind:
    expr, values = case["expr"], case.get("vars") or {}
    if needs_messages(expr, case.get("container", ""), case.get("decls") or {}, [values, case.get("expect")]):
        return Apart(MESSAGES)
    if needs_unbuilt(case):
        return Apart(UNBUILT)
    if any(each.name == "scores" for each in calls(expr)) and any(
        each.startswith("managedCluster") for each in words(expr)
    ):
        return Apart(SCORES)
    if _is_localised(case):
        return Apart(LOCALES)
    if needs_own_environment(case):
        return Apart(OWN)
    if has_generated_types(case) and needs_schema(case):
        return Apart(OBJECTS)
    rule = rules.found(rules.RECORDED, case)
    return PLAIN if rule is None else Rule(rule.name)


def _is_localised(case: Mapping[str, Any]) -> bool:
    """A number that was formatted with a comma in it, which the format does not have."""
    expected = (case.get("expect") or {}).get("string", "")
    formats = any(each.name == "format" for each in calls(case["expr"]))
    is_number = formats and isinstance(expected, str) and _SETTING.search(case["expr"]) is not None
    return is_number and re.search(r"\d,\d", expected) is not None and re.search(r"\d,\d", case["expr"]) is None


def needs_own_environment(case: Mapping[str, Any]) -> bool:
    """Whether a test of cel-go with an environment of its own depends on it: by a name that the record does not
    declare, a variable without a value, a local time, or a compiler's error, which depends on all that was taken."""
    source = case.get("source", "")
    if not source.startswith("google/cel-go cel:") or not _OWN_ENVIRONMENTS.search(source):
        return False
    env = case_environment(case)
    if "TimeZoneDisabled" in source or "ExtendStdlib" in source or case.get("error_phase") == "compile":
        return True
    functions = {*env.functions, *(name for name, _, _ in env.macros)}
    if any(each.name not in functions and f"optional.{each.name}" not in functions for each in calls(case["expr"])):
        return True
    bound = {each.arguments[0] for each in calls(case["expr"]) if each.arguments}  # variables of macros
    names = {each.partition(".")[0] for each in words(case["expr"])}
    constants = {"true", "false", "null", "in", "optional", *bound, *functions, *env.constants}
    values = case.get("vars") or {}
    return any(name not in constants and values.get(name) is None for name in names)


def needs_schema(case: Mapping[str, Any]) -> bool:
    """What a schema decides of which the case has only the name: errors about types, equality of lists (which may be
    sets, or have keys), unknown fields, defaults of missing entries, the type of an empty list, and escaped names."""
    expr, variables = case["expr"], case.get("vars") or {}
    if case.get("error_phase") == "compile":
        return _OF_TYPES.search(case["error"]) is not None
    return (
        _compares_lists(expr, variables)
        or _compares_unknown_fields(case)
        or _reads_a_default(case)
        or _reads_an_escaped_name(expr, variables)
        or any(_recorded_at(path, variables) == {"list": []} for path in _SUMMED.findall(expr))
        or any(re.search(rf"\b{name}\b", expr) for name in _unreadable(variables))
    )


_PATH: Final = r"\b(?:self|oldSelf)(?:\.\w+|\[\d+\])+(?![\w.\[(])"
_COMPARED: Final = re.compile(rf"({_PATH})\s*[!=]=|[!=]=\s*({_PATH})")
_SUMMED: Final = re.compile(r"(\bself(?:\.\w+|\[\d+\])*)\.sum\(\)")


def _recorded_at(path: str, variables: Mapping[str, Any]) -> Any:
    """What was recorded at a path of fields and places; None where nothing is known."""
    first, *steps = re.findall(r"\w+", path)
    value: Any = variables.get(first)
    for step in steps:
        match value:
            case {"map": entries}:
                value = next((item for key, item in entries if (key or {}).get("string") == step), None)
            case {"list": items}:
                value = items[int(step)] if step.isdigit() and int(step) < len(items) else None
            case _:
                return None
    return value


def _compares_lists(expr: str, variables: Mapping[str, Any]) -> bool:
    """Whether a list that was recorded, and has more than one order, is compared as a whole."""
    found = [_recorded_at(one or other, variables) for one, other in _COMPARED.findall(expr)]
    return any(isinstance(each, dict) and len(each.get("list") or ()) > 1 for each in found)


def _reads_an_escaped_name(expr: str, variables: Mapping[str, Any]) -> bool:
    """Whether a field is read by a name that was recorded in its escaped form."""
    keys_seen = {str(key.get("string")) for value in variables.values() for key in _keys_of(value)}
    escaped = {key[2:-2] for key in keys_seen if key.startswith("__") and key.endswith("__")}
    return any(re.search(rf"\.{re.escape(name)}\b", expr) for name in escaped)


def _compares_unknown_fields(case: Mapping[str, Any]) -> bool:
    """Whether an expression compares elements of which nothing was recorded."""
    compared = re.search(rf"({_PATH})\s*[!=]=\s*({_PATH})", case["expr"])
    found = [_recorded_at(each, case["vars"]) for each in compared.groups()] if compared else []
    return any(key is None for each in found for key, _ in (each or {}).get("map") or ())


def _reads_a_default(case: Mapping[str, Any]) -> bool:
    """Whether a domain is asked for that a device does not have: it gives an empty map."""
    known = {str(key.get("string")) for device in (case["vars"] or {}).values() for key in _keys_of(device)}
    return any(each[2] not in known for each in _DOMAIN.findall(case["expr"]))


def _keys_of(value: Any) -> Iterator[Mapping[str, Any]]:
    match value:
        case {"map": entries}:
            for key, item in entries:
                yield key or {}  # an entry that could not be recorded
                yield from _keys_of(item)
        case _:
            return


def _unreadable(variables: Mapping[str, Any]) -> set[str]:
    """Fields whose value could not be recorded because it is not what the schema says."""
    found: set[str] = set()
    pending: list[Any] = list(variables.values())
    while pending:
        match pending.pop():
            case {"map": entries}:
                for key, item in entries:
                    inside = [item, *((item or {}).get("list") or ())]
                    if key is not None and any("invalid data" in str((each or {}).get("error", "")) for each in inside):
                        found.add(str(key.get("string")))
                    pending.append(item)
            case {"list": items}:
                pending.extend(items)
            case _:
                pass
    return found


# --- Running ----------------------------------------------------------------------------------------------------------


def run(case: Mapping[str, Any]) -> list[Ours]:
    """In the environment of the record; in each of those versions of a library that it is about."""
    variables = {key: decode(value) for key, value in (case.get("vars") or {}).items() if value is not None}
    environments = [case_environment(case, version) for version in versions_of(case)]
    if has_generated_types(case) and "device" not in variables and _asks_a_list(case["expr"]):
        environments = [inferred_environment(case, variables)]
    return [
        evaluated(
            case["expr"], env, variables, case_charging(case), case.get("cost_limit"), bool(case.get("unchecked"))
        )
        for env in environments
    ]


def _asks_a_list(expr: str) -> bool:
    """What is not a text cannot be a key of an object, so `in` asks a list, and its elements' types are known."""
    return re.search(r"(?:\b\d+u?|\btrue|\bfalse) in ", expr) is not None


def judge(case: Mapping[str, Any], kind: Kind, ours: list[Ours]) -> Verdict:
    """The same in every version that is concerned."""
    if not ours:
        return Verdict(("no version of the library has this function",))
    wanted = rules.instead(rules.RECORDED, kind.name, case) if isinstance(kind, Rule) else case
    verdicts = [_judged(wanted, each) for each in ours]
    wrong = tuple(dict.fromkeys(text for each in verdicts for text in each.differences))
    worst = min(verdicts, key=lambda each: (each.text_ok is not False, each.cost_ok is not False))
    return replace(worst, differences=wrong)


def _judged(wanted: Mapping[str, Any], ours: Ours) -> Verdict:
    verdict = compared(wanted, ours)
    if wanted.get("exact") and not verdict.text_ok:
        verdict = replace(verdict, differences=(*verdict.differences, verdict.remarks or f"got {ours}"))
    return replace(verdict, text_ok=None) if wanted.get("exact") else verdict


_KEYS: Final = keys(
    "expr decls vars expect error error_phase type cost source libs errors container optimize unchecked call_estimator"
    " cost_limit exceeds_limit est_min est_max name n_options test_estimator presence_test_has_cost note"
)
RECORDED: Final = Suite(
    cases=list,
    name=lambda case: f"{case['expr'][:100]!r} ({case.get('source', '')})",
    classify=classify,
    running=by(run),
    judge=judge,
    shape=_KEYS,
)


# --- Oracles ----------------------------------------------------------------------------------------------------------


def oracle_cases(data: Any) -> Iterator[dict[str, Any]]:
    """Cases about a ManagedCluster, in a Kubernetes environment or in OCM's; `$MC` stands for the file's cluster."""
    shared = data["MC"]
    for case in data["cases"]:
        yield {**case, "MC": shared} if isinstance(case, dict) else case


def classify_oracle(case: Mapping[str, Any]) -> Kind:
    if needs_unbuilt(case):
        return Apart(UNBUILT)
    rule = rules.found(rules.RECORDED, case)
    return PLAIN if rule is None else Rule(rule.name)


def run_oracle(case: Mapping[str, Any]) -> tuple[Ours, Range | None]:
    """The evaluation, and the estimate where one was recorded."""
    env, charging = oracle_environment(case), oracle_charging(case)
    given = case["vars"]
    variables = case["MC"] if given == "$MC" else {key: decode(value) for key, value in given.items()}
    ours = evaluated(case["expr"], env, variables, charging, case.get("cost_limit", 1_000_000))
    if case["est_min"] is None or ours.phase == "compile":
        return ours, None
    return ours, estimate_cost(check(parse(case["expr"], env), env), env, charging)


def judge_oracle(case: Mapping[str, Any], kind: Kind, ours: tuple[Ours, Range | None]) -> Verdict:
    """The estimate counts as part of the cost."""
    outcome, estimate = ours
    verdict = judge(case, kind, [outcome])
    if case["est_min"] is None:
        return verdict
    wanted = Range(int(case["est_min"]), int(case["est_max"]))
    if estimate == wanted:
        return verdict
    remark = f"wanted estimate {wanted}, got {estimate}"
    if isinstance(kind, Rule):  # which says nothing of estimates
        return replace(verdict, differences=(*verdict.differences, remark))
    return replace(verdict, cost_ok=False, remarks=f"{verdict.remarks} {remark}".strip())


ORACLE: Final = Suite(
    cases=oracle_cases,
    name=lambda case: f"{case['expr'][:100]!r} ({case['env']} {case.get('k8s_version') or ''})",
    classify=classify_oracle,
    running=by(run_oracle),
    judge=judge_oracle,
    shape=keys(
        "MC expr env k8s_version vars expect error error_phase type cost est_min est_max cost_limit note errors"
    ),
)
