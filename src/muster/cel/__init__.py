"""CEL, the Common Expression Language: parsed, checked, costed and compiled to Python.

    >>> from muster.cel import DYN, compile_program, environment
    >>> env = environment("standard").with_variables(cluster=DYN)
    >>> program = compile_program('cluster.labels.env == "prod"', env)
    >>> program.evaluate({"cluster": {"labels": {"env": "prod"}}})
    True

Knows nothing of Kubernetes objects; libraries and declarations are plugged in through environments. The folders in the
order they work: syntax/ (text to tree, macros), checking/ (types and overloads), running/ (planner: nothing left to
look up; interpreter: the reference, which remembers every step), generating/ (one Python function); beside them
libraries/ (functions with their costs), costs/ (who charges what, estimates, budgets), reads and program, which ties
them together.

Types and declarations are here at once; the engine is imported with the first name that needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import (
    ANY,
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    opaque,
    optional_of,
    struct,
    type_param,
)
from muster.cel.declarations import Constant, Function, Library, Macro, Overload, Variable
from muster.cel.environment import Env, Limits, ObjectTypes, Options
from muster.lazy import lazy_names
from muster.values.arguments import expected

if TYPE_CHECKING:
    from muster.cel.checking.checker import check, compile_expression
    from muster.cel.checking.unification import displayed
    from muster.cel.costs.compile_budget import COMPILE_LIMIT, CompileBudget
    from muster.cel.costs.operands import SizeHints, SizePath, no_hints
    from muster.cel.costs.ranges import Range
    from muster.cel.environments import NAMES, UnknownEnvironmentError
    from muster.cel.libraries.declare import call, method
    from muster.cel.program import DEFAULT_COST_LIMIT, Program, compile_program, make_program
    from muster.cel.reads import Reads, show_path
    from muster.cel.running.interpreter import Trace
    from muster.cel.running.planner import InvalidProgramError
    from muster.cel.syntax.parser import parse
    from muster.cel.syntax.unparser import unparse
    from muster.cel.values import Duration, OpaqueValue, Timestamp, Uint, check_input

__all__ = [
    "ANY",
    "BOOL",
    "BYTES",
    "COMPILE_LIMIT",
    "DEFAULT_COST_LIMIT",
    "DOUBLE",
    "DURATION",
    "DYN",
    "INT",
    "NAMES",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "UINT",
    "CompileBudget",
    "Constant",
    "Duration",
    "Env",
    "Function",
    "InvalidProgramError",
    "Library",
    "Limits",
    "Macro",
    "ObjectTypes",
    "OpaqueValue",
    "Options",
    "Overload",
    "Program",
    "Range",
    "Reads",
    "SizeHints",
    "SizePath",
    "Timestamp",
    "Trace",
    "Type",
    "Uint",
    "UnknownEnvironmentError",
    "Variable",
    "call",
    "check",
    "check_input",
    "compile_expression",
    "compile_program",
    "displayed",
    "environment",
    "list_of",
    "make_program",
    "map_of",
    "method",
    "no_hints",
    "opaque",
    "optional_of",
    "parse",
    "show_path",
    "struct",
    "type_param",
    "unparse",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "muster.cel.checking.checker": ("check", "compile_expression"),
        "muster.cel.checking.unification": ("displayed",),
        "muster.cel.costs.compile_budget": ("COMPILE_LIMIT", "CompileBudget"),
        "muster.cel.costs.operands": ("SizeHints", "SizePath", "no_hints"),
        "muster.cel.costs.ranges": ("Range",),
        "muster.cel.environments": ("NAMES", "UnknownEnvironmentError"),
        "muster.cel.libraries.declare": ("call", "method"),
        "muster.cel.program": ("DEFAULT_COST_LIMIT", "Program", "compile_program", "make_program"),
        "muster.cel.reads": ("Reads", "show_path"),
        "muster.cel.running.interpreter": ("Trace",),
        "muster.cel.running.planner": ("InvalidProgramError",),
        "muster.cel.syntax.parser": ("parse",),
        "muster.cel.syntax.unparser": ("unparse",),
        "muster.cel.values": ("Duration", "OpaqueValue", "Timestamp", "Uint", "check_input"),
    },
)


def environment(name: str) -> Env:
    """The environment of that name: kubernetes-1.28 to kubernetes-1.37, ocm, olm, muster or standard.

    Raises UnknownEnvironmentError, which lists them. (It is not among the lazy names because a module is called so.)
    """
    from muster.cel.environments import environment as by_name

    return by_name(expected(name, str, "name", "the name of an environment"))
