"""Field selectors: `metadata.name=a,spec.profile!=b`. Used by lists and watches.

The grammar is smaller than that of label selectors: only `=`, `==` and `!=`, a backslash escapes `\\`, `,` and `=`,
spaces count, a trailing comma is tolerated. Which fields a kind supports is the caller's question; a field that an
object lacks is the empty string.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.errors import MusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OPERATORS: Final = ("!=", "==", "=")


class InvalidFieldSelectorError(MusterError):
    """A field selector that cannot be read. The text is the real server's."""


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """One field and the value it must, or must not, have."""

    field: str
    value: str
    negated: bool = False

    def matches(self, value: str) -> bool:
        return (value == self.value) is not self.negated

    def __str__(self) -> str:
        return f"{self.field}{'!=' if self.negated else '='}{_escaped(self.value)}"


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Requirements that must all hold; none of them selects everything."""

    requirements: tuple[FieldRequirement, ...] = ()

    def matches(self, value_of: Callable[[str], str]) -> bool:
        """Whether an object matches, given how to look up its fields."""
        return all(each.matches(value_of(each.field)) for each in self.requirements)

    def exact(self, field: str) -> str | None:
        """The one value this selector demands of a field, if it demands one: lets a list look one object up."""
        return next((each.value for each in self.requirements if each.field == field and not each.negated), None)

    def __str__(self) -> str:
        return ",".join(str(each) for each in self.requirements)


def parse_field_selector(text: str) -> FieldSelector:
    """Raises InvalidFieldSelectorError in the words of the real server."""
    requirements = []
    for term in _terms(text):
        if not term:
            continue
        field, operator, raw = _split_term(term)
        if not operator:
            raise InvalidFieldSelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
        value = _unescaped(raw)
        requirements.append(FieldRequirement(field, value, negated=operator == "!="))
    return FieldSelector(tuple(requirements))


def _terms(text: str) -> Iterator[str]:
    """Split at commas that no backslash escapes."""
    start, escaped = 0, False
    for at, character in enumerate(text):
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == ",":
            yield text[start:at]
            start = at + 1
    yield text[start:]


def _split_term(term: str) -> tuple[str, str, str]:
    """Field, operator and escaped value, at the first operator."""
    for at in range(len(term)):
        for operator in _OPERATORS:
            if term.startswith(operator, at):
                return term[:at], operator, term[at + len(operator) :]
    return term, "", ""


def _unescaped(text: str) -> str:
    result, escaped = [], False
    for character in text:
        if escaped:
            if character not in "\\,=":
                raise InvalidFieldSelectorError(f"invalid field selector: invalid escape sequence: \\{character}")
            result.append(character)
            escaped = False
        elif character == "\\":
            escaped = True
        elif character in ",=":
            raise InvalidFieldSelectorError(f"invalid field selector: unescaped character in value: {ord(character)}")
        else:
            result.append(character)
    if escaped:
        raise InvalidFieldSelectorError("invalid field selector: invalid escape sequence: \\")
    return "".join(result)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
