"""Kubernetes' semantic versions; since version 1 of the library with normalisation."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, INT, STRING, struct
from muster.cel.costs.charge import KUBERNETES
from muster.cel.costs.formulas import PARSED
from muster.cel.declarations import Function, Library, Prepared, Quick
from muster.cel.libraries.declare import call, method
from muster.cel.libraries.kubernetes.opaque import Wrapped
from muster.errors import EvaluationError
from muster.values.semver import (
    LEADING_V,
    NUMBERS,
    InvalidVersionError,
    Version,
    is_version,
    parse,
    parse_normalized,
    plain_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.values.value import Value

LATEST = 1
SEMVER = struct("kubernetes.Semver")


class SemverValue(Wrapped[Version]):
    __slots__ = ()
    cel_type = SEMVER


def semver(text: str, normalize: bool = False) -> SemverValue:
    try:
        return SemverValue(parse_normalized(text) if normalize else parse(text))
    except InvalidVersionError as error:
        raise EvaluationError(str(error)) from None


def reading_versions(_: int, normalize: bool = False) -> Prepared:
    """What `semver` does; it is little work for texts of any length."""
    return Prepared(partial(semver, normalize=normalize), sys.maxsize)


def is_semver(text: str, normalize: bool = False) -> bool:
    return is_version(text, normalize=normalize)


def compare(left: SemverValue, right: SemverValue) -> int:
    return left.content.compare(right.content)


def asked_as(comparison: str) -> Callable[[Prepared, tuple[Value, ...], tuple[Value, ...]], Quick | None]:
    """How a text compares with a constant version, told by their numbers where both have nothing else."""

    def asked(otherwise: Prepared, reading: tuple[Value, ...], constants: tuple[Value, ...]) -> Quick | None:
        wanted: Version = constants[0].content
        if wanted.pre:
            return None
        numbers = (wanted.major, wanted.minor, wanted.patch)
        majors = LEADING_V if True in reading else NUMBERS
        code = f"({comparison} if (n := {{1}}({{0}}, {{3}})) else {{4}}({{0}}))"
        return Quick(plain_numbers, otherwise.longest, code, (numbers, majors, otherwise.function))

    return asked


def _int64(number: int) -> int:
    """Kubernetes keeps the numbers unsigned and hands them out signed: beyond 2^63 they turn negative."""
    return number if number < 2**63 else number - 2**64


_PAIR = (SEMVER, SEMVER)
_STRICT = replace(call("string_to_semver", (STRING,), SEMVER, semver), prepared=reading_versions)
_NORMALIZED = replace(call("string_bool_to_semver", (STRING, BOOL), SEMVER, semver), prepared=reading_versions)
_GREATER = method("semver_is_greater_than", _PAIR, BOOL, lambda a, b: a.content.compare(b.content) > 0)
_LESS = method("semver_is_less_than", _PAIR, BOOL, lambda a, b: a.content.compare(b.content) < 0)
_IS_STRICT = call("is_semver_string", (STRING,), BOOL, is_semver)
_IS_NORMALIZED = call("is_semver_string_bool", (STRING, BOOL), BOOL, is_semver)

_COMMON = (
    Function(
        "isGreaterThan",
        (replace(_GREATER, asked=asked_as("n > {2}")),),
        doc="Whether the first of two quantities or versions is greater.",
        examples={"semver('1.30.0').isGreaterThan(semver('1.9.0'))": True},
    ),
    Function(
        "isLessThan",
        (replace(_LESS, asked=asked_as("n < {2}")),),
        doc="Whether the first of two quantities or versions is less.",
        examples={"semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))": True},
    ),
    Function(
        "compareTo",
        (replace(method("semver_compare_to", _PAIR, INT, compare), asked=asked_as("(n > {2}) - (n < {2})")),),
        doc="-1, 0 or 1: how two quantities or versions compare. Build metadata does not count.",
        examples={"semver('1.0.0+a').compareTo(semver('1.0.0+b'))": 0},
    ),
    Function(
        "major",
        (method("semver_major", (SEMVER,), INT, lambda value: _int64(value.content.major)),),
        doc="The first number of the version.",
        examples={"semver('1.2.3').major()": 1},
    ),
    Function(
        "minor",
        (method("semver_minor", (SEMVER,), INT, lambda value: _int64(value.content.minor)),),
        doc="The second number of the version.",
        examples={"semver('1.2.3').minor()": 2},
    ),
    Function(
        "patch",
        (method("semver_patch", (SEMVER,), INT, lambda value: _int64(value.content.patch)),),
        doc="The third number of the version.",
        examples={"semver('1.2.3').patch()": 3},
    ),
)


def semver_library(version: int = LATEST) -> Library:
    """The library as it was in that version."""
    normalizing = version >= 1
    reading = Function(
        "semver",
        (_STRICT, _NORMALIZED) if normalizing else (_STRICT,),
        doc="Reads a semantic version. With true as second argument, v1.2 and 01.2.3 will do too.",
        examples={"semver('1.2.3').minor()": 2, **({"semver('v1.2', true).patch()": 0} if normalizing else {})},
        charges={KUBERNETES: PARSED},
    )
    asking = Function(
        "isSemver",
        (_IS_STRICT, _IS_NORMALIZED) if normalizing else (_IS_STRICT,),
        doc="Whether the text is a semantic version; with true as second argument, after normalisation.",
        examples={"isSemver('v1.2.3')": False, **({"isSemver('v1.2.3', true)": True} if normalizing else {})},
        charges={KUBERNETES: PARSED},
    )
    return Library("kubernetes.Semver", (reading, asking, *_COMMON))
