"""The SAT solver behind a small protocol of our own, so that the library can be changed.

MiniSat 2.2 by python-sat: fastest of those measured, and the answer of the resolver does not depend on which it is.
Time is limited without a thread: the solver works in slices of conflicts and asks between them whether to go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, Self, TypeAlias

from pysat.solvers import Minisat22

from muster.resolution.time_limits import GoOn, UndecidedError, always
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType


Literal: TypeAlias = int
_SLICE: Final = 2_000  # conflicts


class Sat(Protocol):
    """Clauses, questions under assumptions, and what a yes or a no is made of."""

    def add(self, clause: Iterable[Literal]) -> None: ...

    def solve(self, assumptions: Sequence[Literal] = ()) -> bool: ...

    def core(self) -> list[Literal]: ...


class Minisat:
    """A Sat of python-sat's MiniSat 2.2. Use it in a `with` block: the memory is not Python's."""

    def __init__(self, go_on: GoOn = always) -> None:
        self._solver: Json = Minisat22()  # the library has no type hints
        self._go_on = go_on

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._solver.delete()

    def add(self, clause: Iterable[Literal]) -> None:
        self._solver.add_clause(clause)

    def solve(self, assumptions: Sequence[Literal] = ()) -> bool:
        """Whether the clauses and assumptions can all be met. Raises UndecidedError."""
        if not self._go_on():
            raise UndecidedError
        while True:
            self._solver.conf_budget(_SLICE)
            answer = self._solver.solve_limited(assumptions=assumptions)
            if answer is not None:
                return bool(answer)
            if not self._go_on():
                raise UndecidedError

    def core(self) -> list[Literal]:
        """Assumptions that suffice for the last no."""
        found = self._solver.get_core()
        return list(found) if found is not None else []
