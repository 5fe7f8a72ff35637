"""Builds the Go programs that stand beside ours, once per state of their sources.

What is built is kept outside the clone under a name made of the checksum of every file of the program and of the Go
version, so a second run, or a second clone, builds nothing. Nothing here knows what the programs do.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_EVERY: Final = 20  # seconds between two words about a build that goes on
_PACKAGE: Final = re.compile(r"[A-Za-z0-9./_~-]+")  # what `go build -v` prints: import paths, each on a line


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


def built_path(source: Path, *, package: str = ".", shared: tuple[Path, ...] = ()) -> Path:
    """Where the program of a module is once it is built."""
    go = _go()
    name = source.parent.name if source.name == "peer" else source.name
    if package != ".":
        name = f"{name}-{package.rpartition('/')[2]}"  # one of several programs of a module
    return cache() / f"{name}-{_checksum((source, *shared), go)}"


def build(source: Path, *, package: str = ".", shared: tuple[Path, ...] = (), ldflags: str = "") -> Path:
    """The program made of the Go module in `source`; built now if no earlier run did.

    `shared` are the folders of modules that its go.mod replaces by ours: what they say is part of the program too.
    """
    target = built_path(source, package=package, shared=shared)
    if target.exists():
        return target
    go, name = _go(), target.name.rpartition("-")[0]
    target.parent.mkdir(parents=True, exist_ok=True)
    print(f"building {name} from its Go modules (minutes the first time) …", flush=True)
    started = time.monotonic()
    part = target.with_suffix(f".{os.getpid()}.partial")
    environment = os.environ | {
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
    }
    command = [go, "build", "-v", *(["-ldflags", ldflags] if ldflags else []), "-o", str(part), package]
    with subprocess.Popen(command, cwd=source, env=environment, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        told = _told(running.stderr)
    if running.returncode:
        part.unlink(missing_ok=True)
        raise RuntimeError(f"{name} does not build:\n{told[-4000:]}")
    part.rename(target)
    print(f"built {name} in {time.monotonic() - started:.0f} s", flush=True)
    return target


def _told(lines: Iterable[str]) -> str:
    """What the compiler says, but for its progress: of that somebody hears every now and then."""
    modules = packages = 0
    others: list[str] = []
    heard = time.monotonic()
    for line in lines:
        if line.startswith("go: downloading "):
            modules += 1
        elif _PACKAGE.fullmatch(line.strip()):
            packages += 1
        else:
            others.append(line)
        if time.monotonic() - heard > _EVERY:
            heard = time.monotonic()
            print(f"  … {modules} modules fetched, {packages} packages compiled", flush=True)
    return "".join(others)
