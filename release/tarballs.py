"""Archives whose bytes say nothing of the machine they were made on: names in order, one time, no owners."""

from __future__ import annotations

import gzip
import io
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LEVEL: Final = 6  # nine takes three times as long for one percent


@dataclass(slots=True)
class Tree:
    """Files, links and folders by their paths, without a leading slash. Added later counts more."""

    epoch: int
    files: dict[str, tuple[bytes, int]] = field(default_factory=dict)  # content and mode
    links: dict[str, str] = field(default_factory=dict)
    folders: dict[str, int] = field(default_factory=dict)  # mode

    def file(self, path: str, content: bytes | str, mode: int = 0o644) -> None:
        self.links.pop(path, None)
        self.files[path] = (content.encode() if isinstance(content, str) else content, mode)

    def link(self, path: str, target: str) -> None:
        self.files.pop(path, None)
        self.links[path] = target

    def folder(self, path: str, mode: int = 0o755) -> None:
        self.folders[path] = mode

    def add(self, root: Path, below: str = "") -> None:
        """Everything in a folder; modes are made 0644 or 0755."""
        for path in sorted(root.rglob("*")):
            name = f"{below}{path.relative_to(root).as_posix()}"
            if path.is_symlink():
                self.link(name, str(path.readlink()))
            elif path.is_file():
                self.file(name, path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644)
            elif path.is_dir():
                self.folders.setdefault(name, 0o755)

    def written_to(self, root: Path) -> None:
        """The same on disk."""
        for name, mode in sorted(self._all_folders().items()):
            (root / name).mkdir(parents=True, exist_ok=True)
            (root / name).chmod(mode)
        for name, (content, mode) in self.files.items():
            (root / name).write_bytes(content)
            (root / name).chmod(mode)
        for name, target in self.links.items():
            (root / name).unlink(missing_ok=True)
            (root / name).symlink_to(target)

    def tar(self) -> bytes:
        """As a tar archive."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for info, content in self._entries():
                archive.addfile(info, io.BytesIO(content))
        return buffer.getvalue()

    def _all_folders(self) -> dict[str, int]:
        found = dict(self.folders)
        for name in (*self.files, *self.links, *self.folders):
            for parent in Path(name).parents:
                if parent.as_posix() != ".":
                    found.setdefault(parent.as_posix(), 0o755)
        return found

    def _entries(self) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        every: Mapping[str, object] = {**self._all_folders(), **self.files, **self.links}
        for name in sorted(every):
            info = tarfile.TarInfo(name)
            info.mtime, info.uname, info.gname = self.epoch, "", ""
            content = b""
            if name in self.links:
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, self.links[name], 0o777
            elif name in self.files:
                content, info.mode = self.files[name]
                info.size = len(content)
            else:
                info.type, info.mode = tarfile.DIRTYPE, self._all_folders_mode(name)
            yield info, content

    def _all_folders_mode(self, name: str) -> int:
        return self.folders.get(name, 0o755)


def packed(tar: bytes) -> bytes:
    """Compressed, without a time or a name in it."""
    return gzip.compress(tar, _LEVEL, mtime=0)
