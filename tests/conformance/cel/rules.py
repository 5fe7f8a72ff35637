"""Where Muster differs from the recorded behaviour on purpose. Each rule is a heading of docs/differences.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conformance.cel.evaluation import Ours


@dataclass(frozen=True, slots=True)
class Rule:
    """A name, which cases it is about, and what we do instead."""

    name: str
    applies: Callable[[dict[str, Any]], bool]
    holds: Callable[[Ours], bool]


# The specification's tests that cel-go does not pass either: we do what cel-go does.
CONFORMANCE: tuple[Rule, ...] = (
    Rule(
        "Searching a text from beyond its end",
        lambda case: "ndexOf(" in case["expr"] and str(case["error"]).startswith("index out of range"),
        lambda ours: ours.error is not None or ours.value is True,
    ),
    Rule(
        "IPv4 addresses written as IPv6",
        lambda case: "::ffff:" in case["expr"] and case["error"] is None and "isIP" not in case["expr"],
        lambda ours: ours.error is not None,
    ),
    Rule(
        "Null among optionals",
        lambda case: "optional.of(" in case["expr"] and ", null]" in case["expr"] and bool(case.get("deduced_type")),
        lambda ours: ours.error is None,
    ),
)


# Recorded programs that do less than the specification says.
RECORDED: tuple[Rule, ...] = (
    Rule(
        "Map keys that are no keys",
        lambda case: _has_double_key(case.get("expect")),
        lambda ours: ours.error == "unsupported key type",
    ),
    Rule(
        "Map keys given twice",
        lambda case: case.get("expect") is not None and _repeats_a_key(case.get("expr", "")),
        lambda ours: ours.error == "Failed with repeated key",
    ),
)


def _has_double_key(expected: Any) -> bool:
    match expected:
        case {"map": entries}:
            return any("double" in key for key, _ in entries)
        case _:
            return False


def _repeats_a_key(expr: str) -> bool:
    """Whether a map literal without further braces in it has a key twice."""
    for literal in re.findall(r"\{([^{}]*)\}", expr):
        keys = [entry.partition(":")[0].strip() for entry in literal.split(",") if ":" in entry]
        if len(keys) != len(set(keys)):
            return True
    return False


def of_recorded(case: dict[str, Any]) -> Rule | None:
    return next((rule for rule in RECORDED if rule.applies(case)), None)


def of_conformance(case: dict[str, Any]) -> Rule | None:
    return next((rule for rule in CONFORMANCE if rule.applies(case)), None)
