"""What selectors found, in words: expressions, requirements, purposes. `words` has the table of all codes.

Where a value was taken out of a reason, its sentence says the same without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.errors import FailureKind
from muster.reasons.templates import names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.reasons.reason import Reason

OTHER: Final = "it could not be evaluated"
KINDS: Final[Mapping[str, str]] = {
    FailureKind.NO_SUCH_KEY: "no such key",
    FailureKind.NO_SUCH_ATTRIBUTE: "no such attribute",
    FailureKind.NO_SUCH_OVERLOAD: "no such overload",
    FailureKind.DIVISION_BY_ZERO: "division by zero",
    FailureKind.MODULUS_BY_ZERO: "modulus by zero",
    FailureKind.INTEGER_OVERFLOW: "integer overflow",
    FailureKind.TIMESTAMP_OVERFLOW: "timestamp overflow",
    FailureKind.INDEX_OUT_OF_BOUNDS: "index out of bounds",
    FailureKind.TYPE_CONVERSION: "type conversion error",
    FailureKind.BUDGET_EXCEEDED: "budget exceeded: it costs too much",
    FailureKind.OPTIONAL_NONE: "optional.none() dereference",
    FailureKind.REPEATED_KEY: "repeated key",
    FailureKind.INVALID_QUALIFIER: "invalid qualifier",
    FailureKind.UNSUPPORTED_INDEX: "unsupported index",
    FailureKind.UNSUPPORTED_KEY: "unsupported key",
    FailureKind.UNORDERED_NAN: "NaN values cannot be ordered",
    FailureKind.NOT_A_NUMBER: "text that is not a number",
    FailureKind.NOT_JSON: "text that is not JSON",
    FailureKind.NOT_BASE64: "text that is not base64",
    FailureKind.NOT_AN_ADDRESS: "text that is not an address",
    FailureKind.NOT_A_NETWORK: "text that is not a network",
    FailureKind.NOT_A_URL: "text that is not a URL",
    FailureKind.OTHER_FORMAT: "text of another format",
    FailureKind.INVALID_REGEX: "invalid regular expression",
    FailureKind.INTERNAL: "a fault of muster itself",
    FailureKind.OTHER: OTHER,
}


def condition(reason: Reason) -> str:
    """What did not hold, as it was written."""
    subject, given = reason.subject, reason.parameters
    if isinstance(given.get("expressions"), tuple):
        return " && ".join(f"'{text}'" for text in names(reason, "expressions"))
    if subject.expression:
        return f"'{subject.expression}'"
    if subject.requirement:
        return f"{given['noun']} {subject.requirement}"
    return str(given.get("selector", ""))


def is_false(reason: Reason) -> str:
    values = "; ".join(f"{path} = {value}" for path, value in reason.values.items())
    return f"{condition(reason)} is false" + (f" ({values})" if values else "")


def has_failed(reason: Reason) -> str:
    written, message = condition(reason), reason.values.get("message")
    if reason.subject.check:
        return f"{written} cannot be evaluated"
    if message is not None:
        return f"{written or 'the expressions'} failed: {message}"
    if not written:
        return f"an expression failed: {OTHER}"
    kind = reason.parameters.get("error")
    return f"{written} failed: {KINDS.get(str(kind), OTHER)}" if kind else f"{written} failed"


def is_no_boolean(reason: Reason) -> str:
    if reason.subject.check:
        return f"{condition(reason)} cannot be evaluated"
    kind = reason.values.get("type")
    return f"{condition(reason)} is {f'{kind}, ' if kind else ''}not a boolean"


def does_not_hold(reason: Reason) -> str:
    if reason.subject.check:
        return condition(reason)  # the mark before it says whether it holds
    if "actual" not in reason.values:
        return f"{condition(reason)} does not hold"
    noun, key, expected = (reason.parameters[name] for name in ("noun", "key", "expected"))
    return f"{noun} {key} is {actual(reason)}; wanted {expected}"


def actual(reason: Reason) -> str:
    value = reason.values["actual"]
    return "missing" if value is None else repr(value)


def purposes(reason: Reason) -> str:
    held = reason.values.get("purposes")
    if held is None:
        return "does not match"
    return f"purposes are {held or '(none)'}; wanted {reason.subject.requirement}"


def all_of_it(reason: Reason) -> str:
    return f"every {reason.parameters.get('of', 'requirement')} holds"
