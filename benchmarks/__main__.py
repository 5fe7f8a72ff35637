"""`python -m benchmarks [AREA…]`: run the benchmarks and print their tables. Never part of the tests."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path


def areas() -> list[str]:
    return sorted(
        module.name
        for module in pkgutil.iter_modules([str(Path(__file__).parent)])
        if not module.name.startswith("_") and not module.ispkg
    )


def main(wanted: list[str]) -> int:
    known = areas()
    for area in wanted or known:
        if area not in known:
            print(f"no benchmark {area!r}; there are {', '.join(known)}", file=sys.stderr)
            return 2
        print(f"\n# {area}", flush=True)
        sys.argv = [f"benchmarks.{area}"]  # those with options of their own are run alone to set them
        importlib.import_module(f"benchmarks.{area}").main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
