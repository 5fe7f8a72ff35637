"""The single conditions inside the selectors of a placement, each with its verdicts over many clusters at once.

A label selector is taken apart into its requirements, an expression into what stands between its `&&`. The funnel and
the near misses count by them, so that a reason names the condition and not the whole predicate. Works on the fleet's
columns and masks; knows nothing of stages.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.api.managed_cluster import ManagedClusterStatus
from muster.api.reading import Reader
from muster.errors import FailureKind, InvalidObjectError
from muster.placement.explain.explained import ValueCount
from muster.reasons import Code, Reason, Subject, sentence
from muster.selectors import Verdict
from muster.selectors.cel import CelSelector, compile_cel
from muster.selectors.labels import LabelSelector
from muster.selectors.match import unwrapped
from muster.selectors.paths import SCORES
from muster.values.faults import Fault
from muster.values.paths import PRESENT
from muster.values.quoting import printable

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from muster.cel.program import Program
    from muster.fleet import Fleet
    from muster.reasons import Parameter
    from muster.selectors import Selector
    from muster.selectors.paths import Path
    from muster.values.labels import Requirement

MISSING: Final = "missing"
_CLAIMS: Final = Reader(ManagedClusterStatus)
_WAYS_TO_BE_MISSING: Final = 4
_MOST_VALUES: Final = 4
_LONGEST_VALUE: Final = 40


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition: why it does not hold where it does not, its verdict for each of the rows, and where its one value
    stands, if it has one."""

    fails: Reason
    verdicts: NDArray[np.int8]
    path: Path | None = None

    def failing(self, error: Reason | None) -> Reason:
        """Why it could not be evaluated: the condition, with what went wrong."""
        given, held = self.fails.parameters, {}
        if error is not None and error.code == Code.EXPRESSION_FAILED:
            given, held = {**given, "error": error.parameters["error"]}, {"message": error.values["message"]}
        elif error is not None:
            given, held = {**given, "error": FailureKind.OTHER.value}, {"message": sentence(error)}
        return Reason(Code.EXPRESSION_FAILED, self.fails.subject, given, held)


@dataclass(frozen=True, slots=True)
class Step:
    """Conditions that are weighed together: one that is false decides, then one that fails, as `&&` has it."""

    clauses: tuple[Clause, ...]

    def deciding(self) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
        """Per row the place of the condition that decided and its verdict; -1 and YES where all hold."""
        place = np.full(len(self.clauses[0].verdicts), -1, dtype=np.int64)
        verdict = np.full(len(place), Verdict.YES, dtype=np.int8)
        for wanted in (Verdict.NO, Verdict.ERROR):
            for number, clause in enumerate(self.clauses):
                fresh = (place < 0) & (clause.verdicts == wanted)
                place[fresh], verdict[fresh] = number, wanted
        return place, verdict

    def failures(self) -> NDArray[np.int64]:
        """Per row how many conditions do not hold; what cannot be told because another one fails first counts."""
        count = np.zeros(len(self.clauses[0].verdicts), dtype=np.int64)
        for clause in self.clauses:
            count += clause.verdicts != Verdict.YES
        return count


def steps_of(fleet: Fleet, parts: Sequence[Selector], rows: NDArray[np.intp]) -> tuple[Step, ...]:
    """The conditions of one predicate in the order in which they are looked at."""
    return tuple(step for part in parts for step in _steps(fleet, part, rows))


def _steps(fleet: Fleet, part: Selector, rows: NDArray[np.intp]) -> Iterator[Step]:
    match unwrapped(part):
        case LabelSelector(requirements=requirements) as selector if not requirements.nothing:
            for requirement in requirements.requirements:
                yield Step((_requirement_clause(fleet, selector, requirement, rows),))
        case CelSelector(programs=programs) as selector:
            from muster.selectors.cel_reasons import conjuncts

            texts = [conjuncts(program) for program in programs]
            if sum(map(len, texts)) == 1:
                yield Step((Clause(_false(programs), fleet.mask(part).verdicts[rows], _one_path(selector)),))
            else:
                yield from _expression_steps(fleet, part, selector, texts, rows)
        case selector:
            fails = Reason(Code.SELECTOR_FAILS, parameters={"selector": _described(selector)})
            yield Step((Clause(fails, fleet.mask(part).verdicts[rows]),))


def _described(selector: Selector) -> str:
    return f"the {selector.noun} selector" if isinstance(selector, LabelSelector) else type(selector).__name__


def _false(programs: Sequence[Program]) -> Reason:
    """That an expression is false, or several that are not taken apart."""
    from muster.selectors.cel_reasons import shortened

    texts = tuple(shortened(program.text) for program in programs)
    if len(texts) == 1:
        return Reason(Code.EXPRESSION_FALSE, Subject(expression=texts[0]))
    return Reason(Code.EXPRESSION_FALSE, parameters={"expressions": texts})


def _requirement_clause(
    fleet: Fleet, selector: LabelSelector, requirement: Requirement, rows: NDArray[np.intp]
) -> Clause:
    path = selector.path(requirement.key)
    column = fleet.column(path)
    holds = [
        requirement.matches({} if (value := plain_value(each)) is None else {requirement.key: value})
        for each in column.values
    ]
    by_code = np.array([*holds, False], dtype=np.int8)  # Verdict.YES is 1, Verdict.NO is 0
    subject = Subject(requirement=str(requirement))
    given: dict[str, Parameter] = {
        "noun": selector.noun,
        "key": requirement.key,
        "expected": requirement.brief(),
    }
    return Clause(Reason(Code.REQUIREMENT_FAILS, subject, given), by_code[column.codes[rows]], path)


def _expression_steps(
    fleet: Fleet, part: Selector, selector: CelSelector, texts: Sequence[tuple[str, ...]], rows: NDArray[np.intp]
) -> Iterator[Step]:
    """Each conjunct is evaluated on its own, and forgotten again: nobody waits for its changes."""
    try:
        taken_apart = [
            [CelSelector((compile_cel(text, selector.limits),), selector.scores, selector.limits) for text in each]
            for each in texts
        ]
    except InvalidObjectError:  # a part may be typed only by what stands beside it
        yield Step((Clause(_false(selector.programs), fleet.mask(part).verdicts[rows]),))
        return
    guest = object()
    fleet.subscribe(guest, [each for group in taken_apart for each in group], ())
    try:
        for group in taken_apart:
            yield Step(
                tuple(
                    Clause(
                        _false(each.programs),
                        fleet.mask(each).verdicts[rows],
                        path if (path := _one_path(each)) in part.reads else None,  # others have no column to stay
                    )
                    for each in group
                )
            )
    finally:
        fleet.unsubscribe(guest)


def _one_path(selector: Selector) -> Path | None:
    """The path of a condition that looks at one value only."""
    reads = list(selector.reads)
    return reads[0] if len(reads) == 1 and reads[0] and reads[0][0] != SCORES and PRESENT not in reads[0] else None


def plain_value(projection: Hashable) -> str | None:
    """The label or claim that a column's value stands for; of two claims with one name the last counts."""
    if isinstance(projection, str):
        return projection
    if isinstance(projection, bytes):
        found = _CLAIMS.read(b'{"clusterClaims":%b}' % projection)
        claims = () if isinstance(found, Fault) else found.obj.cluster_claims
        return claims[-1].value if claims else None
    return None


def common_values(fleet: Fleet, path: Path, rows: NDArray[np.intp]) -> tuple[ValueCount, ...]:
    """The values that these clusters have at a path, the most frequent first, as far as they are few."""
    column = fleet.column(path)
    codes = column.codes[rows]
    counts = np.bincount(codes, minlength=1)
    # Codes are given in the order in which values came, also those of clusters that nobody may be told of: of values
    # that are as frequent, the first that these rows have counts.
    first = np.zeros(len(counts), dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    # A value may be missing in several ways, which are one to people: some more are looked at than are shown.
    order = np.lexsort((first, -counts))[: _MOST_VALUES + _WAYS_TO_BE_MISSING]
    shown: Counter[str] = Counter()
    for at in order.tolist():
        if counts[at]:
            shown[_value_text(column.values[at])] += int(counts[at])
    return tuple(ValueCount(text, count) for text, count in shown.most_common(_MOST_VALUES))


def _value_text(projection: Hashable) -> str:
    value = plain_value(projection)
    if value is None and isinstance(projection, tuple) and isinstance(projection[0], type):
        value = str(projection[1])  # a number or a boolean, with its type
    if value is None:
        return MISSING
    return printable(value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…")
