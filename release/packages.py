"""Wheel and sdist, by hatchling in the environment of releases. Bytes depend on the sources and on nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from release.source import ReleaseError

if TYPE_CHECKING:
    from pathlib import Path

    from release.source import Source


def packages(source: Source, into: Path) -> list[Path]:
    """Both, the wheel first. Raises ReleaseError with what hatchling says."""
    before = set(into.iterdir())
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(source.epoch), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(into.resolve())]
    done = subprocess.run(command, cwd=source.folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"hatchling: {done.stderr[-2000:]}")
    made = sorted(set(into.iterdir()) - before, key=lambda path: path.suffix != ".whl")
    for path in made:
        path.chmod(0o644)
    return made
