"""Natives that are one Python expression for the values they mostly meet. All other values go to the native itself.

An expression charges what the native would: nothing, for texts as short as these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq.budgets import SHORT_TEXT
from muster.jq.builtins.strings import FREE_TEXT
from muster.jq.resolving import resolved as r
from muster.jq.values.regexes import plain_pattern

if TYPE_CHECKING:
    from muster.jq.generating.base import GeneratorBase as Generator

_CASES = {"ascii_downcase": "lower", "ascii_upcase": "upper"}


def native_call(g: Generator, node: r.Native, value: str, operands: list[str]) -> str:
    """A call of the native, in its short form where it has one. `value` is a name."""
    general = f"{g.constant(node.function)}({', '.join(('b', value, *operands))})"
    match node.name, node.args:
        case "length", ():
            return f"(len({value}) if type({value}) is list else {general})"
        case ("ascii_downcase" | "ascii_upcase") as name, ():
            short = f"type({value}) is str and len({value}) <= {FREE_TEXT} and {value}.isascii()"
            return f"({value}.{_CASES[name]}() if {short} else {general})"
        case ("startswith" | "endswith") as name, (r.Const(value=str(part)),) if len(part) <= SHORT_TEXT:
            return f"({value}.{name}({operands[0]}) if type({value}) is str else {general})"
        case "test", (r.Const(value=str(pattern)),):
            found = _found(g, value, pattern)
            return general if found is None else f"({found} else {general})"
        case _:
            return general


def _found(g: Generator, value: str, pattern: str) -> str | None:
    """Whether a short text matches a pattern that is plain text, perhaps anchored."""
    plain = plain_pattern(pattern)
    if plain is None or len(pattern) > SHORT_TEXT:
        return None
    text = g.constant(plain.text)
    if plain.begins:
        test = f"{value} == {text}" if plain.ends else f"{value}.startswith({text})"
    else:
        test = f"{value}.endswith({text})" if plain.ends else f"{text} in {value}"
    return f"{test} if type({value}) is str and len({value}) <= {SHORT_TEXT}"
