"""The names that a misspelt one may have meant. Bounded: comparing with a hundred thousand names would take seconds."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

_MOST_COMPARED: Final = 500
_CUTOFF: Final = 0.6
_MUCH_LESS: Final = 0.15  # alike than the best one: no longer worth naming


def nearest(name: str, known: Collection[str], most: int = 3) -> list[str]:
    """Names among the known ones that look like it, the most alike first. Those that differ in case only are alike.

    >>> nearest("clowd", ["cloud", "region"])
    ['cloud']
    """
    candidates = sorted(known) if len(known) <= _MOST_COMPARED else _alike_at_a_glance(name, known)
    by_lower: dict[str, list[str]] = {}
    for each in candidates:
        by_lower.setdefault(each.lower(), []).append(each)
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=most, cutoff=_CUTOFF)
    found = [each for lower in close for each in by_lower[lower] if each != name]
    likeness = {each: difflib.SequenceMatcher(None, each, name).ratio() for each in found}
    best = max(likeness.values(), default=0.0)
    alike = [each for each in found if likeness[each] > best - _MUCH_LESS]
    return sorted(alike, key=lambda each: -likeness[each])[:most]


def _alike_at_a_glance(name: str, known: Collection[str]) -> list[str]:
    """Of very many names those of about the same length that begin alike, else those that end alike."""
    about = [each for each in known if abs(len(each) - len(name)) <= 3]
    alike = [each for each in about if each[:2] == name[:2]] or [each for each in about if each[-3:] == name[-3:]]
    alike.sort(key=lambda each: (-_shared(each, name), each))
    return alike[:_MOST_COMPARED]


def _shared(one: str, other: str) -> int:
    """How many characters they share at the beginning and at the end."""
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    end = next((at for at, (a, b) in enumerate(zip(one[::-1], other[::-1], strict=False)) if a != b), 0)
    return start + end
