"""CEL selectors that know how long they take. The core has no clock; this is where one is put around it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.selectors import Selector
    from muster.selectors.cluster import CelCompiler
    from muster.selectors.match import Match
    from muster.selectors.paths import Path

_SLOW: Final = 0.002  # seconds for one cluster
_ENOUGH: Final = 3  # evaluations before a judgement


class Tally:
    """Evaluations of all selectors together."""

    def __init__(self) -> None:
        self.evaluations = 0


class TimedSelector:
    """A selector with a stopwatch. Equal to another when what they select by is."""

    __slots__ = ("_count", "_digest", "_spent", "_tally", "_total", "selector")

    def __init__(self, selector: Selector, tally: Tally) -> None:
        self.selector = selector
        self._tally = tally
        self._spent = 0.0
        self._total = 0.0
        self._count = 0
        self._digest = ""

    @property
    def is_empty(self) -> bool:
        return self.selector.is_empty

    @property
    def reads(self) -> frozenset[Path]:
        return self.selector.reads

    def match(self, obj: JsonMapping) -> Match:
        started = time.perf_counter()
        try:
            return self.selector.match(obj)
        finally:
            seconds = time.perf_counter() - started
            self._spent += seconds
            self._total += seconds
            self._count += 1
            self._tally.evaluations += 1

    def take(self) -> float:
        """Seconds since this was last asked."""
        spent, self._spent = self._spent, 0.0
        return spent

    @property
    def digest(self) -> str:
        """The same for the same expressions, whoever wrote them."""
        if not self._digest:
            texts = [program.text for program in getattr(self.selector, "programs", ())]
            import hashlib

            self._digest = hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=8).hexdigest()
        return self._digest

    @property
    def average(self) -> float:
        """Seconds for one cluster, so far."""
        return self._total / self._count if self._count else 0.0

    @property
    def is_slow(self) -> bool:
        return self._count >= _ENOUGH and self.average > _SLOW

    def __hash__(self) -> int:
        return hash(self.selector)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TimedSelector) and self.selector == other.selector


def timed(compile_cel: CelCompiler, tally: Tally) -> CelCompiler:
    """The same compiler, of selectors with a stopwatch."""

    def compile_expressions(expressions: Sequence[str]) -> tuple[Selector, ...]:
        return tuple(TimedSelector(selector, tally) for selector in compile_cel(expressions))

    return compile_expressions
