"""The checks of a custom kind's objects: schema, embedded objects, lists, scale and rules, as a Kubernetes server has.

Made by `kinds` for every version of a kind; each part is compiled when it is first needed.
"""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

from muster.api.resource import Verdict
from muster.api.schema import CompiledSchema
from muster.api.schema.checks import located as located_lists
from muster.api.schema.lists import compile_lists
from muster.api.validation import NOT_CHECKED, is_blocked
from muster.cel import CompileBudget
from muster.hub.custom.embedded import embedded_causes, embedded_problem, embedded_unknown, has_embedded
from muster.hub.custom.nodes import ABSENT, Node, located, under
from muster.hub.custom.rule_checks import evaluate_rules, has_rules, rule_node
from muster.hub.custom.rules import MOST_COMPILING
from muster.hub.custom.schema_props import everywhere
from muster.values.causes import MOST_FOUND, Cause, invalid
from muster.values.json import Json, JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muster.api.resource import Object, Scale
    from muster.api.schema.scalars import Check
    from muster.hub.custom.rule_checks import RuleNode


#: Nodes of a schema from which on its checks are never made where others would wait for them.
_LARGE: Final = 2_000
#: Units of cost up to which rules are asked at once: a few milliseconds.
_LIGHT: Final = 10_000
_MAX_INT32: Final = 2**31 - 1
_STRING: Final = {"type": "string"}


class CustomSchema(CompiledSchema):
    """The schema of a version of a custom kind. Objects in its objects have their metadata pruned too."""

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self._own = schema
        self._embeds = has_embedded(schema)

    def prepare(self, obj: JsonObject, live: JsonMapping | None = None) -> list[str]:
        found = super().prepare(obj, live)
        unknown = [path for path in found if path.startswith("metadata.")]
        unknown += [path for path in found if not path.startswith("metadata.")]
        return unknown + embedded_unknown(obj, self._own) if self._embeds else unknown


class CustomChecks:
    """What a version of a custom kind checks."""

    def __init__(self, schema: Schema, scale: Scale | None, *, status: bool) -> None:
        self._schema = schema
        self._scale = scale
        self._status = status
        self._embeds = has_embedded(schema)
        self._ruled = has_rules(schema)
        self._light = False  # until it is known: whoever comes first has everything compiled

    def warm(self) -> None:
        """Compile what every object needs, and see whether the schema is a large one."""
        self.compiled.warm()
        _ = self._node, self._lists
        self._light = sum(1 for _ in islice(everywhere(self._schema), _LARGE)) < _LARGE

    @cached_property
    def compiled(self) -> CompiledSchema:
        return CustomSchema(self._schema)

    @cached_property
    def _node(self) -> Node:
        properties = {"apiVersion": _STRING, "kind": _STRING, **self._schema.get("properties", {})}
        properties.pop("metadata", None)  # judged as every object's
        demanded = [name for name in self._schema.get("required", ()) if name != "metadata"]
        return Node({**self._schema, "properties": properties, "required": demanded})

    @cached_property
    def _status_node(self) -> Node | None:
        schema = self._schema.get("properties", {}).get("status")
        return None if schema is None else Node(schema)

    @cached_property
    def _lists(self) -> Check | None:
        return compile_lists(self._schema)

    @cached_property
    def _rules(self) -> RuleNode | None:
        return rule_node(self._schema, CompileBudget(MOST_COMPILING), root=True)

    @property
    def heavy(self) -> bool:
        if not self._light or not self._ruled:
            return not self._light
        return "_rules" not in self.__dict__ or (self._rules is not None and self._rules.cost > _LIGHT)

    def embedded_problem(self, obj: Object) -> str | None:
        return embedded_problem(obj, self._schema) if self._embeds else None

    def causes(self, obj: Object, old: Object | None, subresource: str, found: Sequence[Cause]) -> Verdict:
        if not self._light:
            self.warm()
        causes = self._schema_causes(obj, old, only_status=subresource == "status")
        if self._scale is not None:
            if subresource != "status":
                causes += _replicas(obj, self._scale.spec_replicas)
            causes += _replicas(obj, self._scale.status_replicas)
            causes += _selector(obj, self._scale.selector)
        if self._embeds and subresource != "status":
            causes += islice(embedded_causes(obj, self._schema), MOST_FOUND)
        twice = located_lists(self._lists, obj)
        if twice and not (old is not None and located_lists(self._lists, old)):
            causes += twice
        if not self._ruled:
            return Verdict(tuple(causes))
        if is_blocked((*found, *causes)):
            return Verdict((*causes, NOT_CHECKED))
        if self._rules is None:
            return Verdict(tuple(causes))
        findings = evaluate_rules(self._rules, obj, old)
        return Verdict((*causes, *findings.causes), tuple(findings.warnings))

    def _schema_causes(self, obj: Object, old: Object | None, *, only_status: bool) -> list[Cause]:
        if not only_status:
            return located(self._node.problems(obj, ABSENT if old is None else old))
        if "status" not in obj or self._status_node is None:
            return []
        before = ABSENT if old is None else old.get("status", ABSENT)
        return [under("status", cause) for cause in located(self._status_node.problems(obj["status"], before))]


def nested(obj: Json, path: str) -> tuple[Json, bool, str]:
    """What is at a path such as `.spec.replicas`: the value, whether there is one, and what is in the way."""
    names = path.removeprefix(".").split(".")
    for index, name in enumerate(names):
        if not isinstance(obj, dict):
            place = "." + ".".join(names[: index + 1])
            return None, False, f"{place} accessor error: {_go(obj)}, expected map[string]interface{{}}"
        if name not in obj:
            return None, False, ""
        obj = obj[name]
    return obj, True, ""


def _go(value: Json) -> str:
    match value:
        case None:
            return "<nil> is of the type <nil>"
        case bool():
            return f"{str(value).lower()} is of the type bool"
        case str():
            return f"{value} is of the type string"
        case int():
            return f"{value} is of the type int64"
        case float():
            return f"{value} is of the type float64"
        case list():
            return f"{value} is of the type []interface {{}}"
        case _:
            return f"{value} is of the type map[string]interface {{}}"


def _replicas(obj: Object, path: str) -> Iterator[Cause]:
    value, there, problem = nested(obj, path)
    if problem:
        yield invalid(path, 0, problem)
    elif there and (isinstance(value, bool) or not isinstance(value, int)):
        yield invalid(path, 0, f"{path} accessor error: {_go(value)}, expected int64")
    elif there and value < 0:
        yield invalid(path, value, "should be a non-negative integer")
    elif there and value > _MAX_INT32:
        yield invalid(path, value, f"should be less than or equal to {_MAX_INT32}")


def _selector(obj: Object, path: str) -> Iterator[Cause]:
    if not path:
        return
    value, there, problem = nested(obj, path)
    if problem:
        yield invalid(path, "", problem)
    elif there and not isinstance(value, str):
        yield invalid(path, "", f"{path} accessor error: {_go(value)}, expected string")
