"""A process that writes to a store until it is killed, and what may be there afterwards. For `kills` and `damage`.

The process writes a bounded set of objects, always two at a time (`NAME-a` and `NAME-b`), from several tasks at once.
On a pipe it says what it is about to do and what has been acknowledged, so that the parent knows what has to be there,
and what may be. It watches its own objects, and says how far it has come.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from muster.hub.storage import Delete, Key, Put, Store, StoreSettings

if TYPE_CHECKING:
    from pathlib import Path

PODS = "pods"
NAMES = 40  # objects of each writer
#: Checkpoints and compaction run all the time, so that some kills hit them too.
BUSY = StoreSettings(
    compaction_interval=timedelta(milliseconds=100),
    keep_history=timedelta(0),
    keep_revisions=400,
    checkpoint_bytes=400_000,
)
#: Everything stays in the write-ahead log.
LOG_ONLY = StoreSettings(compaction_interval=timedelta(0), checkpoint_bytes=1 << 40)


def payload(name: str, revision: int) -> bytes:
    """What an object holds, given when it was written."""
    return b'{"n":"%b","v":"%d"}' % (name.encode(), revision) + b" " * (len(name) * 137 % 2900)


def _halves(name: str) -> tuple[bytes, bytes]:
    head, _, tail = payload(name, 0).partition(b'"v":"0"}')
    return head + b'"v":"', b'"}' + tail


def key(name: str) -> Key:
    return Key(PODS, "default", name)


async def write_until_killed(path: Path, seed: int, writers: int, output: int, settings: StoreSettings) -> None:
    """Create, replace and delete pairs of objects at random."""
    store = Store.open(path, settings)

    def say(text: str) -> None:
        os.write(output, text.encode() + b"\n")

    async def watch(after: int) -> None:
        expected = after + 1
        watching = store.watch(PODS, None, after)
        while True:
            for event in await watching.batch():
                if event.record.revision != expected:
                    say(f"gap {expected} {event.record.revision}")
                expected = event.record.revision + 1
            say(f"seen - {expected - 1}")

    async def writer(number: int) -> None:
        chance = random.Random(f"{seed}/{number}")
        while True:
            name = f"w{number}-{chance.randrange(NAMES)}"
            pair = (f"{name}-a", f"{name}-b")
            present = store.get(key(pair[0])) is not None
            deed = "delete" if present and chance.random() < 0.3 else "put"
            change = Put if deed == "put" else Delete
            say(f"try-{deed} {name} 0")
            records = await store.commit([change(key(each), *_halves(each), None) for each in pair])
            say(f"{deed} {name} {records[0].revision}")

    say(f"open - {store.revision}")
    watcher = asyncio.create_task(watch(store.revision))
    await asyncio.gather(watcher, *(writer(number) for number in range(writers)))


@dataclass
class Expectation:
    """What has to be in the store, as far as anybody was told."""

    #: Names of pairs and the revision of their first half; 0 for those that were deleted.
    known: dict[str, int] = field(default_factory=dict)
    #: What was under way and may have happened: by name, "put" or "delete".
    under_way: dict[str, str] = field(default_factory=dict)
    newest: int = 1
    acknowledged: int = 0
    events: int = 0
    gaps: list[str] = field(default_factory=list)

    def take(self, line: str) -> None:
        """One line of the process."""
        deed, name, revision = line.split()
        if deed.startswith("try-"):
            self.under_way[name] = deed.removeprefix("try-")
        elif deed in ("put", "delete"):
            self.known[name] = int(revision) if deed == "put" else 0
            self.under_way.pop(name, None)
            self.newest = max(self.newest, int(revision) + 1)
            self.acknowledged += 1
        elif deed == "seen":
            self.events = max(self.events, int(revision))
        elif deed == "gap":
            self.gaps.append(line)

    def faults(self, found: dict[str, tuple[int, bytes]], revision: int) -> list[str]:
        """What is wrong with objects (name, revision and value) that a store holds now."""
        faults = []
        if revision < self.newest:
            faults.append(f"the store is at revision {revision}, {self.newest} was acknowledged")
        for name, (written, value) in found.items():
            if value != payload(name, written):
                faults.append(f"{name} at {written} does not hold what was written")
        for name in self.known.keys() | self.under_way.keys():
            first, second = found.get(f"{name}-a"), found.get(f"{name}-b")
            if (first is None) != (second is None) or (first and second and second[0] != first[0] + 1):
                faults.append(f"{name} is there by half")
                continue
            known, now = self.known.get(name, 0), first[0] if first else 0
            if now == known:
                continue
            under_way = self.under_way.get(name)
            if not ((under_way == "put" and now > known) or (under_way == "delete" and now == 0)):
                faults.append(f"{name} is at {now}, not at {known} (under way: {under_way})")
        strange = {name[:-2] for name in found} - self.known.keys() - self.under_way.keys()
        return [*faults, *(f"{name} is there and was never written" for name in sorted(strange))]

    def settle(self, found: dict[str, tuple[int, bytes]], revision: int) -> None:
        """The state that was found is the one to go on from."""
        self.known = {name[:-2]: written for name, (written, _) in found.items() if name.endswith("-a")}
        self.under_way = {}
        self.newest = max(self.newest, revision)


def forked_writer(path: Path, seed: int, writers: int, settings: StoreSettings) -> tuple[int, int]:
    """A process that writes; its number and the end of a pipe on which it talks. Fork while no thread runs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            asyncio.run(write_until_killed(path, seed, writers, writing, settings))
        except BaseException as error:
            os.write(writing, f"failed {type(error).__name__} 0\n".encode())
        finally:
            os._exit(code)
    os.close(writing)
    return child, reading


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def whole_lines(data: bytes) -> list[str]:
    """What was said; the last line may have been cut off by the kill, and then it was not said."""
    return data[: data.rfind(b"\n") + 1].decode().splitlines()


def contents(store: Store) -> dict[str, tuple[int, bytes]]:
    return {record.key.name: (record.revision, record.value) for record in store.scan(PODS)}
