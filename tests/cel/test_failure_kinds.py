"""A failure says of what kind it is, in a word without values, and both back ends say the same."""

from __future__ import annotations

import pytest

from muster.cel.environments import environment
from muster.cel.program import compile_program
from muster.errors import BudgetExceededError, EvaluationError, FailureKind

SECRET = "confidential-4711"
S, M, E = "managedCluster.s", "managedCluster.m", "managedCluster.empty"
CASES = [
    (f"{M}[{S}] == 'x'", FailureKind.NO_SUCH_KEY),
    (f"{M}.nope == 'x'", FailureKind.NO_SUCH_KEY),
    (f"dyn({M}).a.b.c == 'x'", FailureKind.NO_SUCH_KEY),
    (f"dyn({S}) + 1 == 2", FailureKind.NO_SUCH_OVERLOAD),
    (f"1 / size({E}) == 1", FailureKind.DIVISION_BY_ZERO),
    (f"1 % size({E}) == 1", FailureKind.MODULUS_BY_ZERO),
    (f"9223372036854775807 + size({S}) == 1", FailureKind.INTEGER_OVERFLOW),
    (f"uint(-1 * size({S})) == 1u", FailureKind.INTEGER_OVERFLOW),
    (f"[1][size({S})] == 1", FailureKind.INDEX_OUT_OF_BOUNDS),
    (f"{S}.charAt(99) == 'x'", FailureKind.INDEX_OUT_OF_BOUNDS),
    (f"int({S}) == 1", FailureKind.TYPE_CONVERSION),
    (f"timestamp({S}) == timestamp('2020-01-01T00:00:00Z')", FailureKind.TYPE_CONVERSION),
    ("optional.none().value() == 1", FailureKind.OPTIONAL_NONE),
    (f"{{{S}: 1, {S}: 2}}.size() == 1", FailureKind.REPEATED_KEY),
    (f"double('nan') < double(size({S}))", FailureKind.UNORDERED_NAN),
    (f"parseJSON({S}).x == 1", FailureKind.NOT_JSON),
    (f"base64.decode({S} + '%') == b'x'", FailureKind.NOT_BASE64),
    (f"url('http://%zz' + {S}).getHost() == 'x'", FailureKind.NOT_A_URL),
    (f"quantity({S}).isGreaterThan(quantity('1'))", FailureKind.OTHER),
]


@pytest.mark.parametrize(("expression", "kind"), CASES)
def test_a_failure_says_of_what_kind_it_is(expression: str, kind: FailureKind) -> None:
    program = compile_program(expression, environment("muster"))
    variables = {"managedCluster": {"s": SECRET, "m": {"a": "b"}, "empty": ""}}
    value, _ = program.run(variables, 1_000_000)
    assert isinstance(value, EvaluationError), value
    assert value.kind is kind, value
    (traced, *_) = program.trace(variables).values[program.tree.expr.id]
    assert (traced.kind, str(traced)) == (kind, str(value))


def test_the_key_that_is_missing_is_told_apart_from_the_text() -> None:
    program = compile_program("managedCluster.m.nope == 'x'", environment("muster"))
    value, _ = program.run({"managedCluster": {"m": {}}}, 1_000_000)
    assert (value.kind, value.about) == (FailureKind.NO_SUCH_KEY, "nope")


def test_a_spent_budget_is_a_kind_of_its_own() -> None:
    program = compile_program("managedCluster.l.all(a, managedCluster.l.all(b, a == b))", environment("muster"))
    value, _ = program.run({"managedCluster": {"l": [1] * 100}}, 50)
    assert isinstance(value, BudgetExceededError)
    assert value.kind is FailureKind.BUDGET_EXCEEDED
