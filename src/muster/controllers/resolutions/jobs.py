"""What the resolution controller and its worker processes say to each other: frames of a length and JSON."""

from __future__ import annotations

import struct
from typing import Final

import msgspec

from muster.values.json import JsonObject

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


class PreviewOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a preview wants beside the outcome: how it differs from a lock, or exactly the lock; why a package."""

    seconds: float  # for deciding, and once more for telling; the spec may allow less
    lock: JsonObject | None = None
    locked: bool = False
    explain: str = ""


class Job(msgspec.Struct, frozen=True, omit_defaults=True):
    """A resolution to do: for its status, or for a preview."""

    spec: msgspec.Raw
    catalogs: list[CatalogInput]
    preview: PreviewOptions | None = None
