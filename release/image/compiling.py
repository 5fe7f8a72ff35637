"""Compiles the Python of a root file system with its own Python, so that a container starts quickly from a disk that
cannot be written. Code is checked by nobody against its source at run time, and says nothing of when it was made."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Final

from release.source import ReleaseError

if TYPE_CHECKING:
    from pathlib import Path

    from release.tarballs import Tree

# The models of a client for Kubernetes, which containers do not load: half of all modules.
_LEFT_OUT: Final = "/kubernetes_asyncio/client/"
_COMMAND: Final = (
    "import compileall, py_compile, re, sys; "
    "sys.exit(not all([compileall.compile_dir(each, quiet=1, force=True, rx=re.compile(sys.argv[1]), invalidation_mode="
    "py_compile.PycInvalidationMode.UNCHECKED_HASH) for each in sys.argv[2:]]))"
)


def in_root(root: Path, *command: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a program of a root file system within it. Without root's rights a namespace of users stands in."""
    outer = ("chroot",) if os.geteuid() == 0 else ("unshare", "--map-root-user", "chroot")
    environment = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", **(variables or {})}
    return subprocess.run([*outer, str(root), *command], env=environment, capture_output=True, text=True, check=False)


def add_compiled(tree: Tree, root: Path, folders: list[str]) -> None:
    """The compiled modules of some folders of a tree that lies at `root`. Raises ReleaseError."""
    done = in_root(
        root,
        "/usr/bin/python3.11",
        "-SB",  # what the compiler itself imports is not compiled on the way, with the time of its source in it
        "-c",
        _COMMAND,
        _LEFT_OUT,
        *(f"/{each}" for each in folders),
        variables={"PYTHONHASHSEED": "0"},
    )
    if done.returncode:
        raise ReleaseError(
            f"the image's Python does not compile its modules: {done.stderr[-2000:]}{done.stdout[-2000:]}"
        )
    for folder in folders:
        for path in sorted((root / folder).rglob("__pycache__/*.pyc")):
            tree.file(path.relative_to(root).as_posix(), path.read_bytes())
