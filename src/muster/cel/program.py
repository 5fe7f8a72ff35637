"""Compile once, evaluate often: the door to the engine.

`compile_program` parses, checks, plans and generates; programs are kept, within bounds, by environment and text.
A Program is immutable and may be shared. It knows what it reads and what it may cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from muster.cel.checking.checker import compile_expression
from muster.cel.costs.charging import Charging, charging_of
from muster.cel.costs.compile_budget import budget_of, limited
from muster.cel.costs.estimate import estimate_cost, part_costs
from muster.cel.costs.operands import SizeHints, no_hints
from muster.cel.environment import AN_ENVIRONMENT, Env
from muster.cel.generating import generate
from muster.cel.reads import reads_of
from muster.cel.running.interpreter import Trace, interpret
from muster.cel.running.planner import plan
from muster.errors import BudgetExceededError, EvaluationError, InvalidObjectError
from muster.values.arguments import expected
from muster.values.arguments import text as whole_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.checking.types import Type
    from muster.cel.costs.compile_budget import CompileBudget
    from muster.cel.costs.ranges import Range
    from muster.cel.reads import Reads
    from muster.cel.running.plan import Plan
    from muster.cel.syntax.tree import CheckedTree
    from muster.cel.values.value import Value
    from muster.values.paths import Path

DEFAULT_COST_LIMIT = 1_000_000  # per evaluation, as Kubernetes has it
CACHED_PROGRAMS = 2048
CACHED_UNITS = 250_000  # of compiling, see compile_budget.py: some 600 ordinary programs, or six of the largest


@dataclass(frozen=True)
class Program:
    """An expression, ready to run.

    `run(variables, cost_limit)` is the generated function itself: it gives (value, cost), and an error as a value of
    class EvaluationError instead of raising it. `evaluate` raises.
    """

    text: str
    env: Env
    tree: CheckedTree = field(repr=False)
    plan: Plan = field(repr=False)
    charging: Charging = field(repr=False)
    run: Callable[[Mapping[str, Value], int], tuple[Value, int]] = field(repr=False)
    compile_units: int = field(default=0, repr=False)  # of the budget that compiling took

    def evaluate(self, variables: Mapping[str, Value], cost_limit: int = DEFAULT_COST_LIMIT) -> Value:
        """The value. Raises EvaluationError, and BudgetExceededError when a limit is reached."""
        expected(variables, Mapping, "variables", "a mapping of names to values")
        expected(cost_limit, int, "cost_limit", "a number")
        value, _ = self.run(variables, cost_limit)
        if isinstance(value, EvaluationError):
            if isinstance(value, BudgetExceededError):
                raise value
            # A new one: the value may be remembered or a constant, and would grow with each time that it is raised.
            raise EvaluationError(value.message, value.kind, value.about)
        return value

    def cost(self, variables: Mapping[str, Value], cost_limit: int = DEFAULT_COST_LIMIT) -> int:
        """What evaluating these variables costs."""
        expected(variables, Mapping, "variables", "a mapping of names to values")
        expected(cost_limit, int, "cost_limit", "a number")
        return self.run(variables, cost_limit)[1]

    def trace(self, variables: Mapping[str, Value], cost_limit: int | None = DEFAULT_COST_LIMIT) -> Trace:
        """The evaluation step by step, by the interpreter."""
        expected(variables, Mapping, "variables", "a mapping of names to values")
        if cost_limit is not None:
            expected(cost_limit, int, "cost_limit", "a number, or None")
        return interpret(self.plan, variables, None, cost_limit, self.charging.work_limit)

    def estimate(self, sizes: SizeHints = no_hints) -> Range:
        """The least and greatest cost, given what is known of the sizes of the inputs."""
        return estimate_cost(self.tree, self.env, self.charging, _hints(sizes))

    def part_estimates(self, sizes: SizeHints = no_hints) -> Mapping[int, Range]:
        """The same for every part of the expression, by the id of its node."""
        return part_costs(self.tree, self.env, self.charging, _hints(sizes))

    @property
    def result_type(self) -> Type:
        return self.tree.result_type

    @property
    def reads(self) -> frozenset[Path]:
        """The parts of the variables that the result can depend on."""
        return self.all_reads.paths

    @cached_property
    def all_reads(self) -> Reads:
        """Those, and what only the cost can depend on; see reads.py."""
        return reads_of(self.plan)


def _hints(sizes: SizeHints) -> SizeHints:
    if not callable(sizes):
        raise InvalidObjectError("sizes", "expected a function from a path and a type to a Range or None")
    return sizes


def make_program(text: str, env: Env, charging: Charging | None = None, budget: CompileBudget | None = None) -> Program:
    """Compile without looking at or adding to the programs that are kept."""
    expected(env, Env, "env", AN_ENVIRONMENT)
    charging = charging_of(env) if charging is None else expected(charging, Charging, "charging", "a Charging")
    budget = budget_of(budget)
    before = budget.spent
    tree = compile_expression(text, env, budget)
    optimize = charging.optimize or env.options.optimize
    planned = plan(tree, env, charging, optimize, charging.lenient, budget)
    with limited(budget, tree.tree.source):
        run = generate(planned, tree.types, charging.work_limit, budget)
    return Program(text, env, tree, planned, charging, run, budget.spent - before)


class _KeptPrograms:
    """The programs that were used last: so many, and no more than took so many units to compile.

    Units are a measure of size: a text of a few hundred characters can become a tree of ten thousand nodes.
    """

    def __init__(self, most: int, most_units: int) -> None:
        self._most = most
        self._most_units = most_units
        # An environment is known by identity: comparing contents costs more than compiling. Programs keep theirs alive.
        # Several threads may come here: each step below is one that no other thread can come between.
        self._programs: dict[tuple[str, int], Program] = {}

    def get(self, text: str, env: Env) -> Program | None:
        program = self._programs.pop((text, id(env)), None)
        if program is not None:
            self._programs[text, id(env)] = program  # the last in line is the one that goes last
        return program

    def put(self, program: Program) -> None:
        self._programs.pop((program.text, id(program.env)), None)
        self._programs[program.text, id(program.env)] = program
        kept = list(self._programs.items())
        units = sum(each.compile_units for _, each in kept)
        for number, (key, oldest) in enumerate(kept):
            if units <= self._most_units and len(kept) - number <= self._most:
                return
            self._programs.pop(key, None)
            units -= oldest.compile_units


_KEPT = _KeptPrograms(CACHED_PROGRAMS, CACHED_UNITS)


def compile_program(text: str, env: Env, budget: CompileBudget | None = None) -> Program:
    """The program of an expression. Raises InvalidExpressionError with every diagnostic.

    A program that is kept takes as much of the budget as when it was made: what is admitted does not depend on what
    others have compiled before.
    """
    whole_text(text, "text", "an expression as text")
    expected(env, Env, "env", AN_ENVIRONMENT)
    budget = budget_of(budget)
    program = _KEPT.get(text, env)
    if program is None:
        program = make_program(text, env, budget=budget)
        _KEPT.put(program)
    else:
        with limited(budget, program.tree.tree.source):
            budget.spend(program.compile_units)
    return program
