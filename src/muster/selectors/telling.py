"""Why a selector says no, in words that tell nothing of what the object holds.

A reason that is written into a status, or told to somebody who may not read the cluster, is made here: of the text that
the selector's author wrote and of words out of a fixed list. Nothing that was computed from an object gets through,
whatever the language put into the text of its error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.selectors.cel import CelSelector
from muster.selectors.labels import LabelSelector
from muster.selectors.match import Verdict, unwrapped
from muster.selectors.membership import ExclusiveMembership

if TYPE_CHECKING:
    from muster.selectors.match import Match, Selector

OTHER: Final = "it could not be evaluated"
#: What an error of the language begins with, and its class. Longer beginnings first.
CLASSES: Final = (
    ("no such key", "no such key"),
    ("no such attribute", "no such attribute"),
    ("no such overload", "no such overload"),
    ("no such field", "no such field"),
    ("undefined field", "no such field"),
    ("division by zero", "division by zero"),
    ("modulus by zero", "modulus by zero"),
    ("integer overflow", "integer overflow"),
    ("unsigned integer overflow", "integer overflow"),
    ("timestamp overflow", "timestamp overflow"),
    ("range error", "range error"),
    ("index out of", "index out of bounds"),
    ("type conversion", "type conversion error"),
    ("cannot convert", "type conversion error"),
    ("operation cancelled", "budget exceeded: it costs too much"),
    ("optional.none() dereference", "optional.none() dereference"),
    ("insert failed", "repeated key"),
    ("Failed with repeated key", "repeated key"),
    ("invalid qualifier", "invalid qualifier"),
    ("unsupported index", "unsupported index"),
    ("unsupported key type", "unsupported key"),
    ("NaN values cannot be ordered", "NaN values cannot be ordered"),
    ("strconv", "text that is not a number"),
    ("failed to parse json", "text that is not JSON"),
    ("illegal base64", "text that is not base64"),
    ("IP", "text that is not an address"),
    ("CIDR", "text that is not a network"),
    ("URL parse error", "text that is not a URL"),
    ("unable to parse", "text of another format"),
    ("Illegal regex", "invalid regular expression"),
    ("a fault of muster itself", "a fault of muster itself"),
)
_LONGEST: Final = 200  # characters of an expression


def error_class(message: str) -> str:
    """The class of an error: one of the words above, never a part of the message."""
    return next((name for beginning, name in CLASSES if message.startswith(beginning)), OTHER)


def bare_reason(selector: Selector, match: Match) -> str:
    """The reason of a match that is not a yes, without values."""
    part = unwrapped(selector)
    if isinstance(part, CelSelector):
        return _of_expressions(part, match)
    if isinstance(part, LabelSelector):
        return _of_labels(part, match)
    if isinstance(part, ExclusiveMembership):
        return f"not labelled {part.key}={part.set_name}"
    return OTHER if match.verdict is Verdict.ERROR else "does not match"


def _of_expressions(selector: CelSelector, match: Match) -> str:
    """Which expression, by its text at the beginning of the reason; and then whether it failed, and how."""
    for program in selector.programs:
        said = f"'{program.text}' "
        if match.reason.startswith(said):
            text = program.text if len(program.text) <= _LONGEST else f"{program.text[:_LONGEST]}…"
            if match.verdict is not Verdict.ERROR:
                return f"'{text}' is false"
            rest = match.reason.removeprefix(said)
            if not rest.startswith("failed: "):
                return f"'{text}' is not a boolean"
            return f"'{text}' failed: {error_class(rest.removeprefix('failed: '))}"
    return f"an expression failed: {OTHER}" if match.verdict is Verdict.ERROR else "an expression is false"


def _of_labels(selector: LabelSelector, match: Match) -> str:
    for each in selector.requirements.requirements:
        if match.reason.startswith(f"{selector.noun} {each.key} is "):
            wanted = str(each)
            shown = wanted if len(wanted) <= _LONGEST else f"{wanted[:_LONGEST]}…"
            return f"{selector.noun} {shown} does not hold"
    return f"a {selector.noun} requirement does not hold"
