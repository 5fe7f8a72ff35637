"""What is looked at on each object: an expression's value, or what a selector says. Compiled once for a question.

A look is a function of what it reads, and says what that is, so that objects which are equal there are looked at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
from muster.errors import BudgetExceededError, EvaluationError, FailureKind
from muster.fleet.fleet import MOST_COLUMNS
from muster.questions.shown import shown
from muster.selectors import Verdict
from muster.selectors.cel import CelSelector, path_of
from muster.selectors.match import ANY_SIZE
from muster.selectors.paths import WHOLE
from muster.selectors.specs import AllOf
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muster.cel.program import Program
    from muster.cel.values.value import Value
    from muster.selectors import Match, Selector
    from muster.selectors.paths import Path

    View = Callable[[JsonMapping], JsonMapping]

MATCHED, UNMATCHED, FAILED = "Matched", "Unmatched", "Failed"
_HEAVY: Final = 10_000  # units of cost: some milliseconds
_VERDICTS: Final = {Verdict.YES: MATCHED, Verdict.NO: UNMATCHED, Verdict.ERROR: FAILED}


class Outcome(NamedTuple):
    """What came of one look. It holds for all objects that are equal in what was read and have at most `up_to` bytes:
    what evaluation costs can depend on the rest of an object, and a budget that was exhausted is one object's."""

    verdict: str
    value: bytes = b""  # as it is shown; nothing where there is none
    cost: int = 0
    up_to: int = ANY_SIZE
    error: str = ""  # the kind of failure


class Look(Protocol):
    """Something to look at on every object."""

    @property
    def reads(self) -> tuple[Path, ...] | None:
        """What it depends on; None for the whole object."""

    @property
    def is_heavy(self) -> bool:
        """Whether a look at one object may take so long that nobody should wait for it."""

    def __call__(self, obj: JsonMapping) -> Outcome: ...

    def why(self, obj: JsonMapping) -> str:
        """Why an object does not match, or failed, in words; nothing if there is nothing to say."""


def _is_heavy(program: Program) -> bool:
    return program.estimate(managed_cluster_sizes).max > _HEAVY


def _columns(reads: frozenset[Path]) -> tuple[Path, ...] | None:
    return None if WHOLE in reads or len(reads) > MOST_COLUMNS else tuple(sorted(reads, key=repr))


class ExpressionLook:
    """The value of an expression. A condition matches where it is true; anything else wherever it has a value."""

    def __init__(self, program: Program, selector: CelSelector | None, view: View, limit: int) -> None:
        """`selector` says why the expression is false, and how far what was found holds: else for its object only."""
        self.program = program
        self.limit = limit
        self.reads = _columns(frozenset(path_of(each) for each in program.reads))
        self.is_heavy = _is_heavy(program)
        self._selector = selector
        self._view = view

    def __call__(self, obj: JsonMapping) -> Outcome:
        value, cost = self._run(obj)
        if isinstance(value, EvaluationError):
            is_own = isinstance(value, BudgetExceededError) or value.kind is FailureKind.INTERNAL
            return Outcome(FAILED, b"", cost, 0 if is_own else self._reach(cost), value.kind.value)
        if value is False:
            return Outcome(UNMATCHED, b"false", cost, self._reach(cost))
        return Outcome(MATCHED, b"true" if value is True else shown(value), cost, self._reach(cost))

    def why(self, obj: JsonMapping) -> str:
        value, _ = self._run(obj)
        if isinstance(value, EvaluationError):
            return str(value)
        if value is not False:
            return ""
        return "the expression is false" if self._selector is None else self._selector.match(obj).reason

    def _reach(self, cost: int) -> int:
        return 0 if self._selector is None else self._selector.reach(cost)

    def _run(self, obj: JsonMapping) -> tuple[Value, int]:
        try:
            return self.program.run(self._view(obj), self.limit)
        except MemoryError:
            raise
        except Exception as error:  # whatever it is, it concerns one expression on one object
            message = f"a fault of muster itself ({type(error).__name__})"
            return EvaluationError(message, FailureKind.INTERNAL), 0


@dataclass(frozen=True)
class SelectorLook:
    """What selectors say: one of several alternatives must hold, and of one all parts."""

    alternatives: tuple[tuple[Selector, ...], ...]

    def selectors(self) -> Iterator[Selector]:
        """All parts of all alternatives."""
        for part in (part for each in self.alternatives for part in each):
            yield from part.parts if isinstance(part, AllOf) else (part,)

    @cached_property
    def is_heavy(self) -> bool:
        expressions = [each for each in self.selectors() if isinstance(each, CelSelector)]
        return any(_is_heavy(program) for each in expressions for program in each.programs)

    @property
    def reads(self) -> tuple[Path, ...] | None:
        none: frozenset[Path] = frozenset()
        return _columns(none.union(*(part.reads for each in self.alternatives for part in each)))

    def __call__(self, obj: JsonMapping) -> Outcome:
        misses, up_to = self._found(obj)
        if not misses:
            return Outcome(MATCHED, up_to=up_to)
        telling = _telling(misses)
        error = ""
        if telling.verdict is Verdict.ERROR:
            error = str(telling.why.parameters.get("error", FailureKind.OTHER.value))
        return Outcome(_VERDICTS[telling.verdict], b"", 0, up_to, error)

    def why(self, obj: JsonMapping) -> str:
        misses, _ = self._found(obj)
        if not misses:
            return ""
        more = f" (and {len(misses) - 1} more predicates do not hold)" if len(misses) > 1 else ""
        return _telling(misses).reason + more

    def _found(self, obj: JsonMapping) -> tuple[list[Match], int]:
        """What each alternative has against an object, nothing if one of them holds; and how far that holds."""
        misses: list[Match] = []
        up_to, holds = ANY_SIZE, not self.alternatives
        for each in self.alternatives:
            missed: Match | None = None
            for part in each:
                match = part.match(obj)
                up_to = min(up_to, match.up_to)
                if not match:
                    missed = match
                    break
            if missed is None:
                holds = True
                break
            misses.append(missed)
        return ([], up_to) if holds else (misses, up_to)


def _telling(misses: list[Match]) -> Match:
    """What could not be evaluated comes before what does not hold."""
    return next((each for each in misses if each.verdict is Verdict.ERROR), misses[0])
