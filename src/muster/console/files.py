"""The pages as they are sent: files of this package, compressed once, with what browsers are told about them.

Every view is a URL, and the page behind all of them is index.html: whatever is no file and no API path is a view.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE: Final = Path(__file__).parent
_FOLDERS: Final = {"/static/": _HERE / "static", "/third_party/": _HERE / "third_party"}
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
INDEX: Final = "/static/index.html"
#: No inline script, no inline style: components have constructed style sheets, the editor too, inside shadow roots.
POLICY: Final = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self'; "
    "img-src 'self'; "
    "connect-src 'self'; "
    "base-uri 'none'; "
    "form-action 'self'; "
    "frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; "
    "trusted-types lit-html"
)
#: On every answer, the API's included.
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class File:
    """A file as it is sent."""

    type: str
    etag: str
    plain: bytes
    compressed: bytes


@functools.cache
def load_files() -> Mapping[str, File]:
    """Every file that is served, by its path. They are the package's own and do not change while it runs."""
    return {
        prefix + each.relative_to(folder).as_posix(): _file(each)
        for prefix, folder in _FOLDERS.items()
        for each in sorted(folder.rglob("*"))
        if each.suffix in _TYPES
    }


def _file(path: Path) -> File:
    plain = path.read_bytes()
    compressed = gzip.compress(plain, 9, mtime=0)
    return File(_TYPES[path.suffix], f'"{hashlib.sha256(plain).hexdigest()[:24]}"', plain, compressed)
