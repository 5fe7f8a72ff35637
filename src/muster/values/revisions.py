"""Which of two states of an object is the newer one. Everything that compares revisions does it here."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 20


def is_newer(revision: str, known: str) -> bool:
    """Whether a revision comes after another one. Those that are not numbers cannot be compared, and count as new."""
    new, old = number_of(revision), number_of(known)
    return new is None or old is None or new > old


def number_of(revision: str) -> int | None:
    """A revision as a number, where it is one."""
    return int(revision) if len(revision) <= _MOST_DIGITS and revision.isdecimal() else None
