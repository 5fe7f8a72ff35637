"""What a command costs from its start to its last line, over files: CPU time of fresh processes, modules compiled once.

`MUSTER_CLUSTERS` is how many clusters there are (10,000). `MUSTER_OTHER` names another working tree, whose command is
then measured in turns with ours.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._report import RUNS, header, heading, judged, row

CLUSTERS = os.environ.get("MUSTER_CLUSTERS", "10000")
CASES = {
    "muster --version": ("--version",),
    "muster explain cluster": ("explain", "cluster", "prod-eu-west-1-00020"),
    "muster explain placement": ("explain", "placement", "checkout", "-n", "apps"),
}
GOALS = {"muster --version": 100, "muster explain cluster": 300, "muster explain placement": 300}
PASSES = 5


def spent(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds of CPU time, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main() -> None:
    trees = {"ours": Path(__file__).parents[1]}
    if other := os.environ.get("MUSTER_OTHER"):
        trees["other"] = Path(other)
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment = {**kept, "PYTHONPYCACHEPREFIX": f"{folder}/compiled", "XDG_CONFIG_HOME": folder}
        environments = {name: {**environment, "PYTHONPATH": str(tree / "src")} for name, tree in trees.items()}
        fleet = f"{folder}/fleet"
        made = [sys.executable, "-m", "muster", "demo", "fleet", "--clusters", CLUSTERS, "-o", fleet]
        subprocess.run(made, env=environments["ours"], stderr=subprocess.DEVNULL, check=True)
        commands = {
            (case, name): ([sys.executable, "-m", "muster", *words, *(["--fleet", fleet] if words[1:] else [])], place)
            for case, words in CASES.items()
            for name, place in environments.items()
        }
        commands["import numpy", "for comparison"] = ([sys.executable, "-c", "import numpy"], environment)
        for warming in commands.values():
            spent(*warming)  # compiles
        found: dict[tuple[str, str], list[float]] = {each: [] for each in commands}
        for _ in range(RUNS):
            for each, command in commands.items():
                found[each].append(min(spent(*command) for _ in range(PASSES)))
    about = f"{CLUSTERS} clusters in files; milliseconds of CPU, the least of {PASSES} passes in each of {RUNS} runs."
    heading("make bench AREA=starting", about)
    header("", "", "median (spread)", "goal")
    for (case, name), times in found.items():
        goal = GOALS.get(case)
        row(f"`{case}`", name, judged(times, most=goal), str(goal or ""))


if __name__ == "__main__":
    main()
