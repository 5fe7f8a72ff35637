"""Colour for people: only on a terminal, not with NO_COLOR set (https://no-color.org), never in what machines read."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


class Shade(StrEnum):
    """What a colour means here."""

    GOOD = "32"
    BAD = "31"
    UNSURE = "33"
    QUIET = "2"
    STRONG = "1"


@dataclass(frozen=True, slots=True)
class Paint:
    """Puts colour on texts, or leaves them as they are."""

    coloured: bool

    def __call__(self, text: str, shade: Shade) -> str:
        return f"\x1b[{shade.value}m{text}\x1b[0m" if self.coloured and text else text


def paint_for(stream: TextIO | None = None) -> Paint:
    """As the stream and the environment have it."""
    out = sys.stdout if stream is None else stream
    return Paint(not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and out.isatty())
