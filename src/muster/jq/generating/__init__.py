"""Python code for a resolved query. program.py calls `generate`, and nobody anything else.

Reading order: scope, cardinality, writer, base, generator, single_outputs, expressions, short_forms, inlined_builtins,
runtime.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from muster.jq.errors import Break, JqError
from muster.jq.generating import runtime
from muster.jq.generating.generator import Generator
from muster.jq.generating.writer import Module, TooLargeError
from muster.jq.running.reference import Closure
from muster.jq.values import arithmetic, indexing, ordering, paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.resolving.resolve import ResolvedQuery
    from muster.jq.values.value import Value

__all__ = ["GeneratedCode", "generate"]

_NAMESPACE: dict[str, Value] = {
    "__builtins__": {},  # generated code reaches what stands here, and nothing else
    **{kind.__name__: kind for kind in (dict, int, list, object, str, type)},
    "len": len,
    "next": next,
    **{
        name: getattr(module, name)
        for module, names in (
            (arithmetic, ("add", "subtract", "multiply", "divide", "modulo")),
            (ordering, ("equal", "not_equal", "less", "less_or_equal", "greater", "greater_or_equal")),
            (indexing, ("index", "slice_of", "members", "members_or_nothing", "range_values")),
            (
                runtime,
                (
                    "MISSING", "array_or_null", "evaluate", "evaluate_paths", "keyed", "recurse_all", "recurse_by",
                    "sorted_items", "string_key",
                ),
            ),
        )
        for name in names
    },
    "get_path": paths.get_path,
    "set_path": paths.set_path,
    "delete_paths": paths.delete_paths,
    "JqError": JqError,
    "Break": Break,
    "Closure": Closure,
}  # fmt: skip


_LONGEST_KEPT = 8192  # characters of a source


@dataclass(frozen=True, slots=True)
class GeneratedCode:
    """`main(meter, input, *variables)`: the one output when `single`, else a generator of all."""

    main: Callable[..., Any]
    single: bool
    source: str


def _code(source: str) -> tuple[CodeType, ...]:
    """The code of the functions in the source."""
    # It is made of our own names and keywords only; whatever the user wrote is data in the namespace.
    module = compile(source, "<jq>", "exec")
    return tuple([each for each in module.co_consts if isinstance(each, CodeType)])


_kept_code = lru_cache(maxsize=256)(_code)
"""Queries that differ only in their constants have one source."""


def generate(query: ResolvedQuery) -> GeneratedCode | None:
    """None for a query that is too large to be written out: the reference evaluator runs it."""
    module = Module(dict(_NAMESPACE))
    try:
        name, single = Generator(module).program(query.body, query.globals)
        source = "\n\n".join(module.functions)
        functions = _kept_code(source) if len(source) <= _LONGEST_KEPT else _code(source)
    except (TooLargeError, RecursionError, SyntaxError, MemoryError):
        return None
    for code in functions:
        # A copy: CPython notes in code where its globals are, which programs that share it would dispute in turns.
        module.namespace[code.co_name] = FunctionType(code.replace(), module.namespace)
    return GeneratedCode(module.namespace[name], single, source)
