"""What the Operator Lifecycle Manager adds to CEL: comparing versions, read tolerantly, whatever type they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call
from muster.cel.types import ANY, INT
from muster.cel.values import go_text
from muster.errors import EvaluationError
from muster.values.semver import InvalidVersionError, Version, parse_tolerant


def compare_versions(left: Any, right: Any) -> int:
    return _version(left).compare(_version(right))


def _version(value: Any) -> Version:
    text = _printed(value)
    try:
        return parse_tolerant(text)
    except InvalidVersionError:
        raise EvaluationError(f"unable to parse '{text}' to semver format") from None


def _printed(value: Any) -> str:
    """The value as Go's fmt.Sprint shows it, since that is the text upstream parses."""
    match value:
        case None:
            return "NULL_VALUE"
        case list() | tuple():
            return f"[{' '.join(map(_printed, value))}]"
        case Mapping():
            entries = sorted((go_text(key), _printed(item)) for key, item in value.items())
            return f"map[{' '.join(f'{key}:{item}' for key, item in entries)}]"
        case _:
            return go_text(value)


SEMVER_COMPARE = Library(
    "olm.semver",
    (
        Function(
            "semver_compare",
            (call("semver_compare", (ANY, ANY), INT, compare_versions),),
            doc="-1, 0 or 1: how two versions compare. A leading v and missing parts are forgiven.",
            examples={"semver_compare('v1.2', '1.10.0')": -1},
        ),
    ),
)
