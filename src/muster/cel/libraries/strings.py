"""cel-go's extended strings library, in its versions 0 to 5.

Version 1 brought format and quote, 2 a stricter join, 3 reverse, 4 formatting without locales, 5 a limit on precision
and costs. Kubernetes takes an earlier one and charges by the names of the functions, differently for most of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.cel.checking.types import DYN, STRING, list_of
from muster.cel.checking.validators import CLAUSES, OLD_CLAUSES, format_literals
from muster.cel.costs.charge import LANGUAGE, Charge
from muster.cel.costs.formulas import FIRST_WALKED
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import Range, wrapped
from muster.cel.costs.runtime import TRAVERSAL
from muster.cel.declarations import Function, Library
from muster.cel.libraries import formatting, go_formatting, text_changes, text_parts
from muster.cel.libraries.declare import call, method, uncharged

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value

LATEST = 5
_QUOTED = str.maketrans(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        '"': r"\"",
    }
)


def quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


def _quote_size(_: Operand | None, args: Arguments) -> CallEstimate:
    size = args[0].known_size()
    return CallEstimate(size.scaled(TRAVERSAL), Range(wrapped(size.min + 2), wrapped(size.max * 2 + 2)))


def _format_size(target: Operand | None, _: Arguments) -> CallEstimate | None:
    return CallEstimate(target.known_size().scaled(TRAVERSAL)) if target is not None else None


_QUOTED_COST = {LANGUAGE: Charge(FIRST_WALKED, _quote_size)}
_FORMATTED = {LANGUAGE: Charge(FIRST_WALKED, _format_size)}
_QUOTE = Function(
    "strings.quote",
    (call("strings_quote", (STRING,), STRING, quote, charges=_QUOTED_COST),),
    doc="The text in double quotes, with escapes, as it could stand in an expression.",
    examples={r"strings.quote('a \"b\"')": r'"a \"b\""'},
)


def _format(implementation: Callable[..., str], examples: dict[str, Value]) -> Function:
    return Function(
        "format",
        (method("string_format", (STRING, list_of(DYN)), STRING, implementation, metered=True, charges=_FORMATTED),),
        doc="Fills in %s, %d, %f, %e, %b, %x, %X and %o from a list; %.3f sets the digits behind the point.",
        examples=examples,
    )


_FORMAT_EXAMPLES: dict[str, Value] = {
    "'%s has %d nodes'.format(['eu', 3])": "eu has 3 nodes",
    "'%x'.format([255])": "ff",
}


def strings_library(version: int = LATEST, *, charged: bool = True) -> Library:
    """The library as it was in that version; `charged` False is for who charges as Kubernetes does, by names only."""
    functions: list[Function] = [*text_parts.FUNCTIONS, *text_changes.FUNCTIONS]
    validators: tuple[Callable[..., Any], ...] = ()
    if version >= 4:
        limit = 100 if version >= 5 else 0
        functions.append(
            _format(formatting.format_with(limit), {**_FORMAT_EXAMPLES, "'%.2f'.format([1234.5])": "1234.50"})
        )
        validators = (format_literals(formatting.interpolate, formatting.refusal, CLAUSES, limit),)
    elif version >= 1:
        localized = {**_FORMAT_EXAMPLES, "'%.2f'.format([1234.5])": "1,234.50"}
        functions.append(_format(go_formatting.localized_format, localized))
        validators = (format_literals(formatting.interpolate, go_formatting.refusal, OLD_CLAUSES),)
    if version >= 1:
        functions.append(_QUOTE)
    if version >= 3:
        functions.append(text_changes.REVERSE)
    if version < 5 or not charged:
        functions = list(map(uncharged, functions))
    return Library("cel.lib.ext.strings", tuple(functions), validators=validators)
