"""Resolving: a request in, one of four outcomes out. Same request, same outcome, to the letter.

Time is not read here: whoever wants a limit passes a function that says whether to go on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from muster.reasons import sentence
from muster.resolution.catalog.bundles import Entry
from muster.resolution.request import OptionalPolicy
from muster.resolution.solving.conflicts import minimal_conflict
from muster.resolution.solving.problem import Problem, RefusedInputError, build_problem
from muster.resolution.solving.solver import solve
from muster.resolution.telling.plan import Plan, make_plan
from muster.resolution.telling.reasons import reason_of
from muster.resolution.telling.upstream_words import clause_text
from muster.resolution.time_limits import GoOn, UndecidedError, always

if TYPE_CHECKING:
    from muster.reasons import Reason
    from muster.resolution.request import Request
    from muster.resolution.solving.clauses import Clause, Solution


@dataclass(frozen=True)
class Resolved:
    """There is an answer."""

    problem: Problem
    solution: Solution

    @cached_property
    def plan(self) -> Plan:
        return make_plan(self.problem, self.solution)


@dataclass(frozen=True)
class Impossible:
    """There is none. `story.py` tells why, `fixes.py` what would help."""

    problem: Problem
    go_on: GoOn = always

    @cached_property
    def upstream_text(self) -> str:
        """The conflict in upstream's words and granularity."""
        identifiers = self.problem.identifiers()
        texts = {clause_text(clause, identifiers) for clause in self.conflict}
        return "constraints not satisfiable: " + ", ".join(sorted(texts))

    @cached_property
    def conflict(self) -> list[Clause]:
        """Clauses that exclude each other, none of which could be left out."""
        clauses = self.problem.clauses
        found = minimal_conflict(len(self.problem.variables), clauses, id, go_on=self.go_on)
        members = set(found if found is not None else ())
        return [clause for clause in clauses if id(clause) in members]

    @cached_property
    def reasons(self) -> tuple[Reason, ...]:
        """The conflict for programs, clause by clause."""
        return tuple(dict.fromkeys(reason_of(clause, self.problem) for clause in self.conflict))


@dataclass(frozen=True, slots=True)
class Undecided:
    """The time was up. Nothing is known."""


@dataclass(frozen=True, slots=True)
class Refused:
    """OLM v0's dialect only: a fault in the input fails everything."""

    reason: Reason

    @property
    def text(self) -> str:
        return sentence(self.reason)


Outcome: TypeAlias = Resolved | Impossible | Undecided | Refused


def resolve(request: Request, go_on: GoOn = always) -> Outcome:
    """Find the operators that meet every want and requirement, by preference, and nothing more than needed."""
    try:
        problem = build_problem(request, go_on)
        solution = solve(
            len(problem.variables),
            problem.clauses,
            go_on,
            install_optional=request.optional is OptionalPolicy.INSTALL,
        )
    except RefusedInputError as error:
        return Refused(error.reason)
    except UndecidedError:
        return Undecided()
    if solution is None:
        return Impossible(problem, go_on)
    outcome = Resolved(problem, solution)
    if request.upstream and (unnamed := _without_origin(outcome)):
        text = f"error determining origin of operator: unable to parse identifier {unnamed} for source info"
        return Refused(RefusedInputError(text).reason)
    return outcome


def _without_origin(outcome: Resolved) -> str:
    """Upstream takes identifiers apart at slashes, and loses a bundle whose channel has one in its name."""
    identifiers = outcome.problem.identifiers()
    chosen = (number for number in outcome.solution.chosen if isinstance(outcome.problem.variables[number], Entry))
    return next((identifiers[number] for number in chosen if identifiers[number].count("/") != 3), "")
