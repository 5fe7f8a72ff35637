"""What a definition's schema may say: keywords, types, defaults, and rules with what they may cost.

The checks and texts are Kubernetes'. Called by `definition_versions` for every schema; extensions such as list types
are judged by `schema_extensions`, structure by `structural`. A schema that is not structural has no rules checked,
because they could not be typed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from muster.hub.custom.cel_types import declared, escaped, is_embedded
from muster.hub.custom.defaults import default_causes
from muster.hub.custom.go_values import go_rule, go_schema, in_go_order
from muster.hub.custom.rules import VALIDATIONS, compiled_rules
from muster.hub.custom.schema_extensions import extension_causes, key_causes, rule_text_causes
from muster.hub.custom.structural import structural_causes, structural_problem
from muster.values.causes import Cause, forbidden, invalid, not_supported
from muster.values.json import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import CompileBudget
    from muster.hub.custom.cel_types import Declared
    from muster.hub.custom.rules import Rule


MOST_RULE_COST: Final = 10_000_000
MOST_SCHEMA_COST: Final = 100_000_000
_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_UNSUPPORTED: Final = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_META_FIELDS: Final = frozenset({"metadata", "kind", "apiVersion"})
_MANY: Final = 2**64 - 1
# With a status subresource only these may stand at the root; the words are those of the message.
_AT_ROOT: Final = {
    "description": "Description",
    "type": "Type",
    "format": "Format",
    "title": "Title",
    "maximum": "Maximum",
    "exclusiveMaximum": "ExclusiveMaximum",
    "minimum": "Minimum",
    "exclusiveMinimum": "ExclusiveMinimum",
    "maxLength": "MaxLength",
    "minLength": "MinLength",
    "pattern": "Pattern",
    "maxItems": "MaxItems",
    "minItems": "MinItems",
    "uniqueItems": "UniqueItems",
    "multipleOf": "MultipleOf",
    "required": "Required",
    "items": "Items",
    "properties": "Properties",
    "externalDocs": "ExternalDocs",
    "example": "Example",
    "x-kubernetes-preserve-unknown-fields": "XPreserveUnknownFields",
    VALIDATIONS: "XValidations",
}


@dataclass
class _Costs:
    """What all rules of a schema may cost together, and the dearest of them."""

    total: int = 0
    dearest: list[tuple[int, str]] = field(default_factory=list)

    def add(self, path: str, cost: int) -> None:
        self.total = min(self.total + cost, _MANY)
        if cost >= MOST_SCHEMA_COST // 100:
            self.dearest = sorted([*self.dearest, (cost, path)], key=lambda each: -each[0])[:4]


@dataclass(frozen=True)
class _Place:
    """Where a schema stands: what is forbidden there, and how often its values can occur (None: nobody knows)."""

    no_defaults: str | None = None
    inside_meta: bool = False
    uncorrelated: str = ""
    in_logic: bool = False  # below allOf, anyOf, oneOf and not, where rules are not looked at
    times: int | None = 1
    node: Declared | None = None


@dataclass
class _Found:
    schema: list[Cause] = field(default_factory=list)
    rules: list[Cause] = field(default_factory=list)


def schema_causes(
    schema: Schema, path: str, budget: CompileBudget, *, status: bool, old_cost_accepted: bool = False
) -> list[Cause]:
    """What is wrong with the schema of a version. `status`: it has a status subresource; `old_cost_accepted`: the
    schema was there before, and no single rule is refused for its cost. `budget` is for compiling all rules."""
    causes = list(_root_causes(schema, path, status=status))
    unreadable = structural_problem(schema)
    typed = False
    if unreadable is None:
        found = structural_causes(schema, path)
        if not found:
            found = default_causes(schema, path, budget)
            typed = not found
        causes.extend(found)
    walk = _Walk(budget, old_cost_accepted)
    seen = walk.check(schema, path, _Place(node=declared(schema, root=True) if typed else None), root=True, typed=typed)
    causes.extend(seen.schema)
    causes.extend(seen.rules)
    if not causes and unreadable is not None:
        causes.append(invalid(path, "", unreadable))
    if typed and walk.costs.total > MOST_SCHEMA_COST:
        detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        causes.extend(forbidden(place, detail) for _, place in walk.costs.dearest)
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        causes.append(forbidden(path, _too_dear(name, walk.costs.total, MOST_SCHEMA_COST)))
    return causes


def _root_causes(schema: Schema, path: str, *, status: bool) -> Iterator[Cause]:
    if status:
        for name in in_go_order(schema):
            if name == "type":
                if schema["type"] != "object":
                    detail = (
                        'only "object" is allowed as the type at the root of the schema '
                        "if the status subresource is enabled"
                    )
                    yield invalid(f"{path}.type", schema["type"], detail)
                    break
            elif name not in _AT_ROOT:
                names = " ".join(_AT_ROOT.values())
                detail = (
                    f"only [{names}] fields are allowed at the root of the schema if the status subresource is enabled"
                )
                yield invalid(path, go_schema(schema), detail)
                break
    if schema.get("nullable"):
        yield forbidden(f"{path}.nullable", "nullable cannot be true at the root")


class _Walk:
    """One pass over a schema."""

    def __init__(self, budget: CompileBudget, old_cost_accepted: bool) -> None:
        self._old_cost_accepted = old_cost_accepted
        self.costs = _Costs()
        self._budget = budget

    def check(self, schema: Schema, path: str, place: _Place, *, root: bool = False, typed: bool) -> _Found:
        found = _Found(list(self._own(schema, path, place)))
        for below, child, there in self._children(schema, path, place, root=root):
            inner = self.check(child, below, there, typed=typed)
            found.schema.extend(inner.schema)
            found.rules.extend(inner.rules)
        found.schema.extend(extension_causes(schema, path))
        found.schema.extend(key_causes(schema, path))
        if VALIDATIONS in schema:
            found.schema.extend(rule_text_causes(schema, path))
            if typed and not place.in_logic and not found.schema:
                found.rules.extend(self._rules(schema, path, place))
        return found

    def _own(self, schema: Schema, path: str, place: _Place) -> Iterator[Cause]:
        kind = schema.get("type", "")
        if kind and kind not in _TYPES:
            yield not_supported(f"{path}.type", kind, _TYPES)
        if "default" in schema and place.no_defaults is not None:
            reason = f" {place.no_defaults}" if place.no_defaults else ""
            yield forbidden(f"{path}.default", f"must not be set{reason}")
        for name in _UNSUPPORTED:
            if name in schema:
                yield forbidden(f"{path}.{name}", f"{name} is not supported")
        if kind == "null":
            yield forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
        if isinstance(schema.get("items"), list) and schema["items"]:
            yield forbidden(f"{path}.items", "items must be a schema object and not an array")
        if place.inside_meta and is_embedded(schema):
            yield forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")
        if schema.get("uniqueItems"):
            detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
            yield forbidden(f"{path}.uniqueItems", detail)
        additional = schema.get("additionalProperties")
        if additional is not None and schema.get("properties") and additional is not True:
            detail = "additionalProperties and properties are mutual exclusive"
            yield forbidden(f"{path}.additionalProperties", detail)

    def _children(
        self, schema: Schema, path: str, place: _Place, *, root: bool
    ) -> Iterator[tuple[str, Schema, _Place]]:
        """The schemas below, and what holds there."""
        node = place.node
        times = None if place.times is None else _times(place.times, schema)
        here = replace(place, times=times)
        additional, items = schema.get("additionalProperties"), schema.get("items")
        if isinstance(additional, dict):
            reason = "inside additionalProperties applying to object metadata"
            there = replace(here, no_defaults=reason) if place.inside_meta else here
            yield f"{path}.additionalProperties", additional, replace(there, node=node and node.element)
        for name, child in sorted(schema.get("properties", {}).items()):
            there = here
            if (root or is_embedded(schema)) and name in _META_FIELDS:
                there = replace(there, inside_meta=True)
                if root:
                    there = replace(there, no_defaults=f"in top-level {name}")
            yield f"{path}.properties[{name}]", child, replace(there, node=_field(node, name, child))
        logic = replace(here, in_logic=True, node=None)
        if "not" in schema:
            yield f"{path}.not", schema["not"], logic
        for name in ("allOf", "oneOf", "anyOf"):
            for index, child in enumerate(schema.get(name, ())):
                yield f"{path}.{name}[{index}]", child, logic
        for name, child in sorted(schema.get("definitions", {}).items()):
            yield f"{path}.definitions[{name}]", child, logic
        if items is not None:
            there = here
            if schema.get("x-kubernetes-list-type") != "map":
                there = replace(there, uncorrelated=place.uncorrelated or path)
            there = replace(there, node=node and node.element)
            several = isinstance(items, list)
            for index, child in enumerate(items if several else [items]):
                yield f"{path}.items[{index}]" if several else f"{path}.items", child, there
        for name, child in sorted(schema.get("dependencies", {}).items()):
            if isinstance(child, dict):
                yield f"{path}.dependencies[{name}]", child, logic

    def _rules(self, schema: Schema, path: str, place: _Place) -> Iterator[Cause]:
        node = place.node if place.node is not None else declared(schema, root=is_embedded(schema))
        where = f"{path}.{VALIDATIONS}"
        if node is None:
            detail = "internal error: failed to construct type information for x-kubernetes-validations rules"
            yield Cause(
                "InternalError",
                where,
                f"Internal error: {detail}: unable to convert structural schema to CEL declarations",
            )
            return
        for index, rule in enumerate(compiled_rules(schema[VALIDATIONS], node, self._budget)):
            yield from self._rule(rule, f"{where}[{index}]", place)

    def _rule(self, rule: Rule, path: str, place: _Place) -> Iterator[Cause]:
        times = rule.cardinality if place.times is None else place.times
        cost = min(rule.most_cost * times, _MANY)
        if cost > MOST_RULE_COST and not self._old_cost_accepted:
            yield forbidden(f"{path}.rule", _too_dear("estimated rule cost", cost, MOST_RULE_COST))
        self.costs.add(f"{path}.rule", cost)
        if rule.problem:
            yield invalid(f"{path}.rule", go_rule(rule.written), rule.problem)
        if rule.message_problem:
            yield invalid(f"{path}.messageExpression", go_rule(rule.written), rule.message_problem)
        elif rule.message is not None:
            cost = rule.most_message_cost
            if cost > MOST_RULE_COST and not self._old_cost_accepted:
                detail = _too_dear("estimated messageExpression cost", cost, MOST_RULE_COST)
                yield forbidden(f"{path}.messageExpression", detail)
            self.costs.add(f"{path}.messageExpression", cost)
        if rule.uses_old:
            if place.uncorrelated:
                detail = (
                    f"oldSelf cannot be used on the uncorrelatable portion of the schema within {place.uncorrelated}"
                )
                yield invalid(f"{path}.rule", rule.written.get("rule", ""), detail)
        elif "optionalOldSelf" in rule.written:
            detail = "may not be set if oldSelf is not used in rule"
            yield invalid(f"{path}.optionalOldSelf", rule.written["optionalOldSelf"], detail)


def _field(node: Declared | None, name: str, schema: Schema) -> Declared | None:
    """The type of a field; fields that rules cannot name have one of their own."""
    if node is None:
        return None
    known = escaped(name)
    if known is not None:
        return node.fields.get(known)
    return declared(schema, root=is_embedded(schema))


def _times(before: int, schema: Schema) -> int | None:
    """How often what is below a schema can occur, if the schema itself occurs so often."""
    match schema.get("type"):
        case "object" if "additionalProperties" in schema:
            most = schema.get("maxProperties")
        case "array":
            most = schema.get("maxItems")
        case _:
            most = 1
    return None if most is None else min(before * max(int(most), 0), _MANY)


def _too_dear(name: str, cost: int, most: int) -> str:
    factor = cost / most
    times = "more than 100x" if factor > 100 else f"{factor:f}x" if factor < 1.5 else f"{factor:.1f}x"
    return (
        f"{name} exceeds budget by factor of {times} (try simplifying the rule, or adding maxItems, maxProperties, and "
        "maxLength where arrays, maps, and strings are declared)"
    )
