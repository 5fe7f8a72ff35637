"""The damage matrix: what a start makes of files that were flipped, cut, deleted or swapped after kill -9.

`python -m tests.hub.storage.damage --places 200 --seed 1`. Real processes write until they are killed; then one of
their files is damaged, at so many random places each, and the store is opened. Either everything that was acknowledged
is there as it was written, or the start is refused with a message that is true. Anything else is a fault, and printed.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muster.hub.storage import DatabaseRefusedError, LostWritesError, StorageUnavailableError, Store
from muster.hub.storage.mark import read_mark
from tests.hub.storage.killed_writers import (
    BUSY,
    LOG_ONLY,
    PODS,
    Expectation,
    contents,
    forked_writer,
    key,
    kill,
    whole_lines,
)
from tests.hub.storage.stories import BY_HAND, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DATABASE, LOG, MARK, INDEX = "hub.db", "hub.db-wal", "hub.db-mark", "hub.db-shm"
DAMAGED = (DATABASE, LOG, MARK)
DEEDS = ("flip", "cut", "delete", "swap")


@dataclass
class Base:
    """What a killed writer left: its files, older copies of them, and what it had acknowledged."""

    directory: Path
    older: list[Path]
    expectation: Expectation


def make_base(directory: Path, seed: int, *, log_only: bool) -> Base:
    """Let a process write, copy its files while it stands still, let it write on, kill it."""
    files = directory / "files"
    files.mkdir(parents=True)
    older = []
    child, pipe = forked_writer(files / DATABASE, seed, 6, LOG_ONLY if log_only else BUSY)
    expectation, said = Expectation(), b""
    for number in range(4):
        said += _said_for(pipe, 0.15 + 0.1 * (seed % 3))
        if number < 3:
            os.kill(child, signal.SIGSTOP)
            copy = directory / f"older-{number}"
            shutil.copytree(files, copy)
            older.append(copy)
            os.kill(child, signal.SIGCONT)
    kill(child)
    while part := os.read(pipe, 1 << 20):
        said += part
    os.close(pipe)
    for line in whole_lines(said):
        expectation.take(line)
    assert expectation.acknowledged > 20, said[-300:]
    assert not expectation.gaps
    return Base(files, older, expectation)


def _said_for(pipe: int, seconds: float) -> bytes:
    said = os.read(pipe, 1 << 16)  # however slow the machine is, there is something
    os.set_blocking(pipe, False)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            said += os.read(pipe, 1 << 20)
        except BlockingIOError:
            time.sleep(0.005)
    os.set_blocking(pipe, True)
    return said


def flip(path: Path, chance: random.Random) -> str:
    """Some bytes at a random place become others."""
    content = bytearray(path.read_bytes())
    place, length = chance.randrange(len(content)), chance.choice((1, 3, 16, 600))
    before = bytes(content[place : place + length])
    content[place : place + length] = bytes(byte ^ chance.randrange(1, 256) for byte in before)
    path.write_bytes(content)
    return f"{len(before)} bytes at {place} of {len(content)}"


def cut(path: Path, chance: random.Random) -> str:
    size = path.stat().st_size
    place = chance.randrange(size)
    os.truncate(path, place)
    return f"to {place} of {size}"


def verdict(directory: Path, base: Base, swapped: Sequence[str] = ()) -> tuple[str, str]:
    """Open the store: "right", "refused" or "WRONG", and in which words."""
    expectation = base.expectation
    try:
        store = Store.open(directory / DATABASE, BY_HAND)
    except LostWritesError as error:
        true = error.acknowledged in (expectation.newest, _marked(base)) and (error.found or 0) <= error.acknowledged
        if MARK not in swapped and not true:
            return "WRONG", f"untrue: {error}"
        return "refused", str(error)
    except (DatabaseRefusedError, StorageUnavailableError) as error:
        return ("refused", str(error)) if str(directory) in str(error) else ("WRONG", f"names no file: {error}")
    except Exception as error:
        return "WRONG", f"{type(error).__name__}: {error}"
    outcome = asyncio.run(_judge(store, expectation))
    if outcome[0] != "right":
        return outcome
    try:  # what was right stays right, now that checkpoints have moved everything
        return asyncio.run(_judge(Store.open(directory / DATABASE, BY_HAND), expectation))
    except Exception as error:
        return "WRONG", f"it started once, and then not: {error}"


def _marked(base: Base) -> int:
    mark = read_mark(base.directory / DATABASE)
    return 0 if mark is None else mark.extent.revision


async def _judge(store: Store, expectation: Expectation) -> tuple[str, str]:
    try:
        found = {name: state for name, state in contents(store).items() if name != "afterwards"}
        faults = expectation.faults(found, store.revision)
        [written] = await store.commit([put("afterwards")])
        if written.revision <= expectation.newest:
            faults.append(f"revision {written.revision} is given out again")
        try:
            await store.scan_at(PODS, None, store.compacted)
        except StorageUnavailableError as error:
            if "damaged" not in str(error):
                faults.append(str(error))
        if store.get(key("afterwards")) is None:
            faults.append("what was written afterwards is not there")
    finally:
        await store.close()
    return ("WRONG", "; ".join(faults[:3])) if faults else ("right", "")


def trials(base: Base, places: int, chance: random.Random) -> Iterator[tuple[str, str, Callable[[Path], str]]]:
    """What is damaged, how, and the deed."""
    for name in DAMAGED:
        for _ in range(places):
            if (base.directory / name).stat().st_size:
                yield name, "flip", lambda directory, name=name: flip(directory / name, chance)  # type: ignore[misc]
                yield name, "cut", lambda directory, name=name: cut(directory / name, chance)  # type: ignore[misc]
    names = (DATABASE, LOG, MARK)
    for count in (1, 2, 3):
        for several in itertools.combinations(names, count):
            label = " and ".join(several)
            yield label, "delete", lambda directory, several=several: _delete(directory, several)  # type: ignore[misc]
            for older in base.older:
                yield label, "swap", lambda directory, several=several, older=older: _swap(directory, several, older)  # type: ignore[misc]


def _delete(directory: Path, names: Sequence[str]) -> str:
    for name in names:
        (directory / name).unlink()
    return ""


def _swap(directory: Path, names: Sequence[str], older: Path) -> str:
    for name in names:
        (directory / name).unlink(missing_ok=True)
        if (older / name).exists():
            shutil.copyfile(older / name, directory / name)
    return older.name


def run(places: int, seed: int, bases: int, *, talk: bool = True) -> tuple[Counter[tuple[str, str, str]], list[str]]:
    """How often each deed on each file ended how, and the faults in words."""
    counts: Counter[tuple[str, str, str]] = Counter()
    faults: list[str] = []
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="muster-damage-") as temporary:
        made = [
            make_base(Path(temporary, f"base-{number}"), seed * 1000 + number, log_only=number % 2 == 0)
            for number in range(bases)
        ]
        for number, base in enumerate(made):
            share = places // bases + (number < places % bases)
            for count, (name, deed, damage) in enumerate(trials(base, share, chance)):
                directory = Path(temporary, f"trial-{number}-{count}")
                shutil.copytree(base.directory, directory)
                how = damage(directory)
                outcome, words = verdict(directory, base, name.split(" and ") if deed == "swap" else ())
                counts[name, deed, outcome] += 1
                if outcome == "WRONG":
                    faults.append(f"{name}: {deed} {how}: {words}")
                    if talk:
                        print(faults[-1], flush=True)
                shutil.rmtree(directory)
    return counts, faults


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=200, help="random places for each file and deed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bases", type=int, default=6, help="killed writers to damage the files of")
    arguments = parser.parse_args()
    started = time.monotonic()
    counts, faults = run(arguments.places, arguments.seed, arguments.bases)
    print("| what | deed | starts | right | refused | WRONG |\n|---|---|---|---|---|---|")
    for name, deed in dict.fromkeys((name, deed) for name, deed, _ in sorted(counts)):
        each = [counts[name, deed, outcome] for outcome in ("right", "refused", "WRONG")]
        print(f"| {name} | {deed} | {sum(each)} | " + " | ".join(map(str, each)) + " |")
    print(f"{sum(counts.values())} starts in {time.monotonic() - started:.0f} s, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
