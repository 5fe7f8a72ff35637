"""Generated code: safe to run, within CPython's limits, and the same as the interpreter on awkward inputs."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any

import pytest

from muster.cel import Program, Variable, environment, make_program
from muster.cel.checking.types import DYN, INT, STRING, map_of
from muster.cel.generating import functions_of, source_of
from muster.cel.values import MapValue, OptionalValue, optional
from muster.errors import EvaluationError

ENV = environment("muster").extend(
    variables=[Variable("m", map_of(STRING, DYN)), Variable("d", DYN), Variable("n", INT)]
)
NO_LIMIT = 10**12


def program(text: str) -> Program:
    return make_program(text, ENV)


def both(text: str, **variables: Any) -> tuple[Any, int]:
    """What generated code gives, after the interpreter has agreed."""
    made = program(text)
    trace = made.trace(variables, None)
    outcome, cost = made.run(variables, NO_LIMIT)
    assert (str(outcome), type(outcome), cost) == (str(trace.outcome), type(trace.outcome), trace.cost)
    return outcome, cost


def test_no_text_of_the_user_becomes_part_of_the_source() -> None:
    hostile = "x'); import os #"
    text = f"m.secret_field == \"{hostile}\" || m['other key'].exists(evil_name, evil_name == d.deep_field)"
    source = source_of(program(text).plan, program(text).tree.types)
    for word in ("secret_field", "import", "other key", "evil_name", "deep_field", "managedCluster"):
        assert word not in source
    names = set(re.findall(r"[A-Za-z_]\w*", source))
    assert not any(name.startswith("__") and name != "__class__" for name in names)


def test_field_names_and_functions_are_handed_over_as_data() -> None:
    made = program("m.secret_field.startsWith('abc')")
    functions, constants = functions_of(made.plan, made.tree.types)
    assert len(functions) == 1
    assert {"m", "secret_field", "abc"} <= {value for value in constants if isinstance(value, str)}


def test_generated_functions_have_no_builtins() -> None:
    assert program("m.a == 1").run.__globals__["__builtins__"] == {}


def test_programs_of_one_structure_are_compiled_once_and_each_has_code_of_its_own() -> None:
    """CPython notes in code where its globals are: programs that share it, and take turns, would make it look again."""
    made = [make_program(f'managedCluster.x == "{text}"', environment("muster")).run for text in ("a", "b")]
    one, other = (run.__code__ for run in made)
    assert one is not other
    assert one.co_linetable is other.co_linetable  # of one compilation
    assert [run({"managedCluster": {"x": "b"}}, 100)[0] for run in made] == [False, True]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": {"b": 7}}, 7),
        (OrderedDict(a=OrderedDict(b=7)), 7),
        (MapValue([("a", MapValue([("b", 7)]))]), 7),
        ({"a": "text"}, "no such key: b"),
        ({"a": ["x"]}, "unsupported index type 'string' in list"),
        ({"a": None}, "no such key: b"),
        ({}, "no such key: a"),
        (optional({"a": {"b": 7}}), "optional(7)"),
        (OptionalValue(present=False), "optional.none()"),
    ],
)
def test_a_run_of_fields_works_on_whatever_it_finds(value: Any, expected: Any) -> None:
    outcome, _ = both("d.a.b", d=value)
    assert (str(outcome) if not isinstance(outcome, int) else outcome) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d[0] == 'x'", "no such key: 0"),
        ("d[-1] == 'x'", "no such key: -1"),
        ("d == d", True),
    ],
)
def test_texts_are_not_indexed_as_python_would(text: str, expected: Any) -> None:
    outcome, _ = both(text, d="xyz")
    assert (outcome if isinstance(outcome, bool) else str(outcome)) == expected


def test_true_is_not_one() -> None:
    assert both("d == 1", d=True)[0] is False
    assert both("d == true", d=1)[0] is False
    assert both("d in [1, 2]", d=True)[0] is False
    assert str(both("{1: 'a'}[d]", d=True)[0]) == "no such key: true"


def test_numbers_overflow_instead_of_growing() -> None:
    assert str(both("n + 9223372036854775807", n=1)[0]) == "integer overflow"
    assert str(both("n * n", n=2**40)[0]) == "integer overflow"
    assert both("n - 1", n=-(2**63) + 1)[0] == -(2**63)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"n == {index} ? {index} : " for index in range(60)) + "-1",
        " && ".join(f"(m.a{index} == 1 || n > {index})" for index in range(200)),
        "[" + ", ".join(f"m.x{index}.y" for index in range(120)) + "].size() > 0",
        "{" + ", ".join(f"'k{index}': m.x{index}" for index in range(120)) + "}.size() > 0",
        "".join(f"[{level}].all(x{level}, " for level in range(24)) + "n > 0" + ")" * 24,
        "".join(f"[n].map(x{level}, " for level in range(24)) + "n" + ")" * 24,
        "cel.bind(a, n + 1, n > 100 && a > 1 || [1, 2].exists(x, x == a))",
        "".join(f"cel.bind(b{level}, n > {level}, n > 5 || b{level} || " for level in range(12)) + "true" + ")" * 12,
        "!" * 40 + "true",
        "(" * 60 + "n" + ")" * 60 + " == 3",
        "".join("d[" for _ in range(40)) + "0" + "]" * 40,
        "d" + "[0]" * 150,
        "d" + ".?a" * 150,
        "d" + "[n]" * 100,
        "d" + "[?0]" * 100 + ".hasValue()",
    ],
)
@pytest.mark.parametrize("n", [0, 3, 101])
def test_any_legal_shape_compiles_within_the_limits_of_cpython(text: str, n: int) -> None:
    both(text, m={f"a{index}": 1 for index in range(200)}, d=[0, 1], n=n)


def test_long_programs_become_several_functions() -> None:
    made = program(" && ".join(f"m.a{index} == 'x'" for index in range(300)))
    functions, _ = functions_of(made.plan, made.tree.types)
    assert len(functions) > 1
    assert max(text.count("\n") for text in functions) < 2000


def test_an_error_in_a_loop_keeps_being_the_first_one() -> None:
    outcome, _ = both("m.l.map(x, x.a / x.b)", m={"l": [{"a": 1, "b": 1}, {"a": 1}, {"a": 1, "b": 0}]})
    assert isinstance(outcome, EvaluationError)
    assert str(outcome) == "no such key: b"


def test_the_limit_is_checked_inside_loops() -> None:
    made = program("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))")
    outcome, cost = made.run({}, 5000)
    assert str(outcome) == "operation cancelled: actual cost limit exceeded"
    assert cost == 5001


def test_results_of_parsing_are_remembered_per_text_and_still_charged() -> None:
    made = program("semver(d, true).isGreaterThan(semver('1.0.0', true))")
    first = [made.run({"d": text}, NO_LIMIT) for text in ("v1.2", "0.1.0", "v1.2", "nope", "nope")]
    assert [value if isinstance(value, bool) else "error" for value, _ in first] == [
        True,
        False,
        True,
        "error",
        "error",
    ]
    assert [cost for _, cost in first] == [
        made.trace({"d": text}).cost for text in ("v1.2", "0.1.0", "v1.2", "nope", "nope")
    ]


def test_a_declared_type_is_not_taken_for_granted_at_run_time() -> None:
    env = ENV.extend(variables=[Variable("s", STRING)])
    made = make_program("(s + s).replace('a', 'b') == 'x' || size(s + s) > 1", env)
    for value in ("a", 1, [1], None, {"a": 1}):
        trace = made.trace({"s": value})
        assert (str(made.run({"s": value}, NO_LIMIT)[0]), made.cost({"s": value})) == (str(trace.outcome), trace.cost)


def test_long_runs_of_steps_lead_where_short_ones_do() -> None:
    deep: Any = 7
    for _ in range(60):
        deep = {"a": [deep]}
    assert both("d" + ".a[0]" * 60, d=deep)[0] == 7
    assert both("d" + ".a[n]" * 60, d=deep, n=0)[0] == 7
    assert str(both("d" + ".?a[?0]" * 60, d=deep)[0]) == "optional(7)"
    assert str(both("d" + ".?a[?0]" * 61, d=deep)[0]) == "optional.none()"
    assert str(both("d" + ".a[0]" * 61, d=deep)[0]) == "no such key: a"
    assert both("has(d" + ".a[0]" * 59 + ".a)", d=deep)[0] is True
    assert both("has(d" + ".?a[0]" * 60 + ".a)", d=deep)[0] is False
