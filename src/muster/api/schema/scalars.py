"""Whether a single value has the type, length, pattern, format, range and choice that its schema demands.

Called by `checks` for every node. A check returns problems, or None when there are none. A problem is the path below
the node and a function that makes the cause once the whole path is known: paths and sentences cost nothing while
objects are valid.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import TYPE_CHECKING, Final

from muster.api.schema.formats import FORMATS
from muster.values.causes import MOST_SHOWN, Cause, invalid, not_supported, too_long, type_invalid
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Problem = tuple[str, Callable[[str], Cause]]
    Check = Callable[[Json], list[Problem] | None]
    Matcher = Callable[[str], Callable[[str], object]]

INT32: Final = (-(2**31), 2**31 - 1)
INT64: Final = (-(2**63), 2**63 - 1)
EXACT_FLOAT: Final = 2**53 - 1  # up to here a float holds every integer


# ----------------------------------------------------------------------------------------------------------------------
# Types.

_PYTHON_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (float, int),
}


def compile_type(schema: JsonMapping) -> Check | None:
    """Whether a value has the type of its schema."""
    if schema.get("x-kubernetes-int-or-string"):
        return _int_or_string
    name = schema.get("type")
    if name is None:
        return None
    accepted = frozenset(_PYTHON_TYPES[name])
    nullable = bool(schema.get("nullable"))
    form = schema.get("format", "")

    def check_type(value: Json) -> list[Problem] | None:
        actual = type(value)
        if actual in accepted:
            return None
        if value is None:
            return None if nullable else [_wrong_type(name, "null")]
        if actual is float and name == "integer" and value.is_integer() and abs(value) <= EXACT_FLOAT:
            return None
        described, own_format = _described(value)
        if form and actual not in (str, list):
            return [_wrong_type(form, own_format)]
        return [_wrong_type(name, described)]

    return check_type


def _int_or_string(value: Json) -> list[Problem] | None:
    """`anyOf: [integer, string]`: the complaint is about the whole, then about the first alternative."""
    if value is None or isinstance(value, str):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and INT64[0] <= value <= INT64[1]:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT_FLOAT:
        return None
    problems: list[Problem] = [
        ("", lambda path: invalid("<nil>", "", f'"{path}" must validate at least one schema (anyOf)')),
        _wrong_type("integer", _described(value)[0]),
    ]
    if isinstance(value, float | int) and not isinstance(value, bool):
        problems.append(("", lambda path: invalid("<nil>", "", _out_of_range("", path))))
    return problems


def _described(value: Json) -> tuple[str, str]:
    """The JSON type of a value and the format a Go program would have read it as."""
    match value:
        case bool():
            return "boolean", ""
        case str():
            return "string", ""
        case int():
            return "integer", "int64"
        case float():
            return "number", "float64"
        case list():
            return "array", ""
        case _:
            return "object", ""


def _wrong_type(wanted: str, actual: str) -> Problem:
    return "", lambda path: type_invalid(_named(path), actual, f'{path} in body must be of type {wanted}: "{actual}"')


def _named(path: str) -> str:
    return path or "<nil>"


# ----------------------------------------------------------------------------------------------------------------------
# Strings.


def string_check(schema: JsonMapping, wrong: Check | None, matcher: Matcher | None = None) -> Check | None:
    """None when any string passes. `wrong` judges what is no string; so for the others below."""
    longest, shortest = schema.get("maxLength"), schema.get("minLength")
    pattern = schema.get("pattern")
    matches = (matcher or pattern_matcher)(pattern) if pattern else None
    form = schema.get("format", "")
    is_formatted = FORMATS.get(form.replace("-", ""))  # dashes do not tell formats apart
    if longest is None and shortest is None and matches is None and is_formatted is None:
        return None

    least = shortest or 0
    most = sys.maxsize if longest is None else longest

    def check_string(value: Json) -> list[Problem] | None:
        if type(value) is not str:
            return wrong(value) if wrong is not None else None
        if (
            least <= len(value) <= most
            and (matches is None or matches(value))
            and (is_formatted is None or is_formatted(value))
        ):
            return None
        problems: list[Problem] = []
        if longest is not None and len(value) > longest:
            problems.append(("", lambda path: too_long(path, longest)))
        elif shortest is not None and len(value) < shortest:
            detail = f"in body should be at least {shortest} chars long"
            problems.append(("", lambda path: invalid(path, value, f"{path} {detail}")))
        elif matches is not None and not matches(value):
            problems.append(("", lambda path: invalid(path, value, f"{path} in body should match '{pattern}'")))
        if is_formatted is not None and not is_formatted(value):
            text = json.dumps(value[:MOST_SHOWN], ensure_ascii=False)
            problems.append(
                ("", lambda path: type_invalid(path, value, f"{path} in body must be of type {form}: {text}"))
            )
        return problems

    return check_string


def pattern_matcher(pattern: str) -> Callable[[str], object]:
    """A pattern of a schema, searched as Go does: `$` is the end of the text, never before a last line break."""
    if pattern.startswith("^") and pattern.endswith("$") and "|" not in _outside_groups(pattern):
        return re.compile(pattern[1:-1]).fullmatch
    return re.compile(pattern.replace("$", r"\Z")).search


def _outside_groups(pattern: str) -> str:
    depth, kept = 0, []
    for character in pattern:
        depth += (character == "(") - (character == ")")
        if depth == 0:
            kept.append(character)
    return "".join(kept)


# ----------------------------------------------------------------------------------------------------------------------
# Numbers.


def number_check(schema: JsonMapping, wrong: Check | None) -> Check:
    form = schema.get("format", "")
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    above, below = bool(schema.get("exclusiveMinimum")), bool(schema.get("exclusiveMaximum"))
    factor = schema.get("multipleOf")
    least, most = (INT32 if form == "int32" else INT64) if schema.get("type") == "integer" else (None, None)

    def check_number(value: Json) -> list[Problem] | None:
        problems: list[Problem] | None = None
        if type(value) is not int:
            problems = wrong(value) if wrong is not None else None
            if type(value) is not float:
                return problems
        if least is not None and most is not None and not (least <= value <= most and int(value) == value):
            if type(value) is int and not INT64[0] <= value <= INT64[1]:
                # Beyond 64 bits a Go program reads a float.
                problems = [_wrong_type(form, "float64") if form else _wrong_type("integer", "number")]
            problems = [*(problems or ()), ("", lambda path: invalid("<nil>", "", _out_of_range(form, path)))]
        if factor and not is_multiple(value, factor):
            detail = f"in body should be a multiple of {number_text(factor)}"
            problems = [*(problems or ()), ("", lambda path: invalid(path, value, f"{path} {detail}"))]
        if highest is not None and (value > highest or (below and value == highest)):
            bound = "less than" if below else "less than or equal to"
            text = f"in body should be {bound} {number_text(highest)}"
            problems = [*(problems or ()), ("", lambda path: invalid(path, value, f"{path} {text}"))]
        if lowest is not None and (value < lowest or (above and value == lowest)):
            bound = "greater than" if above else "greater than or equal to"
            words = f"in body should be {bound} {number_text(lowest)}"
            problems = [*(problems or ()), ("", lambda path: invalid(path, value, f"{path} {words}"))]
        return problems

    return check_number


def is_multiple(value: float, factor: float) -> bool:
    """Whether one number is a whole multiple of another, as floats tell."""
    if isinstance(value, int) and isinstance(factor, int):
        return value % factor == 0
    quotient = value / factor
    return math.isfinite(quotient) and quotient.is_integer()


def number_text(number: float) -> str:
    """A number of a schema, which a Go program keeps as a float, as it prints it."""
    if number != int(number):
        return repr(number)
    return str(int(number)) if abs(number) < 1e21 else f"{float(number):e}"


def _out_of_range(form: str, path: str) -> str:
    wanted = f"with format {form}" if form else "(default format)"
    return f"Checked value must be of type integer {wanted} in {path}"


# ----------------------------------------------------------------------------------------------------------------------
# Enumerations.


def enum_check(schema: JsonMapping) -> Check | None:
    if "enum" not in schema:
        return None
    values = schema["enum"]
    allowed = frozenset(value for value in values if isinstance(value, str))
    others = [value for value in values if not isinstance(value, str)]
    names = [value if isinstance(value, str) else json.dumps(value, separators=(",", ":")) for value in values]

    def check_enum(value: Json) -> list[Problem] | None:
        if isinstance(value, str):
            if value in allowed:
                return None
        elif any(_same(value, other) for other in others):
            return None
        if value is None and schema.get("nullable"):
            return None
        return [("", lambda path: not_supported(path, value, names))]

    return check_enum


def _same(left: Json, right: Json) -> bool:
    """Whether two values are the same JSON; Python alone would take true for 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right)
