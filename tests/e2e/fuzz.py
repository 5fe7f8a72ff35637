"""`make fuzz`: schemathesis attacks a running hub through our OpenAPI documents, for a limited time.

FUZZ_SECONDS sets the time (60 by default), FUZZ_SEED repeats a run. It fails when the hub fails, sends something that
is not what the document promises, lets somebody in without a token, or is no longer there at the end.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.hub.rest.running import RunningHub, running_hub

ROOT = Path(__file__).resolve().parents[2]
CHECKS = "no_failure_of_the_hub,content_type_conformance,response_schema_conformance,ignored_auth"


def main() -> int:
    seconds = int(os.environ.get("FUZZ_SECONDS", "60"))
    seed = int(os.environ.get("FUZZ_SEED") or random.randrange(1 << 32))
    with tempfile.TemporaryDirectory() as name, running_hub(Path(name) / "hub.db") as hub:
        folder = Path(name)
        (folder / "openapi.json").write_text(json.dumps(whole_document(hub, seed)))
        (folder / "schemathesis.toml").write_text(f'[auth.openapi.BearerToken]\nbearer = "{hub.token}"\n')
        print(f"fuzzing for {seconds} s; repeat with FUZZ_SEED={seed}", flush=True)
        result = subprocess.run(
            _command(hub, folder, seconds, seed),
            cwd=folder,
            env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.e2e.fuzz_checks", "PYTHONPATH": str(ROOT)},
            timeout=seconds + 120,
            check=False,
        )
        code, _, body = hub.request("GET", "/readyz?verbose")
        print(f"readyz afterwards: {code} {body.decode().splitlines()}")
    return 1 if result.returncode or code != 200 else 0


def whole_document(hub: RunningHub, seed: int) -> dict[str, Any]:
    """All our documents as one, in random order, so that every part gets its share of a short run."""
    index = json.loads(hub.request("GET", "/openapi/v3")[2])["paths"]
    merged: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    schemas: dict[str, Any] = {}
    for entry in index.values():
        merged = json.loads(hub.request("GET", entry["serverRelativeURL"])[2])
        paths |= merged["paths"]
        schemas |= merged["components"]["schemas"]
    for item in paths.values():
        for method, operation in item.items():
            if method == "get" and "parameters" in operation:
                # A watch does not end by itself; it has tests of its own.
                operation["parameters"] = [p for p in operation["parameters"] if p["name"] != "watch"]
    names = sorted(paths)
    random.Random(seed).shuffle(names)
    merged["components"]["schemas"] = schemas
    return merged | {"paths": {name: paths[name] for name in names}}


def _command(hub: RunningHub, folder: Path, seconds: int, seed: int) -> list[str]:
    return [
        str(Path(sys.executable).with_name("schemathesis")),
        "--config-file",
        str(folder / "schemathesis.toml"),
        "run",
        str(folder / "openapi.json"),
        "--url",
        hub.url,
        "--checks",
        CHECKS,
        "--phases",
        "coverage,fuzzing",
        "--max-time",
        str(seconds),
        "--seed",
        str(seed),
        "--request-timeout",
        "10",
        "--generation-database",
        "none",
        "--no-color",
        "--warnings",
        "off",
    ]


if __name__ == "__main__":
    sys.exit(main())
