"""What the Operator Lifecycle Manager adds to CEL: comparing versions, read tolerantly, whatever type they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import ANY, INT
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call
from muster.cel.traversals import Style, go_text, written
from muster.cel.traversals.styles import go_leaf
from muster.cel.values import Duration, Timestamp
from muster.cel.values.timestamps import go_duration, go_time
from muster.errors import EvaluationError, FailureKind
from muster.values.semver import InvalidVersionError, Version, parse_tolerant

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value


def compare_versions(meter: Meter, left: Value, right: Value) -> int:
    return _version(meter, left).compare(_version(meter, right))


def _version(meter: Meter, value: Value) -> Version:
    text = written(meter, value, _PRINTED)
    try:
        return parse_tolerant(text)
    except InvalidVersionError:
        raise EvaluationError(f"unable to parse '{go_text(text)}' to semver format", FailureKind.OTHER_FORMAT) from None


def _leaf(value: Value) -> str:
    match value:
        case None:
            return "NULL_VALUE"
        case Timestamp():
            return go_time(value)
        case Duration():
            return go_duration(value)
        case _:
            return go_leaf(value)


_PRINTED = Style(_leaf, go_leaf, between=" ", map_open="map[", map_close="]", map_between=" ", colon=":")
"""As Go's fmt.Sprint shows a value, since that is the text upstream parses."""


SEMVER_COMPARE = Library(
    "olm.semver",
    (
        Function(
            "semver_compare",
            (call("semver_compare", (ANY, ANY), INT, compare_versions, metered=True),),
            doc="-1, 0 or 1: how two versions compare. A leading v and missing parts are forgiven.",
            examples={"semver_compare('v1.2', '1.10.0')": -1},
        ),
    ),
)
