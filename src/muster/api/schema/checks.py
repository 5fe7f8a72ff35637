"""Validation of a value against its schema, compiled to one closure per node.

A check returns problems, or None when there are none. A problem is the path below the node and a function that makes
the cause once the whole path is known: paths and sentences cost nothing while objects are valid.
"""

from __future__ import annotations

import json
import math
import re
import sys
from typing import TYPE_CHECKING, Final

from muster.api.schema.formats import FORMATS
from muster.values.causes import (
    MOST_FOUND,
    MOST_SHOWN,
    Cause,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
    type_invalid,
)
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Problem = tuple[str, Callable[[str], Cause]]
    Check = Callable[[Json], list[Problem] | None]
    Matcher = Callable[[str], Callable[[str], object]]

INT32: Final = (-(2**31), 2**31 - 1)
INT64: Final = (-(2**63), 2**63 - 1)
EXACT_FLOAT: Final = 2**53 - 1  # up to here a float holds every integer


def located(check: Check | None, obj: Json) -> list[Cause]:
    """Run a check on a whole object. More than MOST_FOUND problems are not looked for."""
    problems = check(obj) if check is not None else None
    return [make(path.removeprefix(".")) for path, make in problems[:MOST_FOUND]] if problems else []


def compile_check(schema: JsonMapping) -> Check | None:
    """The check of one node; None when every value passes."""
    wrong = compile_type(schema)
    if "enum" in schema:
        # Reported beside a wrong type, as the real server does.
        return _all([check for check in (wrong, _string(schema, None), _enum(schema)) if check is not None])
    if schema.get("x-kubernetes-int-or-string"):
        return _string(schema, wrong) or wrong
    match schema.get("type"):
        case "string":
            return _string(schema, wrong) or wrong
        case "integer" | "number":
            return _number(schema, wrong)
        case "array":
            return _array(schema, wrong) or wrong
        case "object":
            return _object(schema, wrong) or wrong
        case _:
            return wrong


def compile_value(schema: JsonMapping, matcher: Matcher) -> Check | None:
    """The check of a node's own value, whatever its type says and without what is below it. Used for schemas that
    users write: `matcher` compiles their patterns, and keywords apply to the values they are about, typed or not."""
    checks = [_string(schema, None, matcher)]
    if schema.keys() & _OF_NUMBERS or schema.get("type") in ("integer", "number"):
        checks.append(_number(schema, None))
    return _all([check for check in (*checks, _array(schema, None), _enum(schema), _object(schema, None)) if check])


_OF_NUMBERS: Final = frozenset({"minimum", "maximum", "multipleOf"})


def _all(checks: list[Check]) -> Check | None:
    if len(checks) <= 1:
        return checks[0] if checks else None
    if len(checks) == 2:
        first, second = checks

        def check_both(value: Json) -> list[Problem] | None:
            problems, more = first(value), second(value)
            return problems + more if problems and more else problems or more

        return check_both

    def check_all(value: Json) -> list[Problem] | None:
        problems: list[Problem] | None = None
        for check in checks:
            if found := check(value):
                problems = [*(problems or ()), *found]
        return problems

    return check_all


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


def _string(schema: JsonMapping, wrong: Check | None, matcher: Matcher | None = None) -> Check | None:
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


def _number(schema: JsonMapping, wrong: Check | None) -> Check:
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
# Lists.


def _array(schema: JsonMapping, wrong: Check | None) -> Check | None:
    most, fewest = schema.get("maxItems"), schema.get("minItems")
    item = compile_check(schema["items"]) if "items" in schema else None
    if most is None and fewest is None and item is None:
        return None

    def check_array(value: Json) -> list[Problem] | None:
        if type(value) is not list:
            return wrong(value) if wrong is not None else None
        problems: list[Problem] | None = None
        if item is not None:
            for index, each in enumerate(value):
                if found := item(each):
                    problems = problems or []
                    problems.extend((f"[{index}]{path}", make) for path, make in found)
                    if len(problems) >= MOST_FOUND:
                        break
        count = len(value)
        if fewest is not None and count < fewest:
            detail = f"in body should have at least {fewest} items"
            problems = [*(problems or ()), ("", lambda path: invalid(path, count, f"{path} {detail}"))]
        if most is not None and count > most:
            problems = [*(problems or ()), ("", lambda path: too_many(path, count, most))]
        return problems

    return check_array


# ----------------------------------------------------------------------------------------------------------------------
# Enumerations.


def _enum(schema: JsonMapping) -> Check | None:
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


# ----------------------------------------------------------------------------------------------------------------------
# Objects.


def compile_count(schema: JsonMapping) -> Check | None:
    """How many properties an object may have, for schemas that users write."""
    fewest, most = schema.get("minProperties"), schema.get("maxProperties")
    if fewest is None and most is None:
        return None

    def check_count(value: Json) -> list[Problem] | None:
        if type(value) is not dict:
            return None
        count = len(value)
        if fewest is not None and count < fewest:
            detail = f"in body should have at least {fewest} properties"
            return [("", lambda path: invalid(path, count, f"{path} {detail}"))]
        if most is not None and count > most:
            return [("", lambda path: too_many(path, count, most))]
        return None

    return check_count


def _object(schema: JsonMapping, wrong: Check | None) -> Check | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        every = compile_check(additional)
        return None if every is None else _map(every, wrong)
    properties: JsonMapping = schema.get("properties", {})
    children = {name: check for name, child in properties.items() if (check := compile_check(child)) is not None}
    demanded = tuple(schema.get("required", ()))
    return _struct(children, demanded, wrong) if children or demanded else None


def _map(every: Check, wrong: Check | None) -> Check:
    def check_map(value: Json) -> list[Problem] | None:
        if type(value) is not dict:
            return wrong(value) if wrong is not None else None
        problems: list[Problem] | None = None
        for name, each in value.items():
            if found := every(each):
                problems = problems or []
                problems.extend((f".{name}{path}", make) for path, make in found)
                if len(problems) >= MOST_FOUND:
                    break
        return problems

    return check_map


def _struct(children: Mapping[str, Check], demanded: tuple[str, ...], wrong: Check | None) -> Check:
    check_of = children.get

    def check_struct(value: Json) -> list[Problem] | None:
        if type(value) is not dict:
            return wrong(value) if wrong is not None else None
        problems: list[Problem] | None = None
        for name, each in value.items():
            check = check_of(name)
            if check is not None and (found := check(each)):
                problems = problems or []
                problems.extend((f".{name}{path}", make) for path, make in found)
        if problems and len(problems) > 1:
            # Causes come in the order of the fields' names, whatever the order of the body.
            problems.sort(key=_first_name)
        for name in demanded:
            if name not in value:
                problems = [*(problems or ()), (f".{name}", required)]
        return problems

    return check_struct


def _first_name(problem: Problem) -> str:
    return problem[0].lstrip(".").split(".", 1)[0].split("[", 1)[0]
