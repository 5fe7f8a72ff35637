"""Limits as data: default, meaning and what is said beyond them stand where the limit is used, once.

A settings class marks its fields with `limit`. From these marks the options of `muster hub run` and their page in the
documentation are made, and refusals name the setting by `named`. It knows nothing of commands or of what is limited.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar

from muster.errors import MusterError
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterator


_MARK = "limit"
_BYTES = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"\d{1,15}", re.ASCII)
_SIZE = re.compile(r"(\d{1,15})(|k|M|G|Ki|Mi|Gi)", re.ASCII)
_DURATION = re.compile(r"(?:\d{1,9}(?:\.\d{1,6})?(?:ms|s|m|h|d))+", re.ASCII)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)


_Settings = TypeVar("_Settings")


class InForce(Generic[_Settings]):
    """Settings of a whole process: the usual ones, until a command says otherwise before it does anything else.

    For limits of the core, which is called from everywhere and has no composition root of its own.
    """

    __slots__ = ("value",)

    def __init__(self, usual: _Settings) -> None:
        self.value = usual


class InvalidLimitError(MusterError):
    """A text that is no value of a limit; says what would be one."""


class Unit(Enum):
    """What a limit counts."""

    COUNT = "number"
    BYTES = "bytes"
    SECONDS = "time"


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit. `name` is the setting's in words; `attribute` is where its class keeps it."""

    name: str
    attribute: str
    default: float
    unit: Unit
    meaning: str
    beyond: str  # what whoever exceeds it gets
    least: float

    @property
    def option(self) -> str:
        return "--" + self.name.replace(" ", "-")

    def read(self, text: str) -> float:
        """A value as people write it: `100`, `64Mi`, `1h30m`. Raises InvalidLimitError."""
        value = _read(text.strip(), self.unit)
        if value < self.least:
            raise InvalidLimitError(f"{text!r} is too little: at least {shown(self.least, self.unit)}")
        return value


def limit(default: float, name: str, meaning: str, beyond: str, unit: Unit = Unit.COUNT, *, least: float = 1) -> Json:
    """A field of a settings class that is a limit; `name` in lower case, with spaces."""
    return field(default=default, metadata={_MARK: (name, unit, meaning, beyond, least)})


def limits_of(settings: type) -> Iterator[Limit]:
    """The limits among the fields of a settings class, in order."""
    for each in fields(settings):
        if _MARK in each.metadata:
            name, unit, meaning, beyond, least = each.metadata[_MARK]
            default: Json = each.default
            yield Limit(name, each.name, default, unit, meaning, beyond, least)


def named(name: str) -> str:
    """A setting as refusals name it: `setting objectsPerKind, option --objects-per-kind`."""
    first, *others = name.split()
    camel = first + "".join(word.capitalize() for word in others)
    return f"setting {camel}, option --{name.replace(' ', '-')}"


def shown(value: float, unit: Unit) -> str:
    """A value as `read` takes it, short: `3Mi`, `1h`, `2000`."""
    if unit is Unit.BYTES:
        for suffix in ("Gi", "Mi", "Ki"):
            if value and value % _BYTES[suffix] == 0:
                return f"{int(value) // _BYTES[suffix]}{suffix}"
    if unit is Unit.SECONDS:
        for suffix in ("d", "h", "m"):
            if value and value % _SECONDS[suffix] == 0:
                return f"{int(value // _SECONDS[suffix])}{suffix}"
        return f"{value:g}s"
    return f"{value:.15g}"


def _read(text: str, unit: Unit) -> float:
    match unit:
        case Unit.COUNT:
            if _NUMBER.fullmatch(text):
                return int(text)
            raise InvalidLimitError(f"{text!r} is no number")
        case Unit.BYTES:
            if found := _SIZE.fullmatch(text):
                return int(found[1]) * _BYTES[found[2]]
            raise InvalidLimitError(f"{text!r} is no size: write 1000000, 64Ki, 3Mi, 1Gi")
        case Unit.SECONDS:
            if _NUMBER.fullmatch(text):
                return float(text)
            if _DURATION.fullmatch(text):
                return sum(float(number) * _SECONDS[suffix] for number, suffix in _DURATION_PART.findall(text))
            raise InvalidLimitError(f"{text!r} is no time: write 90, 90s, 1h30m, 500ms")
