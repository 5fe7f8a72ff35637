"""`make differential`: generated programs in the real programs and in ours.

    python -m tests.differential [cel|jq|olm|placement ...] [--programs N] [--seconds S] [--seed N] [--long]

Without --long a comparison takes what fits into --seconds (15 each); with it, --programs (100,000) of each and every
version of the peers, or what fits into --seconds if that is given. The same seed makes the same programs. A difference
is told as soon as it is found; the tables come at the end.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
from typing import Final

from tests.differential.building import NoGoError
from tests.differential.report import skipped_means_failure

COMPARISONS: Final = ("cel", "jq", "olm", "placement")
_SHORT: Final = 15.0


def main() -> int:
    arguments = argparse.ArgumentParser(prog="make differential", description=__doc__)
    arguments.add_argument("comparisons", nargs="*", metavar="|".join(COMPARISONS))
    arguments.add_argument("--programs", type=int, default=100_000, help="how many, with --long")
    arguments.add_argument("--seconds", type=float, help="how long each may take; 15 without --long")
    arguments.add_argument("--seed", type=int)
    arguments.add_argument(
        "--long", action="store_true", help="all versions of the peers and as many programs as --programs"
    )
    options = arguments.parse_args()
    unknown = sorted(set(options.comparisons) - set(COMPARISONS))
    if unknown:
        arguments.error(f"no comparison {', '.join(unknown)}; there are {', '.join(COMPARISONS)}")
    seed = random.SystemRandom().randrange(1 << 32) if options.seed is None else options.seed
    good = True
    for name in options.comparisons or COMPARISONS:
        module = importlib.import_module(f"tests.differential.{name}")
        try:
            reports = module.run(
                seed=seed,
                programs=options.programs if options.long else None,
                seconds=options.seconds if options.long or options.seconds is not None else _SHORT,
                every_version=options.long,
            )
        except NoGoError as reason:
            print(f"{name}: skipped, {reason}")
            good = good and not skipped_means_failure()
            continue
        for report in reports:
            print(report.text(), flush=True)
            good = good and report.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
