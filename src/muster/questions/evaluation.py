"""The answer to a FleetEvaluation: counts, cost, rows and values of what an expression or selector makes of objects.

Counts are of all that is counted; rows, values, failures and cost are of what may be shown.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from muster.api.fleet_evaluation import NAME, Failure, FleetEvaluationStatus, Row
from muster.api.fleet_parts import ValueCount
from muster.cel.checking.types import Kind
from muster.questions.compiling import cost_warning, costs
from muster.questions.evaluating import looked_at, seen, why
from muster.questions.looks import FAILED, MATCHED, ExpressionLook
from muster.questions.shown import rank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from muster.api.fleet_evaluation import FleetEvaluationSpec, Rows
    from muster.questions.compiling import Compiler
    from muster.questions.evaluating import Looked
    from muster.questions.looks import Look
    from muster.questions.sharing import Work
    from muster.questions.universe import Universe
    from muster.selectors.paths import Path

MOST_BYTES: Final = 2**20  # of all rows; who wants more asks for the next
_LONGEST_WHY: Final = 500
_MOST_FAILURES: Final = 10


class Asked:
    """A FleetEvaluation, compiled. Making one raises FaultyError."""

    def __init__(self, spec: FleetEvaluationSpec, compiler: Compiler, chosen: Look | None = None) -> None:
        self.spec = spec
        self.chosen = chosen or compiler.chosen(spec)
        rows = spec.rows
        self.filter = compiler.expression(rows.filter, "spec.rows.filter") if rows.filter else None
        is_by_name = rows.sort_by in (NAME, "")
        self.sorting = None if is_by_name else compiler.expression(rows.sort_by, "spec.rows.sortBy")
        self.distinct = self._distinct(compiler)
        self.fields = [
            (
                each.name or each.expression,
                compiler.expression(each.expression, f"spec.rows.fields[{number}].expression"),
            )
            for number, each in enumerate(rows.fields)
        ]

    def _distinct(self, compiler: Compiler) -> ExpressionLook | None:
        if self.spec.distinct:
            return compiler.expression(self.spec.distinct, "spec.distinct")
        look = self.chosen
        is_condition = isinstance(look, ExpressionLook) and look.program.result_type.kind is Kind.BOOL
        return look if isinstance(look, ExpressionLook) and not is_condition else None

    @property
    def is_heavy(self) -> bool:
        """Whether making a row may take so long that nobody should wait for it."""
        return self.chosen.is_heavy or any(look.is_heavy for _, look in self.fields)

    @property
    def reads(self) -> set[Path]:
        """The columns that are needed."""
        looks = [each for each in (self.chosen, self.filter, self.sorting, self.distinct) if each is not None]
        return {path for look in looks for path in look.reads or ()}


def answered(
    asked: Asked, universe: Universe, looked: Looked, decided: Callable[[list[str]], Work[list[int]]]
) -> Work[FleetEvaluationStatus]:
    """The whole answer, given what came of looking at what was asked. `decided` says how many placements have each."""
    spec, snapshot = asked.spec, universe.snapshot
    matched, unmatched, failed = looked.verdicts()
    may_show = universe.may_show
    yield False
    # 1. The rows that are wanted, in their order.
    at = np.flatnonzero(may_show & _wanted(spec.rows, looked))
    if asked.filter is not None:
        passed = yield from looked_at(snapshot, universe.rows[at], asked.filter)
        at = at[_true(passed)]
    if asked.sorting is None:
        at = at[::-1] if spec.rows.descending else at
    else:
        sorting = yield from looked_at(snapshot, universe.rows[at], asked.sorting)
        at = at[np.argsort(sorting.ranks(descending=spec.rows.descending), kind="stable")]
    yield False
    rows: list[Row] = []
    size = 0
    for each in at[spec.rows.offset : spec.rows.offset + spec.rows.limit].tolist():
        yield asked.is_heavy
        row = _row(asked, universe, looked, each)
        size += len(msgspec.json.encode(row))
        if rows and size > MOST_BYTES:
            break
        rows.append(row)
    if spec.rows.placements:
        counts = yield from decided([each.name for each in rows])
        rows = [replace(each, placements=count) for each, count in zip(rows, counts, strict=True)]
    # 2. The values that matching objects have.
    values: list[ValueCount] = []
    if asked.distinct is not None:
        among = np.flatnonzero(may_show & looked.has(MATCHED))
        found = yield from looked_at(snapshot, universe.rows[among], asked.distinct)
        values = list(_values(found))
    look = asked.chosen
    cost = costs(look)
    yield asked.is_heavy
    failures = tuple(_failures(universe, looked, look))
    return FleetEvaluationStatus(
        valid=True,
        objects=len(universe.rows),
        matched=matched,
        unmatched=unmatched,
        failed=failed,
        hidden=universe.hidden,
        unnamed=len(universe.rows) - universe.shown,
        type=str(look.program.result_type) if isinstance(look, ExpressionLook) else "",
        cost=None if cost is None else replace(cost, highest=_highest(looked, may_show)),
        diagnostics=cost_warning(cost),
        rows=tuple(rows),
        rows_in_all=len(at),
        values=tuple(values[: spec.most_values]),
        values_in_all=len(values),
        failures=failures,
    )


def _wanted(rows: Rows, looked: Looked) -> NDArray[np.bool_]:
    return np.ones(len(looked.rows), dtype=np.bool_) if rows.show == "All" else looked.has(rows.show)


def _true(looked: Looked) -> NDArray[np.bool_]:
    found = np.fromiter((each.value == b"true" for each in looked.outcomes), np.bool_, len(looked.outcomes))
    having: NDArray[np.bool_] = found[looked.of] if len(found) else np.zeros(0, dtype=np.bool_)
    return having


def _row(asked: Asked, universe: Universe, looked: Looked, at: int) -> Row:
    row = int(universe.rows[at])
    outcome = looked.outcomes[looked.of[at]]
    found = ((name, seen(universe.snapshot, row, look).value) for name, look in asked.fields)
    fields = {name: msgspec.Raw(value) for name, value in found if value}
    namespace, _, name = universe.snapshot.name(row).rpartition("/")
    reason = "" if outcome.verdict == MATCHED else _shortened(why(universe.snapshot, row, asked.chosen))
    return Row(name, outcome.verdict, namespace, fields, reason)


def _values(looked: Looked) -> Iterator[ValueCount]:
    """The most frequent first."""
    counted: Counter[bytes] = Counter()
    everywhere = np.ones(len(looked.of), dtype=np.bool_)
    for outcome, count in zip(looked.outcomes, looked.counts(everywhere), strict=True):
        if outcome.value:
            counted[outcome.value] += count
    for value, count in sorted(counted.items(), key=lambda each: (-each[1], rank(each[0]))):
        yield ValueCount(msgspec.Raw(value), count)


def _highest(looked: Looked, may_show: NDArray[np.bool_]) -> int:
    counts = looked.counts(may_show)
    return max((each.cost for each, count in zip(looked.outcomes, counts, strict=True) if count), default=0)


def _failures(universe: Universe, looked: Looked, look: Look) -> Iterator[Failure]:
    """By kind of failure, the most frequent first, each with the first object that it met."""
    at = np.flatnonzero(universe.may_show & looked.has(FAILED))
    numbers, first, counts = np.unique(looked.of[at], return_index=True, return_counts=True)
    found: dict[str, tuple[int, int]] = {}
    for number, begins, count in zip(numbers.tolist(), first.tolist(), counts.tolist(), strict=True):
        error = looked.outcomes[number].error
        where, so_far = found.get(error, (begins, 0))
        found[error] = min(where, begins), so_far + count
    ordered = sorted(found.items(), key=lambda each: (-each[1][1], each[0]))
    for error, (where, count) in ordered[:_MOST_FAILURES]:
        place = int(at[where])
        message = why(universe.snapshot, int(universe.rows[place]), look)
        yield Failure(error, count, _shortened(message), universe.name(place))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_WHY else f"{text[:_LONGEST_WHY]}…"
