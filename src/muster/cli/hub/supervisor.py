"""Keeps processes running: starts them, starts them again when they die, ends them together. It knows no hub.

All are started at once, so that what they import is imported side by side. A child begins when a line comes on its
standard input, and tells that it is ready by one line of JSON on its standard output. Its standard input is a pipe that
we hold open: when we are gone, however that happened, the child reads its end and stops too.

A part that is watched has a memory limit and must show that it makes progress; one that does not is killed. What it was
evaluating when it died is looked at: an object that is to blame is told to `on_suspect`, before the next start.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muster.cli.terminal.exits import Exit
from muster.supervision import Blame, Death, SupervisorFacts, clock
from muster.supervision.blame import Kill
from muster.supervision.readiness import LEADING, STANDBY
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.supervision import Suspect, Vitals

_LOGGER = logging.getLogger(__name__)
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_STEADY = 30.0  # seconds of running after which a death is the first again
_GRACE = 15.0  # seconds that a child has to end by itself
_LOOK: Final = 0.1  # seconds between looks at a watched child
_OVERSLEPT: Final = 1.0  # seconds by which a look may be late; after that it was we who made no progress
_FIRST_BEAT: Final = 60.0  # seconds that a start may take at least, before anything is shown
_SHOWN_DEATHS: Final = 10
_MOST_GROWN: Final = 10_000
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass
class Watch:
    """What is asked of a process while it runs. `memory` is in bytes of resident memory, 0 for no limit."""

    vitals: Vitals
    on_suspect: Callable[[Suspect, int], None]  # with the number of the last suspect that the process has recorded
    patience: float = 20.0  # seconds without a beat
    memory: int = 0
    blame: Blame = field(default_factory=Blame, init=False)
    deaths: deque[float] = field(default_factory=lambda: deque(maxlen=_SHOWN_DEATHS), init=False)
    idle_since: float = field(default_factory=clock, init=False)

    def begin(self) -> None:
        self.vitals.reset()
        self._tell("")

    def end(self, death: Death) -> None:
        """Look at a death; afterwards the suspect, if there is one, is known."""
        signs = self.vitals.signs()
        self.deaths.append(clock())
        if signs.status.state in (LEADING, STANDBY):
            self.idle_since = clock()  # until now it did its work
        self.vitals.reset()
        self._tell(death.words())
        if (suspect := self.blame.suspect(death)) is not None:
            _LOGGER.error("%s is set aside: the process was evaluating it when %s", suspect.subject, suspect.reason)
            self.on_suspect(suspect, signs.status.recorded)

    def _tell(self, last: str) -> None:
        known = last or self.vitals.signs().supervision.last
        self.vitals.supervise(SupervisorFacts(tuple(self.deaths), known, self.idle_since, self.patience / 2))


@dataclass
class Part:
    """A process to keep running. `arguments` may depend on what has become known since, such as a port."""

    name: str
    arguments: Callable[[], Sequence[str]]
    on_ready: Callable[[JsonObject], None]
    watch: Watch | None = None
    program: Sequence[str] = (sys.executable, "-m", "muster")
    starts: int = field(default=0, init=False)
    was_ready: bool = field(default=False, init=False)
    process: asyncio.subprocess.Process | None = field(default=None, init=False)


async def supervise(first: Part, *others: Part) -> int:
    """Run all until a signal comes; the others begin when the first is ready. The result is the exit code.

    A part that ends before it was ever ready, and not because it was killed, has said why. Starting the first again
    would not help then; others are only given up when their input was bad, since their server may have been away.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    at_once, first_ready = asyncio.Event(), asyncio.Event()
    at_once.set()
    running = asyncio.create_task(_keep_running(first, stop, at_once, first_ready, lambda code: code > 0))
    dependents = [
        asyncio.create_task(
            _keep_running(each, stop, first_ready, asyncio.Event(), lambda code: code == Exit.BAD_INPUT)
        )
        for each in others
    ]
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    # Those that depend on the first one need it to finish what they are doing.
    for part in reversed((first, *others)):
        await _end(part)
    for dependent in dependents:
        dependent.cancel()
    await asyncio.gather(running, *dependents, stopped, return_exceptions=True)
    code = first.process.returncode if first.process is not None else 0
    return code if code is not None and code > 0 and not first.was_ready else 0


async def _keep_running(
    part: Part,
    stop: asyncio.Event,
    may_begin: asyncio.Event,
    ready: asyncio.Event,
    is_hopeless: Callable[[int], bool],
) -> None:
    pause = _FIRST_PAUSE
    loop = asyncio.get_running_loop()
    while not stop.is_set():
        started = loop.time()
        code = await _run_once(part, may_begin, ready, stop)
        if stop.is_set() or (not part.was_ready and is_hopeless(code)):
            return
        if loop.time() - started > _STEADY:
            pause = _FIRST_PAUSE
        _LOGGER.error("%s ended with code %s; starting it again in %.1f s", part.name, code, pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


async def _run_once(part: Part, may_begin: asyncio.Event, ready: asyncio.Event, stop: asyncio.Event) -> int:
    part.starts += 1
    if part.watch is not None:
        part.watch.begin()
    part.process = process = await asyncio.create_subprocess_exec(
        *part.program,
        *part.arguments(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us; we tell the children in our order
    )
    watcher = None if part.watch is None else _Watcher(part.name, part.watch, process.pid)
    attending = asyncio.create_task(_attend(process, may_begin, watcher))
    try:
        if process.stdout is not None:
            async for line in process.stdout:
                _take(part, line, ready)
        code = await process.wait()
    finally:
        attending.cancel()
        await asyncio.gather(attending, return_exceptions=True)
    if part.watch is not None and watcher is not None and not stop.is_set():
        part.watch.end(watcher.death(code))
    return code


async def _attend(process: asyncio.subprocess.Process, may_begin: asyncio.Event, watcher: _Watcher | None) -> None:
    """Let a child begin when what it needs is there. From then on it is watched: until then it has nothing to show."""
    await may_begin.wait()
    if process.stdin is not None:
        process.stdin.write(b"\n")
    if watcher is not None:
        await watcher.run()


def _take(part: Part, line: bytes, ready: asyncio.Event) -> None:
    try:
        said = json.loads(line)
    except ValueError:
        sys.stdout.write(line.decode("utf-8", "replace"))
        return
    part.was_ready = True
    ready.set()
    part.on_ready(said)


async def _end(part: Part) -> None:
    process = part.process
    if process is None or process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _GRACE)
    except TimeoutError:
        _LOGGER.error("%s did not end within %.0f s and is killed", part.name, _GRACE)  # noqa: TRY400 - no trace
        _kill(process.pid)
        await process.wait()


class _Watcher:
    """Looks at one process until it ends: does it beat, how much memory has it, what does it evaluate."""

    def __init__(self, name: str, watch: Watch, pid: int) -> None:
        self._name = name
        self._watch = watch
        self._pid = pid
        self._progress = clock()  # when it was last seen to make some
        self._beats = 0
        self._kill = Kill.NO
        self._silent = 0.0
        self._resident = 0
        self._grown: Counter[bytes] = Counter()  # bytes of memory that came while something was evaluated, by its note

    async def run(self) -> None:
        self._progress = clock()
        while self._kill is Kill.NO:
            due = clock() + _LOOK
            await asyncio.sleep(_LOOK)
            self._look(overslept=clock() - due > _OVERSLEPT)

    def _look(self, *, overslept: bool) -> None:
        now, signs = clock(), self._watch.vitals.signs()
        resident, before = _resident(self._pid), self._resident
        self._resident = resident
        if signs.note is not None and (signs.note.text in self._grown or len(self._grown) < _MOST_GROWN):
            self._grown[signs.note.text] += resident - before
        if signs.beats != self._beats or overslept or _is_stopped(self._pid):
            self._beats, self._progress = signs.beats, now
        self._silent = now - self._progress
        patience = self._watch.patience if signs.beats else max(self._watch.patience, _FIRST_BEAT)
        if self._silent > patience:
            self._end(Kill.HANG)
        elif self._watch.memory and resident > self._watch.memory:
            self._end(Kill.MEMORY)

    def _end(self, kill: Kill) -> None:
        self._kill = kill
        _LOGGER.error("%s: %s", self._name, self.death(-signal.SIGKILL).words())
        if kill is Kill.MEMORY and not self.death(-signal.SIGKILL).has_grown:
            _LOGGER.error("%s: nobody in particular has used that memory; the limit may be too low", self._name)
        _kill(self._pid)

    def death(self, code: int) -> Death:
        signs = self._watch.vitals.signs()
        note = signs.note
        return Death(
            code=code,
            note=note,
            helper=signs.helper,
            age=clock() - note.since if note is not None else 0.0,
            kill=self._kill,
            silent=self._silent,
            grew=self._grown[note.text] if note is not None else 0,
            limit=self._watch.memory,
        )


def _kill(pid: int) -> None:
    """The process and those that it has started: it leads a session of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _resident(pid: int) -> int:
    """Bytes of memory that a process has; 0 where that cannot be told."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _is_stopped(pid: int) -> bool:
    """Whether somebody has stopped it (SIGSTOP, a debugger): it does nothing, and nothing is its fault."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False
