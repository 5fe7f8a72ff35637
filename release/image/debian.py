"""The root file system: Debian's C library, Python and what both need, from .deb files of known checksums.

We unpack them; no package's script is run. There is no shell, no package manager and nobody's account but two: what is
not there cannot be used against us. The lock is made by `python -m release.image.debian > release/image/debian.lock`,
of the versions that apt offers then.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from release.source import ReleaseError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from release.tarballs import Tree

LOCK: Final = Path(__file__).with_name("debian.lock")
ARCHITECTURE: Final = "amd64"
PACKAGES: Final = (
    "base-files",
    "ca-certificates",
    "libbz2-1.0",
    "libc6",
    "libcrypt1",
    "libexpat1",
    "libffi8",
    "libgcc-s1",
    "liblzma5",
    "libpython3.11-minimal",
    "libpython3.11-stdlib",
    "libsqlite3-0",
    "libssl3",
    "libstdc++6",
    "libuuid1",
    "media-types",
    "netbase",
    "python3.11-minimal",
    "tzdata",
    "zlib1g",
)
# What nobody reads in a container. Copyright files stay.
_LEFT_OUT: Final = re.compile(
    r"usr/share/(man|info|locale|lintian|bug|doc-base|base-files|i18n)/|usr/share/doc/.*(?<!/copyright)$"
    r"|usr/lib/[^/]+/gconv/|usr/lib/python3\.11/(idlelib|tkinter|turtledemo|lib2to3|ensurepip|test)/|etc/(cron|update-motd)"
)
_MERGED: Final = ("bin", "sbin", "lib", "lib64")
_CERTIFICATES: Final = "usr/share/ca-certificates/"
_ACCOUNTS: Final = (("root", 0, "/root"), ("nonroot", 65532, "/tmp"))  # noqa: S108 - the home of nobody in particular


@dataclass(frozen=True, slots=True)
class Package:
    """A package of an exact version."""

    name: str
    version: str
    sha256: str


def locked(lock: Path = LOCK) -> list[Package]:
    """The packages of the lock."""
    lines = lock.read_text(encoding="utf-8").splitlines()
    return [Package(*line.split()) for line in lines if line and not line.startswith("#")]


def add_debian(tree: Tree, cache: Path) -> None:
    """Everything of Debian's, and what its scripts would have made. Raises ReleaseError."""
    for name in _MERGED:
        tree.link(name, f"usr/{name}")
    for package in locked():
        archive = _fetched(package, cache).read_bytes()
        tree.file(f"var/lib/dpkg/status.d/{package.name}", _control(archive))  # where scanners look for it
        for member, content in _members(archive, "data.tar"):
            _add(tree, member, content)
    tree.link("usr/bin/python3", "python3.11")
    tree.file("etc/passwd", "".join(f"{name}:x:{uid}:{uid}::{home}:/nonexistent\n" for name, uid, home in _ACCOUNTS))
    tree.file("etc/group", "".join(f"{name}:x:{uid}:\n" for name, uid, _ in _ACCOUNTS))
    tree.file("etc/nsswitch.conf", "hosts: files dns\n")
    trusted = [content for path, (content, _) in sorted(tree.files.items()) if path.startswith(_CERTIFICATES)]
    tree.file("etc/ssl/certs/ca-certificates.crt", b"".join(trusted))
    tree.link("usr/lib/ssl/cert.pem", "/etc/ssl/certs/ca-certificates.crt")
    for name in ("proc", "sys", "dev", "run", "root", "var/tmp"):
        tree.folder(name)
    tree.folder("tmp", 0o1777)


def _add(tree: Tree, member: tarfile.TarInfo, content: bytes) -> None:
    path = _merged(member.name.removeprefix("./").rstrip("/"))
    if not path or path in _MERGED or _LEFT_OUT.match(f"{path}/" if member.isdir() else path):
        return
    if member.issym():
        tree.link(path, member.linkname)
    elif member.islnk():
        tree.file(path, *tree.files[_merged(member.linkname.removeprefix("./"))])
    elif member.isfile():
        tree.file(path, content, member.mode & 0o755)  # nothing is setuid here


def _merged(path: str) -> str:
    """Where a path is since /bin, /sbin and /lib are links into /usr."""
    first, slash, rest = path.partition("/")
    return f"usr/{path}" if first in _MERGED and slash and rest else path


def _members(archive: bytes, wanted: str) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The files of one of the archives within a .deb, which is an `ar` archive of three members."""
    at = 8
    while at < len(archive):
        name, size = archive[at : at + 16].decode().strip(), int(archive[at + 48 : at + 58])
        if name.startswith(wanted):
            if not name.endswith(".xz"):
                raise ReleaseError(f"{name}: this compression is not known")
            unpacked = lzma.decompress(archive[at + 60 : at + 60 + size])
            with tarfile.open(fileobj=io.BytesIO(unpacked)) as tar:
                for member in tar:
                    file = tar.extractfile(member) if member.isfile() else None
                    yield member, b"" if file is None else file.read()
        at += 60 + size + size % 2


def _control(archive: bytes) -> bytes:
    """What the package says of itself."""
    return next(content for member, content in _members(archive, "control.tar") if member.name.endswith("control"))


def _fetched(package: Package, cache: Path) -> Path:
    """The file of a package: kept from before, or fetched by apt; its checksum is that of the lock."""
    kept = cache / f"{package.name}_{package.sha256[:16]}.deb"
    if not kept.exists():
        cache.mkdir(parents=True, exist_ok=True)
        folder = cache / f"{os.getpid()}"
        folder.mkdir(exist_ok=True)
        wanted = f"{package.name}:{ARCHITECTURE}={package.version}"
        done = subprocess.run(["apt-get", "download", wanted], cwd=folder, capture_output=True, text=True, check=False)
        found = list(folder.glob("*.deb"))
        if done.returncode or len(found) != 1:
            raise ReleaseError(
                f"apt does not have {wanted}: {done.stderr.strip()[-300:]}\n"
                "Point it at a mirror that does (snapshot.debian.org keeps all), or make the lock anew: "
                "python -m release.image.debian > release/image/debian.lock"
            )
        found[0].rename(kept)
        folder.rmdir()
    if hashlib.sha256(kept.read_bytes()).hexdigest() != package.sha256:
        kept.unlink()
        raise ReleaseError(f"{package.name} {package.version}: the file's checksum is not that of the lock")
    return kept


def newest() -> list[Package]:
    """What apt offers now."""
    found = []
    for name in PACKAGES:
        shown = subprocess.run(
            ["apt-cache", "show", "--no-all-versions", f"{name}:{ARCHITECTURE}"],
            capture_output=True,
            text=True,
            check=True,
        )
        fields = dict(line.split(": ", 1) for line in shown.stdout.splitlines() if re.match(r"[A-Z][\w-]*: ", line))
        found.append(Package(name, fields["Version"], fields["SHA256"]))
    return found


if __name__ == "__main__":
    sys.stdout.write(
        "# Debian 12 packages of the image, by `python -m release.image.debian`: name, version, SHA-256.\n"
    )
    sys.stdout.writelines(f"{each.name} {each.version} {each.sha256}\n" for each in newest())
