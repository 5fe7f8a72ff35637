"""Rules of a kind in CEL, as its CustomResourceDefinition carries them: `x-kubernetes-validations`.

The hub checks its kinds by functions (`rules` of a Resource, and `muster.admission`). A Kubernetes API server that has
our definitions installed checks them by these rules, whether or not a program of ours runs. A kind states both side by
side, and tests hold them against each other. `crds.py` prints them.

A rule stands as deep in the schema as it can: a server that finds a part of an object unchanged lets it pass, so that
what was stored before a rule came still gets its status. What must look at the name stands at the root, where nothing
is ever unchanged, and says itself that what was there before may stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

KEYWORD: Final = "x-kubernetes-validations"
ITEMS: Final = "[]"


@dataclass(frozen=True, slots=True)
class CelRule:
    """One rule. `at` is where it stands: properties from the root on, `[]` for the items of a list.

    `field` is where the fault is said to be, below that place. A rule with `optional_old` is asked on create as well,
    with an oldSelf that has no value then.
    """

    rule: str
    message: str
    at: tuple[str, ...] = ()
    field: str = ""
    reason: str = ""
    message_expression: str = ""
    optional_old: bool = False

    def to_schema(self) -> JsonObject:
        """As a schema writes it."""
        written: JsonObject = {"rule": self.rule, "message": self.message}
        if self.message_expression:
            written["messageExpression"] = self.message_expression
        if self.field:
            written["fieldPath"] = self.field
        if self.reason:
            written["reason"] = self.reason
        if self.optional_old:
            written["optionalOldSelf"] = True
        return written


def with_rules(schema: JsonMapping, rules: Iterable[CelRule]) -> JsonObject:
    """The schema with the rules in their places, after those that it has, none twice. The argument is left alone."""
    found = dict(schema)
    for each in rules:
        found = _with_rule(found, each.at, each)
    return found


def _with_rule(schema: JsonMapping, at: tuple[str, ...], rule: CelRule) -> JsonObject:
    if not at:
        before, written = schema.get(KEYWORD, ()), rule.to_schema()
        return {**schema, KEYWORD: [*before, written] if written not in before else list(before)}
    first, rest = at[0], at[1:]
    if first == ITEMS:
        return {**schema, "items": _with_rule(schema["items"], rest, rule)}
    properties = schema["properties"]
    return {**schema, "properties": {**properties, first: _with_rule(properties[first], rest, rule)}}
