"""What a part of an expression came to, as a value: `cel_reasons` makes them, and whoever shows a reason reads them.

Knows no language, so that explanations are read and shown without one.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

TEXT_LITERAL: Final = re.compile(r'("(?:[^"\\]|\\.)*")')
_LONGEST: Final = 80


class Observation(msgspec.Struct, frozen=True, rename="camel"):
    """A part of an expression or requirement and what it came to, in CEL's notation; an error is its text.

    `short` is how the part is shown below the ones before it: without what goes without saying. `position` is where
    in the expression the part stands, in code points; null for what is not written there as it is.
    """

    text: str
    value: str
    short: str = ""
    is_error: bool = False
    position: int | None = None

    def __str__(self) -> str:
        shown = self.short or self.text
        value = self.value if len(self.value) <= _LONGEST else f"{self.value[: _LONGEST - 1]}…"
        if self.is_error:
            return f"{shown} failed: {value}"
        # `a == b = false` would be read wrongly.
        return f"{shown} {'is' if ' ' in TEXT_LITERAL.sub('', shown) else '='} {value}"
