"""Classes of errors: what kind of thing went wrong, whoever words it.

cel-spec's suite names errors in words of its own, which no program is asked to repeat: there the class counts. Recorded
programs have real texts: there the phase and the class count, and the text has a column of its own.
"""

from __future__ import annotations

import re

_CLASSES = (
    (
        "overload",
        r"no.(?:such|matching).overload|found no matching overload|unbound function|does not support field selection",
    ),
    ("undeclared", r"undeclared reference|no such attribute|unknown variable|unknown type|undefined field"),
    ("division", r"(?:divide|division) by zero"),
    ("modulus", r"modulus by zero"),
    ("key", r"no such key|unsupported key type|invalid qualifier type"),
    ("repeated key", r"repeated key"),
    ("range", r"overflow|\brange\b|out of range|range error"),
    (
        "index",
        r"index out of (?:bounds|range)|index \d+ out of range|invalid_argument|unsupported index (?:type|value)"
        r"|negative offset",
    ),
    ("conversion", r"conversion error|cannot convert|parse error|\bconversion\b|unable to convert"),
    ("utf-8", r"invalid UTF-8"),
    ("address", r"IP [Aa]ddress|CIDR|network address|IPv4-mapped"),
    ("formatting", r"format"),
    ("syntax", r"Syntax error|mismatched input|extraneous input|token recognition"),
    ("iteration", r"cannot be range of|iterable"),
    ("budget", r"budget|limit|cost"),
)
# A selection that cel-spec calls a missing overload or an unknown variable is a missing key or attribute when nobody
# has checked types; a text or a list that cannot be converted is out of range there.
_SAME = (
    frozenset({"overload", "key"}),
    frozenset({"overload", "index"}),
    frozenset({"undeclared", "overload"}),
    frozenset({"conversion", "range"}),
    frozenset({"index", "range"}),
)


def classes(text: str) -> frozenset[str]:
    """Every class that a text names."""
    return frozenset(name for name, pattern in _CLASSES if re.search(pattern, text))


def is_same_class(recorded: str, ours: str) -> bool:
    """For texts of programs: they name the same classes, or have the same first words where they name none."""
    wanted, found = classes(recorded), classes(ours)
    if wanted or found:
        return bool(wanted & found)
    return recorded.split()[:2] == ours.split()[:2]


def is_specified_class(recorded: str, ours: str) -> bool:
    """For cel-spec's words: the same class, or one that an evaluation without types has instead of it."""
    wanted, found = classes(recorded), classes(ours)
    if not wanted:
        return _bare(recorded) in _bare(ours)
    return bool(wanted & found) or any(pair & wanted and pair & found for pair in _SAME)


def _bare(text: str) -> str:
    return text.replace("'", '"').lower()
