"""Worker processes for resolutions: started when there is work, ended when there is none or when they take too long."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from muster.api.fleet_resolution import UNDECIDED, ResolutionPreviewStatus
from muster.controllers.resolutions.jobs import LENGTH
from muster.resolution.to_status import NOT_DECIDED, Answer, Verdict, finished

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.controllers.resolutions.jobs import Job

_LOGGER = logging.getLogger(__name__)
_WORKERS: Final = 2
_LOADING: Final = 120.0  # seconds for starting and for reading catalogs, beside deciding and explaining
_IDLE: Final = 120.0  # seconds without work after which a worker ends, with all catalogs it keeps
_ANSWERS: Final = msgspec.json.Decoder(Answer)
_PREVIEWS: Final = msgspec.json.Decoder(ResolutionPreviewStatus)
Read = TypeVar("Read")


@dataclass(eq=False)
class _Worker:
    process: asyncio.subprocess.Process
    jobs: int = field(default=0)

    async def ask(self, frame: bytes) -> bytes:
        assert self.process.stdin is not None  # noqa: S101 - it was started with pipes
        assert self.process.stdout is not None  # noqa: S101
        self.process.stdin.write(LENGTH.pack(len(frame)))
        self.process.stdin.write(frame)
        await self.process.stdin.drain()
        (size,) = LENGTH.unpack(await self.process.stdout.readexactly(LENGTH.size))
        return await self.process.stdout.readexactly(size)

    async def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()


class WorkerPool:
    """Hands jobs to workers, at most so many at a time; others wait."""

    def __init__(self, workers: int = _WORKERS, loading: float = _LOADING, idle: float = _IDLE) -> None:
        self._turns = asyncio.Semaphore(workers)
        self._idle: list[_Worker] = []
        self._loading = loading
        self._patience = idle
        self.started = 0

    async def run(self, job: Job, limit: float) -> Answer:
        """The answer to a job. It comes in any case: a worker that fails or hangs is ended."""
        return await self._asked(job, limit, _ANSWERS, _undecided)

    async def preview(self, job: Job, limit: float) -> ResolutionPreviewStatus:
        """The answer to the job of a preview, in any case. Who is cancelled ends the work."""
        return await self._asked(job, limit, _PREVIEWS, lambda why: ResolutionPreviewStatus(UNDECIDED, why))

    async def _asked(
        self, job: Job, limit: float, decoder: msgspec.json.Decoder[Read], undecided: Callable[[str], Read]
    ) -> Read:
        frame = msgspec.json.encode(job)
        async with self._turns:
            worker = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(2 * limit + self._loading):
                    reply = decoder.decode(await worker.ask(frame))
            except TimeoutError:
                return undecided(f"ended after {2 * limit + self._loading:g} s")
            except (OSError, asyncio.IncompleteReadError, msgspec.DecodeError) as error:
                _LOGGER.warning("a resolution's worker failed: %r", error)
                return undecided("the worker failed, perhaps for lack of memory; the controllers' log says more")
            else:
                self._keep(worker)
                return reply
            finally:
                if worker not in self._idle:
                    await worker.end()

    async def _start(self) -> _Worker:
        self.started += 1
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "muster.controllers.resolutions.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        return _Worker(process)

    def _keep(self, worker: _Worker) -> None:
        worker.jobs += 1
        self._idle.append(worker)
        asyncio.get_running_loop().call_later(self._patience, self._retire, worker, worker.jobs)

    def _retire(self, worker: _Worker, jobs: int) -> None:
        if worker in self._idle and worker.jobs == jobs:
            self._idle.remove(worker)
            if worker.process.stdin is not None:
                worker.process.stdin.close()  # it ends at the end of its input

    async def close(self) -> None:
        while self._idle:
            await self._idle.pop().end()


def _undecided(why: str) -> Answer:
    return finished(Verdict("Unknown", NOT_DECIDED, f"not decided: {why}"))
