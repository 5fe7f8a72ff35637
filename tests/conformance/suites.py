"""How cases are judged: named, read, classified from themselves alone, run, and compared. The one place for all areas.

A suite is the cases of one shape. `classify` sees the case and nothing else, so no result of ours can decide under
which rule a case falls or that it is out of scope; `judge` sees the case, its kind and our outcome. Whatever raises on
the way is one failed case. Suites know nothing of files and sums; `__main__` and `results` do that.
"""

from __future__ import annotations

import traceback
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tests.conformance.results import CaseResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager


@dataclass(frozen=True, slots=True)
class Plain:
    """What was recorded is what we want."""


@dataclass(frozen=True, slots=True)
class Rule:
    """We want something else, on purpose: the name is a heading of docs/differences.md."""

    name: str


@dataclass(frozen=True, slots=True)
class Apart:
    """Not run: what the case needs is not in it, or not in Muster."""

    reason: str


Kind = Plain | Rule | Apart
PLAIN = Plain()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is not as it should be; nothing is good. Texts and costs have columns of their own (None: not recorded)."""

    differences: tuple[str, ...] = ()
    text_ok: bool | None = None
    cost_ok: bool | None = None
    remarks: str = ""  # about texts and costs


C = TypeVar("C")
R = TypeVar("R")


@dataclass(frozen=True)
class Suite(Generic[C, R]):
    """The cases of one shape. `running` gives the function that runs a case, and may keep a server for all of them."""

    cases: Callable[[Any], Iterable[C]]
    name: Callable[[C], str]
    classify: Callable[[C], Kind]
    running: Callable[[], AbstractContextManager[Callable[[C], R]]]
    judge: Callable[[C, Kind, R], Verdict]
    shape: Mapping[str, Any] | frozenset[str] | None = None
    raw: Callable[[C], Any] = field(default=lambda case: case)  # the recorded object, whose keys are looked at

    def __call__(self, data: Any) -> Iterator[CaseResult]:
        yield from judged(self, data)


def by(run: Callable[[C], R]) -> Callable[[], AbstractContextManager[Callable[[C], R]]]:
    """Running that needs nothing but a function."""
    return lambda: nullcontext(run)


def judged(suite: Suite[C, R], data: Any) -> Iterator[CaseResult]:
    """Every case of the data, in order."""
    with ExitStack() as stack:
        try:
            run = stack.enter_context(suite.running())
        except Exception as error:
            yield CaseResult("preparing", ok=False, detail=told(error))
            return
        number = 0
        cases: Iterator[C] = iter(())
        try:
            cases = iter(suite.cases(data))
        except Exception as error:
            yield CaseResult("reading the file", ok=False, detail=told(error))
        while True:
            number += 1
            try:
                case = next(cases)
            except StopIteration:
                break
            except Exception as error:
                yield CaseResult(f"reading case {number} and those after it", ok=False, detail=told(error))
                break
            yield one(suite, case, run, number)
        try:
            stack.close()
        except Exception as error:
            yield CaseResult("clearing away", ok=False, detail=told(error))


def one(suite: Suite[C, R], case: C, run: Callable[[C], R], number: int = 0) -> CaseResult:
    """One case. Its kind is settled before anything of ours runs."""
    name = f"case {number}"
    try:
        name = suite.name(case)
        strange = unknown_keys(suite.raw(case), suite.shape)
        if strange:
            return CaseResult(name, ok=False, detail=f"the runner does not know {', '.join(strange)}")
        kind = suite.classify(case)
        if isinstance(kind, Apart):
            return CaseResult(name, apart=kind.reason)
        rule = kind.name if isinstance(kind, Rule) else None
    except Exception as error:
        return CaseResult(name, ok=False, detail=told(error))
    try:
        verdict = suite.judge(case, kind, run(case))
    except Exception as error:
        return CaseResult(name, ok=False, detail=told(error), rule=rule)
    detail = "; ".join((*verdict.differences, *filter(None, [verdict.remarks])))
    return CaseResult(name, not verdict.differences, detail, rule, None, verdict.text_ok, verdict.cost_ok)


def guarded(name: str, judged_case: Callable[[], CaseResult]) -> CaseResult:
    """A case of a runner that is no suite: whatever raises is its failure and nobody else's."""
    try:
        return judged_case()
    except Exception as error:
        return CaseResult(name, ok=False, detail=told(error))


def unknown_keys(value: Any, shape: Any, path: str = "") -> list[str]:
    """Keys that a shape does not have. A shape is a set of keys, or keys with what is below them (None: anything)."""
    if shape is None:
        return []
    if isinstance(value, list):
        return [key for each in value for key in unknown_keys(each, shape, path)]
    if not isinstance(value, dict):
        return [] if path else [f"a case that is {type(value).__name__}"]
    found = [f"the key {path}{key!r}" for key in value if key not in shape]
    if not isinstance(shape, frozenset):
        for key in value:
            if value[key] is not None:
                found += unknown_keys(value[key], shape.get(key), f"{path}{key}.")
    return found


def told(error: BaseException) -> str:
    """What was raised, and where: a failed case has one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}: {error}"


def keys(text: str) -> frozenset[str]:
    """A shape without depth, from words."""
    return frozenset(text.split())


def differing(wanted: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    """Field by field, those of one side alone too."""
    names = [*wanted, *(name for name in ours if name not in wanted)]
    nothing = "nothing"
    return [
        f"{name}: {ours.get(name, nothing)!r} instead of {wanted.get(name, nothing)!r}"
        for name in names
        if (name in wanted) != (name in ours) or wanted[name] != ours[name]
    ]
