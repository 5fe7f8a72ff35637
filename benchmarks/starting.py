"""What a command costs from its start to its last line: CPU time of fresh processes, modules compiled once.

Over files, and asking a hub, whose own time is not counted. `MUSTER_CLUSTERS` is how many clusters there are (10,000);
to fill the hub with them takes a minute. `MUSTER_OTHER` names another working tree, whose command is then measured in
turns with ours.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import msgspec
import uvloop

from benchmarks._report import RUNS, header, heading, judged, row
from benchmarks.controllers import hub_of, idle
from muster.app import DATABASE, load_fleet
from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.storage import Store

CLUSTERS = os.environ.get("MUSTER_CLUSTERS", "10000")
CASES = {
    "muster --version": ("--version",),
    "muster explain cluster": ("explain", "cluster", "prod-eu-west-1-00020"),
    "muster explain placement": ("explain", "placement", "checkout", "-n", "apps"),
}
GOALS = {"muster --version": 100, "muster explain cluster": 300, "muster explain placement": 300}
ASKED = ("namespaces", "managedclustersets", "managedclustersetbindings", "managedclusters", "placements", "scores")
PASSES = 5


def spent(command: list[str], environment: dict[str, str]) -> float:
    """Milliseconds of CPU time, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


async def fill(state: Path, files: list[Path]) -> None:
    """As much of the fleet as explaining looks at, in the database of a hub."""
    async with Store.open(state / DATABASE) as store:
        api = Api(store, AdministratorsOnlyAuthorizer())
        await api.start()
        for file in files:
            if file.stem.partition("-")[2].removeprefix("addonplacement") in ASKED:
                await load_fleet(api, map(msgspec.json.decode, file.read_bytes().splitlines()))
        await api.close()


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
        muster = [sys.executable, "-m", "muster"]
        state = Path(folder, "hub")
        state.mkdir()
        uvloop.run(fill(state, sorted(Path(fleet).iterdir())))
        commands = {}
        for (case, words), (name, place) in product(CASES.items(), environments.items()):
            if not words[1:]:
                commands[case, name] = ([*muster, *words], place)
                continue
            commands[f"{case} --fleet", name] = ([*muster, *words, "--fleet", fleet], place)
            commands[case, name] = ([*muster, *words], {**place, "KUBECONFIG": str(state / "kubeconfig")})
        commands["import numpy", "for comparison"] = ([sys.executable, "-c", "import numpy"], environment)
        found: dict[tuple[str, str], list[float]] = {each: [] for each in commands}
        with hub_of(state) as (server, _):
            uvloop.run(idle(server))
            for warming in commands.values():
                spent(*warming)  # compiles
            for _ in range(RUNS):
                for each, command in commands.items():
                    found[each].append(min(spent(*command) for _ in range(PASSES)))
    about = (
        f"{CLUSTERS} clusters in files, and on a hub that runs; "
        f"milliseconds of CPU, the least of {PASSES} passes in each of {RUNS} runs."
    )
    heading("make bench AREA=starting", about)
    header("", "", "median (spread)", "goal")
    for (case, name), times in found.items():
        goal = GOALS.get(case.removesuffix(" --fleet"))
        row(f"`{case}`", name, judged(times, most=goal), str(goal or ""))


if __name__ == "__main__":
    main()
