"""The rules in schemas (`x-kubernetes-validations`), compiled: programs, what they cost, and what is wrong with them.

Used when a definition is checked and when its objects are. `rule_checks` runs what is compiled here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from muster.cel import CompileBudget, ObjectTypes, Variable, environment, make_program
from muster.cel.checking.types import BOOL, STRING, optional_of
from muster.errors import InvalidExpressionError
from muster.hub.custom.cel_types import most_of, named_types, sizes
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.cel import Env, Program
    from muster.hub.custom.cel_types import Declared

ENVIRONMENT: Final = "kubernetes-1.36"
#: Units of compiling that the rules of one definition may take together: a few seconds. A long rule takes a thousand.
MOST_COMPILING: Final = 150_000
VALIDATIONS: Final = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: as it was written, its programs, its costs and its problems. All may be missing: an empty rule."""

    written: JsonObject
    program: Program | None = None
    message: Program | None = None
    problem: str = ""
    message_problem: str = ""
    most_cost: int = 0
    most_message_cost: int = 0
    cardinality: int = 0  # how often the node can be in an object, if its parents do not say
    uses_old: bool = False


def compiled_rules(rules: list[JsonObject], node: Declared, budget: CompileBudget) -> list[Rule]:
    """The rules of one node of a schema."""
    whole, fields = named_types(node)
    base = environment(ENVIRONMENT).extend(types=ObjectTypes(fields), variables=[Variable("self", whole)])
    plain = base.extend(variables=[Variable("oldSelf", whole)])
    optional = base.extend(variables=[Variable("oldSelf", optional_of(whole))])
    return [_compiled(rule, node, optional if rule.get("optionalOldSelf") else plain, budget) for rule in rules]


def _compiled(written: JsonObject, node: Declared, env: Env, budget: CompileBudget) -> Rule:
    text: str = written.get("rule", "")
    rule = Rule(written, cardinality=most_of(node.least_bytes))
    if not text.strip():
        return rule
    try:
        program = make_program(text, env, budget=budget)
    except InvalidExpressionError as error:
        return replace(rule, problem=f"compilation failed: {error}")
    if program.result_type != BOOL:
        return replace(rule, problem="cel expression must evaluate to a bool")
    uses_old = any(reference.name == "oldSelf" for reference in program.tree.references.values())
    rule = replace(rule, program=program, most_cost=program.estimate(sizes(node)).max, uses_old=uses_old)
    expression: str = written.get("messageExpression", "")
    if not expression:
        return rule
    try:
        message = make_program(expression, env, budget=budget)
    except InvalidExpressionError as error:
        return replace(rule, message_problem=f"messageExpression compilation failed: {error}")
    if message.result_type != STRING:
        return replace(rule, message_problem="messageExpression must evaluate to a string")
    return replace(rule, message=message, most_message_cost=message.estimate(sizes(node)).max)
