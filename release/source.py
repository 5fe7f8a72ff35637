"""The sources of a release: the files of one commit, in a folder of their own, and the moment that everything bears."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
WORKTREE: Final = "worktree"
_VERSION: Final = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)


class ReleaseError(Exception):
    """What cannot be released, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Source:
    """The files, the version that they name, the commit, and its time in seconds since 1970."""

    folder: Path
    version: str
    revision: str
    epoch: int


def checked_out(ref: str, folder: Path) -> Source:
    """The files of a tag or commit; `worktree` is what lies here, committed or not. Raises ReleaseError."""
    commit = "HEAD" if ref == WORKTREE else ref
    try:
        revision, epoch = _git("log", "-1", "--format=%H %ct", commit).split()
    except subprocess.CalledProcessError as error:
        raise ReleaseError(f"git does not know {ref!r}: {error.stderr.strip()}") from None
    folder.mkdir(parents=True)
    if ref == WORKTREE:
        names = _git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
        for name in filter(None, names):
            if (file := ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, folder / name)
        revision += "-dirty"
    else:
        archive = folder.parent / "source.tar"
        _git("archive", "--format=tar", "-o", str(archive), commit)
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
        archive.unlink()
    version = _version_in(folder)
    if re.fullmatch(r"v\d.*", ref) and ref != f"v{version}":
        raise ReleaseError(f"the tag is {ref}, but pyproject.toml says {version}: one of the two is wrong")
    return Source(folder, version, revision, int(epoch))


def _version_in(folder: Path) -> str:
    found = _VERSION.search((folder / "pyproject.toml").read_text(encoding="utf-8"))
    if found is None:
        raise ReleaseError("pyproject.toml names no version")
    return found[1]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout
