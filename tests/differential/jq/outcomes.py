"""What a query gave, in one form for gojq and for both of our evaluators, and whether two of them are the same.

Types count: an integer is not a float, minus zero is not zero, not-a-number is itself. Bytes that are not UTF-8 are
lone surrogates, as muster.jq has them.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from muster.errors import BudgetExceededError, EvaluationError, InvalidExpressionError
from muster.jq import HaltError, Host, JqError, Limits, Meter, Program, compile_query, to_json
from tests.differential.peer import Lost

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_OUTPUTS: Final = 100
"""As many as the peer tells."""

LIMITS: Final = Limits(steps=100_000, cells=1_000_000, outputs=1_000_000, seconds=None)
"""Enough for what the generator writes on purpose; a query that loops for ever ends soon."""

_PRINTING: Final = Limits(steps=1_000_000, cells=1_000_000, seconds=None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: `ended`, `more` (outputs were left), `invalid`, `run`, `halt`, `budget`, or `unknown`, when the
    peer could not say. `value` is what `catch` would have received; `faults` all that is wrong with a query, not only
    the first."""

    ending: str
    outputs: tuple[Any, ...] = ()
    texts: tuple[str, ...] = ()
    message: str | None = None
    value: Any = None
    copied: bool = field(default=False, compare=False)
    faults: tuple[str, ...] = ()
    budget: str | None = None

    @property
    def known(self) -> bool:
        return self.ending != "unknown"

    def shown(self) -> str:
        parts = [self.ending, *self.texts[:6], *(["…"] if len(self.texts) > 6 else [])]
        if self.message is not None:
            parts.append(f"({self.message[:300]})")
        return " ".join(part[:200] for part in parts)


def same(one: Any, two: Any) -> bool:
    """Equal with types."""
    if type(one) is not type(two):
        return False
    if isinstance(one, float):
        return (one == two and math.copysign(1, one) == math.copysign(1, two)) or (one != one and two != two)
    if isinstance(one, list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[key], two[key]) for key in one)
    return bool(one == two)


def same_outputs(one: Outcome, two: Outcome) -> bool:
    return len(one.outputs) == len(two.outputs) and all(map(same, one.outputs, two.outputs))


def difference(ours: Outcome, theirs: Outcome) -> str | None:
    """In what they differ, or None."""
    if ours.ending != theirs.ending:
        return "error"
    if not same_outputs(ours, theirs):
        return "value"
    if ours.message != theirs.message:
        return "error text"
    if not same(ours.value, theirs.value):
        return "error value"
    return None if ours.texts == theirs.texts else "text"


# ── ours ────────────────────────────────────────────────────────────────────


def compiled(query: str) -> Program | Outcome:
    try:
        return compile_query(query)
    except InvalidExpressionError as error:
        faults = tuple(diagnostic.message for diagnostic in error.diagnostics)
        return Outcome("invalid", message=faults[0], faults=faults)


def ours(program: Program, value: Any, zone: str = "UTC", *, plain: bool = False, limits: Limits = LIMITS) -> Outcome:
    """By generated code, or by the plain evaluator."""
    run = program.reference_outputs if plain else program.outputs
    return _collected(run(value, limits=limits, host=Host(zone=ZoneInfo(zone))))


def _collected(outputs: Iterator[Any]) -> Outcome:
    found: list[Any] = []
    try:
        for output in outputs:
            if len(found) == MOST_OUTPUTS:
                return _outcome("more", found)
            found.append(output)
    except BudgetExceededError as error:
        return replace(_outcome("budget", found, str(error)), budget=error.budget)
    except HaltError as error:
        return _outcome("halt", found, str(error), error.value)
    except JqError as error:
        return _outcome("run", found, str(error), error.value)
    except EvaluationError as error:
        return _outcome("internal", found, f"{error} {error.__cause__!r}")
    return _outcome("ended", found)


def _outcome(ending: str, outputs: list[Any], message: str | None = None, value: Any = None) -> Outcome:
    texts = []
    for output in outputs:
        try:
            texts.append(to_json(output, Meter(_PRINTING)))
        except BudgetExceededError:
            texts.append("too large to be printed")
    return Outcome(ending, tuple(outputs), tuple(texts), message, value)


# ── theirs ──────────────────────────────────────────────────────────────────

_ENDINGS: Final = {"parse": "invalid", "compile": "invalid", "large": "unknown", "time": "unknown", "panic": "unknown"}
_FLOATS: Final = {"NaN": math.nan, "+Inf": math.inf, "-Inf": -math.inf}


def theirs(answer: Any) -> Outcome:
    """What the peer said."""
    if isinstance(answer, Lost):
        return Outcome("unknown", message=answer.why)
    ending = _ENDINGS.get(answer["class"], answer["class"])
    return Outcome(
        ending,
        tuple(map(value_of, answer.get("outputs", ()))),
        tuple(map(value_of, answer.get("texts", ()))),
        value_of(answer["error"]) if "error" in answer else None,
        value_of(answer.get("value")),
        copied=answer.get("copied", False),
    )


def value_of(tagged: Any) -> Any:
    """A value of the peer's answer."""
    match tagged:
        case list():
            return [value_of(item) for item in tagged]
        case {"i": digits}:
            return int(digits) if len(digits) < 4000 else _long_integer(digits)
        case {"f": text}:
            return _FLOATS[text] if text in _FLOATS else float(text)
        case {"b": encoded}:
            return base64.b64decode(encoded).decode("utf-8", "surrogateescape")
        case {"o": fields}:
            return {value_of(key): value_of(value) for key, value in fields}
        case _:
            return tagged


def _long_integer(digits: str) -> int:
    """CPython refuses to read very long ones at once."""
    value, sign = 0, -1 if digits[0] == "-" else 1
    digits = digits.removeprefix("-")
    for start in range(0, len(digits), 3000):
        part = digits[start : start + 3000]
        value = value * 10 ** len(part) + int(part)
    return sign * value
