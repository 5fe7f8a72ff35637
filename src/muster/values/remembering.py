"""Remembering what short texts mean: for parsers that meet the same few again and again, and now and then a huge one.

A cache that counts entries alone keeps whatever a tenant sends: four thousand texts of megabytes.
"""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_Result = TypeVar("_Result")


def remembered(most: int, longest: int = 256) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Remember the results for the `most` latest texts of at most `longest` characters."""

    def decorate(parse: Callable[[str], _Result]) -> Callable[[str], _Result]:
        known = lru_cache(maxsize=most)(parse)

        @wraps(parse)
        def read(text: str) -> _Result:
            return known(text) if len(text) <= longest else parse(text)

        return read

    return decorate
