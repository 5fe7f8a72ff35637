"""`python -m tests.conformance [AREA] [--file PART] [-v]`: replay the recorded cases and sum up, one line per file."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.results import CASES, FileReport, case_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tests.conformance.results import Runner

AREAS = ("cel", "jq", "ocm", "kube", "olm")
SHOWN = 10  # failures printed per file unless -v


def _built(area: str) -> bool:
    return importlib.util.find_spec(f"tests.conformance.{area}") is not None


def _load(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else text


def _run_file(name: str, path: Path, runner: Runner) -> FileReport:
    report = FileReport(name)
    for result in runner(_load(path)):
        report.add(result)
    return report


def _undocumented(rules: Iterable[str]) -> list[str]:
    """Rules without a heading in docs/differences.md."""
    page = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
    headings = {line[4:].strip() for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("### ")}
    return sorted(set(rules) - headings)


def _run_area(area: str, only: str, verbose: bool) -> bool:
    module = importlib.import_module(f"tests.conformance.{area}")
    runners: Mapping[str, Runner] = module.FILES
    pending: Mapping[str, str] = getattr(module, "PENDING", {})
    goals: Mapping[str, float] = getattr(module, "GOALS", {})
    good = True
    texts = [0, 0]
    costs = [0, 0]
    for name, path in case_files(area).items():
        if only not in name:
            continue
        if name in pending:
            print(f"{area}/{name}: pending, waits for {pending[name]}")
            continue
        if name not in runners:
            print(f"{area}/{name}: not run (no runner knows this file)")
            good = False
            continue
        started = time.perf_counter()
        report = _run_file(f"{area}/{name}", path, runners[name])
        print(f"{report.line()}  [{time.perf_counter() - started:.1f} s]", flush=True)
        good = good and not report.failures
        for rule in _undocumented(report.rules):
            print(f"    UNDOCUMENTED rule {rule!r}: it needs a heading in docs/differences.md")
            good = False
        for result in report.failures[: None if verbose else SHOWN]:
            print(f"    FAILED {result.case}: {result.detail}")
        if len(report.failures) > SHOWN and not verbose:
            print(f"    … and {len(report.failures) - SHOWN} more (-v shows all)")
        if verbose:
            for result in report.wrong_texts:
                print(f"    text or cost differs {result.case}: {result.detail}")
        for sums, column in ((texts, report.texts), (costs, report.costs)):
            sums[0] += column[True]
            sums[1] += column.total()
    for what, (same, total) in (("texts", texts), ("costs", costs)):
        if total:
            share = same / total
            goal = goals.get(what, 0.0)
            print(f"{area}: {what} {same}/{total} = {share:.1%} (goal {goal:.0%})")
            good = good and (share >= goal or bool(only))
    return good


def main() -> int:
    arguments = argparse.ArgumentParser(prog="make conformance", description=__doc__)
    arguments.add_argument("area", nargs="?", choices=AREAS)
    arguments.add_argument("--file", default="", help="only files whose name contains this")
    arguments.add_argument("-v", "--verbose", action="store_true", help="print every difference")
    options = arguments.parse_args()
    if not CASES.is_dir():
        print("no recorded cases here: set MUSTER_CASES to their folder; skipped all areas")
        return 0
    areas = [options.area] if options.area else [area for area in AREAS if _built(area)]
    missing = [area for area in AREAS if area not in areas and not options.area]
    if missing:
        print(f"areas not built yet: {', '.join(missing)}")
    results = [_run_area(area, options.file, options.verbose) for area in areas]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
