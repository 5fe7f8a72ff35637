"""`python -m tests.conformance [AREA] [--file PART] [-v]`: replay the recorded cases and sum up.

A line per file, and a table at the end: what each rule and each reason took.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.conformance.results import CASES, AreaReport, CaseResult, FileReport, case_files, table
from tests.conformance.suites import told

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tests.conformance.results import Runner

AREAS = ("cel", "jq", "ocm", "kube", "olm")
SHOWN = 10  # failures printed per file unless -v


def _load(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else text


def runners_of(files: Mapping[str, Any], name: str) -> Sequence[Runner]:
    """Those of a file by its name, or by the first pattern that fits: a file of a known shape may have a new name."""
    fitting = [name] if name in files else [each for each in files if fnmatchcase(name, each)]
    if not fitting:
        return ()
    found = files[fitting[0]]
    return [found] if callable(found) else found


def run_file(name: str, path: Path, runners: Sequence[Runner]) -> FileReport:
    """The report of one file. Whatever goes wrong on the way is one failed case."""
    report = FileReport(name)
    try:
        data = _load(path)
    except Exception as error:
        report.add(CaseResult("reading the file", ok=False, detail=told(error)))
        return report
    for runner in runners:
        try:
            for result in runner(data):
                report.add(result)
        except Exception as error:
            report.add(CaseResult("running the cases that are left", ok=False, detail=told(error)))
    return report


def _undocumented(rules: Iterable[str]) -> list[str]:
    """Rules without a heading in docs/differences.md."""
    page = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
    headings = {line[4:].strip() for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("### ")}
    return sorted(set(rules) - headings)


def _run_area(area: str, only: str, verbose: bool) -> AreaReport:
    module = importlib.import_module(f"tests.conformance.{area}")
    pending: Mapping[str, str] = getattr(module, "PENDING", {})
    sums = AreaReport(area, getattr(module, "GOALS", {}))
    for name, path in case_files(area).items():
        if only not in name:
            continue
        if name in pending:
            print(f"{area}/{name}: pending, waits for {pending[name]}")
            continue
        runners = runners_of(module.FILES, name)
        if not runners:
            print(f"{area}/{name}: not run (no runner knows this file)")
            sums.complain()
            continue
        started = time.perf_counter()
        report = run_file(f"{area}/{name}", path, runners)
        print(f"{report.line()}  [{time.perf_counter() - started:.1f} s]", flush=True)
        sums.add(report)
        for rule in _undocumented(report.rules):
            print(f"    UNDOCUMENTED rule {rule!r}: it needs a heading in docs/differences.md")
            sums.complain()
        for result in report.failures[: None if verbose else SHOWN]:
            print(f"    FAILED {result.case}: {result.detail}")
        if len(report.failures) > SHOWN and not verbose:
            print(f"    … and {len(report.failures) - SHOWN} more (-v shows all)")
        if verbose:
            for result in report.wrong_texts:
                print(f"    text or cost differs {result.case}: {result.detail}")
    for line in sums.lines():
        print(line)
    if only:
        sums.goals = {}
    return sums


def main() -> int:
    arguments = argparse.ArgumentParser(prog="make conformance", description=__doc__)
    arguments.add_argument("area", nargs="?", choices=AREAS)
    arguments.add_argument("--file", default="", help="only files whose name contains this")
    arguments.add_argument("-v", "--verbose", action="store_true", help="print every difference")
    options = arguments.parse_args()
    if not CASES.is_dir():
        print("no recorded cases here: set MUSTER_CASES to their folder; skipped all areas")
        return 0
    areas = [options.area] if options.area else AREAS
    sums = [_run_area(area, options.file, options.verbose) for area in areas]
    print("\n".join(table(sums)))
    return 0 if all(each.is_good for each in sums) else 1


if __name__ == "__main__":
    sys.exit(main())
