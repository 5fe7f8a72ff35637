"""Builds the Go programs that stand beside ours, once per state of their sources.

What is built is kept outside the clone under a name made of the checksum of every file of the program and of the Go
version, so a second run, or a second clone, builds nothing. Nothing here knows what the programs do.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path


class NoGoError(Exception):
    """There is no Go on this machine: what needs it is skipped, with these words."""


def cache() -> Path:
    """Where built programs are kept: MUSTER_BUILD_CACHE, else the user's cache folder."""
    chosen = os.environ.get("MUSTER_BUILD_CACHE")
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(chosen) if chosen else Path(home) / "muster" / "built"


def _go() -> str:
    found = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if found is None:
        raise NoGoError("go is not on PATH: the real programs cannot be built, so nothing was compared")
    return found


def _checksum(sources: tuple[Path, ...], go: str) -> str:
    version = subprocess.run([go, "env", "GOVERSION"], check=True, capture_output=True, text=True).stdout
    digest = hashlib.sha256(version.encode())
    for source in sources:
        for file in sorted(path for path in source.rglob("*") if path.is_file()):
            digest.update(file.relative_to(source).as_posix().encode() + b"\0")
            digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:24]


def build(source: Path, *, package: str = ".", shared: tuple[Path, ...] = ()) -> Path:
    """The program made of the Go module in `source`; built now if no earlier run did.

    `shared` are the folders of modules that its go.mod replaces by ours: what they say is part of the program too.
    """
    go = _go()
    name = source.parent.name if source.name == "peer" else source.name
    if package != ".":
        name = f"{name}-{package.rpartition('/')[2]}"  # one of several programs of a module
    target = cache() / f"{name}-{_checksum((source, *shared), go)}"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    print(f"building {name} from its Go modules (minutes the first time) …", flush=True)
    started = time.monotonic()
    part = target.with_suffix(f".{os.getpid()}.partial")
    environment = os.environ | {
        "GOFLAGS": "-mod=readonly -trimpath -buildvcs=false",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
    }
    done = subprocess.run(
        [go, "build", "-o", str(part), package],
        cwd=source,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        part.unlink(missing_ok=True)
        raise RuntimeError(f"{name} does not build:\n{done.stderr[-4000:]}")
    part.rename(target)
    print(f"built {name} in {time.monotonic() - started:.0f} s", flush=True)
    return target
