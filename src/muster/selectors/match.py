"""What a selector says of one object: yes, no or error, always with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.selectors.paths import Path


class Verdict(IntEnum):
    """An error is not a no, though neither selects. The numbers are what the fleet's masks hold."""

    NO = 0
    YES = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Match:
    """A verdict and why.

    `alone`: it holds for this one object only, not for others that are equal in all that was read. A budget that was
    exhausted is such a verdict: what evaluation costs can depend on more than what decides it.
    """

    verdict: Verdict
    reason: str
    alone: bool = False

    def __bool__(self) -> bool:
        return self.verdict is Verdict.YES


def yes(reason: str) -> Match:
    return Match(Verdict.YES, reason)


def no(reason: str) -> Match:
    return Match(Verdict.NO, reason)


def failed(reason: str, *, alone: bool = False) -> Match:
    return Match(Verdict.ERROR, reason, alone)


class Selector(Protocol):
    """Ready to match. There is no selector that still has to be compiled."""

    @property
    def is_empty(self) -> bool:
        """Whether it restricts nothing."""

    @property
    def reads(self) -> frozenset[Path]:
        """Everything in an object that the verdict can depend on."""

    def match(self, obj: Mapping[str, Any]) -> Match: ...


@runtime_checkable
class Wrapper(Protocol):
    """A selector around another one, which decides: a stopwatch, for example."""

    @property
    def selector(self) -> Selector: ...


def unwrapped(selector: Selector) -> Selector:
    """The selector that decides, without what others have put around it."""
    while isinstance(selector, Wrapper):
        selector = selector.selector
    return selector
