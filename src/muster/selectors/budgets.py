"""One budget for compiling all CEL expressions of an object, handed to the language's compiler.

Whoever admits an object makes one; Placement's expressions and the rules of a Resolution are compiled with it. The
language counts; this module is the seam to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import muster.cel
from muster.cel.program import compile_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.environment import Env
    from muster.cel.program import Program

Budget = Any  # muster.cel.CompileBudget, or None: then every expression has its own


def object_budget() -> Budget:
    """A fresh budget for one object."""
    made: Callable[[], Any] | None = getattr(muster.cel, "CompileBudget", None)
    return None if made is None else made()


def compile_within(text: str, env: Env, budget: Budget = None) -> Program:
    """The program of an expression. Raises InvalidExpressionError, also for a budget that is spent."""
    compiling: Callable[..., Program] = compile_program
    return compiling(text, env) if budget is None else compiling(text, env, budget=budget)


def is_spent(budget: Budget) -> bool:
    """Whether it ran out, so that the last fault says nothing of its expression alone."""
    return budget is not None and budget.left < 0
