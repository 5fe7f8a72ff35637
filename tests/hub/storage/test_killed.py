"""An object acknowledged is an object kept: a writing process is killed again and again."""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from muster.hub.storage import Delete, Key, Put, Store, StoreSettings

KILLS = 25
WRITERS = 16
PODS = "pods"
PADDING = b'"}' + b" " * 1500


async def write_for_ever(path: Path, attempt: int) -> None:
    """Create, update and delete as fast as possible, and tell of every acknowledged change on standard output."""
    # Checkpoints and compaction run all the time, so that some kills hit them too.
    settings = StoreSettings(
        compaction_interval=timedelta(milliseconds=100),
        keep_history=timedelta(0),
        keep_revisions=100,
        checkpoint_bytes=200_000,
    )
    store = Store.open(path, settings)
    output = sys.stdout.fileno()

    async def writer(number: int) -> None:
        index = 0
        while True:
            name = f"{attempt}-{number}-{index}"
            key = Key(PODS, "default", name)
            created, _ = await store.commit(
                [Put(key, b'{"v":"', PADDING, 0), Put(Key("twins", "default", name), b'{"v":"', PADDING, 0)]
            )
            os.write(output, f"put {name} {created.revision}\n".encode())
            if index % 3 == 1:
                [updated] = await store.commit([Put(key, b'{"v":"', PADDING, created.revision)])
                os.write(output, f"put {name} {updated.revision}\n".encode())
            if index % 3 == 2:
                os.write(output, f"deleting {name} 0\n".encode())
                [deleted] = await store.commit([Delete(key, b'{"v":"', PADDING, created.revision)])
                os.write(output, f"deleted {name} {deleted.revision}\n".encode())
            index += 1

    os.write(output, b"ready - 0\n")
    await asyncio.gather(*(writer(number) for number in range(WRITERS)))


def killed_after(path: Path, attempt: int, delay: float) -> list[str]:
    """What a writer acknowledged before it was killed."""
    command = [sys.executable, "-m", __name__, str(path), str(attempt)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready - 0\n"
        first = process.stdout.readline()  # however slow the machine is, there is something to compare
        time.sleep(delay)
        process.kill()
        # The last line may be cut short; one that is whole was acknowledged.
        return re.findall(r"^(\w+ \S+ \d+)$\n", first + process.stdout.read(), flags=re.MULTILINE)


@pytest.mark.e2e
@pytest.mark.slow
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    chance = random.Random(25)
    present: dict[str, int] = {}
    absent: set[str] = set()
    perhaps: set[str] = set()
    newest = 1
    for attempt in range(KILLS):
        lines = killed_after(path, attempt, chance.uniform(0.02, 0.3))
        assert lines
        for line in lines:
            deed, name, revision = line.split()
            newest = max(newest, int(revision))
            if deed == "put":
                present[name] = int(revision)
            elif deed == "deleting":
                perhaps.add(name)
            else:
                absent.add(name)
        asyncio.run(_compare(path, present, absent, perhaps, newest))
    assert len(present) > KILLS * WRITERS


async def _compare(path: Path, present: dict[str, int], absent: set[str], perhaps: set[str], newest: int) -> None:
    async with Store.open(path) as store:
        kept = {record.key.name: record for record in store.scan(PODS)}
        twins = {record.key.name for record in store.scan("twins")}
        revision = store.revision
    assert revision >= newest  # so no acknowledged revision is given out again
    assert [name for name in absent if name in kept] == []
    for name, acknowledged in present.items():
        if name in kept:
            # At the acknowledged revision, or at a later one whose acknowledgement was cut off.
            assert kept[name].revision >= acknowledged
            assert kept[name].value == b'{"v":"%d%b' % (kept[name].revision, PADDING)
        else:
            assert name in perhaps
    # Commits of two objects are whole: a twin is missing only if its other half was never created.
    assert set(kept) <= twins
    assert set(present) <= twins


if __name__ == "__main__":
    asyncio.run(write_for_ever(Path(sys.argv[1]), int(sys.argv[2])))
