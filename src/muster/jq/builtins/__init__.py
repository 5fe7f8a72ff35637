"""The builtin functions: those in Python (NATIVES, by name and number of arguments) and those defined in jq text.

A native takes the run's Meter, the input and one value per argument. resolve.py looks functions up here; nothing is
parsed before a query needs it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from muster.jq.builtins import collections, control, maths, regex, strings, times
from muster.jq.builtins.definitions import DEFINITIONS
from muster.jq.syntax.parser import parse
from muster.jq.syntax.tree import Define, Definition
from muster.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NATIVES: Mapping[tuple[str, int], Callable[..., Any]] = {
    **collections.NATIVES,
    **control.NATIVES,
    **maths.NATIVES,
    **regex.NATIVES,
    **strings.NATIVES,
    **times.NATIVES,
}

SPECIAL = (
    "builtins/0", "debug/1", "empty/0", "env/0", "input/0", "inputs/0", "last/1", "modulemeta/0", "path/1",
)  # fmt: skip
"""What resolve.py knows by itself, or knows to refuse."""


@cache
def definition_of(name: str, arity: int) -> Definition | None:
    """The definition of a builtin that is written in jq."""
    text = DEFINITIONS.get(f"{name}/{arity}")
    if text is None:
        return None
    body = parse(Source(text, f"builtin {name}/{arity}")).body
    return body.definitions[0] if isinstance(body, Define) else None


@cache
def _names() -> tuple[str, ...]:
    native = (f"{name}/{arity}" for name, arity in NATIVES)
    return tuple(sorted({name for name in (*native, *DEFINITIONS, *SPECIAL) if not name.startswith("_")}, key=_order))


def _order(name: str) -> tuple[str, int]:
    word, _, arity = name.rpartition("/")
    return word, int(arity)


def all_names() -> list[str]:
    """Every public builtin as name/arity."""
    return list(_names())
