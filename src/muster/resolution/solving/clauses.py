"""The vocabulary of the solver: numbered variables and six kinds of clauses over them, and what it is to meet them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


class Kind(Enum):
    """What a clause says of its subject."""

    MANDATORY = "mandatory"
    PROHIBITED = "prohibited"
    DEPENDENCY = "dependency"  # with the subject goes one of the others, most preferred first
    CONFLICT = "conflict"  # never with the others
    AT_MOST = "atMost"  # so many of the others, whether or not the subject is chosen
    OPTIONAL = "optional"  # like a dependency, but given up rather than change or prevent anything


@dataclass(frozen=True, slots=True, eq=False)
class Clause:
    """A statement about numbered variables, and why it is there."""

    kind: Kind
    subject: int
    others: tuple[int, ...] = ()
    most: int = 1
    reason: Json = None


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision: which clause asked for it, what was chosen, and what was preferred but impossible."""

    clause: Clause
    chosen: int
    passed_over: tuple[int, ...]
    standing: int  # how many variables had been chosen before


@dataclass(frozen=True, slots=True)
class Solution:
    """What is chosen, in the order of choosing, and every decision on the way."""

    chosen: tuple[int, ...]
    choices: tuple[Choice, ...]
    given_up: tuple[Clause, ...] = ()  # optional clauses that nothing could meet


def violations(chosen: Collection[int], clauses: Iterable[Clause]) -> list[Clause]:
    """The clauses that a set of variables breaks, in plain Python."""
    return [clause for clause in clauses if not holds(clause, chosen)]


def holds(clause: Clause, chosen: Collection[int]) -> bool:
    match clause.kind:
        case Kind.MANDATORY:
            return clause.subject in chosen
        case Kind.PROHIBITED:
            return clause.subject not in chosen
        case Kind.DEPENDENCY:
            return clause.subject not in chosen or any(other in chosen for other in clause.others)
        case Kind.CONFLICT:
            return clause.subject not in chosen or not any(other in chosen for other in clause.others)
        case Kind.AT_MOST:
            return sum(other in chosen for other in clause.others) <= clause.most
        case Kind.OPTIONAL:
            return True
