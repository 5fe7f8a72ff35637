"""CEL rules over the properties of a bundle: compiled once, run once per bundle, with the error kept.

In Muster's own dialect the value of a property has any type, so that `p.value.exists(...)` is accepted; the Operator
Lifecycle Manager's dialect refuses it. In both, JSON numbers are doubles and a rule must be a bool by its type.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from muster.cel.checking.types import BOOL, DYN, STRING, list_of, map_of
from muster.cel.declarations import Variable
from muster.cel.environment import Env
from muster.cel.environments import environment
from muster.cel.libraries.olm import SEMVER_COMPARE
from muster.cel.libraries.standard import STANDARD
from muster.cel.program import compile_program
from muster.errors import EvaluationError, InvalidExpressionError
from muster.resolution.catalog.properties import as_doubles
from muster.resolution.constraints.forms import InvalidConstraintError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.cel import CompileBudget
    from muster.cel.program import Program
    from muster.resolution.catalog.bundles import Bundle

COST_LIMIT: Final = 100_000  # per bundle; rules are run on every bundle of a catalog, real ones cost some hundred
NOT_BOOL: Final = "cel expressions must have type Bool"


@lru_cache(maxsize=1)
def _open_values() -> Env:
    properties = Variable("properties", list_of(map_of(STRING, DYN)), "A bundle's properties: maps of type and value.")
    return Env(name="muster-constraints").extend(STANDARD, SEMVER_COMPARE, variables=(properties,))


def compile_rule(rule: str, *, upstream: bool = False, budget: CompileBudget | None = None) -> Program:
    """The program of a rule. Raises InvalidConstraintError with the diagnostics of the language."""
    try:
        program = compile_program(rule, environment("olm") if upstream else _open_values(), budget)
    except InvalidExpressionError as error:
        raise InvalidConstraintError("", str(error)) from error
    if program.result_type != BOOL:
        raise InvalidConstraintError("", NOT_BOOL)
    return program


def variables_of(bundle: Bundle) -> JsonObject:
    """What a rule sees of a bundle. A property whose value cannot be read is an empty map."""
    return {
        "properties": [
            {"type": each.type, "value": as_doubles(each.value)} if each.readable else {}
            for each in bundle.properties()
        ]
    }


def outcome(program: Program, variables: JsonObject) -> bool | EvaluationError:
    """True, false, or the error, which counts as a no but is kept for the explanation."""
    value, _ = program.run(variables, COST_LIMIT)
    return value if isinstance(value, EvaluationError) else value is True
