"""What new objects are told apart by: UIDs, and the random end of generated names. Used by creation and namespaces.

Unique, not secret: one read of the system's randomness seeds a generator, because a read for every object costs more
than all the rest of its creation.
"""

from __future__ import annotations

import random

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # no vowels: a generated name should not spell a word
_SUFFIX = 5
_LONGEST_BASE = 63 - _SUFFIX

# Python seeds it from the system; a child process would have to make its own.
_generator = random.Random()  # noqa: S311 - see above: unique, not secret


def new_uid() -> str:
    """A random UUID of version 4, as text."""
    bits = f"{_generator.getrandbits(128):032x}"
    variant = "89ab"[int(bits[16], 16) & 3]
    return f"{bits[:8]}-{bits[8:12]}-4{bits[13:16]}-{variant}{bits[17:20]}-{bits[20:]}"


def generated_name(base: str) -> str:
    """A name that begins as the client wishes."""
    return base[:_LONGEST_BASE] + "".join(_generator.choices(_ALPHABET, k=_SUFFIX))
