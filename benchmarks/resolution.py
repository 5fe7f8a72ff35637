"""How fast operators are resolved: synthetic catalogs in three sizes, and a real one if it is given.

`python -m benchmarks.resolution [--catalog FILE.ndjson[.gz]]`. Load, index and resolve are timed apart; memory is the
growth of the process. The generator's catalogs need falling back: newer versions are sometimes incompatible.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import random
import resource
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from muster.resolution.catalog.blobs import CatalogBuilder
from muster.resolution.request import Request, Want
from muster.resolution.resolve import Impossible, Resolved, resolve
from muster.resolution.telling.story import tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.resolution.catalog.catalog import Catalog

SIZES = ((30, 10, 5), (300, 10, 20), (1000, 20, 40), (3000, 20, 60))  # packages, versions, wants


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


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def synthetic(packages: int, versions: int, wants: int) -> None:
    lines = [msgspec.json.encode(blob) for blob in synthetic_blobs(packages, versions)]
    before, started = _memory(), time.perf_counter()
    catalog = load("synthetic", lines)
    loaded = time.perf_counter() - started
    gc.freeze()  # as the command does behind loading
    chosen = random.Random(1).sample(range(packages), wants)
    request = Request((catalog,), tuple(Want(f"p{each:04}", f"p{each:04}", "stable") for each in sorted(chosen)))
    times = []
    for _ in range(3):
        started = time.perf_counter()
        outcome = resolve(request)
        times.append(time.perf_counter() - started)
    found = f"{len(outcome.solution.chosen) - wants} operators" if isinstance(outcome, Resolved) else "impossible"
    variables = len(outcome.problem.variables) if isinstance(outcome, Resolved | Impossible) else 0
    print(
        f"{packages:5} x {versions} x 2, {len(catalog.entries):6} entries, {wants} wants: loaded and indexed in"
        f" {loaded:.2f} s, +{_memory() - before:.0f} MB; resolve {min(times):.3f} s ({variables} variables, {found})"
    )


def real(path: Path) -> None:
    started = time.perf_counter()
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        catalog = load(path.name, stream)
    gc.freeze()
    print(f"{path.name}: {len(catalog.entries)} entries, load and index {time.perf_counter() - started:.2f} s")
    packages = sorted({entry.package for entry in catalog.entries})
    times: list[float] = []
    impossible: dict[str, str] = {}
    for package in packages:
        started = time.perf_counter()
        outcome = resolve(Request((catalog,), (Want(package, package),)))
        times.append(time.perf_counter() - started)
        if isinstance(outcome, Impossible):
            impossible[package] = tell(outcome.problem).text
    print(
        f"{len(packages)} packages alone: median {statistics.median(times) * 1000:.2f} ms,"
        f" most {max(times) * 1000:.1f} ms; {len(impossible)} impossible:"
    )
    for text in impossible.values():
        print(text)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--catalog", type=Path)
    options, _ = arguments.parse_known_args()  # `python -m benchmarks resolution` leaves its own argument
    for size in SIZES:
        synthetic(*size)
    if options.catalog:
        real(options.catalog)


if __name__ == "__main__":
    main()
