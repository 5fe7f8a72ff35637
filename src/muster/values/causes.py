"""One reason why a value is refused, in the words of a Kubernetes Status. Made by name, label and object checks.

The constructors mirror the kinds of field error a Kubernetes server knows. `Cause.message` is the text without the
field, as `details.causes` of a Status carries it; `str(cause)` is the sentence that a Status message strings together.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final

from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


INVALID: Final = "FieldValueInvalid"
TYPE_INVALID: Final = "FieldValueTypeInvalid"
REQUIRED: Final = "FieldValueRequired"
DUPLICATE: Final = "FieldValueDuplicate"
NOT_SUPPORTED: Final = "FieldValueNotSupported"
FORBIDDEN: Final = "FieldValueForbidden"
TOO_LONG: Final = "FieldValueTooLong"
TOO_MANY: Final = "FieldValueTooMany"

# A refusal names so many causes and counts the rest; what would find more of them stops looking. 150,000 bad keys are
# no better told by 150,000 sentences.
MOST_NAMED: Final = 100
MOST_FOUND: Final = 1_000
MOST_BYTES: Final = 64 * 1024  # of all that are named
MOST_SHOWN: Final = 8 * 1024  # characters of one value

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_HTML: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})  # as Go's JSON package writes them
_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}


@dataclass(frozen=True, slots=True)
class Cause:
    """A machine-readable reason, the field's path, and the text."""

    reason: str
    field: str
    message: str
    supported: tuple[str, ...] = dataclasses.field(default=(), compare=False, repr=False)  # what may be there instead
    given: str = dataclasses.field(default="", compare=False, repr=False)  # instead of that

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def to_status(self) -> dict[str, str]:
        """The entry of `details.causes`."""
        return {"reason": self.reason, "message": self.message, "field": self.field}


def invalid(field: str, value: Json, detail: str) -> Cause:
    return Cause(INVALID, field, f"Invalid value: {shown(value)}: {detail}")


def invalid_without_value(field: str, detail: str) -> Cause:
    """For values too large to repeat, as rules over whole objects report them."""
    return Cause(INVALID, field, f"Invalid value: {detail}")


def type_invalid(field: str, value: Json, detail: str) -> Cause:
    return Cause(TYPE_INVALID, field, f"Invalid value: {shown(value)}: {detail}")


def required(field: str, detail: str = "") -> Cause:
    return Cause(REQUIRED, field, f"Required value: {detail}" if detail else "Required value")


def duplicate(field: str, value: Json) -> Cause:
    return Cause(DUPLICATE, field, f"Duplicate value: {shown(value)}")


def not_supported(field: str, value: Json, supported: Iterable[str]) -> Cause:
    known = tuple(supported)
    names = ", ".join(quoted(name) for name in known)
    message = f"Unsupported value: {shown(value)}: supported values: {names}"
    return (
        Cause(NOT_SUPPORTED, field, message, known, value)
        if isinstance(value, str)
        else Cause(NOT_SUPPORTED, field, message)
    )


def forbidden(field: str, detail: str) -> Cause:
    return Cause(FORBIDDEN, field, f"Forbidden: {detail}")


def too_long(field: str, limit: int) -> Cause:
    unit = "byte" if limit == 1 else "bytes"
    return Cause(TOO_LONG, field, f"Too long: may not be more than {limit} {unit}")


def too_many(field: str, count: int, limit: int) -> Cause:
    unit = "item" if limit == 1 else "items"
    return Cause(TOO_MANY, field, f"Too many: {count}: must have at most {limit} {unit}")


def sentence(causes: Sequence[Cause]) -> str:
    """Causes as one text: alone as it is, several in brackets, each once."""
    named, more = bounded(causes)
    texts = list(dict.fromkeys(str(cause) for cause in named))
    if more:
        texts.append(more)
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def bounded(causes: Iterable[Cause]) -> tuple[list[Cause], str]:
    """As many causes as a refusal names, and the words for the others, empty if there are none.

    Whoever looks for causes stops after MOST_FOUND of them: that is all that is taken here.
    """
    found = list(islice(causes, MOST_FOUND))
    named: list[Cause] = []
    left = MOST_BYTES
    for cause in found[:MOST_NAMED]:
        left -= len(cause.field) + len(cause.message)
        if left < 0 and named:
            break
        named.append(cause)
    more = len(found) - len(named)
    if not more:
        return named, ""
    return named, f"and {more} more" if len(found) < MOST_FOUND else f"and {more} or more others"


def shown(value: Json) -> str:
    """A value as field errors print it: strings quoted, numbers plain, everything else as JSON; the long ones cut."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    parts: list[str] = []
    length = 0
    # Encoded piece by piece: of a value with a million parts only the beginning is.
    for part in _ENCODER.iterencode(value):
        parts.append(part)
        length += len(part)
        if length > MOST_SHOWN:
            return "".join(parts)[:MOST_SHOWN].translate(_HTML) + "…"
    return "".join(parts).translate(_HTML)


def quoted(text: str) -> str:
    """A string in double quotes, with what cannot be printed escaped the way Go's %q does; a long one is cut."""
    end = '"'
    if len(text) > MOST_SHOWN:
        text, end = text[:MOST_SHOWN], '…"'
    if not text.isprintable() or '"' in text or "\\" in text:
        text = "".join(_ESCAPES.get(character) or _printable(character) for character in text)
    return f'"{text}{end}'


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
