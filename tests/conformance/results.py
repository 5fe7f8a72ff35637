"""What a runner says of one case, and how a file's results are summed up."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CASES = Path(os.environ.get("MUSTER_CASES") or Path(__file__).resolve().parents[2].parent / "shared" / "cases")
# Newer recordings wait beside the others until they are moved there; a file that is in both is taken from the first.
FOLDERS = (CASES, CASES.parent / "cases-new")


def case_files(area: str) -> dict[str, Path]:
    """The case files of an area by their name below it."""
    found: dict[str, Path] = {}
    for folder in FOLDERS:
        for path in sorted((folder / area).rglob("*")):
            if path.is_file() and path.suffix in {".json", ".txt"}:
                found.setdefault(path.relative_to(folder / area).as_posix(), path)
    return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case. `ok` is about value, verdict and type; texts and costs have columns of their own (None: not recorded).

    `rule` names the difference of docs/differences.md under which the case falls, and then `ok` says whether we did
    what the rule expects. `apart` names why a case is out of scope (counted, never run).
    """

    case: str
    ok: bool = True
    detail: str = ""
    rule: str | None = None
    apart: str | None = None
    text_ok: bool | None = None
    cost_ok: bool | None = None


class Runner(Protocol):
    """Judges the cases of one file. Suites are the usual ones (see `suites`)."""

    def __call__(self, data: Any) -> Iterator[CaseResult]: ...


@dataclass
class FileReport:
    """The sums of one case file."""

    name: str
    passed: int = 0
    failures: list[CaseResult] = field(default_factory=list)
    rules: Counter[str] = field(default_factory=Counter)
    apart: Counter[str] = field(default_factory=Counter)
    texts: Counter[bool] = field(default_factory=Counter)
    costs: Counter[bool] = field(default_factory=Counter)
    wrong_texts: list[CaseResult] = field(default_factory=list)

    def add(self, result: CaseResult) -> None:
        if result.apart is not None:
            self.apart[result.apart] += 1
            return
        if not result.ok:
            self.failures.append(result)
        elif result.rule is not None:
            self.rules[result.rule] += 1
        else:
            self.passed += 1
        for column, verdict in ((self.texts, result.text_ok), (self.costs, result.cost_ok)):
            if verdict is not None:
                column[verdict] += 1
        if result.ok and (result.text_ok is False or result.cost_ok is False):
            self.wrong_texts.append(result)

    def line(self) -> str:
        parts = [f"{self.passed} passed", f"{len(self.failures)} failed"]
        if self.rules:
            named = ", ".join(f"{name} {count}" for name, count in sorted(self.rules.items()))
            parts.append(f"{self.rules.total()} differ by rule ({named})")
        if self.apart:
            named = ", ".join(f"{name} {count}" for name, count in sorted(self.apart.items()))
            parts.append(f"{self.apart.total()} apart ({named})")
        parts.extend(
            f"{name} {column[True]}/{column.total()}"
            for name, column in (("texts", self.texts), ("costs", self.costs))
            if column
        )
        return f"{self.name}: {', '.join(parts)}"


@dataclass
class AreaReport:
    """The sums of an area."""

    name: str
    goals: Mapping[str, float]
    files: list[FileReport] = field(default_factory=list)
    complaints: int = 0

    def add(self, report: FileReport) -> None:
        self.files.append(report)

    def complain(self) -> None:
        """Something is wrong that is no case."""
        self.complaints += 1

    def counted(self, what: str) -> Counter[Any]:
        """A counter of all files: rules, apart, texts or costs."""
        total: Counter[Any] = Counter()
        for each in self.files:
            total.update(getattr(each, what))
        return total

    @property
    def passed(self) -> int:
        return sum(each.passed for each in self.files)

    @property
    def failed(self) -> int:
        return sum(len(each.failures) for each in self.files)

    @property
    def is_good(self) -> bool:
        return not self.complaints and not self.failed and all(share >= goal for _, share, goal, _ in self._shares())

    def _shares(self) -> list[tuple[str, float, float, Counter[Any]]]:
        found = []
        for what in ("texts", "costs"):
            column = self.counted(what)
            if column.total():
                found.append((what, column[True] / column.total(), self.goals.get(what, 0.0), column))
        return found

    def lines(self) -> list[str]:
        return [
            f"{self.name}: {what} {column[True]}/{column.total()} = {share:.1%} (goal {goal:.0%})"
            for what, share, goal, column in self._shares()
        ]


def table(areas: Sequence[AreaReport]) -> list[str]:
    """How many cases each rule and each reason took, by area and overall."""
    rows: list[tuple[str, ...]] = [("area", "passed", "by rule", "apart", "failed", "rule or reason")]
    for area in areas:
        rules, apart = area.counted("rules"), area.counted("apart")
        rows.append((area.name, f"{area.passed}", f"{rules.total()}", f"{apart.total()}", f"{area.failed}", ""))
        rows += [("", "", f"{count}", "", "", name) for name, count in sorted(rules.items())]
        rows += [("", "", "", f"{count}", "", name) for name, count in sorted(apart.items())]
    if len(areas) > 1:
        sums = [
            sum(area.passed for area in areas),
            sum(area.counted("rules").total() for area in areas),
            sum(area.counted("apart").total() for area in areas),
            sum(area.failed for area in areas),
        ]
        rows.append(("all", *map(str, sums), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(row[at].rjust(widths[at]) for at in range(1, 5)), row[5]]).rstrip()
        for row in rows
    ]
