"""CEL over ManagedClusters: microseconds of CPU time per evaluation, cost limit on, beside other engines in one run.

The Python libraries of PyPI are installed into a virtual environment of their own (CEL_PEERS names its folder); cel-go
is built from benchmarks/peers/cel-go where Go and the modules are at hand. A line says what was left out. Times are the
best of several passes over each thousand clusters. Ours is also measured with every text unique, so that remembered
results do not help.
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

from muster.cel import environment, make_program

CLUSTERS = int(os.environ.get("CEL_CLUSTERS", "10000"))
LIMIT = 1_000_000
CHUNK = 1000  # clusters; the best pass over each chunk counts, for ours and for cel-go, so that other load shows less
REPEATS = 7
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
    inputs = [{"managedCluster": item} for item in clusters]
    results: dict[str, Any] = {}
    for name, text in EXPRESSIONS.items():
        compiling = min(_cpu(lambda text=text: make_program(text, env)) for _ in range(15))
        chunks = [inputs[start : start + CHUNK] for start in range(0, len(inputs), CHUNK)]
        best = [float("inf")] * len(chunks)
        matches = 0
        for _ in range(REPEATS):
            run = make_program(text, env).run  # a new program, which remembers nothing yet
            matches = 0
            for index, chunk in enumerate(chunks):
                started = time.process_time()
                for variables in chunk:
                    if run(variables, LIMIT)[0] is True:
                        matches += 1
                best[index] = min(best[index], time.process_time() - started)
        results[name] = {"micros": sum(best) / len(inputs) * 1e6, "matches": matches, "compile": compiling * 1e3}
    return results


def _cpu(action: Any) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def _python_peers(data: Path, scratch: Path) -> dict[str, Any]:
    folder = Path(os.environ.get("CEL_PEERS") or scratch / "peers")
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        installed = subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=False)
        if installed.returncode:
            print("the Python libraries are left out: they could not be installed")
            return {}
    done = subprocess.run(
        [str(python), str(HERE / "peers" / "cel_bindings.py"), str(data)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"the Python libraries are left out: {done.stderr[-300:]}")
        return {}
    peers: dict[str, Any] = json.loads(done.stdout)
    return peers


def _cel_go(data: Path, scratch: Path) -> dict[str, Any]:
    go = shutil.which("go")
    if go is None:
        print("cel-go is left out: there is no Go here")
        return {}
    binary = scratch / "cel-go-peer"
    built = subprocess.run(
        [go, "build", "-o", str(binary), "."],
        cwd=HERE / "peers" / "cel-go",
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        print(f"cel-go is left out: {built.stderr[-300:]}")
        return {}
    done = subprocess.run([str(binary), str(data)], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"cel-go is left out: {done.stderr[-300:]}")
        return {}
    return {"cel-go": json.loads(done.stdout)}


def _cell(result: dict[str, Any] | None) -> str:
    return f"{result['micros']:.2f}" if result and not result.get("error") else "–"


def _table(engines: dict[str, dict[str, Any]]) -> None:
    print(f"\n{'µs per evaluation':28}" + "".join(f"{name:>10}" for name in EXPRESSIONS))
    for engine, results in engines.items():
        print(f"{engine:28}" + "".join(f"{_cell(results.get(name)):>10}" for name in EXPRESSIONS))


def _ratios(engines: dict[str, dict[str, Any]]) -> None:
    mine = engines["muster"]
    libraries = [engine for engine in engines if engine not in {"muster", "muster, unique texts", "cel-go"}]
    for label, others in (("times the fastest library", libraries), ("times cel-go", ["cel-go"])):
        cells = []
        for name in EXPRESSIONS:
            found = [
                engines[engine][name]["micros"]
                for engine in others
                if engine in engines
                and "micros" in engines[engine].get(name, {})
                and not engines[engine][name].get("error")
            ]
            cells.append(f"{min(found) / mine[name]['micros']:.1f}x" if found else "–")
        print(f"{label:28}" + "".join(f"{cell:>10}" for cell in cells))


def main() -> None:
    clusters = fleet()
    size = sum(len(json.dumps(item)) for item in clusters[:200]) // 200
    print(f"{len(clusters):,} clusters of {size:,} bytes; Python {sys.version.split()[0]}; cost limit {LIMIT:,}")
    engines = {"muster": ours(clusters), "muster, unique texts": ours(fleet(unique=True))}
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        data = scratch / "clusters.json"
        data.write_text(json.dumps({"expressions": EXPRESSIONS, "clusters": clusters}), encoding="utf-8")
        engines |= _cel_go(data, scratch)
        engines |= _python_peers(data, scratch)
    _table(engines)
    _ratios(engines)
    print(f"{'compile, ms':28}" + "".join(f"{engines['muster'][name]['compile']:>10.2f}" for name in EXPRESSIONS))
    print(f"{'matches':28}" + "".join(f"{engines['muster'][name]['matches']:>10}" for name in EXPRESSIONS))
    for engine, results in engines.items():
        for name, result in results.items():
            if result.get("error"):
                print(f"{engine}, {name}: {result['error']}")


if __name__ == "__main__":
    main()
