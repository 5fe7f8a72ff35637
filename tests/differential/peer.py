"""A Go program of ours that answers one JSON line per JSON line, and survives what kills or hangs it.

Questions go in batches; a program that dies or stays silent is started again without the question it died of, whose
answer is then a `Lost`. The comparisons own what questions and answers mean.
"""

from __future__ import annotations

import json
import select
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PATIENCE = 20.0  # seconds without a line before the program counts as hung


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer: the peer ended or hung on this question."""

    why: str


class Peer:
    """One running program."""

    def __init__(self, program: Path, *arguments: str, patience: float = PATIENCE) -> None:
        self.command = [str(program), *arguments]
        self.patience = patience
        self.lost = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        self._rest = b""

    def ask(self, questions: Sequence[Any]) -> list[Any]:
        """The answers, in order: what the program printed as JSON, or `Lost`."""
        answers: list[Any] = []
        while len(answers) < len(questions):
            answers.extend(self._until_lost(questions[len(answers) :]))
            if len(answers) < len(questions):
                self.lost += 1
                code = self._process.poll() if self._process else None
                answers.append(
                    Lost(f"no answer in {self.patience:.0f} s" if code is None else f"ended with code {code}")
                )
                self.stop()
        return answers

    def _until_lost(self, questions: Sequence[Any]) -> list[Any]:
        process = self._process
        if process is None:
            process = self._process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        body = b"".join(json.dumps(question).encode() + b"\n" for question in questions)
        # A thread writes, so that a program that answers while it reads never waits for us, nor we for it.
        writer = threading.Thread(target=_write, args=(process.stdin, body), daemon=True)
        writer.start()
        answers: list[Any] = []
        for _ in questions:
            line = self._line(process)
            if line is None:
                return answers
            answers.append(json.loads(line))
        writer.join()
        return answers

    def _line(self, process: subprocess.Popen[bytes]) -> bytes | None:
        assert process.stdout is not None
        deadline = time.monotonic() + self.patience
        descriptor = process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return None
            part = process.stdout.read1(1 << 20)  # type: ignore[attr-defined]  # a BufferedReader, as Popen makes it
            if not part:
                process.wait()
                return None
            self._rest += part
        line, self._rest = self._rest.split(b"\n", 1)
        return line


def _write(stream: Any, body: bytes) -> None:
    try:
        stream.write(body)
        stream.flush()
    except (BrokenPipeError, ValueError):
        pass  # it ended: whoever reads its answers notices
