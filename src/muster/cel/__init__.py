"""CEL, the Common Expression Language: parsed, checked, costed and compiled to Python.

    from muster.cel import compile_program, environment

    program = compile_program('cluster.labels.env == "prod"', environment("standard").extend(
        variables=[Variable("cluster", DYN)]))
    program.evaluate({"cluster": {"labels": {"env": "prod"}}})    # True

Knows nothing of Kubernetes objects; libraries and declarations are plugged in through environments. The folders in the
order they work: syntax/ (text to tree, macros), checking/ (types and overloads), running/ (planner: nothing left to
look up; interpreter: the reference, which remembers every step), generating/ (one Python function); beside them
libraries/ (functions with their costs), costs/ (who charges what, estimates, budgets), reads and program, which ties
them together.
"""

from muster.cel.checking.checker import check, compile_expression
from muster.cel.checking.unification import displayed
from muster.cel.costs.compile_budget import COMPILE_LIMIT, CompileBudget
from muster.cel.costs.operands import SizeHints, SizePath, no_hints
from muster.cel.costs.ranges import Range
from muster.cel.declarations import Constant, Function, Library, Macro, Overload, Variable
from muster.cel.environment import Env, Limits, ObjectTypes, Options
from muster.cel.environments import NAMES, UnknownEnvironmentError, environment
from muster.cel.program import DEFAULT_COST_LIMIT, Program, compile_program, make_program
from muster.cel.reads import Reads, show_path
from muster.cel.running.interpreter import Trace
from muster.cel.running.planner import InvalidProgramError
from muster.cel.syntax.parser import parse
from muster.cel.syntax.unparser import unparse

__all__ = [
    "COMPILE_LIMIT",
    "DEFAULT_COST_LIMIT",
    "NAMES",
    "CompileBudget",
    "Constant",
    "Env",
    "Function",
    "InvalidProgramError",
    "Library",
    "Limits",
    "Macro",
    "ObjectTypes",
    "Options",
    "Overload",
    "Program",
    "Range",
    "Reads",
    "SizeHints",
    "SizePath",
    "Trace",
    "UnknownEnvironmentError",
    "Variable",
    "check",
    "compile_expression",
    "compile_program",
    "displayed",
    "environment",
    "make_program",
    "no_hints",
    "parse",
    "show_path",
    "unparse",
]
