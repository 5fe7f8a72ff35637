"""`make hostile`: what a tenant could write, by the ten thousand, against a hub as users run it.

    python -m tests.hostile [objects|bodies|cel|jq|edits|agents ...] [--short] [--seed N] [--count N]

objects and bodies go to a running hub. After each batch its processes must be the same, a fresh placement decided
within 2 seconds, no request of a bystander over 250 ms, and no process 300 MB larger than at the start. CEL and jq
programs run in a process of their own under the engines' ordinary limits, and so do edits of labels, owners and sets
by users with random roles, and requests of clusters' agents, against models of who may. The same seed writes the same.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import aiohttp

from tests.hostile import bodies, objects
from tests.hostile.stage import JSON, MERGE, Stage, a_stage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

# How many, in the whole form and in the one that is part of CI.
COUNTS: Final = {
    "objects": (20_000, 1_500),
    "bodies": (20_000, 1_500),
    "cel": (100_000, 2_000),
    "jq": (100_000, 2_000),
    "edits": (1_000_000, 5_000),
    "agents": (10_000, 1_000),
}
# What runs in a process of its own.
PROGRAMS: Final = {
    "cel": "tests.hostile.cel_programs",
    "jq": "tests.hostile.jq_programs",
    "edits": "tests.hostile.label_edits",
    "agents": "tests.hostile.agent_requests",
}
LENIENCY: Final = 4.0  # of times in the short form: what one slow disk says is no verdict
BATCHES: Final = 10
AT_ONCE: Final = 3
REPAIRS: Final = 4


class Attack:
    """Sends one kind of thing in batches, and counts what came back."""

    def __init__(self, name: str, seed: int, count: int) -> None:
        self.name, self.seed, self.count = name, seed, count
        self.codes: Counter[str] = Counter()
        self.failed: list[str] = []

    async def run(self, stage: Stage) -> bool:
        send: Callable[[Stage, object], Awaitable[None]]
        things: Iterator[object]
        if self.name == "objects":
            things, send = iter(objects.writes(self.seed, self.count)), self._write
            await _namespaces(stage)
        else:
            things, send = iter(bodies.bodies(self.seed, self.count)), self._body
        await stage.settle()
        print(f"{self.name}: at the start {stage.memory} MB", flush=True)
        right = True
        for number in range(BATCHES):
            started = time.monotonic()
            await self._batch(stage, things, self.count // BATCHES, send)
            now = await stage.vitals()
            faults = stage.faults(now) + self.failed
            right = right and not faults
            print(
                f"{self.name} {number + 1}/{BATCHES}: {time.monotonic() - started:.0f} s, {self._codes()}; {now}",
                flush=True,
            )
            for fault in faults:
                print(f"  FAULT: {fault}", flush=True)
            self.failed.clear()
            stage.processes = dict(now.processes)  # the next batch is judged by itself
        return right

    async def _batch(
        self, stage: Stage, things: Iterator[object], size: int, send: Callable[[Stage, object], Awaitable[None]]
    ) -> None:
        async def work() -> None:
            for _ in range(size // AT_ONCE):
                thing = next(things, None)
                if thing is not None:
                    await self._guarded(send, stage, thing)

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))

    async def _guarded(self, send: Callable[[Stage, object], Awaitable[None]], stage: Stage, thing: object) -> None:
        try:
            await send(stage, thing)
        except (aiohttp.ClientError, TimeoutError) as error:
            self.codes[type(error).__name__] += 1
            self.failed.append(f"no answer ({error!r}) to {str(thing)[:300]}")

    def _codes(self) -> str:
        return ", ".join(f"{count} x {code}" for code, count in sorted(self.codes.items()))

    def _count(self, code: int, what: str, answer: object) -> None:
        self.codes[str(code)] += 1
        # A few mistakes of clients are a 500 without a reason, as from a real server.
        # Questions about the fleet wait for controllers that are busy with everything else.
        is_question = code in (503, 504) and "question" in str(answer)
        if code >= 500 and isinstance(answer, dict) and answer.get("reason") and not is_question:
            self.failed.append(f"{code} to {what[:300]}: {str(answer)[:200]}")

    async def _write(self, stage: Stage, thing: object) -> None:
        """Store an object; what a refusal names is taken out, so that the rest of it gets in."""
        assert isinstance(thing, objects.Write)
        for _ in range(REPAIRS):
            code, answer = await stage.attacker.send("POST", thing.collection, thing.obj)
            if code == 409:
                code, answer = await stage.attacker.send("PATCH", thing.path, thing.obj, MERGE)
            self._count(code, str(thing.obj), answer)
            if not _repaired(thing.obj, code, answer):
                break
        if not thing.version.status or "status" not in thing.obj:
            return
        status = {"status": thing.obj["status"]}
        for _ in range(REPAIRS):
            code, answer = await stage.attacker.send("PATCH", f"{thing.path}/status", status, MERGE)
            self._count(code, str(status), answer)
            if not _repaired(status, code, answer):
                break

    async def _body(self, stage: Stage, thing: object) -> None:
        assert isinstance(thing, tuple)
        method, path, content_type, body = thing
        code, answer = await stage.attacker.send(method, path, body, content_type)
        self._count(code, f"{method} {path} {content_type} {body!r}", answer)


def _repaired(obj: objects.Object, code: int, answer: object) -> bool:
    """Whether a refusal named something that could be taken out."""
    if code not in (400, 422) or not isinstance(answer, dict):
        return False
    causes = (answer.get("details") or {}).get("causes") or []
    fields = sorted({cause.get("field", "") for cause in causes}, reverse=True)  # later items of a list first
    return sum(objects.without(obj, field) for field in fields if field) > 0  # all of them, not the first


async def _namespaces(stage: Stage) -> None:
    for name in (*objects.NAMESPACES, *objects.CLUSTERS):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await stage.attacker.send("POST", "/api/v1/namespaces", namespace, JSON)


async def _attacked(name: str, seed: int, count: int, leniency: float) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        async with a_stage(Path(folder)) as stage:
            stage.leniency = leniency
            right = await Attack(name, seed, count).run(stage)
        if not right:
            log = (Path(folder) / "log").read_text()
            print(f"the hub's log ends:\n{log[-6000:]}")
    return right


def _ran(module: str, seed: int, count: int) -> bool:
    command = [sys.executable, "-m", module, "--count", str(count), "--seed", str(seed)]
    return subprocess.run(command, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("parts", nargs="*", default=list(COUNTS))
    parser.add_argument("--short", action="store_true", default=bool(os.environ.get("MUSTER_HOSTILE_SHORT")))
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--count", type=int, help="so many of each part instead of the usual number")
    asked = parser.parse_args()
    right = True
    for part in asked.parts:
        count = asked.count or COUNTS[part][asked.short]
        print(f"{part}: {count} with seed {asked.seed}", flush=True)
        if part in PROGRAMS:
            held = _ran(PROGRAMS[part], asked.seed, count)
        else:
            held = asyncio.run(_attacked(part, asked.seed, count, LENIENCY if asked.short else 1.0))
        print(f"{part}: {'held' if held else 'BROKEN'}", flush=True)
        right = right and held
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
