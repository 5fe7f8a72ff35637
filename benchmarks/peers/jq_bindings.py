"""Runs queries over a file of agents with every Python binding that can be imported; prints CPU microseconds as JSON.

Started by benchmarks/jq.py in an environment of its own: `python jq_bindings.py agents.ndjson < queries.json`.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any


def runner(package: str, query: str) -> Any:
    """A function from a parsed agent to the first output."""
    if package == "jq":
        program = importlib.import_module("jq").compile(query)
        return lambda item: program.input_value(item).first()
    if package == "jaq-rs":
        compiled = importlib.import_module("jaq").compile(query)
        return lambda item: compiled.first(item)
    plain = importlib.import_module("purejq").compile(query)
    return lambda item: plain.first(item)


def measured(run: Any, items: list[Any]) -> list[Any]:
    yes = failed = 0
    start = time.process_time()
    for item in items:
        try:
            if run(item) is True:
                yes += 1
        except Exception:
            failed += 1
    return [(time.process_time() - start) / len(items) * 1e6, yes, failed]


def main() -> None:
    queries = json.load(sys.stdin)
    with Path(sys.argv[1]).open() as lines:
        items = [json.loads(line) for line in lines]
    results: dict[str, Any] = {}
    for package in ("jq", "jaq-rs", "purejq"):
        try:
            results[package] = {name: measured(runner(package, text), items) for name, text in queries.items()}
        except Exception as error:
            print(f"{package}: {error}", file=sys.stderr)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
