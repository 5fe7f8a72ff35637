"""CEL over ManagedClusters: microseconds of CPU time per evaluation, cost limit on, beside other engines in one run.

The Python libraries of PyPI are installed into a virtual environment of their own (CEL_PEERS names its folder); cel-go
is built from benchmarks/peers/cel-go where Go and the modules are at hand. A line says what was left out. All engines
take turns in each of three runs; a time is the best of several passes over each thousand clusters. Ours and cel-go are
also measured with every text unique, so that remembered results do not help.
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
import venv
from pathlib import Path
from typing import Any

from benchmarks._report import RUNS, header, heading, judged, measured, row, times
from muster.cel import environment, make_program
from muster.cel.generating import generator

CLUSTERS = int(os.environ.get("CEL_CLUSTERS", "5000"))
LIMIT = 1_000_000
CHUNK = 1000  # clusters; the best pass over each chunk counts, for ours and for cel-go, so that other load shows less
REPEATS = 5
PACKAGES = ("cel-expr-python==0.1.3", "cel-python==0.5.0", "common-expression-language==0.10.0")
HERE = Path(__file__).parent
EXPRESSIONS = {
    "label": 'managedCluster.metadata.labels["env"] == "prod"',
    "regex": r'managedCluster.metadata.labels["version"].matches("^1\\.(30|31)\\.\\d+$")',
    "claims": 'managedCluster.status.clusterClaims.exists(c, c.name == "platform.open-cluster-management.io"'
    ' && c.value == "AWS")',
    "semver": 'semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver("v1.30.0", true))',
    "scores": "managedCluster.scores(\"default\").filter(s, s.name == 'cpu').all(e, e.value > 3)",
    "json": 'managedCluster.status.clusterClaims.exists(c, c.name == "sku" && '
    "c.value.parseJSON().H100.exists(e, e.count == 2))",
}


def cluster(index: int, rng: random.Random, unique: bool) -> dict[str, Any]:
    """A ManagedCluster of about 3.4 KB; with `unique`, texts that are parsed occur only once."""
    tail = f"-{index}" if unique else ""
    claims = {
        "id.k8s.io": f"{rng.getrandbits(64):016x}-{index}",
        "kubeversion.open-cluster-management.io": f"v1.{rng.randint(26, 34)}.{rng.randint(0, 9)}",
        "platform.open-cluster-management.io": rng.choice(("AWS", "Azure", "GCP", "BareMetal")),
        "product.open-cluster-management.io": rng.choice(("OpenShift", "EKS", "AKS", "Other")),
        "region.open-cluster-management.io": rng.choice(("eu-west-1", "us-east-1", "ap-south-1")),
        "consoleurl.cluster.open-cluster-management.io": f"https://console.apps.c{index}.example.com",
        "sku": json.dumps({"H100": [{"count": rng.randint(0, 3)}, {"count": 1}], "tag": tail}),
        "owner": f"team-{rng.randint(0, 40)}",
    }
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": f"{kind}Reason",
            "message": f"{kind} has been observed by the registration controller of the hub",
            "lastTransitionTime": "2025-06-01T00:00:00Z",
        }
        for kind in ("HubAcceptedManagedCluster", "ManagedClusterJoined", "ManagedClusterConditionAvailable")
    ]
    return {
        "apiVersion": "cluster.open-cluster-management.io/v1",
        "kind": "ManagedCluster",
        "metadata": {
            "name": f"cluster-{index:05d}",
            "uid": f"{rng.getrandbits(128):032x}",
            "labels": {
                "env": rng.choice(("prod", "staging", "dev", "test")),
                "version": f"1.{rng.randint(26, 34)}.{index if unique else rng.randint(0, 9)}",
                **{f"label-{number}": f"value-{rng.randint(0, 9)}" for number in range(12)},
            },
            "annotations": {f"example.com/annotation-{number}": "x" * 60 for number in range(8)},
        },
        "spec": {"hubAcceptsClient": True, "leaseDurationSeconds": 60, "taints": []},
        "status": {
            "version": {"kubernetes": f"v1.{rng.randint(26, 34)}.{index if unique else rng.randint(0, 12)}"},
            "capacity": {"cpu": "64", "memory": "256Gi", "pods": "250"},
            "allocatable": {"cpu": "60", "memory": "240Gi", "pods": "250"},
            "clusterClaims": [{"name": name, "value": value} for name, value in claims.items()],
            "conditions": conditions,
        },
        "@scores": {"default": [{"name": name, "value": rng.randint(0, 10)} for name in ("cpu", "memory", "gpu")]},
    }


def fleet(unique: bool = False) -> list[dict[str, Any]]:
    rng = random.Random(20260101)
    return [cluster(index, rng, unique) for index in range(CLUSTERS)]


def ours(clusters: list[dict[str, Any]]) -> dict[str, Any]:
    env = environment("muster")
    results: dict[str, Any] = {}
    for name, text in EXPRESSIONS.items():
        compiling = min(_cpu(lambda text=text: make_program(text, env)) for _ in range(15))
        fresh = min(_cpu(lambda text=text: _compiled_anew(text, env)) for _ in range(15))
        chunks = [clusters[start : start + CHUNK] for start in range(0, len(clusters), CHUNK)]
        best = [float("inf")] * len(chunks)
        matches = 0
        for _ in range(REPEATS):
            run = make_program(text, env).run  # a new program, which remembers nothing yet
            matches = 0
            for index, chunk in enumerate(chunks):
                started = time.process_time()
                for each in chunk:  # its variables are made here, as cel-go's are and as our selectors do it
                    if run({"managedCluster": each}, LIMIT)[0] is True:
                        matches += 1
                best[index] = min(best[index], time.process_time() - started)
        results[name] = {"micros": sum(best) / len(clusters) * 1e6, "matches": matches, "compile": compiling * 1e3}
        results[name]["new structure"] = fresh * 1e3
    return results


def _compiled_anew(text: str, env: Any) -> None:
    generator._kept_code.cache_clear()  # noqa: SLF001 - as an expression of a structure that nobody has compiled before
    make_program(text, env)


def _cpu(action: Any) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def _peers_python(scratch: Path) -> Path | None:
    folder = Path(os.environ.get("CEL_PEERS") or scratch / "peers")
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        installed = subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=False)
        if installed.returncode:
            print("the Python libraries are left out: they could not be installed")
            return None
    return python


def _cel_go(scratch: Path) -> Path | None:
    go = shutil.which("go")
    if go is None:
        print("cel-go is left out: there is no Go here")
        return None
    binary = scratch / "cel-go-peer"
    command = [go, "build", "-o", str(binary), "."]
    built = subprocess.run(command, cwd=HERE / "peers" / "cel-go", capture_output=True, text=True, check=False)
    if built.returncode:
        print(f"cel-go is left out: {built.stderr[-300:]}")
        return None
    return binary


def _answer(*command: str) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{command[0]} is left out: {done.stderr[-300:]}")
        return {}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _one_run(
    data: dict[bool, Path], fleets: dict[bool, list[dict[str, Any]]], go: Path | None, python: Path | None
) -> Any:
    """Every engine once, one after the other: what the machine does meanwhile, it does to all of them."""
    engines: dict[str, dict[str, Any]] = {}
    for unique, suffix in ((False, ""), (True, ", every text new")):
        engines[f"muster{suffix}"] = ours(fleets[unique])
        if go is not None:
            engines[f"cel-go, Kubernetes options{suffix}"] = _answer(str(go), str(data[unique]))
    if python is not None:
        engines |= _answer(str(python), str(HERE / "peers" / "cel_bindings.py"), str(data[False]))
    return engines


def _figures(runs: list[Any], engine: str, name: str, key: str = "micros") -> list[float]:
    found = [run.get(engine, {}).get(name, {}) for run in runs]
    return [each[key] for each in found if key in each and not each.get("error")]


def _tables(runs: list[Any]) -> None:
    heading("make bench AREA=cel", "Microseconds of CPU per evaluation, cost limit on: median of three runs (spread).")
    header("", *EXPRESSIONS)
    for engine in runs[0]:
        row(engine, *(measured(_figures(runs, engine, name)) for name in EXPRESSIONS))
    libraries = [engine for engine in runs[0] if not engine.startswith(("muster", "cel-go"))]
    for suffix in ("", ", every text new"):
        ratios = {
            name: times(
                _figures(runs, f"cel-go, Kubernetes options{suffix}", name), _figures(runs, f"muster{suffix}", name)
            )
            for name in EXPRESSIONS
        }
        row(f"times cel-go{suffix} (goal 2)", *(judged(ratios[name], least=2) for name in EXPRESSIONS))
    fastest = {
        name: min((_figures(runs, engine, name) for engine in libraries), key=lambda each: each or [1e9], default=[])
        for name in EXPRESSIONS
    }
    cells = (judged(times(fastest[name], _figures(runs, "muster", name)), least=15) for name in EXPRESSIONS)
    row("times the fastest Python library (goal 15)", *cells)
    for key, told in (("compile", "a structure seen before"), ("new structure", "a new structure")):
        cells = (judged(_figures(runs, "muster", name, key), most=1) for name in EXPRESSIONS)
        row(f"compile, ms, {told} (goal 1)", *cells)


def main() -> None:
    fleets = {unique: fleet(unique) for unique in (False, True)}
    size = sum(len(json.dumps(item)) for item in fleets[False][:200]) // 200
    print(f"{CLUSTERS:,} clusters of {size:,} bytes; Python {sys.version.split()[0]}; cost limit {LIMIT:,}")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        data = {}
        for unique, clusters in fleets.items():
            data[unique] = scratch / f"clusters-{unique}.json"
            text = json.dumps({"expressions": EXPRESSIONS, "clusters": clusters})
            data[unique].write_text(text, encoding="utf-8")
        go, python = _cel_go(scratch), _peers_python(scratch)
        runs = [_one_run(data, fleets, go, python) for _ in range(RUNS)]
    _tables(runs)
    for engine, results in runs[0].items():
        for name, result in results.items():
            if result.get("error"):
                print(f"{engine}, {name}: {result['error']}")
            elif not engine.startswith(("muster", "cel-go")) or result["matches"] == runs[0]["muster"][name]["matches"]:
                continue
            elif "every text" not in engine:
                print(f"{engine}, {name}: {result['matches']} matches, not {runs[0]['muster'][name]['matches']}")


if __name__ == "__main__":
    main()
