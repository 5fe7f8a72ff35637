"""Validation of a value against its schema, compiled to one closure per node: lists, objects, and a node as a whole.

Texts, numbers and types are checked in `scalars`, which also says what a check is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.schema.scalars import compile_type, enum_check, number_check, string_check
from muster.values.causes import (
    MOST_FOUND,
    Cause,
    invalid,
    required,
    too_many,
)
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.api.schema.scalars import Check, Matcher, Problem


def located(check: Check | None, obj: Json) -> list[Cause]:
    """Run a check on a whole object. More than MOST_FOUND problems are not looked for."""
    problems = check(obj) if check is not None else None
    return [make(path.removeprefix(".")) for path, make in problems[:MOST_FOUND]] if problems else []


def compile_check(schema: JsonMapping) -> Check | None:
    """The check of one node; None when every value passes."""
    wrong = compile_type(schema)
    if "enum" in schema:
        # Reported beside a wrong type, as the real server does.
        return _all([check for check in (wrong, string_check(schema, None), enum_check(schema)) if check is not None])
    if schema.get("x-kubernetes-int-or-string"):
        return string_check(schema, wrong) or wrong
    match schema.get("type"):
        case "string":
            return string_check(schema, wrong) or wrong
        case "integer" | "number":
            return number_check(schema, wrong)
        case "array":
            return _array(schema, wrong) or wrong
        case "object":
            return _object(schema, wrong) or wrong
        case _:
            return wrong


def compile_value(schema: JsonMapping, matcher: Matcher) -> Check | None:
    """The check of a node's own value, whatever its type says and without what is below it. Used for schemas that
    users write: `matcher` compiles their patterns, and keywords apply to the values they are about, typed or not."""
    checks = [string_check(schema, None, matcher)]
    if schema.keys() & _OF_NUMBERS or schema.get("type") in ("integer", "number"):
        checks.append(number_check(schema, None))
    return _all(
        [check for check in (*checks, _array(schema, None), enum_check(schema), _object(schema, None)) if check]
    )


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
