"""What our engine says to an expression, in the form of a peer's answer; and whether we agree with ourselves.

`answer` is compiled, estimated and run by the generated code. `faults` says where the interpreter, or a run over no
more than what the program claims to read, gives something else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muster.cel import InvalidProgramError, make_program
from muster.cel.costs.runtime import LIMIT_MESSAGE
from muster.cel.values import MISSING, find
from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from muster.values.paths import PRESENT, Key, Where, may_matter
from tests.differential.cel.world import SETS, encode, sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.cel import Env, Program
    from muster.values.paths import Path

COST_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of an expression. A peer's answer is brought into this form too."""

    issues: str | None = None
    creation: str | None = None
    type: str = ""
    value: Any = None
    error: str | None = None
    cost: int | None = None
    estimate: tuple[int, int] | None = None
    refused: bool = False  # by a budget of our own that upstream does not have
    panic: str = ""

    def shown(self) -> str:
        for name in ("panic", "issues", "creation", "error"):
            if getattr(self, name):
                return f"{name}: {getattr(self, name)} (cost {self.cost}, estimate {self.estimate})"
        return f"{self.value} of {self.type} (cost {self.cost}, estimate {self.estimate})"


def ask(text: str, env: Env, chosen: int) -> tuple[Answer, list[str]]:
    """Our answer, and where we disagree with ourselves."""
    try:
        program = make_program(text, env)
    except InvalidProgramError as fault:
        return Answer(creation=str(fault)), []
    except InvalidExpressionError as fault:
        return Answer(issues=str(fault), refused="compiling takes more than" in str(fault)), []
    variables = SETS[chosen]
    given = answered(program, variables)
    return given, list(_faults(program, variables, given))


def answered(program: Program, variables: Mapping[str, Any]) -> Answer:
    """What the generated code says over the variables."""
    estimate = program.estimate(sizes)
    outcome, cost = program.run(variables, COST_LIMIT)
    shared = {"type": str(program.result_type), "cost": cost, "estimate": (estimate.min, estimate.max)}
    return _given(outcome, shared)


def _given(outcome: Any, shared: dict[str, Any]) -> Answer:
    if isinstance(outcome, EvaluationError):
        refused = isinstance(outcome, BudgetExceededError) and "builds or compares" in str(outcome)
        return Answer(error=str(outcome), refused=refused, **shared)
    return Answer(value=encode(outcome), **shared)


def _faults(program: Program, variables: Mapping[str, Any], given: Answer) -> Iterable[str]:
    trace = program.trace(variables, COST_LIMIT)
    shared = {"type": given.type, "cost": trace.cost, "estimate": given.estimate}
    interpreted = _given(trace.outcome, shared)
    if not interpreted.refused and _comparable(interpreted) != _comparable(given):
        yield f"back ends: the interpreter says {interpreted.shown()}"
    outcome, _ = program.run(pruned(program.reads, variables), COST_LIMIT)
    again = _given(outcome, {**shared, "cost": given.cost})
    if again != given:
        yield f"reads: over {sorted(map(repr, program.reads))} it is {again.shown()}"


def _comparable(answer: Answer) -> Answer:
    """Above the limit the cost says only that it is."""
    return answer if answer.error != LIMIT_MESSAGE else replace(answer, cost=COST_LIMIT + 1)


def pruned(reads: Iterable[Path], variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables with nothing in them but what the paths lead to."""
    kept: Any = {}
    for path in reads:
        kept = _with(kept, variables, path)
    return dict(kept)


_NOTHING = object()


def _with(kept: Any, whole: Any, path: Path) -> Any:
    """`kept`, a part of `whole` or nothing yet, and what is under the path."""
    if not path:
        return whole
    step, rest = path[0], path[1:]
    if step is PRESENT:
        return None if kept is _NOTHING else kept
    if isinstance(whole, (list, tuple)):
        held = list(kept) if isinstance(kept, list) else []
        if isinstance(step, Where):
            return [each for each in whole if may_matter(each, step) or any(each is other for other in held)]
        place = step.value if isinstance(step, Key) and step.kind != "bool" else step  # [0.0] and [0u] are [0]
        if not isinstance(place, int | float) or place not in range(len(whole)):
            return held or []
        place = int(place)
        held += [None] * (place + 1 - len(held))
        held[place] = _with(_NOTHING if held[place] is None else held[place], whole[place], rest)
        return held
    if isinstance(whole, dict):
        held_map = dict(kept) if isinstance(kept, dict) else {}
        key = step.value if isinstance(step, Key) else step
        if isinstance(step, Where):
            return whole
        found = find(whole, key)
        if found is not MISSING:
            held_map[key] = _with(held_map.get(key, _NOTHING), found, rest)
        return held_map
    return whole
