"""Compile once, evaluate often: the door to the engine.

`compile_program` parses, checks, plans and generates; programs are kept, within bounds, by environment and text.
A Program is immutable and may be shared. It knows what it reads and what it may cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from muster.cel.charging import Charging, charging_of
from muster.cel.checker import compile_expression
from muster.cel.codegen import generate
from muster.cel.compile_budget import CompileBudget, limited
from muster.cel.cost_estimate import SizeHints, estimate_cost, no_hints, part_costs
from muster.cel.interpreter import Trace, interpret
from muster.cel.planner import plan
from muster.cel.reads import reads_of
from muster.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.cel.environment import Env
    from muster.cel.plan import Plan
    from muster.cel.ranges import Range
    from muster.cel.reads import ReadPath
    from muster.cel.tree import CheckedTree
    from muster.cel.types import Type

DEFAULT_COST_LIMIT = 1_000_000  # per evaluation, as Kubernetes has it
CACHED_PROGRAMS = 2048


@dataclass(frozen=True)
class Program:
    """An expression, ready to run.

    `run(variables, cost_limit)` is the generated function itself: it gives (value, cost), and an error as a value of
    class EvaluationError instead of raising it. `evaluate` raises.
    """

    text: str
    env: Env
    tree: CheckedTree
    plan: Plan
    charging: Charging
    run: Callable[[Mapping[str, Any], int], tuple[Any, int]] = field(repr=False)
    compile_units: int = 0  # of the budget that compiling took

    def evaluate(self, variables: Mapping[str, Any], cost_limit: int = DEFAULT_COST_LIMIT) -> Any:
        """The value. Raises EvaluationError, and BudgetExceededError when a limit is reached."""
        value, _ = self.run(variables, cost_limit)
        if isinstance(value, EvaluationError):
            raise value
        return value

    def cost(self, variables: Mapping[str, Any], cost_limit: int = DEFAULT_COST_LIMIT) -> int:
        """What evaluating these variables costs."""
        return self.run(variables, cost_limit)[1]

    def trace(self, variables: Mapping[str, Any], cost_limit: int | None = DEFAULT_COST_LIMIT) -> Trace:
        """The evaluation step by step, by the interpreter."""
        return interpret(self.plan, variables, None, cost_limit, self.charging.costs.work_limit)

    def estimate(self, sizes: SizeHints = no_hints) -> Range:
        """The least and greatest cost, given what is known of the sizes of the inputs."""
        return estimate_cost(self.tree, self.charging.estimates, sizes)

    def part_estimates(self, sizes: SizeHints = no_hints) -> Mapping[int, Range]:
        """The same for every part of the expression, by the id of its node."""
        return part_costs(self.tree, self.charging.estimates, sizes)

    @property
    def result_type(self) -> Type:
        return self.tree.result_type

    @cached_property
    def reads(self) -> frozenset[ReadPath]:
        """The parts of the variables that the result can depend on; see reads.py."""
        return reads_of(self.plan)


def make_program(text: str, env: Env, charging: Charging | None = None, budget: CompileBudget | None = None) -> Program:
    """Compile without looking at or adding to the programs that are kept."""
    charging = charging or charging_of(env)
    budget = budget or CompileBudget()
    before = budget.spent
    tree = compile_expression(text, env, budget)
    optimize = charging.optimize or env.options.optimize
    planned = plan(tree, env, charging.costs, optimize, charging.lenient, budget)
    with limited(budget, tree.tree.source):
        run = generate(planned, tree.types, charging.costs.work_limit, budget)
    return Program(text, env, tree, planned, charging, run, budget.spent - before)


class _Key:
    """An environment by identity: comparing environments by content would cost more than compiling."""

    __slots__ = ("budget", "env")

    def __init__(self, env: Env, budget: CompileBudget | None) -> None:
        self.env = env
        self.budget = budget  # for making the program, and forgotten then

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.env is other.env

    def __hash__(self) -> int:
        return id(self.env)


@lru_cache(maxsize=CACHED_PROGRAMS)
def _kept(text: str, key: _Key) -> Program:
    budget, key.budget = key.budget, None
    return make_program(text, key.env, budget=budget)


def compile_program(text: str, env: Env, budget: CompileBudget | None = None) -> Program:
    """The program of an expression. Raises InvalidExpressionError with every diagnostic.

    A program that is kept takes as much of the budget as when it was made: what is admitted does not depend on what
    others have compiled before.
    """
    budget = budget or CompileBudget()
    before = budget.left
    program = _kept(text, _Key(env, budget))
    if budget.left == before:
        with limited(budget, program.tree.tree.source):
            budget.spend(program.compile_units)
    return program
