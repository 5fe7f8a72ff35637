"""Costs: what running charges, what is estimated before, and where the limits are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.cel import Program, Range, Variable, environment, make_program
from muster.cel.checking.types import DYN, INT, STRING, Type, list_of, map_of
from muster.cel.costs.ranges import MAX
from muster.errors import BudgetExceededError

if TYPE_CHECKING:
    from muster.cel.costs.operands import SizePath

VARIABLES = (
    Variable("s", STRING),
    Variable("t", STRING),
    Variable("l", list_of(INT)),
    Variable("m", map_of(STRING, DYN)),
)


def program(text: str, name: str = "standard") -> Program:
    return make_program(text, environment(name).extend(variables=VARIABLES))


INPUT = {"s": "x" * 20, "t": "y" * 35, "l": [1, 2, 3], "m": {"a": {"b": 1}}}


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("true", 0),
        ("s", 1),
        ("m.a.b", 3),
        ("m['a']['b']", 3),
        ("has(m.a.b)", 3),
        ("[1, 2]", 10),
        ("{'a': 1}", 30),
        ("s == t", 4),  # two variables, and a tenth of the shorter text
        ("s + t", 8),
        ("s.startsWith(t)", 6),
        ("s.contains(t)", 10),
        ("s.matches('abcd')", 4),
        ("1 in l", 4),
        ("size(s)", 2),
        (
            "l.all(x, x > 0)",
            17,
        ),  # per element 2 for the condition, 1 for the accumulator, 2 for x > 0; 1 for the result
        ("l.exists(x, x == 2)", 17),
        ("m.a.b == 1 ? s : t", 4),  # a variable in a branch is free
        ("cel.bind(x, s + t, true)", 10),  # never read
        ("m.?nope.orValue(1)", 1),
        ("m.nope", 2),  # failing costs as much
        ("1 / 0 + size(s)", 4),  # and so does what comes after
    ],
)
def test_running_costs_what_cel_go_charges(text: str, cost: int) -> None:
    made = program(text)
    assert (made.cost(INPUT), made.trace(INPUT).cost) == (cost, cost)


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("has(m.a.b)", 2),  # presence tests are free in Kubernetes
        ("[1, 2]", 0),  # constants are folded
        ("1 in [1, 2, 3]", 0),
        ("s in ['a', 'b']", 1),
        ("int('12')", 0),
        ("s.lowerAscii()", 3),
        ("s.split('x')", 5),
        ("quantity('1Mi').isGreaterThan(quantity('1k'))", 3),
        ("[3, 1, 2].max()", 3),
    ],
)
@pytest.mark.parametrize("name", ["kubernetes-1.37", "muster"])
def test_kubernetes_folds_constants_and_prices_its_own_functions(text: str, cost: int, name: str) -> None:
    made = program(text, name)
    assert (made.cost(INPUT), made.trace(INPUT).cost) == (cost, cost)


@pytest.mark.parametrize(
    ("text", "estimate"),
    [
        ("true", Range(0, 0)),
        ("s == 'abc'", Range(2, 2)),
        ("s == t", Range(3, 1844674407370955266)),
        ("l.all(x, x > 0)", Range(2, MAX)),
        ("true ? s : [1].all(x, x > 0) ? s : t", Range(1, 17)),
        ("[1, 2, 3].all(x, x > 0)", Range(20, 26)),
        ("m.a.b", Range(2, 2)),  # a field of a dyn costs nothing before it runs
    ],
)
def test_estimates_without_knowing_sizes(text: str, estimate: Range) -> None:
    assert program(text).estimate() == estimate


def test_estimates_use_declared_sizes_by_path() -> None:
    def sizes(path: SizePath, _: Type) -> Range | None:
        return {("l",): Range(0, 10), ("s",): Range(0, 40), ("m", "a", "@items"): Range(0, 5)}.get(path)

    assert program("l.all(x, x > 0)").estimate(sizes) == Range(2, 52)
    assert program("s.contains('abcdefghijkl')").estimate(sizes) == Range(1, 9)


def test_an_estimate_bounds_what_running_costs() -> None:
    def sizes(path: SizePath, of: Type) -> Range | None:
        return Range(0, 40) if path in {("s",), ("t",), ("l",)} else None

    for text in ("s == t && l.exists(x, x > 1)", "s + t == 'abc' || 1 in l", "l.map(x, x * 2).size() > 2"):
        least, greatest = program(text).estimate(sizes)
        assert least <= program(text).cost(INPUT) <= greatest


def test_the_limit_stops_an_evaluation_and_says_so() -> None:
    value, cost = program("l.map(x, x * 2)").run(INPUT, 20)
    assert isinstance(value, BudgetExceededError)
    assert (str(value), value.budget) == ("operation cancelled: actual cost limit exceeded", "cost")
    assert cost > 20
    with pytest.raises(BudgetExceededError):
        program("l.map(x, x * 2)").evaluate(INPUT, 20)


def test_a_limit_cannot_be_absorbed() -> None:
    value, _ = program("l.map(x, x * 2).size() > 100 || true").run(INPUT, 20)
    assert isinstance(value, BudgetExceededError)


def test_a_failing_constant_is_found_early_by_kubernetes_and_late_by_muster() -> None:
    with pytest.raises(Exception, match="type conversion error") as refused:
        program("int('x') == 1 || true", "kubernetes-1.37")
    assert type(refused.value).__name__ == "InvalidProgramError"
    assert program("int('x') == 1 || true", "muster").evaluate(INPUT) is True


def _doubled(start: str, step: str, times: int, use: str) -> str:
    """`cel.bind` chained: v1 is made of v0, v2 of v1, and so on."""
    text = use.replace("X", f"v{times}")
    for index in range(times, 0, -1):
        text = f"cel.bind(v{index}, {step.replace('X', f'v{index - 1}')}, {text})"
    return f"cel.bind(v0, {start}, {text})"


BIG = {"m": {"text": "a" * 500_000, "list": list(range(100_000)), "json": f"[{','.join('1' * 50_000)}]"}}
ATTACKS = {
    "string doubling": _doubled("'0123456789'", "X + X", 60, "size(X) > 0"),
    "list doubling": _doubled("[1, 2, 3]", "X + X", 60, "size(X) > 0"),
    "bytes doubling": _doubled("b'0123456789'", "X + X", 60, "size(X) > 0"),
    "deep lists compared": _doubled("[1, 2]", "[X, X]", 60, "X == X"),
    "deep maps compared": _doubled("{'a': 1}", "{'a': X, 'b': X}", 60, "X == X"),
    "deep list searched": _doubled("[1, 2]", "[X, X]", 60, "X in [X]"),
    "deep list formatted": _doubled("[1, 2]", "[X, X]", 60, "'%s'.format([X]) == ''"),
    "deep list flattened": _doubled("[1, 2]", "[X, X]", 60, "dyn(X).flatten(100).size() > 0"),
    "deep list sorted": _doubled("[1, 2]", "[X, X]", 60, "dyn(X).isSorted()"),
    "deep sets": _doubled("[1, 2]", "[X, X]", 60, "sets.contains(X, X)"),
    "replace": _doubled("'aaaaaaaaaa'", "X.replace('a', 'aaaaaaaaaa')", 12, "size(X) > 0"),
    "replace everywhere": _doubled("'aaaaaaaaaa'", "X.replace('', X)", 12, "size(X) > 0"),
    "join": _doubled("'aaaaaaaaaa'", "[X, X, X, X, X, X, X, X].join(X)", 12, "size(X) > 0"),
    "format": _doubled("'aaaaaaaaaa'", "'%s%s%s%s'.format([X, X, X, X])", 20, "size(X) > 0"),
    "a range": "lists.range(1000000000).size() > 0",
    "nested loops": "lists.range(1000).all(x, lists.range(1000).all(y, lists.range(1000).all(z, x + y + z >= 0)))",
    "nested lists": "lists.range(1000).map(x, lists.range(1000).map(y, lists.range(1000).map(z, x + y + z)))",
    "concatenation in a loop": "lists.range(50000).all(i, (m.list + m.list).size() > 0)",
    "texts in a loop": "lists.range(50000).all(i, (m.text + m.text).size() > 0)",
    "big literals in a loop": "lists.range(50000).all(i, [" + ", ".join(["i"] * 2000) + "].size() > 0)",
    "big maps in a loop": "lists.range(50000).all(i, {"
    + ", ".join(f"'{index}': i" for index in range(500))
    + "}.size() > 0)",
    "patterns": "lists.range(50000).all(i, !m.text.matches('(a+a+)+b'))",
    "big patterns": "lists.range(50000).all(i, m.text.matches('" + "(a|b|c)*" * 500 + "x'))",
    "patterns made up": "lists.range(50000).all(i, 'aaaa'.matches('a{' + string(i % 100) + '}') || true)",
    "all matches": "lists.range(50000).all(i, m.text.findAll('a').size() > 0)",
    "encodings": "lists.range(50000).all(i, base64.encode(bytes(m.text)).size() > 0)",
    "documents": "lists.range(50000).all(i, parseJSON(m.json).size() > 0)",
    "comparisons": "lists.range(50000).all(i, m.list == m.list)",
    "searches": "lists.range(50000).all(i, !(-1 in m.list))",
    "quantities": "lists.range(50000).all(i, quantity('1' + string(i) + 'Mi').isGreaterThan(quantity('0')))",
    "huge exponents": "quantity('1e999999999').isGreaterThan(quantity('0'))",
    "errors": "lists.range(50000).all(i, m.nope[i].x == 'y') || true",
    "errors in a list": "lists.range(50000).map(i, 1 / 0).size() > 0 || true",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ATTACKS))
def test_no_expression_runs_long_or_takes_much_memory(name: str) -> None:
    resource = pytest.importorskip("resource")
    import time

    made = program(ATTACKS[name], "muster")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    made.run(BIG, 1_000_000)
    assert time.process_time() - started < 2.0  # half of it when nothing else runs
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100


def test_the_work_limit_has_an_error_of_its_own() -> None:
    value, _ = program(ATTACKS["deep lists compared"], "muster").run({}, 1_000_000)
    assert isinstance(value, BudgetExceededError)
    assert (value.budget, "builds or compares more than the 1000000" in str(value)) == ("work", True)


def test_programs_are_kept_by_environment_and_text() -> None:
    from muster.cel import compile_program

    env = environment("standard")
    assert compile_program("1 + 1", env) is compile_program("1 + 1", env)
    assert compile_program("1 + 1", env) is not compile_program("1 + 1", environment("muster"))
