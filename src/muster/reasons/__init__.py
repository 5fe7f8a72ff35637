"""Why: a reason is a value, and words are made of it at the edge.

A verdict, a condition, a decision, a step of a history carries a `Reason`: a stable code, what it is about, and what
was expected and found. `sentence` words it for people, `redacted` takes out what a reader may not see; nothing reads
sentences. Selectors, placement, resolution and everything above use it; it knows no kind, no fleet and no user.
"""

from muster.reasons.codes import PLACEMENT_CODES, Code
from muster.reasons.guard_codes import GUARD_CODES
from muster.reasons.operator_codes import OPERATOR_CODES
from muster.reasons.reason import Held, Parameter, Reason, Subject
from muster.reasons.redaction import EVERYTHING, HIDDEN, Reader, bare, bounded, redacted
from muster.reasons.words import sentence

CODES = {**PLACEMENT_CODES, **GUARD_CODES, **OPERATOR_CODES}
"""Every code, with what it means."""

__all__ = [
    "CODES",
    "EVERYTHING",
    "HIDDEN",
    "Code",
    "Held",
    "Parameter",
    "Reader",
    "Reason",
    "Subject",
    "bare",
    "bounded",
    "redacted",
    "sentence",
]
