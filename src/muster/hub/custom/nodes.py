"""The check of a value against a schema that a user wrote: a tree of nodes, walked beside the value and its old state.

The semantics and texts are those of Kubernetes' OpenAPI validator, with its ratcheting: what was wrong before and has
not changed is accepted. Patterns are matched by RE2. `objects` uses it for whole objects, `defaults` for defaults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.schema.checks import compile_count, compile_value
from muster.api.schema.formats import FORMATS
from muster.api.schema.scalars import EXACT_FLOAT, compile_type
from muster.values.causes import MOST_FOUND, Cause, invalid, type_invalid
from muster.values.json import Json, JsonObject, Schema
from muster.values.regexes import compile_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from muster.api.schema.scalars import Problem


ABSENT: Final = object()  # instead of an old value: there is none that would correspond
_BELOW: Final = frozenset({"properties", "additionalProperties", "items", "allOf", "anyOf", "oneOf", "not"})
_FORMATS_OF: Final = {"integer": ("int32", "int64"), "number": ("float", "double")}
_sorted_json = msgspec.json.Encoder(order="sorted").encode


class Node:
    """One node of a schema, compiled."""

    __slots__ = (
        "_additional",
        "_closed",
        "_counted",
        "_items",
        "_keys",
        "_logic",
        "_properties",
        "_typed",
        "_value",
    )

    def __init__(self, schema: Schema) -> None:
        stripped = with_known_format(schema)
        own = {name: value for name, value in stripped.items() if name not in _BELOW}
        additional = schema.get("additionalProperties")
        self._typed = _int_or_string if schema.get("x-kubernetes-int-or-string") else compile_type(own)
        self._value = compile_value(own, lambda pattern: compile_regex(pattern).found_in)
        self._counted = compile_count(own)
        self._logic = list(_logic(schema))
        self._properties = {name: Node(child) for name, child in sorted(schema.get("properties", {}).items())}
        self._additional = Node(additional) if isinstance(additional, dict) else None
        self._closed = additional is False
        self._items = Node(schema["items"]) if isinstance(schema.get("items"), dict) else None
        is_map = schema.get("x-kubernetes-list-type") == "map"
        self._keys: tuple[str, ...] = tuple(schema.get("x-kubernetes-list-map-keys", ())) if is_map else ()

    def problems(self, value: Json, old: Json = ABSENT, *, ratchets: bool = True) -> list[Problem]:
        """What is wrong with a value. With its `old` state, what has not changed is not wrong."""
        found: list[Problem] = []
        if self._typed is not None and (wrong := self._typed(value)):
            found += wrong
        for logic in self._logic:
            found += logic(value, old)
        own = (self._value(value) if self._value is not None else None) or []
        if type(value) is dict:
            found += (self._counted(value) if self._counted is not None else None) or ()
            found += self._in_object(value, old)
        elif type(value) is list and self._items is not None:
            found += self._in_list(value, old)
        found += own
        if found and ratchets and old is not ABSENT and self._unchanged(value, old):
            return []
        return found

    def _in_object(self, value: JsonObject, old: Json) -> Iterator[Problem]:
        before = old if type(old) is dict else {}
        if self._closed:
            for name in value:
                if name not in self._properties:
                    yield "", _not_allowed(name)
        elif self._additional is not None:
            for name, each in value.items():
                if name not in self._properties:
                    for path, make in self._additional.problems(each, before.get(name, ABSENT)):
                        yield f".{name}{path}", make
        for name, node in self._properties.items():
            if name in value:
                for path, make in node.problems(value[name], before.get(name, ABSENT)):
                    yield f".{name}{path}", make

    def _in_list(self, value: list[Json], old: Json) -> list[Problem]:
        found: list[Problem] = []
        before = self._by_key(old)
        assert self._items is not None  # noqa: S101 - the caller has looked
        for index, each in enumerate(value):
            previous = before.get(self._key(each), ABSENT) if before else ABSENT
            found.extend((f"[{index}]{path}", make) for path, make in self._items.problems(each, previous))
            if len(found) >= MOST_FOUND:
                break
        return found

    def _by_key(self, old: Json) -> dict[Json, Json]:
        if not self._keys or type(old) is not list:
            return {}
        return {key: each for each in reversed(old) if (key := self._key(each)) is not None}

    def _key(self, item: Json) -> Json:
        return list_key(item, self._keys)

    def _unchanged(self, value: Json, old: Json) -> bool:
        if self._keys and type(value) is list and type(old) is list and len(value) == len(old):
            before = self._by_key(old)
            return all(same(each, before.get(self._key(each), ABSENT)) for each in value)
        return same(value, old)

    def matches(self, value: Json) -> int:
        """How much of a value the schema says something about: the alternative that says most explains best."""
        if type(value) is dict:
            return 1 + sum(node.matches(value[name]) for name, node in self._properties.items() if name in value)
        if type(value) is list and self._items is not None:
            return 1 + sum(self._items.matches(each) for each in value)
        return 1


def same(left: Json, right: Json) -> bool:
    """Whether two values are the same JSON. Equality alone would take true for 1."""
    return left is right or bool(left == right and _sorted_json(left) == _sorted_json(right))


def list_key(item: Json, keys: Iterable[str]) -> Json:
    """What tells an item of a map list from the others; None if it has no such key, or one that is no scalar."""
    if type(item) is not dict:
        return None
    found = tuple((type(item.get(key)), item.get(key)) for key in keys)
    return found if all(kind in (str, int, float, bool) for kind, _ in found) else None


def located(problems: list[Problem]) -> list[Cause]:
    """The causes, each once."""
    causes = [make(path.removeprefix(".")) for path, make in problems[:MOST_FOUND]]
    return list(dict.fromkeys(causes))


def with_known_format(schema: Schema) -> Schema:
    """A schema without a format that nobody knows."""
    form = schema.get("format")
    if form is None or is_known_format(schema.get("type", ""), form):
        return schema
    return {name: value for name, value in schema.items() if name != "format"}


def is_known_format(kind: str, form: str) -> bool:
    if kind in ("", "string"):
        return form.replace("-", "") in FORMATS
    return form in _FORMATS_OF.get(kind, ())


def _int_or_string(value: Json) -> list[Problem] | None:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT_FLOAT:
        return None
    match value:
        case None:
            actual = "null"
        case bool():
            actual = "boolean"
        case float():
            actual = "number"
        case list():
            actual = "array"
        case _:
            actual = "object"
    return [("", lambda path: type_invalid(path, actual, f'{path} in body must be of type integer,string: "{actual}"'))]


def _not_allowed(name: str) -> Callable[[str], Cause]:
    return lambda path: invalid(path, name, f"{path}.{name} in body is a forbidden property")


def _logic(schema: Schema) -> Iterator[Callable[[Json, Json], list[Problem]]]:
    if alternatives := schema.get("anyOf"):
        yield _any_of([Node(each) for each in alternatives])
    if alternatives := schema.get("oneOf"):
        yield _one_of([Node(each) for each in alternatives])
    if parts := schema.get("allOf"):
        yield _all_of([Node(each) for each in parts])
    if "not" in schema:
        yield _not(Node(schema["not"]))


def _any_of(nodes: list[Node]) -> Callable[[Json, Json], list[Problem]]:
    def check(value: Json, old: Json) -> list[Problem]:
        best: list[Problem] = []
        most = -1
        for node in nodes:
            problems = node.problems(value, old, ratchets=False)
            if not problems:
                return []
            if (matches := node.matches(value)) > most:
                best, most = problems, matches
        return [_composite(lambda path: f'"{path}" must validate at least one schema (anyOf)'), *best]

    return check


def _one_of(nodes: list[Node]) -> Callable[[Json, Json], list[Problem]]:
    def check(value: Json, old: Json) -> list[Problem]:
        best: list[Problem] = []
        most, valid = -1, 0
        for node in nodes:
            problems = node.problems(value, old, ratchets=False)
            if not problems:
                valid += 1
                best = []
            elif not valid and (matches := node.matches(value)) > most:
                best, most = problems, matches
        if valid == 1:
            return []
        more = f"Found {valid} valid alternatives" if valid else "Found none valid"
        return [_composite(lambda path: f'"{path}" must validate one and only one schema (oneOf). {more}'), *best]

    return check


def _all_of(nodes: list[Node]) -> Callable[[Json, Json], list[Problem]]:
    def check(value: Json, old: Json) -> list[Problem]:
        found = [node.problems(value, old, ratchets=False) for node in nodes]
        if not any(found):
            return []
        more = ". None validated" if all(found) else ""
        problems = [problem for each in found for problem in each]
        return [*problems, _composite(lambda path: f'"{path}" must validate all the schemas (allOf){more}')]

    return check


def _not(node: Node) -> Callable[[Json, Json], list[Problem]]:
    def check(value: Json, old: Json) -> list[Problem]:
        if node.problems(value, old, ratchets=False):
            return []
        return [_composite(lambda path: f'"{path}" must not validate the schema (not)')]

    return check


def _composite(text: Callable[[str], str]) -> Problem:
    return "", lambda path: invalid("<nil>", "", text(path))


def under(prefix: str, cause: Cause) -> Cause:
    """A cause of a part, as one of the whole: its path begins where the part is."""
    if cause.field in ("", "<nil>"):
        return Cause(cause.reason, prefix, cause.message)
    joint = "" if cause.field.startswith("[") else "."
    return Cause(cause.reason, f"{prefix}{joint}{cause.field}", cause.message)
