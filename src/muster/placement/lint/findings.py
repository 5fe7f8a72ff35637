"""What lint can find: every rule by its code, and a finding with place, words and fix. The page of rules is made of it.

Codes are stable: pipelines and editors name them. A rule that no longer makes sense is taken out, never given to
another meaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from muster.source import Source
from muster.values.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_MOST_NAMED: Final = 5
_LONGEST_EXCERPT: Final = 400


class Severity(StrEnum):
    """How bad a finding is: it cannot work, it cannot be meant, it is good to know."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of mistake."""

    severity: Severity
    summary: str
    remedy: str


_E, _W, _I = Severity.ERROR, Severity.WARNING, Severity.INFO
RULES: Final[Mapping[str, Rule]] = {
    "unknown-field": Rule(_E, "A field that the kind does not have. The server drops it.", "Correct or remove it."),
    "invalid-value": Rule(_E, "A value that the kind's schema refuses.", "Write a value of the type that is named."),
    "invalid-expression": Rule(_E, "A CEL expression that does not compile.", "Correct it where the caret points."),
    "misconfigured": Rule(_E, "The placement cannot be scheduled for another reason.", "The message says which."),
    "too-costly": Rule(
        _E, "An expression that may cost more than the limit. The server refuses it.", "Compare fewer, shorter things."
    ),
    "no-binding": Rule(
        _E, "No cluster set is bound to the placement's namespace: it sees no cluster.", "Create a binding."
    ),
    "set-not-bound": Rule(
        _E, "A set that the placement names is not bound to its namespace, or not there.", "Bind it, or name another."
    ),
    "empty-sets": Rule(_W, "The sets that the placement may choose from have no clusters.", "Label clusters for them."),
    "no-such-label": Rule(_W, "A label key that no cluster has.", "Use a key that clusters have."),
    "no-such-claim": Rule(_W, "A claim that no cluster makes.", "Use a claim that clusters make."),
    "no-such-score": Rule(_W, "A score that no cluster has.", "Name a score that add-ons report."),
    "no-such-field": Rule(
        _W, "An expression reads a field that clusters do not have.", "Correct the name where the caret points."
    ),
    "never-holds": Rule(
        _W,
        "A requirement or comparison that no cluster meets, given the values there are.",
        "Use a value that is there.",
    ),
    "missing-key": Rule(
        _W,
        "An expression that fails on clusters that lack a label, claim or field. A failure does not select.",
        'Ask for it first, or give a default: `labels[?"key"].orValue("")`.',
    ),
    "selects-nothing": Rule(
        _W, "Each condition holds somewhere, but no cluster that the placement can see meets all.", "Loosen one."
    ),
    "all-tainted": Rule(
        _W, "Every cluster that matches carries a taint that the placement does not tolerate.", "Add a toleration."
    ),
    "contradiction": Rule(_W, "Requirements that exclude each other: nothing can match, ever.", "Remove one of them."),
    "duplicate-predicate": Rule(_W, "Two predicates that say the same.", "Remove one."),
    "shadowed-predicate": Rule(
        _W, "A predicate that selects nothing that another one does not select anyway.", "Remove it, or loosen it."
    ),
    "matches-everything": Rule(
        _W,
        "A predicate without conditions beside others: predicates are alternatives, so the others mean nothing.",
        "Remove it, or put its conditions into one predicate.",
    ),
    "useless-toleration": Rule(_W, "A toleration that matches no taint of any cluster.", "Name a taint that is there."),
    "costly-expression": Rule(
        _I, "An expression that may cost a quarter of the limit or more.", "Look at the part that is shown."
    ),
    "too-few-clusters": Rule(
        _I, "Fewer clusters match than numberOfClusters asks for.", "Ask for fewer, or loosen it."
    ),
    "no-such-set": Rule(_E, "A binding of a set that is not there.", "Create the set, or bind another."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at: the rule, the field, what is wrong, how to fix it, and the place in an expression."""

    code: str
    where: str
    message: str
    fix: str = ""
    expression: str = ""
    offset: int | None = None

    @property
    def severity(self) -> Severity:
        return RULES[self.code].severity

    @property
    def remedy(self) -> str:
        """How to fix it: this very finding, else such findings in general."""
        return self.fix or RULES[self.code].remedy

    @property
    def excerpt(self) -> tuple[str, ...]:
        """The line of the expression that is meant, and a caret under the place."""
        if not self.expression or self.offset is None:
            return ()
        source = Source(self.expression)
        line, column = source.position(self.offset)
        text = source.line(line).replace("\t", " ")
        return (f"| {text}", f"| {'.' * column}^") if len(text) <= _LONGEST_EXCERPT else ()

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" + (f" ({self.fix})" if self.fix else "")


def close_to(name: str, known: Collection[str]) -> str:
    """What a misspelt name may have meant; nothing when nothing is like it."""
    close = nearest(name, known)
    return f"did you mean {' or '.join(close)}?" if close else ""


def meant(name: str, known: Collection[str]) -> str:
    """What a misspelt name may have meant, else what there is."""
    if close := close_to(name, known):
        return close
    if not known:
        return "there are none"
    some = sorted(known)[:_MOST_NAMED]
    return f"there are {', '.join(some)}{', …' if len(known) > _MOST_NAMED else ''}"
