"""What a selector says of one object: yes, no or error, always with the reason, which is made when somebody asks."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from muster.reasons import Code, Reason, sentence
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.selectors.paths import Path

    Why = Reason | str | Callable[[], Reason]


class Verdict(IntEnum):
    """An error is not a no, though neither selects. The numbers are what the fleet's masks hold."""

    NO = 0
    YES = 1
    ERROR = 2


class Match:
    """A verdict and why. Masks hold the verdicts of whole fleets: a reason costs nothing until it is asked for.

    Selectors that are not ours may say why in words of their own.

    `alone`: it holds for this one object only, not for others that are equal in all that was read. A budget that was
    exhausted is such a verdict: what evaluation costs can depend on more than what decides it.
    """

    __slots__ = ("_why", "alone", "verdict")

    def __init__(self, verdict: Verdict, why: Why, alone: bool = False) -> None:
        self.verdict = verdict
        self.alone = alone
        self._why = why

    @property
    def why(self) -> Reason:
        found = self._why
        if isinstance(found, str):
            found = Reason(Code.SELECTOR_SAYS, values={"text": found})
        elif not isinstance(found, Reason):
            found = found()
        self._why = found
        return found

    @property
    def reason(self) -> str:
        """In words."""
        return sentence(self.why)

    def __bool__(self) -> bool:
        return self.verdict is Verdict.YES

    def __eq__(self, other: object) -> bool:
        """Whether it says the same."""
        if not isinstance(other, Match):
            return NotImplemented
        return (self.verdict, self.alone, self.reason) == (other.verdict, other.alone, other.reason)

    def __hash__(self) -> int:
        return hash((self.verdict, self.alone))

    def __repr__(self) -> str:
        return f"Match({self.verdict!r}, {self.reason!r}, alone={self.alone})"


def yes(why: Why) -> Match:
    return Match(Verdict.YES, why)


def no(why: Why) -> Match:
    return Match(Verdict.NO, why)


def failed(why: Why, *, alone: bool = False) -> Match:
    return Match(Verdict.ERROR, why, alone)


class Selector(Protocol):
    """Ready to match. There is no selector that still has to be compiled."""

    @property
    def is_empty(self) -> bool:
        """Whether it restricts nothing."""

    @property
    def reads(self) -> frozenset[Path]:
        """Everything in an object that the verdict can depend on."""

    def match(self, obj: JsonMapping) -> Match: ...


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
