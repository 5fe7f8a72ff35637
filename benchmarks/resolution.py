"""How fast operators are resolved: synthetic catalogs in three sizes, and a real one if it is given.

`python -m benchmarks.resolution [--catalog FILE.ndjson[.gz]]`. Loading with indexing and resolving are timed apart, in
CPU time; memory is what the process holds more behind loading. The generator's catalogs need falling back: newer
versions are sometimes incompatible.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import random
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks._processes import afresh, resident
from benchmarks._report import RUNS, figures, header, heading, judged, measured, row
from muster.resolution.catalog.blobs import CatalogBuilder
from muster.resolution.request import Request, Want
from muster.resolution.resolve import Impossible, Resolved, resolve
from muster.resolution.telling.story import tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.resolution.catalog.catalog import Catalog

SIZES = {(30, 10, 5): None, (300, 10, 20): 0.3, (1000, 20, 40): None, (3000, 20, 60): 5.0}  # what, and resolved in s
LONGEST = "the slowest package, ms"


def synthetic_blobs(packages: int, versions: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Packages with two channels; 60 % need one to three others in a range, 25 % an API that two provide."""
    dice = random.Random(seed)
    for number in range(packages):
        name = f"p{number:04}"
        yield {"schema": "olm.package", "name": name, "defaultChannel": "stable"}
        later = range(number + 1, packages)  # no cycles, as among real operators
        needs = dice.sample(later, min(len(later), dice.randint(1, 3))) if dice.random() < 0.6 else []
        api = dice.choice(later) if later and dice.random() < 0.25 else None
        names = [f"{name}.v{version}.0.0" for version in range(1, versions + 1)]
        for version, bundle in enumerate(names, 1):
            yield _bundle(name, bundle, number, version, needs, api, dice)
        entries = [{"name": names[0]}]
        entries += [{"name": names[at], "replaces": names[at - 1]} for at in range(1, versions)]
        yield {"schema": "olm.channel", "package": name, "name": "stable", "entries": entries[: versions - 2]}
        yield {"schema": "olm.channel", "package": name, "name": "candidate", "entries": entries}


def _bundle(
    package: str,
    name: str,
    number: int,
    version: int,
    needs: list[int],
    api: int | None,
    dice: random.Random,
) -> dict[str, Any]:
    properties: list[dict[str, Any]] = [
        {"type": "olm.package", "value": {"packageName": package, "version": f"{version}.0.0"}},
        {"type": "olm.gvk", "value": {"group": f"g{number}.example.com", "version": "v1", "kind": "Own"}},
        {
            "type": "olm.gvk",
            "value": {"group": f"s{number // 2}.example.com", "version": f"v{number % 2}", "kind": "S"},
        },
    ]
    for other in needs:
        # A newer version wants a newer neighbour, now and then one that has moved too far.
        low = max(1, version - dice.randint(1, 4))
        high = version + dice.randint(0, 3) if dice.random() < 0.9 else low
        wanted = f">={low}.0.0 <{high + 1}.0.0"
        if other != number:
            value = {"packageName": f"p{other:04}", "versionRange": wanted}
            properties.append({"type": "olm.package.required", "value": value})
    if api is not None:
        value = {"group": f"s{api // 2}.example.com", "version": f"v{api % 2}", "kind": "S"}
        properties.append({"type": "olm.gvk.required", "value": value})
    return {"schema": "olm.bundle", "name": name, "package": package, "properties": properties}


def load(name: str, lines: Iterable[bytes]) -> Catalog:
    builder = CatalogBuilder(name)
    for number, line in enumerate(lines, 1):
        builder.add_text(line, f"{name}:{number}")
    return builder.build()


def synthetic(packages: int, versions: int, wants: int) -> tuple[float, float, float, int]:
    """In a process of its own: seconds to load and index, megabytes it grew by, seconds to resolve, operators."""
    lines = [msgspec.json.encode(blob) for blob in synthetic_blobs(packages, versions)]
    before, started = resident(), time.process_time()
    catalog = load("synthetic", lines)
    loaded, grown = time.process_time() - started, (resident() - before) / 1e6
    gc.freeze()  # as the command does behind loading
    chosen = random.Random(1).sample(range(packages), wants)
    request = Request((catalog,), tuple(Want(f"p{each:04}", f"p{each:04}", "stable") for each in sorted(chosen)))
    started = time.process_time()
    outcome = resolve(request)
    resolved = time.process_time() - started
    assert isinstance(outcome, Resolved), outcome
    return loaded, grown, resolved, len(outcome.solution.chosen)


def real(path: Path) -> tuple[dict[str, float], list[str]]:
    """In a process of its own: a catalog as it is published, each of its packages alone, and what cannot be had."""
    started = time.process_time()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        catalog = load(path.name, stream)
    found = {"load and index, s": time.process_time() - started}
    gc.freeze()
    packages = sorted({entry.package for entry in catalog.entries})
    times = []
    impossible = []
    for package in packages:
        started = time.process_time()
        outcome = resolve(Request((catalog,), (Want(package, package),)))
        times.append((time.process_time() - started) * 1e3)
        if isinstance(outcome, Impossible):
            impossible.append(tell(outcome.problem).text)
    found |= {"a package alone, ms": statistics.median(times), LONGEST: max(times), "packages": len(packages)}
    return found | {"impossible": len(impossible)}, impossible


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--catalog", type=Path)
    options = arguments.parse_args()
    heading("make bench AREA=resolution", "Generated catalogs; CPU time, each run in a process of its own.")
    header("packages x versions x channels", "wanted", "load and index, s", "held, MB", "resolve, s", "goal", "found")
    for (packages, versions, wants), goal in SIZES.items():
        runs = [afresh(synthetic, packages, versions, wants) for _ in range(RUNS)]
        loaded, grown, resolved, found = ([run[at] for run in runs] for at in range(4))
        size = f"{packages:,} x {versions} x 2"
        times = measured(loaded), measured(grown), judged(resolved, most=goal)
        row(size, str(wants), *times, "" if goal is None else f"{goal:g}", f"{found[0]:.0f} operators")
    if options.catalog:
        heading(f"python -m benchmarks.resolution --catalog {options.catalog.name}", "The same for a real catalog.")
        whole = [afresh(real, options.catalog) for _ in range(RUNS)]
        figures([found for found, _ in whole], {LONGEST: 50})
        print()
        for text in whole[0][1]:
            print(text)


if __name__ == "__main__":
    main()
