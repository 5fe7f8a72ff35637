"""The recorded evaluations: same value, same type, same error text and same cost, by both back ends."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muster.cel.charging import charging_of
from muster.cel.checker import check
from muster.cel.codegen import generate
from muster.cel.cost_estimate import estimate_cost
from muster.cel.environments import environment
from muster.cel.interpreter import interpret
from muster.cel.parser import parse
from muster.cel.planner import plan
from muster.cel.ranges import Range
from muster.cel.unification import displayed
from muster.cel.values import OptionalValue
from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from tests.conformance.cel import rules
from tests.conformance.cel.environments import (
    case_charging,
    case_environment,
    conformance_environment,
    has_generated_types,
    inferred_environment,
    needs_messages,
    needs_own_environment,
    needs_unbuilt,
    oracle_charging,
    oracle_environment,
    versions_of,
)
from tests.conformance.cel.values import NotRepresentedError, decode, encode, same
from tests.conformance.results import CaseResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.cel.charging import Charging
    from muster.cel.environment import Env

MESSAGES = "protobuf messages"
SCORES = "scores of a fixture that was not recorded"
LOST_ESCAPE = "an escape lost in the recording"
LOCALES = "formatting by locale"
UNBUILT = "libraries Muster does not offer"
OWN = "an environment that the test makes for itself"
OBJECTS = "object types recorded by name only"
NO_LIMIT = 2**64
SLOW = 100_000


@dataclass(frozen=True)
class Ours:
    """What we make of an expression. The error is of the first phase that fails."""

    value: Any = None
    error: str | None = None
    phase: str | None = None
    type: str | None = None
    cost: int | None = None


def evaluated(
    text: str,
    env: Env,
    variables: Mapping[str, Any],
    charging: Charging,
    limit: int | None = None,
    unchecked: bool = False,
) -> Ours:
    """Compile and evaluate by both back ends; they have to agree."""
    shown: str | None = None
    try:
        tree = parse(text, env)
        checked = None if unchecked else check(tree, env)
        shown = None if checked is None else displayed(checked.result_type)
    except InvalidExpressionError as error:
        return Ours(error=str(error), phase="compile")
    constants = {name: constant.value for name, constant in env.constants.items()}
    try:
        planned = plan(checked or tree, env, charging.costs, charging.optimize, charging.lenient)
    except InvalidExpressionError as error:
        return Ours(error=str(error), phase="program", type=shown)
    known = {**constants, **variables} if unchecked else variables
    outcome, cost = generate(planned, checked.types if checked else {}, charging.costs.work_limit)(
        known, limit if limit is not None else NO_LIMIT
    )
    if isinstance(outcome, BudgetExceededError) and cost > SLOW:
        return Ours(error=str(outcome), phase="runtime", type=shown, cost=cost)  # the interpreter would take a while
    trace = interpret(planned, variables, constants, limit, charging.costs.work_limit)
    if _shown(outcome) != _shown(trace.outcome) or (
        cost != trace.cost and not isinstance(trace.outcome, BudgetExceededError)
    ):
        raise AssertionError(
            f"{text!r}: the interpreter gives {trace.outcome!r} for {trace.cost}, generated code {outcome!r} for {cost}"
        )
    if isinstance(trace.outcome, EvaluationError):
        return Ours(error=str(trace.outcome), phase="runtime", type=shown, cost=trace.cost)
    return Ours(trace.outcome, type=shown, cost=trace.cost)


def _shown(outcome: Any) -> Any:
    if isinstance(outcome, EvaluationError):
        return str(outcome)
    try:
        return encode(outcome)
    except NotRepresentedError:
        return repr(outcome)


def compared(name: str, case: dict[str, Any], ours: Ours) -> CaseResult:
    """The verdict on one case that names what it expects: value, type, error text, cost."""
    wrong: list[str] = []
    text_ok: bool | None = None
    if case.get("error"):
        text_ok = ours.error == case["error"]
        ok = ours.error is not None
        if not text_ok:
            wrong.append(f"wanted error {case['error']!r}, got {ours.error!r} {'' if ours.error else ours.value!r}")
    elif case.get("expect") is not None:
        ok = ours.error is None and same(case["expect"], ours.value)
        if not ok:
            wrong.append(f"wanted {case['expect']}, got {ours.error or encode(ours.value)}")
    else:
        ok = ours.error is None or bool(case.get("exceeds_limit"))
        if not ok:
            wrong.append(f"fails: {ours.error}")
    if ok and case.get("type") and ours.type is not None and not case.get("unchecked"):
        ok = _same_type(case["type"], ours.type)
        if not ok:
            wrong.append(f"wanted type {case['type']}, got {ours.type}")
    cost_ok: bool | None = None
    if case.get("cost") is not None:
        cost_ok = ours.cost == case["cost"]
        if not cost_ok:
            wrong.append(f"wanted cost {case['cost']}, got {ours.cost}")
    return CaseResult(name, ok, "; ".join(wrong), text_ok=text_ok, cost_ok=cost_ok)


def _same_type(wanted: str, ours: str) -> bool:
    if wanted == "any" and ours == "dyn":
        return True  # of an object type that is known by name only
    times = {"google.protobuf.Duration": "duration", "google.protobuf.Timestamp": "timestamp"}
    for long, short in times.items():
        wanted, ours = wanted.replace(long, short), ours.replace(long, short)
    return wanted == ours


def _guarded(name: str, case: dict[str, Any], env: Env, variables: Mapping[str, Any], charging: Charging) -> CaseResult:
    try:
        ours = evaluated(case["expr"], env, variables, charging, case.get("cost_limit"), bool(case.get("unchecked")))
    except NotRepresentedError:
        return CaseResult(name, apart=MESSAGES)
    except AssertionError as differ:
        return CaseResult(name, ok=False, detail=str(differ))
    rule = rules.of_recorded(case)
    if rule is not None:
        return CaseResult(name, rule.holds(ours), f"{rule.name}: got {ours}", rule=rule.name)
    return compared(name, case, ours)


def run_cases(data: Any) -> Iterator[CaseResult]:
    """Cases of cel-go, its extensions, Kubernetes and Open Cluster Management."""
    for case in data:
        name = f"{case['expr'][:100]!r} ({case.get('source', '')})"
        env = case_environment(case)
        if needs_messages(case, env):
            yield CaseResult(name, apart=MESSAGES)
            continue
        if needs_unbuilt(case):
            yield CaseResult(name, apart=UNBUILT)
            continue
        if "scores(" in case["expr"] and "managedCluster" in case["expr"]:
            yield CaseResult(name, apart=SCORES)
            continue
        if "4,5" in str(case.get("expect")):
            yield CaseResult(name, apart=LOCALES)
            continue
        try:
            variables = {key: decode(value) for key, value in case["vars"].items() if value is not None}
        except NotRepresentedError:
            yield CaseResult(name, apart=MESSAGES)
            continue
        environments = [case_environment(case, version) for version in versions_of(case)]
        if has_generated_types(case):
            environments.insert(0, inferred_environment(case, variables))
        results = [_guarded(name, case, tried, variables, case_charging(case)) for tried in environments]
        result = next((result for result in results if result.ok and result.text_ok is not False), results[-1])
        if not (result.ok and result.text_ok is not False and result.cost_ok is not False):
            # What decides these was not recorded with them; those that do not depend on it count.
            if _needs_schema(case):
                result = CaseResult(name, apart=OBJECTS)
            elif needs_own_environment(case):
                result = CaseResult(name, apart=OWN)
        yield result


def _needs_schema(case: dict[str, Any]) -> bool:
    """What a schema decides of which the case has only the name: compile errors, equality of sets and of lists with
    keys, defaults of missing entries, the element type of an empty list, escaped names, and unrecorded fields."""
    if not has_generated_types(case):
        return False
    if case.get("error_phase") == "compile":
        return True
    recorded = str(case["vars"])
    expr = case["expr"]
    compares_lists = ("==" in expr or "!=" in expr) and _has_permuted_lists(case["vars"])
    default_entry = "no-such-domain" in expr or ("DRADevice" in str(case["decls"]) and '" in device.' in expr)
    return (
        compares_lists
        or default_entry
        or "'error':" in recorded
        or "'__" in recorded
        or (".sum()" in expr and "'list': []" in recorded)
    )


def _has_permuted_lists(variables: dict[str, Any]) -> bool:
    """Whether two lists somewhere in the variables have the same elements, or the same keys, in another order."""
    seen: list[list[str]] = []
    pending: list[Any] = list(variables.values())
    while pending:
        match pending.pop():
            case {"list": items}:
                seen.append([str(item) for item in items])
                pending.extend(items)
            case {"map": entries}:
                pending.extend(item for _, item in entries)
            case _:
                pass
    return any(
        first != second and set(first) & set(second) and len(first) > 1
        for index, first in enumerate(seen)
        for second in seen[index + 1 :]
    ) or any(len(set(items)) == len(items) > 1 for items in seen[:1] if len(seen) == 1)


def run_oracle(data: Any) -> Iterator[CaseResult]:
    """Cases about a ManagedCluster, in a Kubernetes environment or in OCM's."""
    recorded = data["MC"]
    for case in data["cases"]:
        name = f"{case['expr'][:100]!r} ({case['env']} {case.get('k8s_version') or ''})"
        env = oracle_environment(case)
        if needs_unbuilt(case):
            yield CaseResult(name, apart=UNBUILT)
            continue
        variables = case["vars"]
        variables = recorded if variables == "$MC" else {key: decode(value) for key, value in variables.items()}
        limited = {**case, "cost_limit": case.get("cost_limit", 1_000_000)}
        result = _guarded(name, limited, env, variables, oracle_charging(case))
        yield _with_estimate(result, case, env)


def _with_estimate(result: CaseResult, case: dict[str, Any], env: Env) -> CaseResult:
    """The estimate counts as part of the cost."""
    if case["est_min"] is None or result.rule is not None or result.apart is not None:
        return result
    wanted = Range(int(case["est_min"]), int(case["est_max"]))
    ours = estimate_cost(check(parse(case["expr"], env), env), oracle_charging(case).estimates)
    if ours == wanted:
        return result
    return replace(result, cost_ok=False, detail=f"{result.detail} wanted estimate {wanted}, got {ours}")


def run_conformance(data: Any) -> Iterator[CaseResult]:
    """The test suite of the CEL specification. For an error only that there is one is asked."""
    for case in data:
        name = f"{case['section']}/{case['name']}: {case['expr'][:80]!r}"
        env = conformance_environment(case)
        if case["proto"] or needs_messages(case, env):
            yield CaseResult(name, apart=MESSAGES)
            continue
        if _lost_escape(case):
            yield CaseResult(name, apart=LOST_ESCAPE)
            continue
        try:
            variables = {key: decode(value) for key, value in case.get("vars", {}).items()}
            if case.get("check_only"):
                checked = check(parse(case["expr"], env), env)
                rule = rules.of_conformance(case)
                if rule is not None:
                    yield CaseResult(name, rule.holds(Ours(type=displayed(checked.result_type))), rule=rule.name)
                    continue
                ok = _same_type(_spec_name(case["deduced_type"]), displayed(checked.result_type))
                yield CaseResult(name, ok, f"deduced {displayed(checked.result_type)}, wanted {case['deduced_type']}")
                continue
            ours = evaluated(case["expr"], env, variables, charging_of(env), unchecked=bool(case.get("disable_check")))
        except NotRepresentedError:
            yield CaseResult(name, apart=MESSAGES)
            continue
        except (AssertionError, InvalidExpressionError) as differ:
            yield CaseResult(name, ok=False, detail=str(differ))
            continue
        rule = rules.of_conformance(case)
        if rule is not None:
            yield CaseResult(name, rule.holds(ours), f"{rule.name}: got {ours}", rule=rule.name)
            continue
        if case["error"]:
            yield CaseResult(name, ours.error is not None, f"wanted an error ({case['error']}), got {ours.value!r}")
            continue
        result = compared(name, {"expect": case["expect"]}, ours)
        if result.ok and case.get("deduced_type") and ours.type is not None:
            ok = _same_type(_spec_name(case["deduced_type"]), ours.type)
            result = CaseResult(name, ok, f"deduced {ours.type}, wanted {case['deduced_type']}")
        yield result


def _lost_escape(case: dict[str, Any]) -> bool:
    """Two tests of unescaped punctuation expect a backslash that their expression no longer has."""
    return (
        case["name"].startswith("triple_")
        and "?" in case["expr"]
        and "\\" not in case["expr"]
        and bool(case["expect"] and b"\\?" in decode(case["expect"]))
        if "bytes" in (case["expect"] or {})
        else False
    )


def _spec_name(recorded: Any) -> str:
    match recorded:
        case str():
            return {"null": "null", "null_type": "null"}.get(recorded, recorded)
        case {"map": [key, value]}:
            return f"map({_spec_name(key)}, {_spec_name(value)})"
        case {"list": element}:
            return f"list({_spec_name(element)})"
        case {"wrapper": primitive}:
            return f"wrapper({_spec_name(primitive)})"
        case {"type": described}:
            return f"type({_spec_name(described)})"
        case {"abstract": name, **rest}:
            params: Any = rest.get("params", ())
            return f"{name}({', '.join(map(_spec_name, params))})"
        case {"param": name}:
            return str(name)
        case _:
            return str(recorded)


# --- expressions of other areas, run in their environments


def run_ocm_expressions(data: Any) -> Iterator[CaseResult]:
    """celSelector expressions on one ManagedCluster with its scores, in the `ocm` environment."""
    env = environment("ocm")
    scores = {
        score["metadata"]["name"]: score["status"].get("scores", [])
        for score in data["addOnPlacementScores"]
        if score["metadata"]["namespace"] == data["cluster"]["metadata"]["name"]
    }
    cluster = {**data["managedClusterMap"], "@scores": scores}
    for case in data["expressions"]:
        name = repr(case["expr"][:100])
        try:
            ours = evaluated(case["expr"], env, {"managedCluster": cluster}, charging_of(env), 1_000_000)
        except AssertionError as differ:
            yield CaseResult(name, ok=False, detail=str(differ))
            continue
        wanted = case.get("compileError") or case.get("evalError")
        if wanted:
            text_ok = ours.error == wanted
            detail = "" if text_ok else f"wanted {wanted!r}, got {ours.error or ours.value!r}"
            cost_ok = None if case.get("cost") is None else ours.cost == case["cost"]
            yield CaseResult(name, ours.error is not None, detail, text_ok=text_ok, cost_ok=cost_ok)
            continue
        ok = ours.error is None and _close(_plain(ours.value), case["value"])
        detail = "" if ok else f"wanted {case['value']!r}, got {ours.error or _plain(ours.value)!r}"
        if ok and case.get("outputType") and not _same_type(case["outputType"], ours.type or ""):
            ok, detail = False, f"wanted type {case['outputType']}, got {ours.type}"
        if ok and ours.cost != case["cost"]:
            detail = f"wanted cost {case['cost']}, got {ours.cost}"
        yield CaseResult(name, ok, detail, cost_ok=ours.cost == case["cost"])


def _close(ours: Any, wanted: Any) -> bool:
    """Large doubles were recorded with fewer digits."""
    if isinstance(ours, float) and isinstance(wanted, (int, float)):
        return math.isclose(ours, wanted, rel_tol=1e-15)
    return bool(ours == wanted)


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


def run_olm_cel(data: Any) -> Iterator[CaseResult]:
    """Rules of olm.constraint against the properties of a bundle, in the `olm` environment."""
    env = environment("olm")
    for case in data["cases"]:
        name = f"{case['id']} {case['rule'][:90]!r}"
        properties = data["defaultProperties"] if case["properties"] == "$default" else case["properties"]
        readable = [{} if _unreadable(item) else _with_doubles(item) for item in properties]
        try:
            ours = evaluated(case["rule"], env, {"properties": readable}, charging_of(env))
        except AssertionError as differ:
            yield CaseResult(name, ok=False, detail=str(differ))
            continue
        expect = case["expect"]
        if "compileError" in expect:
            refused = ours.phase == "compile" or ours.type != "bool"
            text_ok = ours.error == expect["compileError"] if ours.phase == "compile" else None
            detail = "" if refused and text_ok is not False else f"wanted {expect['compileError']!r}, got {ours}"
            yield CaseResult(name, refused, detail, text_ok=text_ok)
        elif "evalError" in expect:
            text_ok = ours.error == expect["evalError"]
            detail = "" if text_ok else f"wanted {expect['evalError']!r}, got {ours}"
            yield CaseResult(name, ours.error is not None, detail, text_ok=text_ok)
        else:
            ok = ours.error is None and (ours.value is True) == expect["matches"]
            yield CaseResult(name, ok, "" if ok else f"wanted {expect}, got {ours}")


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


CONFORMANCE = (
    "basic bindings_ext block_ext comparisons conversions dynamic encoders_ext enums fields fp_math integer_math lists "
    "logic macros macros2 math_ext namespace network_ext optionals parse plumbing proto2 proto2_ext proto3 string "
    "string_ext timestamps type_deduction wrappers"
)
CASES = (
    "celgo_compile_errors celgo_misc celgo_optionals ext_bindings ext_encoders ext_lists ext_math ext_network "
    "ext_regex ext_sets ext_strings ext_strings_format ext_two_var_comprehensions k8s_cidr k8s_crd_validation k8s_dra "
    "k8s_format k8s_ip k8s_lists k8s_quantity k8s_regex k8s_semver k8s_url ocm_placement"
)
ORACLES = (
    "oracle_compile_errors oracle_format oracle_ip_cidr oracle_lists oracle_quantity oracle_regex oracle_selectors "
    "oracle_semver oracle_url oracle_versions"
)
FILES = {
    **{f"conformance/{name}.json": run_conformance for name in CONFORMANCE.split()},
    **{f"{name}.json": run_cases for name in CASES.split()},
    **{f"{name}.json": run_oracle for name in ORACLES.split()},
}
