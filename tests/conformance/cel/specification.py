"""cel-spec's test suite: the value or the class of the error, and the type that is deduced."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from muster.cel.checking.checker import check
from muster.cel.checking.unification import displayed
from muster.cel.costs.charging import charging_of
from muster.cel.syntax.parser import parse
from muster.errors import InvalidExpressionError
from tests.conformance.cel import rules
from tests.conformance.cel.environments import conformance_environment, declared_types
from tests.conformance.cel.errors import is_specified_class
from tests.conformance.cel.evaluation import Ours, evaluated, same_type, shown
from tests.conformance.cel.messages import MESSAGES, needs_messages
from tests.conformance.cel.values import decode, same
from tests.conformance.suites import PLAIN, Apart, Kind, Rule, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Mapping

LOST_ESCAPE: Final = "an escape lost in the recording"


def classify(case: Mapping[str, Any]) -> Kind:
    declared = declared_types(case.get("type_env", ()))
    values = [case.get("vars"), case["expect"], case.get("deduced_type"), case.get("type_env")]
    if needs_messages(case["expr"], case.get("container", ""), declared, values):
        return Apart(MESSAGES)
    if _lost_escape(case):
        return Apart(LOST_ESCAPE)
    rule = rules.found(rules.CONFORMANCE, case)
    return PLAIN if rule is None else Rule(rule.name)


def _lost_escape(case: Mapping[str, Any]) -> bool:
    """Tests of escaped punctuation that expect a backslash which their expression no longer has."""
    expect = case["expect"] or {}
    return "bytes" in expect and "?" in case["expr"] and "\\" not in case["expr"] and b"\\?" in decode(expect)


def run(case: Mapping[str, Any]) -> Ours:
    env = conformance_environment(case)
    variables = {key: decode(value) for key, value in case.get("vars", {}).items()}
    if case.get("check_only"):
        try:
            return Ours(type=displayed(check(parse(case["expr"], env), env).result_type))
        except InvalidExpressionError as error:
            return Ours(error=str(error), phase="compile")
    return evaluated(case["expr"], env, variables, charging_of(env), unchecked=bool(case.get("disable_check")))


def judge(case: Mapping[str, Any], kind: Kind, ours: Ours) -> Verdict:
    wanted = rules.instead(rules.CONFORMANCE, kind.name, case) if isinstance(kind, Rule) else case
    wrong: list[str] = []
    if wanted["error"]:
        if ours.error is None:
            wrong.append(f"wanted an error ({wanted['error']}), got {shown(ours.value)}")
        elif wanted.get("exact"):
            if (ours.phase, ours.error) != (wanted["error_phase"], wanted["error"]):
                wrong.append(f"wanted {wanted['error_phase']} error {wanted['error']!r}, got {ours}")
        elif not _is_named(case["expr"], wanted["error"], ours.error):
            wrong.append(f"wanted an error of the class {wanted['error']!r}, got {ours.error!r}")
    elif ours.error is not None:
        wrong.append(f"wanted {wanted['expect']}, fails in the {ours.phase}: {ours.error}")
    elif not wanted.get("check_only") and not same(wanted["expect"], ours.value):
        wrong.append(f"wanted {wanted['expect']}, got {shown(ours.value)}")
    deduced = wanted.get("deduced_type") or wanted.get("type")
    if deduced and ours.type is not None and not same_type(spec_name(deduced), ours.type):
        wrong.append(f"deduced {ours.type}, wanted {deduced}")
    return Verdict(tuple(wrong))


def _is_named(expr: str, recorded: str, ours: str) -> bool:
    """Whether an error is the one that the suite names. Of an operand's error that && or || hands on, it names what the
    operator lacks; in a test of the protocol, it names nothing."""
    if recorded == "foo":
        return True
    if recorded == "no matching overload" and re.search(r"&&|\|\|", expr) and "/0" in expr.replace(" ", ""):
        return ours == "division by zero"
    return is_specified_class(recorded, ours)


def spec_name(recorded: Any) -> str:
    match recorded:
        case str():
            return {"null_type": "null"}.get(recorded, recorded)
        case {"map": [key, value]}:
            return f"map({spec_name(key)}, {spec_name(value)})"
        case {"list": element}:
            return f"list({spec_name(element)})"
        case {"wrapper": primitive}:
            return f"wrapper({spec_name(primitive)})"
        case {"type": described}:
            return f"type({spec_name(described)})"
        case {"abstract": name, **rest}:
            params: Any = rest.get("params", ())
            return f"{name}({', '.join(map(spec_name, params))})"
        case {"param": name} | {"message": name}:
            return str(name)
        case _:
            return str(recorded)


SPECIFICATION: Final = Suite(
    cases=list,
    name=lambda case: f"{case['section']}/{case['name']}: {case['expr'][:80]!r}",
    classify=classify,
    running=by(run),
    judge=judge,
    shape=keys(
        "file section name expr expect error proto type_env vars disable_check container deduced_type check_only"
        " disable_macros note"
    ),
)
