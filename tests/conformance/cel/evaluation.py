"""An expression compiled and evaluated by both back ends, and compared with a record: value, type, error and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muster.cel.checking.checker import check
from muster.cel.checking.unification import displayed
from muster.cel.generating import generate
from muster.cel.running.interpreter import interpret
from muster.cel.running.planner import plan
from muster.cel.syntax.parser import parse
from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from tests.conformance.cel.errors import is_same_class
from tests.conformance.cel.messages import NotRepresentedError
from tests.conformance.cel.values import encode, same
from tests.conformance.suites import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.costs.charging import Charging
    from muster.cel.environment import Env

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
    type_shown: str | None = None
    try:
        tree = parse(text, env)
        checked = None if unchecked else check(tree, env)
        type_shown = None if checked is None else displayed(checked.result_type)
    except InvalidExpressionError as error:
        return Ours(error=str(error), phase="compile")
    constants = {name: constant.value for name, constant in env.constants.items()}
    try:
        planned = plan(checked or tree, env, charging, charging.optimize, charging.lenient)
    except InvalidExpressionError as error:
        return Ours(error=str(error), phase="program", type=type_shown)
    known = {**constants, **variables} if unchecked else variables
    outcome, cost = generate(planned, checked.types if checked else {}, charging.work_limit)(
        known, limit if limit is not None else NO_LIMIT
    )
    if isinstance(outcome, BudgetExceededError) and cost > SLOW:
        return Ours(
            error=str(outcome), phase="runtime", type=type_shown, cost=cost
        )  # the interpreter would take a while
    trace = interpret(planned, variables, constants, limit, charging.work_limit)
    if shown(outcome) != shown(trace.outcome) or (
        cost != trace.cost and not isinstance(trace.outcome, BudgetExceededError)
    ):
        raise AssertionError(
            f"{text!r}: the interpreter gives {trace.outcome!r} for {trace.cost}, generated code {outcome!r} for {cost}"
        )
    if isinstance(trace.outcome, EvaluationError):
        return Ours(error=str(trace.outcome), phase="runtime", type=type_shown, cost=trace.cost)
    return Ours(trace.outcome, type=type_shown, cost=trace.cost)


def shown(outcome: Any) -> Any:
    if isinstance(outcome, EvaluationError):
        return str(outcome)
    try:
        return encode(outcome)
    except NotRepresentedError:
        return repr(outcome)


def compared(case: Mapping[str, Any], ours: Ours) -> Verdict:
    """A record that names what it expects: a value or an error, a type, a cost. An error has a phase and a class."""
    wrong: list[str] = []
    remarks: list[str] = []
    text_ok: bool | None = None
    if case.get("error"):
        text_ok = ours.error == case["error"]
        phase = case.get("error_phase") or ours.phase
        if ours.error is None:
            wrong.append(f"wanted error {case['error']!r}, got {shown(ours.value)}")
        elif ours.phase != phase or not is_same_class(case["error"], ours.error):
            wrong.append(f"wanted {phase} error {case['error']!r}, got {ours.phase} error {ours.error!r}")
        elif not text_ok:
            remarks.append(f"wanted error {case['error']!r}, got {ours.error!r}")
    elif case.get("exceeds_limit"):
        if ours.error is None or "limit" not in ours.error:
            wrong.append(f"wanted to exceed the limit, got {ours.error or shown(ours.value)}")
    elif ours.error is not None:
        wrong.append(f"wanted {case.get('expect')}, fails in the {ours.phase}: {ours.error}")
    elif case.get("expect") is not None and not same(case["expect"], ours.value):
        wrong.append(f"wanted {case['expect']}, got {shown(ours.value)}")
    if (
        case.get("type")
        and ours.type is not None
        and not case.get("unchecked")
        and not same_type(case["type"], ours.type)
    ):
        wrong.append(f"wanted type {case['type']}, got {ours.type}")
    cost_ok: bool | None = None
    if case.get("cost") is not None:
        cost_ok = ours.cost == case["cost"]
        if not cost_ok:
            remarks.append(f"wanted cost {case['cost']}, got {ours.cost}")
    return Verdict(tuple(wrong), text_ok, cost_ok, "; ".join(remarks))


def same_type(wanted: str, ours: str) -> bool:
    if wanted == "any" and ours == "dyn":
        return True  # of an object type that is known by name only
    times = {"google.protobuf.Duration": "duration", "google.protobuf.Timestamp": "timestamp"}
    for long, short in times.items():
        wanted, ours = wanted.replace(long, short), ours.replace(long, short)
    return wanted == ours
