"""What a runner says of one case, and how a file's results are summed up."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

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
    def __call__(self, data: Any) -> Any: ...


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
