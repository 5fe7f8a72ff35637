"""Where ours differs from gojq on purpose: the headings of docs/differences.md, each with a predicate that checks the
whole outcome it means, not only that something differs."""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from unittest import mock

from muster.jq import Limits, Program
from muster.jq.errors import LONGEST_MESSAGE
from muster.jq.running import control_flow, making, rules, updating
from muster.jq.running.tracked_paths import is_intact
from tests.differential.jq.outcomes import Outcome, compiled, difference, ours, same, theirs
from tests.differential.jq.rewriting import computed_numbers, explicit_alternatives
from tests.differential.jq.shapes import ON_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq import Meter
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
# Go's logarithm is wrong on amd64 below 2.2e-308, and so is what it computes by it; its J1 forgets the sign of what is
# small, its atan2 that of a quotient that is too small to be a number. These say the same by way of larger numbers.
_RIGHT: Final = """
def muster_small: type == "number" and . > 0 and . < 2.3e-308;
def muster_log: log; def log: if muster_small then (. * 18014398509481984 | muster_log) - 37.42994775023705
  else muster_log end;
def muster_log10: log10; def log10: if muster_small then (. * 18014398509481984 | muster_log10) - 16.255619765854984
  else muster_log10 end;
def muster_lgamma: lgamma; def lgamma: if muster_small then -log elif type == "number" and (-. | muster_small)
  then -(-. | log) else muster_lgamma end;
def muster_y0: y0; def y0: if muster_small then (log - 0.11593151565841242) * 0.6366197723675814 else muster_y0 end;
def muster_yn(f; g): yn(f; g); def yn(f; g): g as $x | f as $n | if $n == 0 then $x | y0 else muster_yn($n; $x) end;
def muster_j1: j1; def j1: if type == "number" and . < 0 then -(-. | muster_j1) else muster_j1 end;
def muster_jn(f; g): jn(f; g); def jn(f; g): g as $x | f as $n | if $n == 1 then $x | j1 else muster_jn($n; $x) end;
def muster_atan2(f; g): atan2(f; g); def atan2(f; g): g as $x | f as $y | if ([$x, $y] | all(type == "number"))
  and $x < 0 and $y < 0 then -muster_atan2(-$y; $x) else muster_atan2($y; $x) end;
"""


def _library(compared: Compared) -> bool:
    """What gojq gives with functions that are right for the smallest numbers too, but for the last digits."""
    if _FUNCTIONS.search(compared.case.query) is None or compared.ours.ending == "invalid":
        return False
    given, expected = compared.ours, compared.asked(_RIGHT + compared.case.query)
    return (
        given.ending == expected.ending
        and given.message == expected.message
        and len(given.outputs) == len(expected.outputs)
        and all(map(_near, given.outputs, expected.outputs))
        and _near(given.value, expected.value)
    )


def _near(ours: Any, theirs: Any) -> bool:
    """The same, but for the last digits."""
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return all(map(_near, ours, theirs))
    if not (isinstance(ours, float) and isinstance(theirs, float)) or same(ours, theirs):
        return same(ours, theirs)
    return math.isclose(ours, theirs, rel_tol=1e-11, abs_tol=1e-15)


def _alternatives(compared: Compared) -> bool:
    """What gojq gives when each pattern is tried by itself, with all variables null."""
    if "?//" not in compared.case.query or compared.ours.ending == "invalid":
        return False
    expected = compared.asked(explicit_alternatives(compared.case.query))
    return expected.known and difference(compared.ours, expected) is None


def _empty_arrays(compared: Compared) -> bool:
    """What ours gives when an empty array that was cut out of another is not the same as any other empty one."""
    program = compiled(compared.case.query)
    if not isinstance(program, Program) or ":" not in compared.case.query:
        return False
    with contextlib.ExitStack() as patched:
        for module in (control_flow, making, rules, updating):
            patched.enter_context(mock.patch.object(module, "is_intact", _told_apart))
        return difference(ours(program, compared.case.input, compared.case.zone, plain=True), compared.theirs) is None


def _told_apart(meter: Meter, value: Any, tracked: Any) -> bool:
    return value is tracked if value == [] == tracked else is_intact(meter, value, tracked)


def _constant_looked_into(compared: Compared) -> bool:
    """What gojq gives when the constant is computed."""
    if compared.ours.ending == "invalid":
        return False
    rewritten = computed_numbers(compared.case.query)
    if rewritten is None:
        return False
    expected = compared.asked(rewritten)
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
    ("jq alternatives of patterns are tried one by one", _alternatives),
    ("jq empty arrays are the same", _empty_arrays),
)


def rule_of(compared: Compared) -> str | None:
    """The heading under which a difference is documented."""
    return next((name for name, holds in RULES if holds(compared)), None)
