"""What comes back from a server, whichever client asked it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec

from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable


class Reply(msgspec.Struct, frozen=True):
    """What came back, when it was not a refusal."""

    code: int
    body: bytes
    warnings: tuple[str, ...]

    def json(self) -> Json:
        return msgspec.json.decode(self.body)


def warnings_in(headers: Iterable[str]) -> tuple[str, ...]:
    """The texts of `299 - "…"` headers."""
    texts = []
    for header in headers:
        _, _, quoted = header.partition(" - ")
        try:
            texts.append(json.loads(quoted))
        except ValueError:
            texts.append(quoted or header)
    return tuple(texts)
