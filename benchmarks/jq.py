"""jq over parsed inventories: microseconds per evaluation, ours beside the Python bindings and gojq in Go, in one run.

The peers are not dependencies of the project. They are used when they can be imported (set JQ_PEERS to the Python of an
environment that has `jq`, `jaq-rs` and `purejq`), and gojq when Go and its module are at hand; otherwise a line says
what was left out. The engines take turns in each of three runs. Every engine gets the same agents as Python objects,
or as JSON text where that is what it takes.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks._report import RUNS, header, heading, judged, measured, row, times
from muster.errors import EvaluationError
from muster.jq import compile_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

AGENTS = int(os.environ.get("JQ_AGENTS", "5000"))
QUERIES = {
    "size": ".cpu.count == 2 and .memory.physicalBytes >= 4294967296 and .memory.physicalBytes < 8589934592",
    "storage": "[.disks[] | select(.sizeBytes > 1073741824000)] | length > 5",
    "nvme": 'any(.disks[]?; .driveType == "SSD" and (.name | startswith("nvme"))'
    " and .installationEligibility.eligible)",
    "vendor": '.systemVendor.manufacturer | ascii_downcase | test("^dell")',
    "gpu": '([.gpus[]? | select(.vendor == "NVIDIA Corporation")] | length > 0)'
    " and ([.interfaces[] | select(.speedMbps >= 25000)] | length >= 2)",
}
UNIQUE = {"regex, every text new": '.hostname | test("^host-[0-9]+[02468][.]lab")'}
"""Beside the five: what `test` costs when its memo never helps."""

HERE = Path(__file__).parent


def agent(number: int, dice: random.Random) -> dict[str, Any]:
    """About 14 KB of inventory, as a bare metal host reports it."""
    disks = [
        {
            "name": f"{dice.choice(['nvme', 'sd'])}{letter}",
            "path": f"/dev/disk{letter}",
            "driveType": dice.choice(["SSD", "HDD", "SSD"]),
            "sizeBytes": dice.choice([480, 960, 1920, 3840]) * 10**9,
            "serial": f"S{dice.getrandbits(64):016x}",
            "vendor": dice.choice(["SAMSUNG", "INTEL", "SEAGATE"]),
            "model": f"MODEL-{dice.randrange(10**6)}",
            "installationEligibility": {"eligible": True}
            if dice.random() < 0.8
            else {"notEligibleReasons": ["too small"]},
            "ioPerf": {"syncDuration": dice.randrange(10)},
            "smart": json.dumps({"attributes": [{"id": at, "raw": dice.randrange(10**9)} for at in range(28)]}),
        }
        for letter in ("" if dice.random() < 0.02 else "abcdefgh")
    ]
    inventory: dict[str, Any] = {
        "hostname": f"host-{number:05}.lab.example.com",
        "cpu": {
            "count": dice.choice([2, 4, 16, 64]),
            "clockMegahertz": 2600,
            "architecture": "x86_64",
            "flags": [f"flag_{at:03}" for at in range(131)],
        },
        "memory": {"physicalBytes": dice.choice([4, 6, 16, 256]) << 30, "usableBytes": 4 << 30},
        "interfaces": [
            {
                "name": f"eth{at}",
                "macAddress": f"52:54:00:{at:02x}:{number % 256:02x}:01",
                "mtu": 1500,
                "speedMbps": dice.choice([1000, 10000, 25000, 100000]),
                "hasCarrier": True,
                "ipV4Addresses": [f"10.0.{at}.{number % 250}/24"],
                "ipV6Addresses": [],
                "flags": ["up", "broadcast", "multicast"],
                "product": "0x1572",
                "vendor": "0x8086",
            }
            for at in range(8)
        ],
        "gpus": [{"vendor": dice.choice(["NVIDIA Corporation", "AMD"]), "name": "A100", "address": "0000:3b:00.0"}],
        "systemVendor": {
            "manufacturer": dice.choice(["Dell Inc.", "HPE", "Lenovo"]),
            "productName": "PowerEdge R650",
            "serialNumber": f"SN{number}",
        },
        "boot": {"currentBootMode": "uefi"},
    }
    if not disks:
        del inventory["disks" if "disks" in inventory else "boot"]
    else:
        inventory["disks"] = disks
    return inventory


def agents(count: int) -> list[dict[str, Any]]:
    dice = random.Random(7)
    return [agent(number, dice) for number in range(count)]


def timed(evaluate: Callable[[Any], Any], items: Iterable[Any]) -> tuple[float, int, int]:
    """CPU microseconds per item, how many answered true, how many failed."""
    yes = failed = count = 0
    start = time.process_time()
    for item in items:
        count += 1
        try:
            if evaluate(item) is True:
                yes += 1
        except (EvaluationError, ValueError, RuntimeError):
            failed += 1
    return (time.process_time() - start) / count * 1e6, yes, failed


def ours(fleet: list[dict[str, Any]], rounds: int = 3) -> dict[str, tuple[float, int, int]]:
    results = {}
    for name, text in {**QUERIES, **UNIQUE}.items():
        results[name] = min(timed(_first_of(text), fleet) for _ in range(rounds))
    return results


def _first_of(text: str) -> Callable[[Any], Any]:
    """Compiled anew for every round, so that no memo of an earlier one helps."""
    run = compile_query(text).run
    return lambda item: run(item)[0]


def compile_times() -> dict[str, float]:
    """Milliseconds to compile, the first query of a process apart: it also loads the builtins."""
    found = {}
    for name, text in QUERIES.items():
        start = time.process_time()
        for _ in range(20):
            compile_query(text)
        found[name] = (time.process_time() - start) / 20 * 1e3
    return found


def peers(fleet: list[dict[str, Any]]) -> dict[str, dict[str, tuple[float, int, int]]]:
    python = os.environ.get("JQ_PEERS")
    if python is None:
        print("Python peers left out: set JQ_PEERS to a Python that has jq, jaq-rs and purejq")
        return {}
    with tempfile.NamedTemporaryFile("w", suffix=".ndjson") as file:
        file.writelines(json.dumps(item) + "\n" for item in fleet[: min(len(fleet), 2000)])
        file.flush()
        done = subprocess.run(
            [python, str(HERE / "peers" / "jq_bindings.py"), file.name],
            input=json.dumps(QUERIES), capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        print("Python peers failed:", done.stderr.strip().splitlines()[-1:])
        return {}
    return {name: {key: tuple(row) for key, row in rows.items()} for name, rows in json.loads(done.stdout).items()}


def gojq(fleet: list[dict[str, Any]]) -> dict[str, tuple[float, int, int]]:
    go = shutil.which("go")
    if go is None:
        print("gojq left out: no Go on this machine")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        built = subprocess.run(
            [go, "build", "-o", f"{folder}/peer", "."],
            cwd=HERE / "peers" / "gojq",
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "GOFLAGS": "-mod=mod"},
        )
        if built.returncode:
            print("gojq left out: its module cannot be had:", built.stderr.strip().splitlines()[-1:])
            return {}
        data = Path(folder, "agents.ndjson")
        data.write_text("".join(json.dumps(item) + "\n" for item in fleet))
        done = subprocess.run(
            [f"{folder}/peer", str(data)], input=json.dumps(QUERIES), capture_output=True, text=True, check=True
        )
    return {key: tuple(row) for key, row in json.loads(done.stdout).items()}


def _figures(runs: list[Any], engine: str, name: str) -> list[float]:
    return [run[engine][name][0] for run in runs if name in run.get(engine, {})]


def main() -> None:
    fleet = agents(AGENTS)
    size = sum(len(json.dumps(item)) for item in fleet[:100]) / 100
    print(f"{len(fleet):,} agents of {size / 1000:.1f} KB; Python {sys.version.split()[0]}")
    runs = [{"muster.jq": ours(fleet), "gojq in Go": gojq(fleet), **peers(fleet)} for _ in range(RUNS)]
    heading("make bench AREA=jq", "Microseconds of CPU per evaluation, every budget on: median of three runs (spread).")
    header("", *QUERIES, *UNIQUE)
    for engine in runs[0]:
        if runs[0][engine]:
            row(engine, *(measured(_figures(runs, engine, name)) for name in (*QUERIES, *UNIQUE)))
    for engine, goal in (("gojq in Go", 2), ("jq", None), ("jaq-rs", None)):
        if runs[0].get(engine):
            ratios = (times(_figures(runs, engine, name), _figures(runs, "muster.jq", name)) for name in QUERIES)
            row(
                f"times {engine}{f' (goal {goal})' if goal else ''}",
                *(judged(each, least=goal) for each in ratios),
                "–",
            )
    compiling = [compile_times() for _ in range(RUNS)]
    row("compile, ms (goal 1)", *(judged([each[name] for each in compiling], most=1) for name in QUERIES), "–")
    for engine, results in runs[0].items():
        for name, result in results.items():
            if engine == "gojq in Go" and tuple(result[1:]) != runs[0]["muster.jq"][name][1:]:
                print(f"{engine}, {name}: {result[1:]} matches and errors, not {runs[0]['muster.jq'][name][1:]}")


if __name__ == "__main__":
    main()
    sys.exit(0)
