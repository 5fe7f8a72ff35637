"""Sentences with gaps: how most codes are worded, those of placements and those of operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.reasons.reason import Reason


def always(text: str) -> Callable[[Reason], str]:
    return lambda _: text


def filled(template: str) -> Callable[[Reason], str]:
    """A sentence whose gaps are parameters, which are always there."""
    return lambda reason: template.format(**reason.parameters)


def about(template: str) -> Callable[[Reason], str]:
    """A sentence whose gaps are the subject's."""
    return lambda reason: template.format(subject=reason.subject, **reason.parameters)


def either(found: str, hidden: str, name: str) -> Callable[[Reason], str]:
    """A sentence with one value in it, and the one without."""

    def words(reason: Reason) -> str:
        value = reason.values.get(name)
        return hidden if value is None else found.format(value)

    return words


def worded(reason: Reason, *tables: Mapping[str, Callable[[Reason], str]]) -> str:
    """The reason by one of these tables. A code that is in none says itself."""
    words = next((table[reason.code] for table in tables if reason.code in table), None)
    return reason.code if words is None else words(reason)


def names(reason: Reason, name: str) -> tuple[str, ...]:
    """A parameter that is a list; nothing where it is not there."""
    found = reason.parameters.get(name, ())
    return found if isinstance(found, tuple) else (str(found),)
