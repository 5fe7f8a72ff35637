"""What follows at once from a choice, kept up to date and taken back in order.

Plain unit propagation over the clauses, with one counter per list of candidates: how many are still possible. Most
preferred candidates that cannot be are refuted by it, and most problems are solved without asking the SAT solver.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.resolution.solving.clauses import Clause, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

UNKNOWN: Final = 0
TRUE: Final = 1
FALSE: Final = 2


class Propagator:
    """Values of variables under the choices made so far. `consistent` is false if the clauses alone contradict."""

    def __init__(self, variables: int, clauses: Sequence[Clause]) -> None:
        self.values = bytearray(variables)
        self._trail: list[int] = []
        self._lists: list[tuple[int, ...]] = []  # distinct lists of candidates
        self._subjects: list[list[int]] = []  # who depends on a list
        self._possible: list[int] = []  # how many of a list are not false
        self._needs: list[list[int]] = [[] for _ in range(variables)]  # the lists a variable depends on
        self._listed: list[list[int]] = [[] for _ in range(variables)]  # the lists a variable is in
        self._conflicts: list[list[int]] = [[] for _ in range(variables)]
        self._groups: list[tuple[tuple[int, ...], int]] = []  # members, most
        self._counts: list[int] = []  # how many members are true
        self._in_groups: list[list[int]] = [[] for _ in range(variables)]
        units = self._index(clauses)
        self.consistent = all(self.assume(variable, value) for variable, value in units)

    def _index(self, clauses: Sequence[Clause]) -> list[tuple[int, int]]:
        numbers: dict[tuple[int, ...], int] = {}
        units: list[tuple[int, int]] = []
        for clause in clauses:
            match clause.kind:
                case Kind.MANDATORY:
                    units.append((clause.subject, TRUE))
                case Kind.PROHIBITED:
                    units.append((clause.subject, FALSE))
                case Kind.DEPENDENCY:
                    if not clause.others:
                        units.append((clause.subject, FALSE))
                        continue
                    number = numbers.get(clause.others)
                    if number is None:
                        number = numbers[clause.others] = self._add_list(clause.others)
                    self._needs[clause.subject].append(number)
                    self._subjects[number].append(clause.subject)
                case Kind.CONFLICT:
                    for other in clause.others:
                        self._conflicts[clause.subject].append(other)
                        self._conflicts[other].append(clause.subject)
                case Kind.AT_MOST:
                    for other in dict.fromkeys(clause.others):
                        self._in_groups[other].append(len(self._groups))
                    self._groups.append((clause.others, clause.most))
                    self._counts.append(0)
                    if clause.most <= 0:
                        units += [(other, FALSE) for other in clause.others]
                case Kind.OPTIONAL:
                    pass
        return units

    def _add_list(self, others: tuple[int, ...]) -> int:
        number = len(self._lists)
        self._lists.append(others)
        self._subjects.append([])
        self._possible.append(len(set(others)))
        for other in dict.fromkeys(others):
            self._listed[other].append(number)
        return number

    def mark(self) -> int:
        """A point to come back to."""
        return len(self._trail)

    def assume(self, variable: int, value: int = TRUE) -> bool:
        """Give a variable a value with all that follows; False, and nothing changed, if that cannot be."""
        mark = len(self._trail)
        if self._spread(variable, value):
            return True
        self.undo(mark)
        return False

    def undo(self, mark: int) -> None:
        """Take back everything since the mark."""
        while len(self._trail) > mark:
            variable = self._trail.pop()
            if self.values[variable] == FALSE:
                for number in self._listed[variable]:
                    self._possible[number] += 1
            else:
                for group in self._in_groups[variable]:
                    self._counts[group] -= 1
            self.values[variable] = UNKNOWN

    def _spread(self, variable: int, value: int) -> bool:
        """Everything is counted as soon as it has a value, so that taking back is always whole."""
        values = self.values
        if values[variable] != UNKNOWN:
            return values[variable] == value
        pending = [variable]
        self._set(variable, value)
        while pending:
            current = pending.pop()
            follows = self._after_true(current) if values[current] == TRUE else self._after_false(current)
            if follows is None:
                return False
            for other, wanted in follows:
                if values[other] == UNKNOWN:
                    self._set(other, wanted)
                    pending.append(other)
                elif values[other] != wanted:
                    return False
        return True

    def _set(self, variable: int, value: int) -> None:
        self.values[variable] = value
        self._trail.append(variable)
        if value == FALSE:
            possible = self._possible
            for number in self._listed[variable]:
                possible[number] -= 1
        else:
            for group in self._in_groups[variable]:
                self._counts[group] += 1

    def _after_true(self, variable: int) -> list[tuple[int, int]] | None:
        """What a choice brings and excludes; None if it cannot be."""
        follows = [(other, FALSE) for other in self._conflicts[variable]]
        values = self.values
        for group in self._in_groups[variable]:
            members, most = self._groups[group]
            if self._counts[group] > most:
                return None
            if self._counts[group] == most:
                follows += [(other, FALSE) for other in members if values[other] == UNKNOWN]
        for number in self._needs[variable]:
            if self._possible[number] == 0:
                return None
            if self._possible[number] == 1:
                follows.append((self._last(number), TRUE))
        return follows

    def _after_false(self, variable: int) -> list[tuple[int, int]] | None:
        """Lists that are down to one or none decide those who depend on them."""
        follows: list[tuple[int, int]] = []
        values = self.values
        for number in self._listed[variable]:
            possible = self._possible[number]
            if possible > 1:
                continue
            if possible == 0:
                for subject in self._subjects[number]:
                    if values[subject] == TRUE:
                        return None
                    if values[subject] == UNKNOWN:
                        follows.append((subject, FALSE))
            elif any(values[subject] == TRUE for subject in self._subjects[number]):
                follows.append((self._last(number), TRUE))
        return follows

    def _last(self, number: int) -> int:
        return next(other for other in self._lists[number] if self.values[other] != FALSE)
