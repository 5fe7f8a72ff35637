"""Rules at work: every rule of a schema, asked about the objects it is about, within one budget per object.

The order, the texts and the costs are Kubernetes'. A rule that speaks of oldSelf is asked only where there is an old
value that corresponds; what another rule finds is a warning, not a refusal, where nothing has changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.cel import DEFAULT_COST_LIMIT
from muster.cel.values import OPTIONAL_NONE, optional
from muster.errors import BudgetExceededError, EvaluationError, FailureKind
from muster.hub.custom.cel_types import declared, escaped, is_embedded
from muster.hub.custom.field_paths import InvalidPathError, read_path
from muster.hub.custom.nodes import list_key, same
from muster.hub.custom.rules import VALIDATIONS, compiled_rules
from muster.hub.custom.values import aligned, compile_value
from muster.values.causes import (
    MOST_FOUND,
    Cause,
    duplicate,
    forbidden,
    invalid,
    invalid_without_value,
    required,
)
from muster.values.json import Json, JsonObject, Schema
from muster.values.json_members import text_at

if TYPE_CHECKING:
    from muster.cel import CompileBudget
    from muster.hub.custom.cel_types import Declared
    from muster.hub.custom.rules import Rule


BUDGET: Final = 10_000_000  # of all rules for one object
_LONGEST_MESSAGE: Final = 5 * 1024
_ABSENT: Final = object()
_NO_BUDGET: Final = "validation failed due to running out of cost budget, no further validation rules will be run"


@dataclass(slots=True)
class RuleFindings:
    """What is being found out about one object."""

    budget: int = BUDGET
    causes: list[Cause] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return self.budget < 0 or len(self.causes) >= MOST_FOUND


class RuleNode:
    """The rules of a node of a schema and of those below it that have any."""

    def __init__(self, schema: Schema, node: Declared, budget: CompileBudget, *, root: bool) -> None:
        self._schema = schema
        self._kind: str = schema.get("type", "")
        written = schema.get(VALIDATIONS, [])
        self._rules = compiled_rules(written, node, budget) if written else []
        self._convert = compile_value(schema, root=root) if written else None
        self._paths = [_field_path(rule.written, schema) for rule in self._rules]
        self._items = _below(schema.get("items"), node.element, budget)
        self._additional = _below(schema.get("additionalProperties"), node.element, budget)
        self._properties: dict[str, RuleNode] = {}
        for name, child in schema.get("properties", {}).items():
            known = escaped(name)
            typed = declared(child, root=is_embedded(child)) if known is None else node.fields.get(known)
            if (below := _below(child, typed, budget)) is not None:
                self._properties[name] = below
        is_map = schema.get("x-kubernetes-list-type") == "map"
        self._keys: tuple[str, ...] = tuple(schema.get("x-kubernetes-list-map-keys", ())) if is_map else ()

    @property
    def empty(self) -> bool:
        return not (self._rules or self._items or self._additional or self._properties)

    @property
    def cost(self) -> int:
        """What the rules may cost at most, each evaluated once."""
        below = [*self._properties.values(), *(each for each in (self._items, self._additional) if each is not None)]
        own = sum(rule.most_cost for rule in self._rules)
        # Nobody knows how often those below lists and maps are evaluated.
        return own + sum(each.cost for each in below) + (10**9 if self._items or self._additional else 0)

    def evaluate(
        self, value: Json, old: Json, path: str, findings: RuleFindings, *, ratcheted: bool, correlated: bool = True
    ) -> None:
        """Put what is wrong into `findings`. `ratcheted`: a part of the object that holds this one has not changed.

        `old` is the value that rules see as oldSelf, if there is one; `correlated` values may be compared with it.
        """
        if value is None or findings.over:
            return
        unchanged = ratcheted
        if correlated:
            unchanged = old is not _ABSENT and same(value, old)
        if self._rules:
            self._evaluate_own(value, old, path, findings, unchanged=unchanged)
        if type(value) is dict:
            self._evaluate_fields(value, old, path, findings, unchanged, correlated)
        elif type(value) is list and self._items is not None:
            self._evaluate_items(value, old, path, findings, unchanged, correlated)

    def _evaluate_fields(
        self, value: JsonObject, old: Json, path: str, findings: RuleFindings, unchanged: bool, correlated: bool
    ) -> None:
        before = old if type(old) is dict else {}
        for name in sorted(value):
            node, below = self._properties.get(name), f"{path}.{name}" if path else name
            if node is None and self._additional is not None and name not in self._schema.get("properties", {}):
                node, below = self._additional, f"{path}[{name}]"
            if node is None:
                continue
            known = name in before
            node.evaluate(
                value[name],
                before.get(name, _ABSENT),
                below,
                findings,
                ratcheted=unchanged,
                correlated=correlated and known,
            )
            if findings.over:
                return

    def _evaluate_items(
        self, value: list[Json], old: Json, path: str, findings: RuleFindings, unchanged: bool, correlated: bool
    ) -> None:
        before: dict[Json, Json] = {}
        if self._keys and type(old) is list:
            before = {key: each for each in reversed(old) if (key := list_key(each, self._keys)) is not None}
        assert self._items is not None  # noqa: S101 - the caller has looked
        for index, each in enumerate(value):
            previous = before.get(list_key(each, self._keys), _ABSENT) if before else _ABSENT
            known = previous is not _ABSENT
            self._items.evaluate(
                each, previous, f"{path}[{index}]", findings, ratcheted=unchanged, correlated=correlated and known
            )
            if findings.over:
                return

    def _evaluate_own(self, value: Json, old: Json, path: str, findings: RuleFindings, *, unchanged: bool) -> None:
        place = path or "<nil>"
        if findings.budget <= 0:
            findings.causes.append(invalid(place, self._kind, _NO_BUDGET))
            findings.budget = -1
            return
        present = old is not _ABSENT and old is not None
        uses_old = any(rule.uses_old for rule in self._rules)
        try:
            seen = self._seen(value)
            before = self._seen(aligned(old, value, self._schema)) if present and uses_old else None
        except EvaluationError as error:
            findings.causes.append(invalid(place, self._kind, str(error)))
            return
        for rule, field_path in zip(self._rules, self._paths, strict=True):
            optional_old = bool(rule.written.get("optionalOldSelf"))
            if rule.program is None or (rule.uses_old and not present and not optional_old):
                continue
            variables = {"self": seen}
            if rule.uses_old:
                variables["oldSelf"] = before
                if optional_old:
                    variables["oldSelf"] = optional(before) if present else OPTIONAL_NONE
            failed = self._failed(rule, variables, place, findings)
            if findings.budget < 0:
                return
            if failed:
                where = path
                if field_path:
                    joint = "" if field_path.startswith("[") or not path else "."
                    where = f"{path}{joint}{field_path}"
                self._tell(
                    rule, variables, value, where or "<nil>", findings, tolerated=unchanged and not rule.uses_old
                )
            if findings.over:
                return

    def _seen(self, value: Json) -> Json:
        return value if self._convert is None else self._convert(value)

    def _failed(self, rule: Rule, variables: JsonObject, place: str, findings: RuleFindings) -> bool:
        """Whether the rule says no. What keeps it from saying anything is told."""
        assert rule.program is not None  # noqa: S101 - the caller has looked
        result, cost = rule.program.run(variables, DEFAULT_COST_LIMIT)
        named = _named(rule)
        if cost > findings.budget:
            findings.causes.append(invalid(place, self._kind, _NO_BUDGET))
            findings.budget = -1
            return False
        findings.budget -= cost
        if not isinstance(result, EvaluationError):
            return result is not True
        text = str(result)
        if result.kind is FailureKind.NO_SUCH_OVERLOAD:
            fault = "call arguments did not match a supported operator, function or macro signature"
            why = f"'{text}': {fault} for rule: {named}"
        elif isinstance(result, BudgetExceededError):
            why = f"'{text}': no further validation rules will be run due to call cost exceeds limit for rule: {named}"
            findings.budget = -1
        else:
            why = f"{text} evaluating rule: {named}"
        findings.causes.append(invalid(place, self._kind, why))
        return False

    def _tell(
        self, rule: Rule, variables: JsonObject, value: Json, where: str, findings: RuleFindings, *, tolerated: bool
    ) -> None:
        detail, fatal = self._message(rule, variables, findings)
        if fatal:
            cause = invalid(where, self._kind, detail)
            findings.budget = -1
        else:
            cause = _cause(
                rule, where, value, detail or _default_message(rule), whole=self._kind in ("object", "array")
            )
        if tolerated:
            findings.warnings.append(str(cause))
        else:
            findings.causes.append(cause)

    def _message(self, rule: Rule, variables: JsonObject, findings: RuleFindings) -> tuple[str, bool]:
        """What the rule's own expression says of the failure; whether it has used up the budget."""
        if rule.message is None:
            return "", False
        result, cost = rule.message.run(variables, DEFAULT_COST_LIMIT)
        if cost > findings.budget:
            return (
                "messageExpression evaluation failed due to running out of cost budget, "
                "no further validation rules will be run",
                True,
            )
        if isinstance(result, BudgetExceededError):
            written = rule.written["messageExpression"]
            why = "no further validation rules will be run due to call cost exceeds limit for messageExpression"
            return f'{why}: "{written}"', True
        findings.budget -= cost
        text = result.strip() if isinstance(result, str) else ""
        if len(text.encode("utf-8", "surrogatepass")) > _LONGEST_MESSAGE or "\n" in text:
            return "", False
        return text, False


def _below(schema: Json, node: Declared | None, budget: CompileBudget) -> RuleNode | None:
    if not isinstance(schema, dict) or node is None or not has_rules(schema):
        return None
    return RuleNode(schema, node, budget, root=is_embedded(schema))


def has_rules(schema: Schema) -> bool:
    """Whether there are rules in a schema, where they are looked at."""
    if schema.get(VALIDATIONS):
        return True
    below = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(isinstance(each, dict) and has_rules(each) for each in below)


def rule_node(schema: Schema, budget: CompileBudget, *, root: bool) -> RuleNode | None:
    """The rules of a schema; None if there are none, or none that rules could be about."""
    if not has_rules(schema):
        return None
    node = declared(schema, root=root)
    return None if node is None else RuleNode(schema, node, budget, root=root)


def evaluate_rules(
    node: RuleNode, value: Json, old: Json = _ABSENT, path: str = "", budget: int = BUDGET
) -> RuleFindings:
    """Ask every rule about a value, and about what became of its old state."""
    findings = RuleFindings(budget)
    node.evaluate(value, _ABSENT if old is None else old, path, findings, ratcheted=False)
    return findings


def _field_path(rule: JsonObject, schema: Schema) -> str:
    path = rule.get("fieldPath", "")
    if not path:
        return ""
    try:
        return read_path(path, schema).text
    except InvalidPathError:
        return ""


def _named(rule: Rule) -> str:
    message = text_at(rule.written, "message")
    return (message or text_at(rule.written, "rule")).strip()


def _default_message(rule: Rule) -> str:
    message: str = rule.written.get("message", "")
    return message.strip() if message else f"failed rule: {_named(rule)}"


def _cause(rule: Rule, where: str, value: Json, detail: str, *, whole: bool) -> Cause:
    match rule.written.get("reason"):
        case "FieldValueForbidden":
            return forbidden(where, detail)
        case "FieldValueRequired":
            return required(where, detail)
        case "FieldValueDuplicate":
            return Cause("FieldValueDuplicate", where, "Duplicate value") if whole else duplicate(where, value)
        case _:
            return invalid_without_value(where, detail) if whole else invalid(where, value, detail)
