"""Defaults in schemas must be what they would be in an object: pruned, of the right type, and kept by the rules.

Called by `openapi_schema` for structural schemas, before rules are typed.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Final

from muster.api.schema.shape import EMBEDDED, compile_shape
from muster.hub.custom.embedded import embedded_causes, embedded_unknown
from muster.hub.custom.nodes import Node, located, same, under
from muster.hub.custom.rule_checks import BUDGET, evaluate_rules, rule_node
from muster.values.causes import invalid
from muster.values.json import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import CompileBudget
    from muster.values.causes import Cause


_META: Final = frozenset({"metadata", "kind", "apiVersion"})


def default_causes(schema: Schema, path: str, compiling: CompileBudget) -> list[Cause]:
    """What is wrong with the defaults in the schema of a kind."""
    return list(_Defaults(compiling).check(schema, path, root=True, inside_meta=False))


class _Defaults:
    def __init__(self, compiling: CompileBudget) -> None:
        self._budget = BUDGET
        self._compiling = compiling

    def check(self, schema: Schema, path: str, *, root: bool, inside_meta: bool) -> Iterator[Cause]:
        embedded = root or bool(schema.get(EMBEDDED))
        if embedded:
            inside_meta = False
        if "default" in schema:
            yield from self._default(schema, f"{path}.default", root=embedded, inside_meta=inside_meta)
            if self._budget < 0:
                return
        # Defaults in additionalProperties are nobody's: there is no value that is absent.
        if isinstance(schema.get("items"), dict):
            yield from self.check(schema["items"], f"{path}.items", root=False, inside_meta=inside_meta)
        for name, child in sorted(schema.get("properties", {}).items()):
            inside = inside_meta or (embedded and name in _META)
            yield from self.check(child, f"{path}.properties[{name}]", root=False, inside_meta=inside)
            if self._budget < 0:
                return

    def _default(self, schema: Schema, path: str, *, root: bool, inside_meta: bool) -> Iterator[Cause]:
        value = schema["default"]
        if not inside_meta:
            pruned = deepcopy(value)
            shape = compile_shape(schema, prune=True, fill=False)
            if shape is not None:
                shape(pruned)
            embedded_unknown(pruned, schema)
            if not same(pruned, value):
                yield invalid(path, value, "must not have unknown fields")
            if found := list(embedded_causes(value, schema, path)):
                yield from found
                return
        if found := [under(path, cause) for cause in located(Node(schema).problems(value))]:
            yield from found
            return
        rules = rule_node(schema, self._compiling, root=root)
        if rules is None:
            return
        findings = evaluate_rules(rules, value, value, path, self._budget)
        if not findings.causes:
            first = findings
            findings = evaluate_rules(rules, value, path=path, budget=self._budget)
            findings.budget = min(findings.budget, first.budget)
        self._budget = findings.budget
        yield from findings.causes
