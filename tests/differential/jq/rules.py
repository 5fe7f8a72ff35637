"""Where ours differs from gojq on purpose: the headings of docs/differences.md, each with a predicate that checks the
whole outcome it means, not only that something differs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from muster.jq import Limits, Program
from muster.jq.errors import LONGEST_MESSAGE
from tests.differential.jq.outcomes import Outcome, compiled, difference, ours, same, theirs
from tests.differential.jq.rewriting import computed_numbers, contained_alternatives, explicit_alternatives
from tests.differential.jq.shapes import ON_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.differential.jq.generator import Case
    from tests.differential.peer import Peer


WIDE: Final = Limits(steps=2_000_000, cells=10_000_000, depth=200_000, outputs=1_000_000, seconds=None)


@dataclass(frozen=True, slots=True)
class Compared:
    """A case and both outcomes; the peer, for rules that ask it something else."""

    case: Case
    ours: Outcome
    theirs: Outcome
    peer: Peer

    def asked(self, query: str) -> Outcome:
        """What gojq makes of another query on the same input."""
        (answer,) = self.peer.ask([replace(self.case, query=query).question])
        return theirs(answer)


def _budget(compared: Compared) -> bool:
    """A budget ended ours: what came before is what gojq gives. Where gojq came to an end, so do ours, with more to
    spend; only integers and levels have limits that say no."""
    if compared.ours.ending != "budget" or compared.theirs.ending == "invalid":
        return False
    if compared.theirs.ending not in ("unknown", "more") and compared.ours.budget in ("steps", "cells"):
        program = compiled(compared.case.query)
        assert isinstance(program, Program)  # it ran
        wide = ours(program, compared.case.input, compared.case.zone, limits=WIDE)
        if wide.budget in ("steps", "cells") or wide.ending != "budget":
            return difference(wide, compared.theirs) is None
    given, expected = compared.ours.outputs, compared.theirs.outputs
    return all(same(one, two) for one, two in zip(given, expected, strict=False)) and (
        len(given) <= len(expected) or compared.theirs.ending == "unknown"
    )


def _short_message(compared: Compared) -> bool:
    whole = compared.theirs.message or ""
    return len(whole) > LONGEST_MESSAGE and not difference(
        compared.ours, replace(compared.theirs, message=whole[:LONGEST_MESSAGE] + " ...")
    )


def _every_fault(compared: Compared) -> bool:
    """gojq names one fault, in the order in which it compiles; ours all, in the order of the text."""
    return (
        compared.ours.ending == compared.theirs.ending == "invalid"
        and len(compared.ours.faults) > 1
        and compared.theirs.message in compared.ours.faults
    )


def _string_named(compared: Compared) -> bool:
    return (
        compared.ours.ending == compared.theirs.ending == "invalid"
        and compared.ours.message == 'unexpected token "\\""'
        and (compared.theirs.message or "").startswith("unexpected token ")
    )


def _null_character(compared: Compared) -> bool:
    refused = ('unexpected token "\\u0000"', "unterminated string literal")
    return "\0" in compared.case.query and compared.ours.ending == "invalid" and compared.ours.message in refused


# The builtin has another name first: a definition that names itself would call itself.
_READ: Final = (
    'def muster_read: fromjson; def fromjson: muster_read | walk(if type == "number" then . * 1 else . end); '
)


def _printed_anew(compared: Compared) -> bool:
    """What gojq gives when numbers that it reads are made numbers at once."""
    if compared.theirs.copied and difference(compared.ours, compared.theirs) is None:
        return True
    if "fromjson" not in compared.case.query:
        return False
    expected = compared.asked(_READ + compared.case.query)
    return expected.known and difference(compared.ours, expected) is None


_FUNCTIONS: Final = re.compile(rf"\b({'|'.join(sorted(ON_NUMBERS))})\b")
# Go's logarithm on amd64 is wrong below 2.2e-308, and so is what it computes by it; J1 forgets the sign of its argument
# below 1e-8, atan2 that of a quotient that is too small to be a number.
_WRONG_IN_GO: Final = re.compile(r"\b(log|log10|lgamma|y0|y1|yn|pow|atan2|j1|jn|exp10|log1p|log2|gamma|tgamma)\b")
_TINY: Final = re.compile(r"5e-324|2\.2250738585072014e-308|1e-10|1e-300")


def _library(compared: Compared) -> bool:
    """The last digits; and the smallest numbers, of which Go's functions lose the size or the sign."""
    query = compared.case.query
    if _FUNCTIONS.search(query) is None:
        return False
    loose = _WRONG_IN_GO.search(query) is not None and _TINY.search(query) is not None
    return (
        compared.ours.ending == compared.theirs.ending
        and compared.ours.message == compared.theirs.message
        and len(compared.ours.outputs) == len(compared.theirs.outputs)
        and all(_near(one, two, loose) for one, two in zip(compared.ours.outputs, compared.theirs.outputs, strict=True))
    )


def _near(ours: Any, theirs: Any, loose: bool) -> bool:
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return all(_near(one, two, loose) for one, two in zip(ours, theirs, strict=True))
    if not (isinstance(ours, float) and isinstance(theirs, float)) or same(ours, theirs):
        return same(ours, theirs)
    if loose:
        return not math.isnan(ours)
    return math.isclose(ours, theirs, rel_tol=1e-11, abs_tol=1e-15)


def _alternatives(compared: Compared) -> bool:
    """What gojq gives when the alternatives of a pattern cannot be taken up again behind their body."""
    if "?//" not in compared.case.query or compared.ours.ending == "invalid":
        return False
    expected = compared.asked(contained_alternatives(compared.case.query))
    if not expected.known and compared.ours.ending == "ended":  # without an end when it is gathered
        return all(map(same, compared.ours.outputs, compared.theirs.outputs))
    return _same_but_raised(compared.ours, expected)


def _other_variables(compared: Compared) -> bool:
    """What gojq gives when each pattern is tried by itself, with all variables null."""
    if "?//" not in compared.case.query or compared.ours.ending == "invalid":
        return False
    return _same_but_raised(compared.ours, compared.asked(explicit_alternatives(compared.case.query)))


def _same_but_raised(got: Outcome, expected: Outcome) -> bool:
    """The same, where an error that was caught and raised again counts as the same."""
    first, second = (
        replace(outcome, message=(outcome.message or "").removeprefix("error: ")) for outcome in (got, expected)
    )
    return expected.known and difference(first, second) is None


_LOOKED_INTO: Final = re.compile(r"[0-9.\"]\s*[.\[?]")


def _constant_looked_into(compared: Compared) -> bool:
    """What gojq gives when the constant is computed."""
    if compared.ours.ending == "invalid" or _LOOKED_INTO.search(compared.case.query) is None:
        return False
    expected = compared.asked(computed_numbers(compared.case.query))
    return expected.known and difference(compared.ours, expected) is None


RULES: Final[tuple[tuple[str, Callable[[Compared], bool]], ...]] = (
    ("jq runs have budgets", _budget),
    ("jq messages of errors are short", _short_message),
    ("jq queries are refused with every fault", _every_fault),
    ("jq names the string that is in the way", _string_named),
    ("jq queries end where their text ends", _null_character),
    ("jq numbers are printed anew", _printed_anew),
    ("jq functions of numbers are the C library's", _library),
    ("jq constants can be looked into", _constant_looked_into),
    ("jq alternatives of patterns end with their body", _alternatives),
    ("jq variables of other patterns are null", _other_variables),
)


def rule_of(compared: Compared) -> str | None:
    """The heading under which a difference is documented."""
    return next((name for name, holds in RULES if holds(compared)), None)
