"""Wheels into a tree: those of requirements.lock, checked by their hashes, and our own. Unpacked, nothing is run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Final

from release.source import ReleaseError

if TYPE_CHECKING:
    from pathlib import Path

    from release.tarballs import Tree

SITE: Final = "usr/lib/python3/dist-packages/"
_LIBRARIES: Final = ("purelib", "platlib")
PLATFORMS: Final = tuple(f"manylinux{version}_x86_64" for version in ("_2_36", "_2_28", "_2_24", "_2_17", "2014"))


def fetched_wheels(lock: Path, cache: Path) -> list[Path]:
    """Every wheel of a lock for the image's Python, kept by the lock's checksum. Raises ReleaseError as pip says."""
    into = cache / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    complete = into / "complete"  # pip has compared every checksum with the lock's
    if not complete.exists():
        into.mkdir(parents=True, exist_ok=True)
        platforms = [option for name in PLATFORMS for option in ("--platform", name)]
        command = [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--require-hashes"),
            *("--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.11", *platforms),
            *("-r", str(lock), "-d", str(into)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ReleaseError(f"pip: {done.stderr.strip()[-2000:]}")
        complete.touch()
    return sorted(into.glob("*.whl"))


def add_wheel(tree: Tree, wheel: Path) -> None:
    """The modules of a wheel. Scripts and data are left out: the image has one command."""
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            path = info.filename
            first, _, rest = path.partition("/")
            if first.endswith(".data"):
                scheme, _, path = rest.partition("/")
                if scheme not in _LIBRARIES:
                    continue
            is_program = (info.external_attr >> 16) & 0o100
            tree.file(f"{SITE}{path}", archive.read(info), 0o755 if is_program else 0o644)
