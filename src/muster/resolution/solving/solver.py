"""The rule of decision: breadth first, the first preference that still leaves the rest satisfiable, nothing more.

Works on numbered variables and clauses; knows nothing of bundles. Choices are taken from an agenda that starts with
the mandatory variables. A choice that something chosen already meets is skipped; otherwise its first candidate with
which everything can still be met is chosen, and that candidate's own dependencies join the agenda. When the agenda is
done, everything that was not chosen can be left out: every dependency of what was chosen is met.

Candidates are taken on trust once propagation does not refute them. If that leads to a choice without candidates, the
SAT solver says after which choice the rest had become impossible; that one is taken back for good. The answer is the
same as if the SAT solver had been asked at every step, and it is checked against every clause before it is given.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.resolution.solving.clauses import Choice, Clause, Kind, Solution, violations
from muster.resolution.solving.encoding import encode
from muster.resolution.solving.propagation import FALSE, Propagator
from muster.resolution.solving.sat import Minisat
from muster.resolution.time_limits import GoOn, UndecidedError, always

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.resolution.solving.sat import Literal

_ASK_EVERY = 64  # choices between two looks at the clock


class UnsoundAnswerError(AssertionError):
    """An answer that breaks a clause: a defect of the solver, never shown as an answer."""


def solve(
    variables: int, clauses: Sequence[Clause], go_on: GoOn = always, *, install_optional: bool = True
) -> Solution | None:
    """The one answer, or None if there is none. Raises UndecidedError when the time is up.

    Without `install_optional`, an optional clause is met only by what is chosen for other reasons.
    """
    with ExitStack() as resources:
        search = _Search(variables, clauses, go_on, install_optional, resources)
        if not search.run():
            return None
        solution = search.solution()
    broken = violations(set(solution.chosen), clauses)
    if broken:
        raise UnsoundAnswerError(broken)
    return solution


@dataclass(slots=True)
class _Step:
    """A choice, and how to come back to before it."""

    clause: Clause
    candidates: tuple[int, ...]
    place: int  # which candidate is chosen; past the last one: an optional clause is given up
    mark: int
    agenda: tuple[int, int, int, int]  # how far both agendas were read, and how long they were


class _Search:
    def __init__(
        self, variables: int, clauses: Sequence[Clause], go_on: GoOn, install_optional: bool, resources: ExitStack
    ) -> None:
        self._variables = variables
        self._clauses = clauses
        self._go_on = go_on
        self._install_optional = install_optional
        self._dependencies = _by_subject(clauses, Kind.DEPENDENCY)
        self._optional = _by_subject(clauses, Kind.OPTIONAL)
        self._propagator = Propagator(variables, clauses)
        self._agenda = [clause for clause in clauses if clause.kind is Kind.MANDATORY]
        self._read = 0
        self._wishes: list[Clause] = []  # optional clauses of what is chosen
        self._wishes_read = 0
        self._steps: list[_Step] = []
        self._chosen: set[int] = set()
        self._resources = resources
        self._solver: Minisat | None = None

    def run(self) -> bool:
        """Whether there is an answer."""
        if not self._propagator.consistent:
            return False
        taken = 0
        while (clause := self._next()) is not None:
            taken += 1
            if taken % _ASK_EVERY == 0 and not self._go_on():
                raise UndecidedError
            candidates = (clause.subject,) if clause.kind is Kind.MANDATORY else clause.others
            if any(candidate in self._chosen for candidate in candidates):
                continue
            place = self._first_possible(candidates, 0, wish=clause.kind is Kind.OPTIONAL)
            if not self._take(clause, candidates, place) and not self._step_back():
                return False
        return True

    def solution(self) -> Solution:
        chosen: list[int] = []
        choices: list[Choice] = []
        given_up: list[Clause] = []
        for step in self._steps:
            if step.place == len(step.candidates):
                given_up.append(step.clause)
                continue
            variable = step.candidates[step.place]
            choices.append(Choice(step.clause, variable, step.candidates[: step.place], len(chosen)))
            chosen.append(variable)
        return Solution(tuple(chosen), tuple(choices), tuple(given_up))

    def _next(self) -> Clause | None:
        """What is required first; when all of that stands, one wish."""
        if self._read < len(self._agenda):
            self._read += 1
            return self._agenda[self._read - 1]
        if self._wishes_read < len(self._wishes):
            self._wishes_read += 1
            return self._wishes[self._wishes_read - 1]
        return None

    def _first_possible(self, candidates: Sequence[int], start: int, *, wish: bool) -> int:
        """The place of the first candidate that propagation does not refute; behind the last if there is none."""
        if wish and not self._install_optional:
            return len(candidates)
        values = self._propagator.values
        for place in range(start, len(candidates)):
            if values[candidates[place]] != FALSE and self._holds_together(candidates[place]):
                return place
        return len(candidates)

    def _holds_together(self, candidate: int) -> bool:
        mark = self._propagator.mark()
        if not self._propagator.assume(candidate):
            return False
        self._propagator.undo(mark)
        return True

    def _take(self, clause: Clause, candidates: tuple[int, ...], place: int) -> bool:
        """Choose; False if there is nothing left to choose. A wish can always be given up."""
        before = (self._read, len(self._agenda), self._wishes_read, len(self._wishes))
        if place == len(candidates):
            if clause.kind is not Kind.OPTIONAL:
                return False
            self._steps.append(_Step(clause, candidates, place, self._propagator.mark(), before))
            return True
        chosen = candidates[place]
        self._steps.append(_Step(clause, candidates, place, self._propagator.mark(), before))
        self._propagator.assume(chosen)
        self._chosen.add(chosen)
        self._agenda += self._dependencies.get(chosen, ())
        self._wishes += self._optional.get(chosen, ())
        return True

    def _step_back(self) -> bool:
        """Take back choices to the one that made the rest impossible, and choose the next there. False: no answer."""
        while True:
            wrong = self._first_wrong()
            if wrong is None:
                return False
            step = self._undo_to(wrong)
            place = self._first_possible(step.candidates, step.place + 1, wish=step.clause.kind is Kind.OPTIONAL)
            if self._take(step.clause, step.candidates, place):
                return True

    def _undo_to(self, number: int) -> _Step:
        for step in reversed(self._steps[number:]):
            if step.place < len(step.candidates):
                self._chosen.discard(step.candidates[step.place])
        step = self._steps[number]
        del self._steps[number:]
        self._propagator.undo(step.mark)
        self._read, agenda, self._wishes_read, wishes = step.agenda
        del self._agenda[agenda:]
        del self._wishes[wishes:]
        return step

    def _first_wrong(self) -> int | None:
        """The first choice after which there is no answer any more; None if there never was one."""
        made = [
            (number, step.candidates[step.place] + 1)
            for number, step in enumerate(self._steps)
            if step.place < len(step.candidates)
        ]
        sat = self._sat()
        if not sat.solve():
            return None
        literals = [literal for _, literal in made]
        possible, impossible = 0, len(made)  # so many of the choices can, so many cannot stand together
        if sat.solve(literals):
            raise UnsoundAnswerError("a dead end that is none")
        impossible = _last_needed(literals, sat.core())
        while possible < impossible - 1:
            middle = (possible + impossible) // 2
            if sat.solve(literals[:middle]):
                possible = middle
            else:
                impossible = _last_needed(literals, sat.core())
        return made[impossible - 1][0]

    def _sat(self) -> Minisat:
        """The SAT solver with the whole problem; made when it is first needed."""
        if self._solver is None:
            self._solver = self._resources.enter_context(Minisat(self._go_on))
            encode(self._solver, self._variables + 1, self._clauses)
        return self._solver


def _last_needed(literals: Sequence[Literal], core: Iterable[Literal]) -> int:
    """How many of the literals suffice for the contradiction."""
    needed = set(core)
    return max(place for place, literal in enumerate(literals, 1) if literal in needed)


def _by_subject(clauses: Iterable[Clause], kind: Kind) -> dict[int, list[Clause]]:
    found: dict[int, list[Clause]] = {}
    for clause in clauses:
        if clause.kind is kind:
            found.setdefault(clause.subject, []).append(clause)
    return found
