"""What importing costs: CPU time and modules, in fresh processes, with modules compiled once as in an installation.

A run is the least of some processes; numpy in the same run is for comparison.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks._report import RUNS, header, heading, measured, row

CASES = {
    "`import muster`": "import muster",
    "`import muster.cel`": "import muster.cel",
    "the first CEL expression": (
        'import muster.cel as c; c.compile_program("1 + 1 == 2", c.environment("standard")).evaluate({})'
    ),
    "`import muster.jq`": "import muster.jq",
    "the first jq query": 'import muster.jq as j; j.compile_query(".a").run({"a": 1})',
    "`muster.select` over one cluster": (
        'import muster; muster.select([{"kind": "ManagedCluster", "metadata": {"name": "a"}}], "true")'
    ),
    "for comparison: `import numpy`": "import numpy",
}
HEAVY = ("numpy", "pysat", "starlette", "asyncio", "msgspec", "re2")
PASSES = 5


def imported(statement: str, environment: dict[str, str]) -> tuple[float, int, list[str]]:
    """Milliseconds of CPU time, the number of modules, and those of them that are heavy."""
    script = (
        "import sys, time; before = time.process_time(); exec(sys.argv[1]); "
        "print((time.process_time() - before) * 1000, len(sys.modules), *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, statement], env=environment, capture_output=True, text=True, check=True
    )
    spent, count, *names = done.stdout.split()
    return float(spent), int(count), [each for each in HEAVY if each in names]


def main() -> None:
    with tempfile.TemporaryDirectory() as compiled:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = compiled
        heading("make bench AREA=importing", f"CPU time, the least of {PASSES} processes in each of {RUNS} runs.")
        header("", "ms, median of three runs (spread)", "modules", "among them")
        for statement in CASES.values():
            imported(statement, environment)  # compiles
        found: dict[str, list[float]] = {name: [] for name in CASES}
        for _ in range(RUNS):
            for name, statement in CASES.items():
                found[name].append(min(imported(statement, environment)[0] for _ in range(PASSES)))
        for name, statement in CASES.items():
            _, count, heavy = imported(statement, environment)
            row(name, measured(found[name]), str(count), ", ".join(heavy) or "none of those")


if __name__ == "__main__":
    main()
