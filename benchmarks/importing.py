"""What importing costs: CPU time and modules, in fresh processes, with modules compiled once as in an installation."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

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
RUNS = 7


def measured(statement: str, environment: dict[str, str]) -> tuple[float, int, list[str]]:
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
        print("| | CPU ms, best | median | modules | among them |\n|---|---|---|---|---|")
        for name, statement in CASES.items():
            measured(statement, environment)
            runs = [measured(statement, environment) for _ in range(RUNS)]
            times = [each[0] for each in runs]
            heavy = ", ".join(runs[0][2]) or "none of those"
            print(f"| {name} | {min(times):.0f} | {statistics.median(times):.0f} | {runs[0][1]} | {heavy} |")
        print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
