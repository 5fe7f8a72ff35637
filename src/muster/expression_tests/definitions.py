"""The rules in the schemas of a CustomResourceDefinition, asked about an object and what it was before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.cel import ObjectTypes, Variable
from muster.cel.checking.types import BOOL, STRING, optional_of
from muster.cel.values import OPTIONAL_NONE, optional
from muster.errors import EvaluationError, InvalidObjectError
from muster.expression_tests.expressions import compiled
from muster.expression_tests.outcome import ALLOWED, DENIED, Outcome
from muster.hub.custom.cel_types import declared, escaped, is_embedded, named_types
from muster.hub.custom.rules import VALIDATIONS
from muster.hub.custom.values import compile_value
from muster.values.json import Json, JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import Env
    from muster.cel.values.value import Value
    from muster.expression_tests.expressions import Expression
    from muster.hub.custom.cel_types import Declared
    from muster.hub.custom.values import Conversion

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class _Rule:
    written: JsonObject
    expression: Expression
    message: Expression | None
    uses_old: bool
    optional_old: bool


class DefinitionRules:
    """All rules of one version of a definition."""

    def __init__(self, manifest: JsonMapping, base: Env, version: str, place: str) -> None:
        self._root = _Node(_schema(manifest, version, place), None, base, f"{place}: ", root=True)

    @property
    def expressions(self) -> list[Expression]:
        return list(self._root.expressions())

    def judge(self, case: JsonMapping, place: str) -> Outcome:
        if not isinstance(case.get("object"), dict):
            raise InvalidObjectError(place, "object is missing: rules are asked about an object")
        messages = list(self._root.refusals(case["object"], case.get("oldObject", _ABSENT), ""))
        return Outcome(DENIED if messages else ALLOWED, "; ".join(messages))


def schema_of(manifest: JsonMapping, version: str = "", place: str = "") -> Schema:
    """The schema of one version of a definition: the one named, else the stored one. Raises InvalidObjectError."""
    return _schema(manifest, version, place)


def _schema(manifest: JsonMapping, version: str, place: str) -> Schema:
    try:
        versions = manifest["spec"]["versions"]
        chosen = next(each for each in versions if (each["name"] == version if version else each.get("storage")))
        schema: Schema = chosen["schema"]["openAPIV3Schema"]
    except (KeyError, TypeError, StopIteration):
        which = f"version {version!r}" if version else "stored version"
        raise InvalidObjectError(place, f"has no {which} with a schema") from None
    return schema


class _Node:
    """A part of a schema with rules in it or below it."""

    def __init__(self, schema: Schema, node: Declared | None, base: Env, place: str, *, root: bool = False) -> None:
        node = declared(schema, root=root) if node is None else node
        self._convert: Conversion | None = compile_value(schema, root=root)
        self._rules = [] if node is None else list(_rules(schema, node, base, place))
        self._fields: dict[str, _Node] = {}
        for name, child in schema.get("properties", {}).items():
            known = escaped(name)
            typed = node.fields.get(known) if node is not None and known is not None else None
            self._add(name, child, typed, base, _below(place, name))
        self._items: _Node | None = None
        for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
            child = schema.get(keyword)
            if isinstance(child, dict) and (typed := None if node is None else node.element) is not None:
                below = _Node(child, typed, base, f"{place}{mark}", root=is_embedded(child))
                self._items = None if below.empty else below
        is_map = schema.get("x-kubernetes-list-type") == "map"
        self._keys: tuple[str, ...] = tuple(schema.get("x-kubernetes-list-map-keys", ())) if is_map else ()

    def _add(self, name: str, child: Schema, typed: Declared | None, base: Env, place: str) -> None:
        below = _Node(child, typed, base, place, root=is_embedded(child))
        if not below.empty:
            self._fields[name] = below

    @property
    def empty(self) -> bool:
        return not (self._rules or self._fields or self._items)

    def expressions(self) -> Iterator[Expression]:
        for rule in self._rules:
            yield rule.expression
            if rule.message is not None:
                yield rule.message
        for below in (*self._fields.values(), *((self._items,) if self._items is not None else ())):
            yield from below.expressions()

    def refusals(self, value: Json, old: Json, path: str) -> Iterator[str]:
        if value is None:
            return
        for rule in self._rules:
            yield from self._refused(rule, value, old, path)
        if isinstance(value, dict):
            before = old if isinstance(old, dict) else {}
            for name, below in self._fields.items():
                if name in value:
                    yield from below.refusals(value[name], before.get(name, _ABSENT), f"{path}.{name}".lstrip("."))
            if self._items is not None:
                for name, item in value.items():
                    yield from self._items.refusals(item, before.get(name, _ABSENT), f"{path}[{name}]")
        elif isinstance(value, list) and self._items is not None:
            for number, item in enumerate(value):
                yield from self._items.refusals(item, self._before(item, old), f"{path}[{number}]")

    def _before(self, item: Json, old: Json) -> Json:
        """What an item of a list was before: known only where keys say which one it was."""
        if not self._keys or not isinstance(old, list) or not isinstance(item, dict):
            return _ABSENT
        wanted = [item.get(key) for key in self._keys]
        same = (each for each in old if isinstance(each, dict) and [each.get(key) for key in self._keys] == wanted)
        return next(same, _ABSENT)

    def _refused(self, rule: _Rule, value: Json, old: Json, path: str) -> Iterator[str]:
        was_there = old is not _ABSENT and old is not None
        if rule.uses_old and not was_there and not rule.optional_old:
            return  # a rule about a change has nothing to say of what is new
        variables: dict[str, Value] = {"self": self._seen(value)}
        if rule.optional_old:
            variables["oldSelf"] = optional(self._seen(old)) if was_there else OPTIONAL_NONE
        elif was_there:
            variables["oldSelf"] = self._seen(old)
        found = rule.expression.ask(variables)
        where = path or "<object>"
        if isinstance(found, EvaluationError):
            yield f"{where}: {found} evaluating rule: {rule.expression.program.text.strip()}"
        elif found is not True:
            told = None if rule.message is None else rule.message.ask(variables)
            plain = rule.written.get("message") or f"failed rule: {rule.expression.program.text.strip()}"
            yield f"{where}: {told if isinstance(told, str) and told.strip() else plain}"

    def _seen(self, value: Json) -> Json:
        return value if self._convert is None else self._convert(value)


def _below(place: str, name: str) -> str:
    return f"{place}{name}" if place.endswith(": ") else f"{place}.{name}"


def _rules(schema: Schema, node: Declared, base: Env, place: str) -> Iterator[_Rule]:
    written = schema.get(VALIDATIONS)
    if not written:
        return
    whole, fields = named_types(node)
    plain = base.extend(types=ObjectTypes(fields), variables=[Variable("self", whole)])
    for number, rule in enumerate(written):
        is_optional = bool(rule.get("optionalOldSelf"))
        env = plain.extend(variables=[Variable("oldSelf", optional_of(whole) if is_optional else whole)])
        where = _below(place, f"{VALIDATIONS}[{number}]")
        found = compiled(f"{where}.rule", rule.get("rule", ""), env, (BOOL,))
        told = rule.get("messageExpression")
        message = compiled(f"{where}.messageExpression", told, env, (STRING,)) if told else None
        uses_old = any(each.name == "oldSelf" for each in found.program.tree.references.values())
        yield _Rule(rule, found, message, uses_old, is_optional)
