"""What the resolution controller and its worker processes say to each other: frames of a length and JSON."""

from __future__ import annotations

import struct
from typing import Final

import msgspec

LENGTH: Final = struct.Struct(">Q")


class CatalogInput(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a catalog of a job comes from: the spec itself, values of a ConfigMap, or a path of the hub's settings."""

    name: str
    priority: int = 0
    inline: bool = False
    texts: dict[str, str] = {}
    binaries: dict[str, str] = {}  # base64
    path: str = ""
    fingerprint: str = ""  # of what is behind the path
    missing: str = ""  # why there is nothing to read


class Job(msgspec.Struct, frozen=True):
    """A resolution to do."""

    spec: msgspec.Raw
    catalogs: list[CatalogInput]
