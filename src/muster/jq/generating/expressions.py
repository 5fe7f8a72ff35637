"""Python expressions for operators on values whose kinds are guessed: the common case inline, the rest by values.py."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.jq.resolving import resolved as r

if TYPE_CHECKING:
    from muster.jq.generating.base import GeneratorBase as Generator
    from muster.jq.values.value import Value

_OPERATORS = {
    "_add": "add",
    "_subtract": "subtract",
    "_multiply": "multiply",
    "_divide": "divide",
    "_modulo": "modulo",
    "_equal": "equal",
    "_notequal": "not_equal",
    "_less": "less",
    "_lesseq": "less_or_equal",
    "_greater": "greater",
    "_greatereq": "greater_or_equal",
}
"""Natives that are functions of values.py; they take no input."""

_ORDER = {"_less": "<", "_lesseq": "<=", "_greater": ">", "_greatereq": ">="}
_EXACT = 1 << 53

BOOLEAN = frozenset(
    ("_equal", "_notequal", *_ORDER, "startswith", "endswith", "test", "_test", "has", "not", "contains", "inside")
)
"""Natives whose output is always true or false, so that it can be a Python condition as it is."""


def is_name(expression: str) -> bool:
    return expression.isidentifier()


def truth(name: str) -> str:
    if name in ("True", "False", "None"):
        return str(name == "True")
    return f"{name} is not None and {name} is not False"


def asks_only_length(node: r.Node) -> bool:
    """Whether all that the node wants to know of its input is how long it is: `length`, `length > 2`."""
    while isinstance(node, r.Native) and len(node.args) == 2 and isinstance(node.args[1], r.Const):
        if node.name not in _OPERATORS:
            return False
        node = node.args[0]
    return isinstance(node, r.Native) and node.name == "length"


def operator_call(name: str, operands: list[str]) -> str | None:
    function = _OPERATORS.get(name)
    return None if function is None else f"{function}(b, {', '.join(operands)})"


def comparison(generator: Generator, name: str, left: str, right: Value) -> str | None:
    """A comparison with a constant; None when there is no short form."""
    if name in ("_equal", "_notequal"):
        test = _equality(generator, left, right)
        if test is None:
            return None
        return test if name == "_equal" else f"(not {test})"
    if name not in _ORDER or not _is_exact_number(right):
        return None
    constant = generator.constant(right)
    if left in generator.counters:
        return f"({left} {_ORDER[name]} {constant})"
    if is_name(left):
        fast = f"{left} {_ORDER[name]} {constant} if type({left}) is int"
        return f"({fast} else {_OPERATORS[name]}(b, {left}, {constant}))"
    item = generator.writer.temporary()
    fast = f"{item} {_ORDER[name]} {constant} if type({item} := {left}) is int"
    return f"({fast} else {_OPERATORS[name]}(b, {item}, {constant}))"


def _equality(generator: Generator, left: str, right: Value) -> str | None:
    """Python's == says what jq says for texts, and for numbers that no boolean equals."""
    if right is None or right is True or right is False:
        return f"({left} is {right})"
    if type(right) is str or (_is_exact_number(right) and right not in (0, 1)):
        return f"({left} == {generator.constant(right)})"
    return None


def _is_exact_number(value: Value) -> bool:
    """A number that compares with integers as with floats."""
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < _EXACT
