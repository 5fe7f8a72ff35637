"""What a selector says of one object: yes, no or error, always with the reason, which is made when somebody asks."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from muster.reasons import Code, Reason, sentence
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.selectors.paths import Path

    Why = Reason | str | Callable[[], Reason]
    UpTo = int | Callable[[], int]


ANY_SIZE: Final = 2**62  # bytes


class Verdict(IntEnum):
    """An error is not a no, though neither selects. The numbers are what the fleet's masks hold."""

    NO = 0
    YES = 1
    ERROR = 2


class Match:
    """A verdict and why. Masks hold the verdicts of whole fleets: a reason costs nothing until it is asked for.

    Selectors that are not ours may say why in words of their own.

    What evaluation costs can depend on more than what decides it, so that a verdict does not hold for everything that
    is equal in all that was read: only for objects of at most `up_to` bytes, of which it is certain that no budget ends
    them. A budget that was exhausted is said of one object `alone`.
    """

    __slots__ = ("_up_to", "_why", "verdict")

    def __init__(self, verdict: Verdict, why: Why, alone: bool = False, up_to: UpTo = ANY_SIZE) -> None:
        self.verdict = verdict
        self._up_to = 0 if alone else up_to
        self._why = why

    @property
    def up_to(self) -> int:
        found = self._up_to
        if not isinstance(found, int):
            found = self._up_to = found()
        return found

    @property
    def alone(self) -> bool:
        """Whether it holds for no other object."""
        return self.up_to <= 0

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

    def within(self, up_to: UpTo) -> Match:
        """The same, said of fewer objects."""
        return Match(self.verdict, self._why, up_to=up_to)

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


def yes(why: Why, *, up_to: UpTo = ANY_SIZE) -> Match:
    return Match(Verdict.YES, why, up_to=up_to)


def no(why: Why, *, up_to: UpTo = ANY_SIZE) -> Match:
    return Match(Verdict.NO, why, up_to=up_to)


def failed(why: Why, *, alone: bool = False, up_to: UpTo = ANY_SIZE) -> Match:
    return Match(Verdict.ERROR, why, alone, up_to)


class Selector(Protocol):
    """Ready to match. There is no selector that still has to be compiled."""

    @property
    def is_empty(self) -> bool:
        """Whether it restricts nothing."""

    @property
    def reads(self) -> frozenset[Path]:
        """Everything in an object that the verdict can depend on, but for the budgets of evaluation (see Match)."""

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
